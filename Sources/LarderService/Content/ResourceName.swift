@_spi(Stores) import LarderHTTP
import LarderOData

/// The resource that a path begins with: the name of a set, a singleton or an import, and a key, however it is spelled.
package struct ResourceName: Sendable, Hashable {
  /// The name.
  package let name: String
  /// The key's values, in the order of their names; nil if the path has no key.
  package let key: String?
  /// Whether segments follow that are not type casts.
  package let hasMore: Bool

  /// Takes a path or URL apart.
  package init(_ path: String, root: ODataServiceRoot, model: EdmModel?, version: ODataVersion?) {
    let absolute = try? root.absoluteText(path)
    let text = String((absolute.flatMap(root.relative) ?? path).prefix { $0 != "?" && $0 != "#" })
    let parsed = try? ODataParser(version ?? model?.version ?? .v4).path(text)
    guard let parsed, case .name(let first)? = parsed.segments.first?.kind else {
      (name, key, hasMore) = (text, nil, false)
      return
    }
    var rest = parsed.segments.dropFirst()
    func dropCasts() {
      while case .qualifiedName(let type)? = rest.first?.kind, model?.structure(type) != nil { rest = rest.dropFirst() }
    }
    dropCasts()
    if case .arguments(let arguments)? = rest.first?.kind, !arguments.isEmpty {
      key = Self.key(arguments)
      rest = rest.dropFirst()
      dropCasts()
    } else {
      key = nil
    }
    (name, hasMore) = (first, !rest.isEmpty)
  }

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

  /// The key in an entity's content, in the form of ``key``; nil if a part is missing, because then the service assigns
  /// it.
  package static func key(of entity: ODataEntity, _ type: EdmStructure) -> String? {
    guard !type.key.isEmpty else { return nil }
    var values: [String] = []
    for part in type.key {
      guard let value = entity[part.path], value != .null else { return nil }
      values.append(type.key.count > 1 ? "\(part.name)=\(text(value))" : text(value))
    }
    return values.sorted().joined(separator: ",")
  }
}

extension ResourceName {
  /// The entity that an id names; nil if the id is not that of an entity of a set. The id may begin with another address
  /// of the service, as behind a gateway.
  package static func entity(
    _ id: String, root: ODataServiceRoot, model: EdmModel?, version: ODataVersion?
  ) -> ResourceName? {
    func isEntity(_ name: ResourceName) -> Bool {
      name.key != nil && !name.hasMore && model.map { $0.entitySet(name.name) != nil } ?? true
    }
    let whole = ResourceName(id, root: root, model: model, version: version)
    if isEntity(whole) { return whole }
    guard let model, let scheme = id.firstRange(of: "://") else { return nil }
    var rest = id[scheme.upperBound...].drop { $0 != "/" }
    while rest.first == "/" {
      rest = rest.dropFirst()
      let name = ResourceName(String(rest), root: root, model: model, version: version)
      if isEntity(name) { return name }
      rest = rest.drop { $0 != "/" }
    }
    return nil
  }
}
