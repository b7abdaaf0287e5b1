import LarderOData

/// The walk over a change's content: see ``ContentRules``.
struct ContentWalk {
  let rules: ContentRules
  let verb: ContentVerb
  private var path: [String] = []

  private static let maximumDepth = 128

  init(rules: ContentRules, verb: ContentVerb) {
    self.rules = rules
    self.verb = verb
  }

  /// Where an entity is in the content.
  enum Position {
    /// The entity that the request creates or changes.
    case request
    /// An entity of a navigation property.
    case related
    /// An entity in the inline changes of a navigation property.
    case change
    /// A parameter of an action, or one of its entities.
    case parameter
  }

  private func failure(_ part: String, _ reason: String) -> ChangeContentError {
    ChangeContentError((path + (part.isEmpty ? [] : [part])).joined(separator: "/"), reason)
  }

  private func streamFailure(_ name: String) -> ChangeContentError {
    failure(name, "a stream cannot be inline before V4.01; send its bytes with updateMedia")
  }

  private mutating func inside<Value>(
    _ name: String, _ body: (inout ContentWalk) throws(ChangeContentError) -> Value
  ) throws(ChangeContentError) -> Value {
    path.append(name)
    defer { path.removeLast() }
    guard path.count <= Self.maximumDepth else { throw ChangeContentError(path[0], "it is nested too deeply") }
    return try body(&self)
  }

  // MARK: Entities

  mutating func entity(
    _ given: ODataEntity, _ type: EdmStructure?, in position: Position
  ) throws(ChangeContentError) -> ODataEntity {
    let type = rules.structure(given.typeName) ?? type
    var sent = ODataEntity(typeName: given.typeName)
    if given.removal != nil {
      guard position == .change else {
        throw failure("@removed", "an entity is removed by inline changes of an update, or by a request of its own")
      }
      sent.removal = given.removal
    }
    sent.id = try id(of: given, type, in: position)
    sent.annotations = try annotations(given.annotations)
    sent.properties = try properties(given.properties, of: type)
    sent.streams = given.streams.filter { $0.link.content != nil }
    if let stream = sent.streams.first, rules.version < .v401 || rules.isAtom {
      throw streamFailure(stream.name)
    }
    for link in given.navigationLinks {
      let declared = type?.navigationProperty(link.name)
      let target = rules.structure(declared?.type.name)
      let sentLink = try inside(link.name) { walk throws(ChangeContentError) in
        try walk.link(link, target, isParameter: false)
      }
      if let sentLink { sent.navigationLinks.append(sentLink) }
    }
    return sent
  }

  /// The id to send: that of an entity that exists.
  private func id(
    of entity: ODataEntity, _ type: EdmStructure?, in position: Position
  ) throws(ChangeContentError) -> String? {
    guard position != .request, let id = entity.id ?? (rules.version < .v4 ? entity.editLink : nil) else { return nil }
    if position == .parameter, rules.version < .v4 || rules.isAtom {
      throw failure("__metadata", "before V4, a parameter cannot be a reference to an entity")
    }
    let isReference = entity.properties.isEmpty && entity.navigationLinks.isEmpty
    guard verb == .create, position == .related, !isReference else { return id }
    if rules.isAnother(id, entity, type) {
      throw failure("@odata.id", "it names an entity that exists, and the other values would create one")
    }
    return nil
  }

  // MARK: Links

  private mutating func link(
    _ given: ODataNavigationLink, _ type: EdmStructure?, isParameter: Bool
  ) throws(ChangeContentError) -> ODataNavigationLink? {
    var sent = ODataNavigationLink(name: given.name)
    sent.annotations = try annotations(given.annotations)
    sent.bindings = given.bindings
    let position: Position = isParameter ? .parameter : .related
    switch given.content {
    case nil: break
    case .null?:
      if rules.isAtom { throw failure("", "Atom has no form for null; use deleteLink") }
      sent.content = .null
    case .entity(let entity)?:
      if !isParameter, let reference = reference(entity) {
        sent.bindings.append(reference)
      } else {
        sent.content = .entity(try self.entity(entity, type, in: position))
      }
    case .collection(let collection)?:
      _ = try annotations(collection.annotations)
      let references = isParameter ? [] : collection.entities.compactMap(reference)
      sent.bindings += references
      let others = references.isEmpty ? collection.entities : collection.entities.filter { reference($0) == nil }
      if !others.isEmpty || references.isEmpty {
        sent.content = .collection(
          ODataEntityCollection(
            entities: try each(others) { walk, entity throws(ChangeContentError) in
              try walk.entity(entity, type, in: position)
            }))
      }
    case .delta(let delta)?: sent.content = .delta(try self.delta(delta, type))
    }
    switch sent.content {
    case .null?, .entity?:
      if !sent.bindings.isEmpty { throw failure("", "it has both a binding and a value") }
    case nil where sent.bindings.isEmpty && sent.annotations.isEmpty: return nil
    case nil, .collection?, .delta?: break
    }
    return sent
  }

