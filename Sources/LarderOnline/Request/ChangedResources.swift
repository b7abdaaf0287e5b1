import LarderOData
import LarderService

// Claims for the resources that a request changes. Two changes of one resource wait for each other; all other requests
// run concurrently.
//
// One resource is an entity with everything below it (properties, media, links, contained entities, bound operations),
// however its key is spelled. Creations in one set run one after another; a creation whose content has the key is also
// a change of that entity. A change of a set without a key (`Orders/$filter(…)/$each`), of a singleton or by an unbound
// action claims one resource with its name. Other paths to the same entity (`Orders(1)/Customer` for `Customers(7)`)
// are other resources.
extension ODataRequest {
  /// The claims for the changes in the request; none for reads.
  func claims(root: ODataServiceRoot, model: EdmModel?, version: ODataVersion?) -> [RequestClaim] {
    let changes: [ODataSingleRequest]
    switch self {
    case .single(let request): changes = request.isRead ? [] : [request]
    case .batch(let batch): changes = batch.items.flatMap { $0.requests.filter { !$0.isRead } }
    }
    return changes.flatMap {
      ChangedResource($0.path, root: root, model: model, version: version).claims(of: $0, model)
    }
  }
}

/// The first segments of a path: the name of a set, a singleton or an import, and a key.
private struct ChangedResource {
  let name: String
  /// The key's values, in the order of their names; nil if the path has no key.
  private let key: String?
  /// Whether segments follow.
  private let hasMore: Bool

  init(_ path: String, root: ODataServiceRoot, model: EdmModel?, version: ODataVersion?) {
    let absolute = try? root.absoluteText(path)
    let text = String((absolute.flatMap(root.relative) ?? path).prefix { $0 != "?" && $0 != "#" })
    let parsed = try? ODataParser(version ?? model?.version ?? .v4).path(text)
    guard let parsed, case .name(let first)? = parsed.segments.first?.kind else {
      (name, key, hasMore) = (text, nil, false)
      return
    }
    var rest = parsed.segments.dropFirst()
    // A type cast does not change the set.
    while case .qualifiedName(let type)? = rest.first?.kind, model?.structure(type) != nil { rest = rest.dropFirst() }
    if case .arguments(let arguments)? = rest.first?.kind, !arguments.isEmpty {
      key = Self.key(arguments)
      rest = rest.dropFirst()
    } else {
      key = nil
    }
    (name, hasMore) = (first, !rest.isEmpty)
  }

  func claims(of request: ODataSingleRequest, _ model: EdmModel?) -> [RequestClaim] {
    if let key { return [.shared(name), .alone(Self.entity(name, key))] }
    guard !hasMore, request.operation == .create || request.operation == .createMedia, let model else {
      return [.alone(name)]
    }
    let claims: [RequestClaim] = [.shared(name), .alone("\(name)(new)")]
    guard case .entity(let entity) = request.body, let key = Self.key(of: entity, in: name, model) else {
      return claims
    }
    return claims + [.alone(Self.entity(name, key))]
  }

  private static func entity(_ set: String, _ key: String) -> String { "\(set)(\(key))" }

  private static func key(_ arguments: [ODataArgument]) -> String {
    guard arguments.count > 1 else { return arguments.first.map { text($0.value) } ?? "" }
    return arguments.map { "\($0.name ?? "")=\(text($0.value))" }.sorted().joined(separator: ",")
  }

  private static func text(_ expression: ODataExpression) -> String {
    guard case .literal(let value) = expression.kind else { return "\(expression.kind)" }
    return text(value)
  }

  /// The value without its spelling: `5L`, `5` and `'5'` are one key, because clients spell keys in several ways.
  private static func text(_ value: ODataValue) -> String { (try? value.text()) ?? "\(value)" }

  /// The key in an entity's content; nil if a part is missing, because then the service assigns it.
  private static func key(of entity: ODataEntity, in set: String, _ model: EdmModel) -> String? {
    guard let declared = model.entitySet(set)?.entityType, let parts = model.structure(declared)?.key, !parts.isEmpty
    else { return nil }
    var values: [String] = []
    for part in parts {
      guard let value = entity[part.path], value != .null else { return nil }
      values.append(parts.count > 1 ? "\(part.name)=\(text(value))" : text(value))
    }
    return values.sorted().joined(separator: ",")
  }
}
