/// The kind and type of the resource that a path identifies in a model, for payloads that do not name their type.
package struct ResourceShape: Sendable, Hashable {
  /// The kind of payload; nil if the path does not determine it.
  package var kind: PayloadKind?
  /// The type of the entity, of the rows, or of the value.
  package var type: EdmTypeReference?

  /// The shape of a path relative to the service root; nil if a segment is not in the model.
  package init?(path: String, model: EdmModel) {
    let text = path.prefix { $0 != "?" && $0 != "#" }
    if path.contains("$apply=") { return nil }
    var segments = ResourceSegment.split(text)[...]
    guard let first = segments.popFirst(), let start = ResourceShape.start(first, model) else { return nil }
    self = start
    for segment in segments { guard step(segment, model) else { return nil } }
  }

  /// The shape of a URL whose root is not known: it starts at the first segment from which all are in the model. A relative
  /// URL may start there.
  package init?(url: String, model: EdmModel) {
    var path = url[...]
    if let scheme = url.prefix(while: { $0 != "?" && $0 != "(" }).firstRange(of: "://") {
      path = url[scheme.upperBound...].drop { $0 != "/" && $0 != "?" }
    }
    while true {
      if let shape = ResourceShape(path: String(path), model: model) {
        self = shape
        return
      }
      guard let next = path.firstIndex(where: { $0 == "/" || $0 == "?" || $0 == "#" }), path[next] == "/" else {
        return nil
      }
      path = path[path.index(after: next)...]
    }
  }

  /// The qualified name of the structured type; nil for others.
  package var typeName: String? { type?.name }

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

  /// Reads a type cast, or a bound function or action.
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

extension PayloadOptions {
  /// Derives the options from a request and its response.
  ///
  /// - Parameters:
  ///   - url: the request's URL, absolute or relative; nil if it is not known.
  ///   - status: the response's status code. The response to a POST to a collection (201) contains the one entity that
  ///     was created.
  ///   - contentType: the response's media type.
  package init(
    model: EdmModel?, url: String?, status: Int?, version: ODataVersion?, contentType: String? = nil
  ) {
    self.init(model: model)
    dialect = version?.dialect
    charset = contentType.flatMap { MediaType($0)["charset"] }
    guard let model, let url, let shape = ResourceShape(url: url, model: model) else { return }
    expectedType = shape.type
    expected = status == 201 && shape.kind == .collection ? .entity : shape.kind
  }
}

/// One segment of a resource path: a name, with or without a key.
struct ResourceSegment: Sendable, Hashable {
  var name: String
  var hasKey: Bool

  /// Splits at the slashes outside quotes, which may be percent-encoded.
  static func split(_ path: Substring) -> [ResourceSegment] {
    var segments: [ResourceSegment] = []
    var isQuoted = false
    let path = path.replacing("%27", with: "'")
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