  private mutating func each<Item, Result>(
    _ items: [Item], _ body: (inout ContentWalk, Item) throws(ChangeContentError) -> Result
  ) throws(ChangeContentError) -> [Result] {
    var results: [Result] = []
    for item in items { results.append(try body(&self, item)) }
    return results
  }

  /// The URL of an inline entity that is only a reference, which versions before 4.01 write as a binding (OData JSON
  /// Format 4.01 §8.5).
  private func reference(_ entity: ODataEntity) -> String? {
    guard rules.version < .v401, entity.removal == nil, entity.properties.isEmpty, entity.navigationLinks.isEmpty,
      entity.streams.isEmpty,
      entity.annotations.allSatisfy({ ContentTerm(ODataTerm($0.term), ofValue: false) == .read })
    else { return nil }
    return entity.id ?? (rules.version < .v4 ? entity.editLink : nil)
  }

  /// Inline changes of a collection (OData JSON Format 4.01 §8.6, §15.2; Protocol 4.01 §11.4.3.1).
  private mutating func delta(_ given: ODataDelta, _ type: EdmStructure?) throws(ChangeContentError) -> ODataDelta {
    guard rules.version >= .v401, !rules.isAtom else {
      throw failure("@delta", "inline changes of related entities need V4.01; change them with requests of their own")
    }
    guard verb == .update else {
      throw failure("@delta", "inline changes of related entities are part of updates only")
    }
    _ = try annotations(given.annotations)
    var sent = ODataDelta()
    sent.items = try each(given.items) { walk, item throws(ChangeContentError) in
      switch item {
      case .entity(let entity): .entity(try walk.entity(entity, type, in: .change))
      case .deletedEntity(let entity): .deletedEntity(try walk.entity(entity, type, in: .change))
      case .addedLink, .deletedLink: throw walk.failure("@delta", "links cannot be inline changes")
      }
    }
    return sent
  }

  // MARK: Parameters

  /// The parameters of an action, among them entities.
  mutating func parameters(
    _ given: ODataEntity, _ types: [String: EdmTypeReference]
  ) throws(ChangeContentError) -> ODataEntity {
    var sent = ODataEntity()
    sent.annotations = try annotations(given.annotations)
    sent.properties = try each(given.properties) { walk, property throws(ChangeContentError) in
      try walk.property(property, types[property.name])
    }
    for link in given.navigationLinks {
      let type = rules.structure(types[link.name]?.item.name)
      let sentLink = try inside(link.name) { walk throws(ChangeContentError) in
        try walk.link(link, type, isParameter: true)
      }
      if let sentLink { sent.navigationLinks.append(sentLink) }
    }
    return sent
  }

  // MARK: Properties

  mutating func properties(
    _ given: [ODataProperty], of type: EdmStructure?
  ) throws(ChangeContentError) -> [ODataProperty] {
    try each(given) { walk, property throws(ChangeContentError) in
      let declared = type?.property(property.name)
      let isDynamic = type.map { $0.isOpen && declared == nil }
      return try walk.property(property, declared?.type, isDynamic: isDynamic)
    }
  }

  /// - Parameter isDynamic: whether an open type does not declare the property; nil if this is not known.
  mutating func property(
    _ given: ODataProperty, _ type: EdmTypeReference?, isDynamic: Bool? = nil
  ) throws(ChangeContentError) -> ODataProperty {
    try inside(given.name) { walk throws(ChangeContentError) in
      if type?.primitive == .stream, walk.rules.version < .v401 || walk.rules.isAtom { throw walk.streamFailure("") }
      var sent = ODataProperty(given.name, try walk.value(given.value, type))
      sent.annotations = try walk.annotations(given.annotations.filter { $0.term != "odata.type" })
      if isDynamic ?? (type == nil) {
        let named = given.annotations.first { $0.term == "odata.type" }
        sent.annotations += try walk.type(of: sent.value, named, isDynamic: isDynamic == true).map { [$0] } ?? []
      }
      return sent
    }
  }

  /// The type of an undeclared property as an annotation; nil if it need not be sent.
  private func type(
    of value: ODataValue, _ named: ODataAnnotation?, isDynamic: Bool
  ) throws(ChangeContentError) -> ODataAnnotation? {
    if rules.isAtom { return named }
    let implied = isDynamic ? value.undeclaredTypeName : nil
    if rules.version >= .v4 { return named ?? implied.map { ODataAnnotation(term: "odata.type", value: .string($0)) } }
    if case .complex(let complex) = value, complex.typeName != nil { return nil }
    switch value {
    case .byte, .sbyte, .int16, .int32, .double, .dateTimeOffset: if named == nil { return nil }
    default: break
    }
    guard named != nil || implied != nil else { return nil }
    throw failure("", "JSON of V2 and V3 cannot show the type of an undeclared property")
  }

