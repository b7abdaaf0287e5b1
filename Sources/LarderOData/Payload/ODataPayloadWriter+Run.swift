extension ODataPayloadWriter {
  /// The state while one body is written.
  struct Run {
    let writer: ODataPayloadWriter
    var json = JSONWriter()
    private var path: [String] = []

    private static let maximumDepth = 128

    init(writer: ODataPayloadWriter) { self.writer = writer }

    private var isVerbose: Bool { writer.format == .verbose }

    /// The name of control information, after the name of its property if it belongs to one.
    private func control(_ name: String, on property: String = "") -> String {
      if writer.format == .light, property.isEmpty { return "odata." + name }
      return property + (writer.isShort ? "@" : "@odata.") + name
    }

    private func failure(_ problem: Problem) -> ODataPayloadWritingError {
      ODataPayloadWritingError(problem: problem, path: path.joined(separator: "/"))
    }

    private typealias Problem = ODataPayloadWritingError.Problem

    /// Writes a value. The type is the declared one, if it is known.
    mutating func value(
      _ value: ODataValue, _ name: String, type: EdmTypeReference? = nil
    ) throws(ODataPayloadWritingError) {
      path.append(name)
      try self.value(value, type)
      path.removeLast()
    }

    private mutating func value(_ value: ODataValue, _ type: EdmTypeReference?) throws(ODataPayloadWritingError) {
      switch value {
      case .complex(let complex): try self.complex(complex, type: type?.name)
      case .collection(let items):
        if isVerbose {
          json.beginObject()
          json.name("results")
        }
        json.beginArray()
        for item in items { try self.value(item, type?.item) }
        json.endArray()
        if isVerbose { json.endObject() }
      default:
        do throws(ODataValueError) { try value.write(to: &json, format: writer.format) } catch {
          throw failure(.value(error))
        }
      }
    }

    private mutating func complex(
      _ complex: ODataComplexValue, type: String?
    ) throws(ODataPayloadWritingError) {
      guard path.count < Run.maximumDepth else { throw failure(.tooDeep(limit: Run.maximumDepth)) }
      json.beginObject()
      if let typeName = complex.typeName { self.type(typeName) }
      try annotations(complex.annotations, on: "")
      try properties(complex.properties, of: (complex.typeName ?? type).flatMap { writer.model?.structure($0) })
      json.endObject()
    }

    /// Writes the type of an object.
    private mutating func type(_ name: String) {
      guard isVerbose else {
        return member(control("type"), writer.format == .light ? name : "#" + name)
      }
      json.name("__metadata")
      json.beginObject()
      member("type", name)
      json.endObject()
    }

    mutating func reference(_ id: String) {
      json.beginObject()
      json.name(isVerbose ? "uri" : writer.format == .light ? "url" : control("id"))
      json.string(id)
      json.endObject()
    }

    mutating func entity(
      _ entity: ODataEntity, type: String?, isNested: Bool, isDelta: Bool = false
    ) throws(ODataPayloadWritingError) {
      guard path.count < Run.maximumDepth else { throw failure(.tooDeep(limit: Run.maximumDepth)) }
      json.beginObject()
      let structure = (entity.typeName ?? type).flatMap { writer.model?.structure($0) }
      try head(entity, isNested: isNested, isDelta: isDelta)
      try annotations(entity.annotations, on: "")
      try properties(entity.properties, of: structure)
      for stream in entity.streams where stream.link.content != nil { try self.stream(stream) }
      for link in entity.navigationLinks {
        path.append(link.name)
        let declared = structure?.navigationProperty(link.name)
        try self.link(link, isCollection: declared?.isCollection, type: declared?.type.name)
        path.removeLast()
      }
      json.endObject()
    }

    /// Writes parameters of an action as members of one object.
    mutating func parameters(
      _ parameters: ODataEntity, types: [String: EdmTypeReference]
    ) throws(ODataPayloadWritingError) {
      json.beginObject()
      try annotations(parameters.annotations, on: "")
      for property in parameters.properties { try self.property(property, type: types[property.name]) }
      for entity in parameters.navigationLinks {
        path.append(entity.name)
        try link(entity, isCollection: types[entity.name]?.isCollection, type: types[entity.name]?.item.name)
        path.removeLast()
      }
      json.endObject()
    }

    /// Writes the value of one property as the only member of an object, with the annotations on it.
    mutating func single(_ property: ODataProperty, type: EdmTypeReference?) throws(ODataPayloadWritingError) {
      json.beginObject()
      path.append(property.name)
      try annotations(property.annotations, on: "")
      path.removeLast()
      json.name(isVerbose ? property.name : "value")
      try value(property.value, property.name, type: type)
      json.endObject()
    }

    /// Writes the entity's type and, for a nested entity, its id.
    private mutating func head(
      _ entity: ODataEntity, isNested: Bool, isDelta: Bool
    ) throws(ODataPayloadWritingError) {
      let id = isNested ? entity.id : nil
      if isVerbose {
        let uri = isNested ? entity.editLink ?? entity.id : nil
        guard entity.typeName != nil || uri != nil else { return }
        json.name("__metadata")
        json.beginObject()
        if let uri { member("uri", uri) }
        if let typeName = entity.typeName { member("type", typeName) }
        json.endObject()
        return
      }
      if let removal = entity.removal {
        guard isDelta else { throw failure(.notSupported("a deleted entity outside a delta")) }
        json.name(control("removed"))
        json.beginObject()
        switch removal {
        case .deleted: member("reason", "deleted")
        case .changed: member("reason", "changed")
        case .other(let reason): if let reason { member("reason", reason) }
        }
        json.endObject()
      }
      if let typeName = entity.typeName { type(typeName) }
      if let id { member(control("id"), id) }
    }

    private mutating func member(_ name: String, _ text: String) {
      json.name(name)
      json.string(text)
    }

    private mutating func properties(
      _ properties: [ODataProperty], of structure: EdmStructure?
    ) throws(ODataPayloadWritingError) {
      for property in properties {
        let declared = structure?.property(property.name)
        let isDynamic = declared == nil && structure?.isOpen == true
        try self.property(property, type: declared?.type, isDynamic: isDynamic)
      }
    }

    mutating func property(
      _ property: ODataProperty, type: EdmTypeReference?, isDynamic: Bool = false
    ) throws(ODataPayloadWritingError) {
      if isDynamic, !isVerbose, !property.annotations.contains(where: { $0.term == "odata.type" }),
        let type = property.value.undeclaredTypeName
      {
        member(control("type", on: property.name), "#" + type)
      }
      path.append(property.name)
      try annotations(property.annotations, on: property.name)
      path.removeLast()
      json.name(property.name)
      try value(property.value, property.name, type: type)
    }

    /// Writes annotations, and the control information that is part of a request's content: types of undeclared
    /// properties, bindings and references in values. Other control information is omitted.
    private mutating func annotations(
      _ annotations: [ODataAnnotation], on name: String
    ) throws(ODataPayloadWritingError) {
      for annotation in annotations {
        let term = ODataTerm(annotation.term)
        let target = name.isEmpty ? term.target ?? "" : name
        if term.isControl {
          guard !isVerbose, case .string(let text) = annotation.value else { continue }
          switch (term.name, target) {
          case ("odata.type", let target) where !target.isEmpty:
            member(control("type", on: target), text.hasPrefix("#") ? text : "#" + text)
          case ("odata.bind", let target) where !target.isEmpty: member(target + "@odata.bind", text)
          case ("odata.id", ""): member(control("id"), text)
          default: break
          }
          continue
        }
        if isVerbose { throw failure(.notSupported("the annotation '\(term.name)' in V2 JSON; remove it")) }
        json.name("\(target)@\(term.name)")
        try value(annotation.value, term.name)
      }
    }

    /// Writes a stream's bytes inline (JSON Format 4.01 §9).
    private mutating func stream(_ stream: ODataStreamProperty) throws(ODataPayloadWritingError) {
      if writer.version < .v401 {
        path.append(stream.name)
        throw failure(.notSupported("an inline stream before 4.01; send its bytes to its edit link"))
      }
      if let type = stream.link.contentType { member(control("mediaContentType", on: stream.name), type) }
      json.name(stream.name)
      try value(stream.link.content ?? .null, stream.name)
    }

    /// Writes the bindings and inline entities of one navigation property.
    private mutating func link(
      _ link: ODataNavigationLink, isCollection: Bool?, type: String?
    ) throws(ODataPayloadWritingError) {
      try annotations(link.annotations, on: link.name)
      let isMany = isCollection ?? self.isCollection(link)
      if !isMany, link.bindings.count > 1 {
        throw failure(.notSupported("more than one binding of a to-one navigation property"))
      }
      let isInline = isVerbose || writer.version >= .v401
      if !isInline, !link.bindings.isEmpty { bind(link, isMany: isMany) }
      switch link.content {
      case .null?:
        json.name(link.name)
        json.null()
      case .entity(let entity)?:
        guard !isInline || link.bindings.isEmpty else {
          throw failure(.notSupported("a binding and an inline entity for one to-one navigation property"))
        }
        json.name(link.name)
        try self.entity(entity, type: type, isNested: true)
      case .collection(let collection)?:
        try writeCollection(
          link.name, bindings: isInline ? link.bindings : [], entities: collection.entities, type: type)
      case .delta(let delta)?: try self.delta(link, delta, type)
      case nil:
        guard isInline, let first = link.bindings.first else { return }
        if isMany { return try writeCollection(link.name, bindings: link.bindings, entities: [], type: type) }
        json.name(link.name)
        boundEntity(first)
      }
    }

    private func isCollection(_ link: ODataNavigationLink) -> Bool {
      switch link.content {
      case .collection?, .delta?: true
      case .entity?, .null?: false
      case nil: link.bindings.count > 1
      }
    }

    /// Writes `Name@odata.bind` (JSON Format 4.0 §8.5).
    private mutating func bind(_ link: ODataNavigationLink, isMany: Bool) {
      json.name(link.name + "@odata.bind")
      if isMany {
        json.beginArray()
        for url in link.bindings { json.string(url) }
        json.endArray()
      } else if let url = link.bindings.first {
        json.string(url)
      }
    }

    /// Writes a reference to an existing entity in place of an inline one: V2 `__metadata.uri`, 4.01 `@id`.
    private mutating func boundEntity(_ url: String) {
      guard isVerbose else { return reference(url) }
      json.beginObject()
      json.name("__metadata")
      json.beginObject()
      member("uri", url)
      json.endObject()
      json.endObject()
    }

    private mutating func writeCollection(
      _ name: String, bindings: [String], entities: [ODataEntity], type: String?
    ) throws(ODataPayloadWritingError) {
      json.name(name)
      if isVerbose {
        json.beginObject()
        json.name("results")
      }
      json.beginArray()
      for url in bindings { boundEntity(url) }
      for entity in entities { try self.entity(entity, type: type, isNested: true) }
      json.endArray()
      if isVerbose { json.endObject() }
    }

    /// Writes the inline changes of a collection (JSON Format 4.01 §8.6).
    private mutating func delta(
      _ link: ODataNavigationLink, _ delta: ODataDelta, _ type: String?
    ) throws(ODataPayloadWritingError) {
      guard writer.version >= .v401 else { throw failure(.notSupported("a nested delta before 4.01")) }
      json.name(control("delta", on: link.name))
      json.beginArray()
      for url in link.bindings { boundEntity(url) }
      for item in delta.items {
        switch item {
        case .entity(let entity), .deletedEntity(let entity):
          try self.entity(entity, type: type, isNested: true, isDelta: true)
        case .addedLink, .deletedLink: throw failure(.notSupported("a link in a nested delta"))
        }
      }
      json.endArray()
    }
  }
}
