import LarderOData

// The result of query options, in the form of ``QueryResult``: identities, expanded entities after a colon.
extension QueryEvaluator {
  /// The selected entities in their order; equal ones by key, null first.
  func rows(_ options: ODataBoundOptions, of entities: [QueryEntity]) throws -> [QueryEntity] {
    var matches = try matching(options, entities).map { entity in
      (entity, try options.orderBy.map { try on(entity).single($0.expression) })
    }
    matches.sort { one, other in
      for (place, item) in options.orderBy.enumerated() {
        let order = QueryEvaluator.rank(one.1[place], other.1[place])
        if order != 0 { return item.isDescending ? order > 0 : order < 0 }
      }
      return QueryEvaluator.isBefore(one.0, other.0)
    }
    let rest = matches.map(\.0).dropFirst(options.skip ?? 0)
    return Array(rest.prefix(options.top ?? .max))
  }

  func describe(_ options: ODataBoundOptions?, _ entities: [QueryEntity], isMany: Bool = true) throws -> String {
    let options = options ?? ODataBoundOptions()
    let rows = try isMany ? rows(options, of: entities) : entities
    let total = options.count == true && isMany ? "#\(try matching(options, entities).count)" : ""
    return total + "[" + (try rows.map { try describe($0, options.expand) }).joined(separator: ", ") + "]"
  }

  private func matching(_ options: ODataBoundOptions, _ entities: [QueryEntity]) throws -> [QueryEntity] {
    guard let filter = options.filter else { return entities }
    return try entities.filter { try on($0).test(filter) == true }
  }

  /// The evaluation on an expanded entity.
  private func on(_ entity: QueryEntity) -> QueryEvaluator {
    var inner = self
    inner.current = .entity(entity)
    inner.this = inner.current
    if isOutermost { inner.it = inner.current }
    return inner
  }

  private func single(_ expression: ODataBoundExpression) throws -> ODataValue {
    if case .value(let value) = try item(expression) { return value }
    return .null
  }

  private func describe(_ entity: QueryEntity, _ items: [ODataBoundExpandItem]) throws -> String {
    var inner = on(entity)
    inner.isOutermost = false
    var parts: [String: String] = [:]
    for item in items { try inner.expand(item, entity, &parts) }
    return "\(entity.id)" + parts.sorted { $0.key < $1.key }.map { " \($0.key):\($0.value)" }.joined()
  }

  private func expand(
    _ item: ODataBoundExpandItem, _ entity: QueryEntity, _ parts: inout [String: String]
  ) throws {
    var options = item.options
    if let levels = options?.levels {
      var again = item
      options?.levels = nil
      var goesOn = true
      if case .count(let count) = levels {
        again.options?.levels = .count(count - 1)
        goesOn = count > 1
      }
      if goesOn { options?.expand.append(again) }
    }
    var targets: [QueryEntity] = [entity]
    var name = ""
    var isMany = false
    for segment in item.path.segments {
      switch segment.kind {
      case .cast(let type):
        targets = targets.filter {
          QueryModel.shop.structure($0.type)?.chain.contains { $0.name == type.name } ?? false
        }
        if name.isEmpty, targets.isEmpty { return }
      case .navigation(let navigation):
        name = navigation.name
        isMany = navigation.property.isCollection
        targets = targets.flatMap { $0.links[name] ?? [] }
      default: throw Failure.unknown("\(segment.kind) in $expand")
      }
    }
    switch item.content {
    case .count:
      parts[name] = "#\(try matching(options ?? ODataBoundOptions(), targets).count)[]"
    default: parts[name] = try describe(options, targets, isMany: isMany)
    }
  }

  static func isBefore(_ one: QueryEntity, _ other: QueryEntity) -> Bool {
    for name in ["ID", "No"] {
      guard let a = one.values[name], let b = other.values[name] else { continue }
      let order = order(a, b) ?? 0
      if order != 0 { return order < 0 }
    }
    return one.id < other.id
  }
}