  // MARK: Values

  private mutating func value(_ given: ODataValue, _ type: EdmTypeReference?) throws(ChangeContentError) -> ODataValue {
    switch given {
    case .collection(let items):
      .collection(try each(items) { walk, item throws(ChangeContentError) in try walk.value(item, type?.item) })
    case .complex(let complex): .complex(try self.complex(complex, type?.name))
    default: given
    }
  }

  private mutating func complex(
    _ given: ODataComplexValue, _ typeName: String?
  ) throws(ChangeContentError) -> ODataComplexValue {
    let type = rules.structure(given.typeName ?? typeName)
    var sent = ODataComplexValue(typeName: given.typeName)
    sent.annotations = try annotations(given.annotations, ofValue: true, of: type)
    for property in given.properties {
      // A reference in the place of an entity is a binding (OData JSON Format 4.01 §8.5).
      if case .complex(let value) = property.value, value.isReference, type?.navigationProperty(property.name) != nil,
        let id = value.annotations.first(where: { $0.term == "odata.id" })
      {
        let binding = ODataAnnotation(term: property.name + "@odata.bind", value: id.value)
        sent.annotations += try annotations([binding], ofValue: true)
      } else {
        sent.properties += try properties([property], of: type)
      }
    }
    return sent
  }

  // MARK: Annotations

  /// The annotations that are sent: instance annotations of the caller and, in a complex value, bindings and the
  /// reference to an entity.
  private mutating func annotations(
    _ given: [ODataAnnotation], ofValue: Bool = false, of type: EdmStructure? = nil
  ) throws(ChangeContentError) -> [ODataAnnotation] {
    var sent: [ODataAnnotation] = []
    for annotation in given {
      let term = ODataTerm(annotation.term)
      let spelling = (term.target ?? "") + "@" + term.name
      switch ContentTerm(term, ofValue: ofValue) {
      case .read: continue
      case .binding:
        guard case .string = annotation.value else { throw failure(spelling, "a binding is the URL of an entity") }
        guard rules.isV4JSON else { throw failure(spelling, "before V4, a complex value cannot bind entities") }
        if let type, !type.isOpen, let name = term.target, type.navigationProperty(name) == nil {
          throw failure(spelling, "\(type.name) has no navigation property '\(name)'")
        }
      case .reference:
        guard verb == .action, rules.isV4JSON else { throw failure(spelling, "a complex value has no id") }
      case .instance:
        guard rules.isV4JSON else {
          throw failure(
            spelling, "\(rules.isAtom ? "Atom" : "JSON of V2 and V3") cannot contain annotations; remove it")
        }
      case .unknown: throw failure(spelling, "this control information cannot be part of a change; remove it")
      }
      sent.append(annotation)
    }
    return sent
  }
}

/// What an annotation in a change's content is.
enum ContentTerm: Sendable, Hashable {
  /// Control information that was read: it says nothing about the change.
  case read
  /// Binds a navigation property of a complex value to an entity.
  case binding
  /// Names the entity that a value stands for.
  case reference
  /// An instance annotation.
  case instance
  /// Other control information.
  case unknown

  init(_ term: ODataTerm, ofValue: Bool) {
    guard term.isControl else {
      // All terms of annotations are qualified (CSDL 4.01 §14.1).
      self = ContentTerm.ownTerms.contains(term.name) ? .read : term.name.contains(".") ? .instance : .unknown
      return
    }
    switch (term.name.lowercased(), term.target) {
    case (let name, _) where name.hasPrefix("__") || ContentTerm.readNames.contains(name): self = .read
    case ("odata.type", _?): self = .read
    case ("odata.bind", _?) where ofValue: self = .binding
    case ("odata.id", nil) where ofValue: self = .reference
    default: self = .unknown
    }
  }

  /// The terms by which results of the offline store say what the store knows about an entity.
  private static let ownTerms: Set<String> = [
    "sap.isLocal", "sap.hasPendingChanges", "sap.inErrorState", "sap.upsertedLastDownload", "larder.rawValue",
  ]

  /// Control information of payloads that are read (OData JSON Format 4.01 §4.6).
  private static let readNames: Set<String> = [
    "odata.context", "odata.metadataetag", "odata.count", "odata.nextlink", "odata.deltalink", "odata.etag",
    "odata.editlink", "odata.readlink", "odata.navigationlink", "odata.associationlink", "odata.mediareadlink",
    "odata.mediaeditlink", "odata.mediacontenttype", "odata.mediaetag",
  ]
}
