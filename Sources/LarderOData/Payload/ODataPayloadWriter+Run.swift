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

    mutating func value(_ value: ODataValue, _ name: String) throws(ODataPayloadWritingError) {
      do throws(ODataValueError) { try value.write(to: &json, format: writer.format) } catch {
        path.append(name)
        throw failure(.value(error))
      }
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
      for property in entity.properties {
        let isDynamic = structure.map { $0.isOpen && $0.property(property.name) == nil } ?? false
        try self.property(property, dynamic: isDynamic)
      }
      for stream in entity.streams where stream.link.content != nil { try self.stream(stream) }
      for link in entity.navigationLinks {
        path.append(link.name)
        try self.link(link, declared: structure?.navigationProperty(link.name))
        path.removeLast()
      }
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
      if let typeName = entity.typeName {
        member(control("type"), writer.format == .light ? typeName : "#" + typeName)
      }
      if let id { member(control("id"), id) }
    }

    private mutating func member(_ name: String, _ text: String) {
      json.name(name)
      json.string(text)
    }

    mutating func property(_ property: ODataProperty, dynamic: Bool) throws(ODataPayloadWritingError) {
      if dynamic, !isVerbose, let type = dynamicType(property.value) {
        member(control("type", on: property.name), "#" + type)
      }
      path.append(property.name)
      try annotations(property.annotations, on: property.name)
      path.removeLast()
      json.name(property.name)
      try value(property.value, property.name)
    }

    /// The type of a dynamic property if JSON alone does not show it (JSON Format 4.01 §4.6.3).
    private func dynamicType(_ value: ODataValue) -> String? {
      switch value {
      case .byte: "Byte"
      case .sbyte: "SByte"
      case .int16: "Int16"
      case .int32: "Int32"
      case .int64: "Int64"
      case .single: "Single"
      case .double(let number): number.isFinite && number.rounded() != number ? nil : "Double"
      case .decimal: "Decimal"
      case .guid: "Guid"
      case .binary: "Binary"
      case .date: "Date"
      case .timeOfDay: "TimeOfDay"
      case .dateTimeOffset: "DateTimeOffset"
      case .duration: "Duration"
      case .geo(let geo): geo.type.rawValue
      case .collection(let items): items.first { $0 != .null }.flatMap(dynamicType).map { "Collection(\($0))" }
      case .null, .boolean, .string, .dateTime, .enumeration, .complex, .untypedNumber: nil
      }
    }

    /// The annotations of the caller; those that a service computed are omitted.
    private mutating func annotations(
      _ annotations: [ODataAnnotation], on name: String
    ) throws(ODataPayloadWritingError) {
      for annotation in annotations {
        let term = annotation.term
        if term.hasPrefix("odata.") || term.hasPrefix("__") || term.contains("@odata.") { continue }
        if isVerbose { throw failure(.notSupported("the annotation '\(term)' in V2 JSON; remove it")) }
        json.name("\(name)@\(term)")
        try value(annotation.value, term)
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
      _ link: ODataNavigationLink, declared: EdmNavigationProperty?
    ) throws(ODataPayloadWritingError) {
      try annotations(link.annotations, on: link.name)
      let isMany = declared?.isCollection ?? isCollection(link)
      if !isMany, link.bindings.count > 1 {
        throw failure(.notSupported("more than one binding of a to-one navigation property"))
      }
      let type = declared?.type.name
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
