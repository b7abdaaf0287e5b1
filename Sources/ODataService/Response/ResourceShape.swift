import OData

/// What a resource path leads to, by the model: read off the URL, for payloads that do not say it themselves.
struct ResourceShape: Sendable, Hashable {
  /// The kind of payload; nil where the path does not tell.
  var kind: PayloadKind?
  /// The type of the entity, of the rows, or of the value.
  var type: EdmTypeReference?

  /// The shape of a path relative to the service root; nil where the model does not know one of its segments.
  init?(path: String, model: EdmModel) {
    let text = path.prefix { $0 != "?" }
    if path.contains("$apply=") { return nil }
    var segments = ResourceSegment.split(text)[...]
    guard let first = segments.popFirst(), let start = ResourceShape.start(first, model) else { return nil }
    self = start
    for segment in segments { guard step(segment, model) else { return nil } }
  }

  /// The shape of an absolute URL whose root is not known: the first place from where the model knows every segment.
  init?(url: String, model: EdmModel) {
    let parts = URLParts(url)
    var path = parts.path[...]
    let query = parts.query.map { "?" + $0 } ?? ""
    while let slash = path.firstIndex(of: "/") {
      path = path[path.index(after: slash)...]
      if let shape = ResourceShape(path: path + query, model: model) {
        self = shape
        return
      }
    }
    return nil
  }

  /// The qualified name of the structured type; nil for others.
  var typeName: String? { type?.name }

  private init(kind: PayloadKind?, type: EdmTypeReference?) {
    self.kind = kind
    self.type = type
  }

  private static func start(_ segment: ResourceSegment, _ model: EdmModel) -> ResourceShape? {
    let name = segment.name
    if let set = model.entitySet(name) {
      return ResourceShape(kind: segment.hasKey ? .entity : .collection, type: .named(set.entityType))
    }
    if let singleton = model.singleton(name) { return ResourceShape(kind: .entity, type: .named(singleton.type)) }
    if let function = model.functionImport(name) {
      let type = function.returnType ?? function.function.flatMap { model.functions($0).first?.returnType }
      return type.map { returned($0.type, model) } ?? ResourceShape(kind: nil, type: nil)
    }
    if let action = model.actionImport(name) {
      return model.actions(action.action).first?.returnType.map { returned($0.type, model) }
        ?? ResourceShape(kind: nil, type: nil)
    }
    return nil
  }

  private static func returned(_ type: EdmTypeReference, _ model: EdmModel) -> ResourceShape {
    let isEntity = type.name.flatMap { model.structure($0)?.isEntityType } ?? false
    guard isEntity else { return ResourceShape(kind: .property, type: type) }
    return ResourceShape(kind: type.isCollection ? .collection : .entity, type: type.item)
  }

  private mutating func step(_ segment: ResourceSegment, _ model: EdmModel) -> Bool {
    switch segment.name {
    case "$value", "$count":
      self = ResourceShape(kind: nil, type: nil)
      return true
    case "$ref", "$links":
      kind = kind == .collection ? .references : .reference
      return true
    default: break
    }
    guard let structure = type?.name.flatMap({ model.structure($0) }) else { return false }
    let name = segment.name
    if let navigation = structure.navigationProperty(name) {
      let isCollection = navigation.isCollection && !segment.hasKey
      let isReference = kind == .reference || kind == .references
      kind = isReference ? (isCollection ? .references : .reference) : isCollection ? .collection : .entity
      type = navigation.type.item
      return true
    }
    if let property = structure.property(name) {
      self = ResourceShape(kind: .property, type: property.type)
      return true
    }
    return qualified(segment, model)
  }

  /// A type cast, or a bound function or action.
  private mutating func qualified(_ segment: ResourceSegment, _ model: EdmModel) -> Bool {
    if model.structure(segment.name) != nil {
      type = .named(segment.name)
      if segment.hasKey { kind = .entity }
      return true
    }
    let returns =
      model.functions(segment.name).first { $0.isBound }?.returnType
      ?? model.actions(segment.name).first { $0.isBound }?.returnType
    guard let returns else {
      let isAction = !model.actions(segment.name).isEmpty
      if isAction { self = ResourceShape(kind: nil, type: nil) }
      return isAction
    }
    self = ResourceShape.returned(returns.type, model)
    return true
  }
}

/// One segment of a resource path: a name, with or without a key.
struct ResourceSegment: Sendable, Hashable {
  var name: String
  var hasKey: Bool

  /// Cuts at the slashes outside quotes and brackets.
  static func split(_ path: Substring) -> [ResourceSegment] {
    var segments: [ResourceSegment] = []
    var isQuoted = false
    var start = path.startIndex
    for index in path.indices {
      if path[index] == "'" { isQuoted.toggle() }
      guard path[index] == "/", !isQuoted else { continue }
      segments.append(ResourceSegment(path[start..<index]))
      start = path.index(after: index)
    }
    segments.append(ResourceSegment(path[start...]))
    return segments.filter { !$0.name.isEmpty }
  }

  private init(_ text: Substring) {
    let name = text.prefix { $0 != "(" }
    self.name = String(name)
    hasKey = text.utf8.count > name.utf8.count + 2
  }
}
