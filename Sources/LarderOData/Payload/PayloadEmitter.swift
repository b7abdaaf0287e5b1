/// Reports values to a ``PayloadHandler``: converts values back to events.
///
/// Used by readers that need a whole entity before they can report it (in Atom, type and links may follow the content).
/// They read the entity into a value first. Primitive values are reported whole, by ``PayloadHandler/value(_:_:)``.
package struct PayloadEmitter {
  private let handler: any PayloadHandler
  private var names: [String: PayloadName] = [:]

  /// Creates an emitter for one payload.
  package init(_ handler: any PayloadHandler) { self.handler = handler }

  /// Reports a payload from begin to end.
  package mutating func emit(_ payload: ODataPayload) throws {
    switch payload {
    case .entity(let entity):
      try handler.beginPayload(.entity)
      try emit(entity, nil)
    case .collection(let collection):
      try handler.beginPayload(.collection)
      try control(.context, collection.context)
      for entity in collection.entities { try emit(entity, nil) }
      try emit(collection, on: nil)
    case .delta(let delta):
      try handler.beginPayload(.delta)
      try control(.context, delta.context)
      for item in delta.items { try emit(item) }
      try emit(delta, on: nil)
    case .property(let property): try emit(property)
    case .reference(let reference):
      try handler.beginPayload(.reference)
      try handler.reference(reference)
    case .references(let references):
      try handler.beginPayload(.references)
      try control(.context, references.context)
      for reference in references.references { try handler.reference(reference) }
      try control(.count, references.count.map { String($0) })
      try control(.nextLink, references.nextLink)
      for annotation in references.annotations { try handler.annotation(annotation, on: nil) }
    case .serviceDocument(let document):
      try handler.beginPayload(.serviceDocument)
      try control(.context, document.context)
      for element in document.elements { try handler.serviceElement(element) }
      for annotation in document.annotations { try handler.annotation(annotation, on: nil) }
    case .error(let error):
      try handler.beginPayload(.error)
      try handler.error(error)
    case .count(let count):
      try handler.beginPayload(.property)
      try handler.value(nil, .int64(count))
    }
    try handler.endPayload()
  }

  /// Reports one row of a delta.
  package mutating func emit(_ item: ODataDelta.Item) throws {
    switch item {
    case .entity(let entity), .deletedEntity(let entity): try emit(entity, nil)
    case .addedLink(let link): try handler.link(link, isDeleted: false)
    case .deletedLink(let link): try handler.link(link, isDeleted: true)
    }
  }

  /// Reports the information about a collection that is not in its rows; `name` is the navigation property of an inline
  /// collection.
  package mutating func emit(_ collection: ODataEntityCollection, on name: String?) throws {
    try control(.count, collection.count.map { String($0) }, on: name)
    try control(.nextLink, collection.nextLink, on: name)
    try control(.deltaLink, collection.deltaLink, on: name)
    guard name == nil else { return try control(.context, collection.context, on: name) }
    try control(.readLink, collection.readLink)
    for operation in collection.operations { try handler.operation(operation) }
    for annotation in collection.annotations { try handler.annotation(annotation, on: nil) }
  }

  private mutating func emit(_ delta: ODataDelta, on name: String?) throws {
    try control(.count, delta.count.map { String($0) }, on: name)
    try control(.nextLink, delta.nextLink, on: name)
    try control(.deltaLink, delta.deltaLink, on: name)
    guard name == nil else { return try control(.context, delta.context, on: name) }
    for annotation in delta.annotations { try handler.annotation(annotation, on: nil) }
  }

  /// Reports an entity; `name` is the navigation property of an inline entity.
  package mutating func emit(_ entity: ODataEntity, _ name: String?) throws {
    let role = entity.removal.map { PayloadEntityRole.deleted($0) } ?? .entity
    try handler.beginEntity(name.map { self.name($0) }, role: role, typeName: nil)
    try control(.context, entity.context)
    try control(.type, entity.typeName)
    if entity.isTransient {
      try handler.control(.id, on: nil, PayloadEmitter.null)
    } else {
      try control(.id, entity.id)
    }
    try control(.etag, entity.etag)
    try control(.editLink, entity.editLink)
    try control(.readLink, entity.readLink)
    if let media = entity.media { try emit(media, on: nil) }
    for property in entity.properties { try emit(property) }
    for link in entity.navigationLinks { try emit(link) }
    for stream in entity.streams { try emit(stream.link, on: stream.name) }
    for operation in entity.operations { try handler.operation(operation) }
    for annotation in entity.annotations { try handler.annotation(annotation, on: nil) }
    try handler.endEntity()
  }

  private mutating func emit(_ media: ODataMediaLink, on name: String?) throws {
    try control(.mediaReadLink, media.readLink, on: name)
    try control(.mediaEditLink, media.editLink, on: name)
    try control(.mediaContentType, media.contentType, on: name)
    try control(.mediaETag, media.etag, on: name)
  }

  private mutating func emit(_ link: ODataNavigationLink) throws {
    try control(.navigationLink, link.url, on: link.name)
    try control(.associationLink, link.associationURL, on: link.name)
    for binding in link.bindings { try control(.bind, binding, on: link.name) }
    try control(.count, link.count.map { String($0) }, on: link.name)
    let name = self.name(link.name)
    for annotation in link.annotations { try handler.annotation(annotation, on: name) }
    switch link.content {
    case nil: break
    case .null?: try handler.nullEntity(name)
    case .entity(let entity)?: try emit(entity, link.name)
    case .collection(let collection)?:
      try emit(collection, on: link.name)
      try handler.beginCollection(name, isDelta: false)
      for entity in collection.entities { try emit(entity, nil) }
      try handler.endCollection()
    case .delta(let delta)?:
      try emit(delta, on: link.name)
      try handler.beginCollection(name, isDelta: true)
      for item in delta.items { try emit(item) }
      try handler.endCollection()
    }
  }

  // MARK: Properties

  private mutating func emit(_ payload: ODataPropertyPayload) throws {
    try handler.beginPayload(.property)
    try control(.context, payload.context)
    try control(.type, payload.typeName)
    try emit(payload.value, payload.name)
    try control(.count, payload.count.map { String($0) })
    try control(.nextLink, payload.nextLink)
    let name = payload.name.map { self.name($0) }
    for annotation in payload.annotations { try handler.annotation(annotation, on: name) }
  }

  private mutating func emit(_ property: ODataProperty) throws {
    try emit(property.value, property.name)
    let name = self.name(property.name)
    for annotation in property.annotations { try handler.annotation(annotation, on: name) }
  }

  private mutating func emit(_ value: ODataValue, _ text: String?) throws {
    let name = text.map { self.name($0) }
    switch value {
    case .complex(let complex):
      try handler.beginComplex(name)
      try control(.type, complex.typeName)
      for annotation in complex.annotations { try handler.annotation(annotation, on: nil) }
      for property in complex.properties { try emit(property) }
      try handler.endComplex()
    case .collection(let items):
      try handler.beginValues(name)
      for item in items { try emit(item, nil) }
      try handler.endValues()
    default: try handler.value(name, value)
    }
  }

  // MARK: Names and scalars

  private mutating func name(_ text: String) -> PayloadName {
    if let cachedName = names[text] { return cachedName }
    let name = PayloadName(index: names.count, text: text)
    names[text] = name
    return name
  }

  /// Reports control information if there is any.
  package mutating func control(
    _ information: ControlInformation, _ text: String?, on name: String? = nil
  ) throws {
    guard let text else { return }
    let name = name.map { self.name($0) }
    try Array(text.utf8).withUnsafeBufferPointer { bytes in
      let scalar = PayloadScalar(
        kind: .string, isEscaped: false, bytes: bytes, type: .primitive(.string), dialect: .v4)
      try handler.control(information, on: name, scalar)
    }
  }

  private static var null: PayloadScalar {
    PayloadScalar(
      kind: .null, isEscaped: false, bytes: UnsafeBufferPointer(start: nil, count: 0), type: .untyped, dialect: .v4)
  }
}
