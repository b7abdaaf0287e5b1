import LarderOData

/// Evaluates bound expressions on entities in memory, by the rules of the standard and without SQL.
///
/// Conditions and paths are here, values in `QueryEvaluator+values`, functions in `QueryEvaluator+functions`.
struct QueryEvaluator {
  let dataSet: QueryDataSet
  var current: Item
  var it: Item
  var this: Item
  var variables: [String: Item] = [:]
  /// The properties that `$compute` has added.
  var computed: [String: Item] = [:]
  /// Whether the entities are those of the URL's path, not expanded ones.
  var isOutermost = true

  /// The value at the start of a path, or after some of its segments.
  indirect enum Item {
    case value(ODataValue)
    case entity(QueryEntity)
    case many([Item])

    static var null: Item { .value(.null) }
  }

  /// The reason why an expression has no value and the request fails.
  enum Failure: Error {
    case divisionByZero, overflow
    /// The evaluator does not know the construct.
    case unknown(String)
  }

  init(dataSet: QueryDataSet, entity: QueryEntity) {
    self.dataSet = dataSet
    current = .entity(entity)
    it = current
    this = current
  }

  // MARK: Conditions

  /// True, false or null.
  func test(_ expression: ODataBoundExpression) throws -> Bool? {
    switch expression.kind {
    case .and(let parts):
      let values = try parts.map { try test($0) }
      return values.contains(false) ? false : values.contains(nil) ? nil : true
    case .or(let parts):
      let values = try parts.map { try test($0) }
      return values.contains(true) ? true : values.contains(nil) ? nil : false
    case .not(let operand): return try test(operand).map { !$0 }
    case .binary(let name, let left, let right) where name.isRelation: return try compare(name, left, right)
    case .membership(let left, let right):
      let value = try item(left)
      return try items(right).contains { try equal(value, $0) }
    case .isof(let operand, let type): return isof(try operand.map { try item($0) } ?? current, type)
    case .call(let function, let arguments) where function.isPredicate: return try truth(function, arguments)
    case .isdefined(let path): return try isdefined(path)
    default:
      if case .value(.boolean(let flag)) = try item(expression) { return flag }
      return nil
    }
  }

  private func compare(
    _ name: ODataBinaryOperator, _ left: ODataBoundExpression, _ right: ODataBoundExpression
  ) throws -> Bool? {
    let (one, other) = (try item(left), try item(right))
    switch name {
    case .equal: return try equal(one, other, left.type, right.type)
    case .notEqual: return try !equal(one, other, left.type, right.type)
    case .has:
      guard case .value(.enumeration(let one)) = one, case .value(.enumeration(let other)) = other else { return nil }
      guard let a = Int64(one), let b = Int64(other) else { return nil }
      return a & b == b
    default:
      // Null equals itself, so it is le and ge itself (4.0 and 4.01 §5.1.1.1.4, §5.1.1.1.6).
      if case .value(.null) = one, case .value(.null) = other { return name == .lessOrEqual || name == .greaterOrEqual }
      guard case .value(let one) = one, case .value(let other) = other,
        let order = QueryEvaluator.order(one, other, left.type, right.type)
      else { return false }
      switch name {
      case .less: return order < 0
      case .lessOrEqual: return order <= 0
      case .greater: return order > 0
      default: return order >= 0
      }
    }
  }

  func equal(
    _ left: Item, _ right: Item, _ one: ODataBoundType? = nil, _ other: ODataBoundType? = nil
  ) throws -> Bool {
    switch (left, right) {
    case (.entity(let one), .entity(let other)): return one == other
    case (.value(.null), .value(.null)): return true
    case (.value(.null), _), (_, .value(.null)): return false
    case (.value(.complex(let a)), .value(.complex(let b))): return try equal(a, b)
    case (.value(.collection(let a)), _): return try equal(.many(a.map { .value($0) }), right)
    case (_, .value(.collection(let b))): return try equal(left, .many(b.map { .value($0) }))
    case (.value(let a), .value(let b)): return QueryEvaluator.order(a, b, one, other) == 0
    case (.many(let a), .many(let b)):
      return try a.count == b.count && zip(a, b).allSatisfy { try equal($0.0, $0.1) }
    default: return false
    }
  }

  /// Whether two values have the same type and equal properties (URL Conventions 4.01 §5.1.1.1.1).
  private func equal(_ left: ODataComplexValue, _ right: ODataComplexValue) throws -> Bool {
    guard left.typeName == right.typeName else { return false }
    let names = Set(left.properties.map(\.name)).union(right.properties.map(\.name))
    return try names.allSatisfy { try equal(.value(left[$0] ?? .null), .value(right[$0] ?? .null)) }
  }

  func isof(_ item: Item, _ type: ODataBoundType) -> Bool {
    switch item {
    case .entity(let entity):
      return QueryModel.shop.structure(entity.type)?.chain.contains { $0.name == type.structure?.name } ?? false
    case .value(.complex(let complex)):
      let chain = QueryModel.shop.structure(complex.typeName ?? QueryDataSet.declared(complex))?.chain ?? []
      return chain.contains { $0.name == type.structure?.name }
    case .value(let value): return value != .null
    case .many: return false
    }
  }

  private func isdefined(_ path: ODataBoundPath) throws -> Bool {
    guard case .dynamic(let name)? = path.segments.last?.kind else { return true }
    var owner = path
    owner.segments.removeLast()
    guard case .entity(let entity) = try follow(owner) else { return false }
    return entity.values[name] != nil
  }

  // MARK: Paths

  func follow(_ path: ODataBoundPath) throws -> Item {
    var item: Item
    switch path.root {
    case .it: item = it
    case .this: item = this
    case .variable(let name): item = variables[name] ?? .null
    case .expression(let expression): item = try self.item(expression)
    case .root: item = .null
    default: item = current
    }
    for segment in path.segments { item = try step(segment, item) }
    return item
  }

  private func step(_ segment: ODataBoundSegment, _ item: Item) throws -> Item {
    switch segment.kind {
    case .source(let source): return .many(dataSet.all(source.name).map { .entity($0) })
    case .property(let property): return member(property.name, item)
    case .dynamic(let name): return member(name, item)
    case .computed(let name): return computed[name] ?? .null
    case .navigation(let navigation): return related(navigation, item)
    case .cast(let type):
      if case .many(let items) = item { return .many(items.filter { isof($0, ODataBoundType(.structure(type))) }) }
      return isof(item, ODataBoundType(.structure(type))) ? item : .null
    case .key(let parts): return try keyed(parts, item)
    case .any(let lambda):
      guard let lambda else { return .value(.boolean(!all(item).isEmpty)) }
      return .value(.boolean(try all(item).contains { try test($0, lambda) == true }))
    case .all(let lambda): return .value(.boolean(try all(item).allSatisfy { try test($0, lambda) == true }))
    case .count(let options):
      guard let filter = options?.filter else { return .value(.int64(Int64(all(item).count))) }
      return .value(.int64(Int64(try filtered(all(item), filter).count)))
    case .filter(let condition): return .many(try filtered(all(item), condition))
    default: throw Failure.unknown("\(segment.kind)")
    }
  }

  /// The items that meet a condition, each of them `$this`.
  func filtered(_ items: [Item], _ condition: ODataBoundExpression) throws -> [Item] {
    try items.filter { candidate in
      var inner = self
      inner.current = candidate
      inner.this = candidate
      return try inner.test(condition) == true
    }
  }

  private func keyed(_ parts: [ODataBoundKeyPart], _ item: Item) throws -> Item {
    try all(item).first { candidate in
      try parts.allSatisfy { part in
        guard let value = part.value else { return true }
        return try equal(member(part.part.property.name, candidate), self.item(value))
      }
    } ?? .null
  }

  private func all(_ item: Item) -> [Item] {
    switch item {
    case .many(let items): items
    case .value(.collection(let values)): values.map { .value($0) }
    default: []
    }
  }

  private func test(_ item: Item, _ lambda: ODataBoundLambda) throws -> Bool? {
    var inner = self
    inner.variables[lambda.variable] = item
    return try inner.test(lambda.predicate)
  }

  func member(_ name: String, _ item: Item) -> Item {
    var value = ODataValue.null
    var type: EdmStructure?
    switch item {
    case .entity(let entity):
      value = entity.values[name] ?? .null
      type = QueryModel.shop.structure(entity.type)
    case .value(.complex(let complex)):
      value = complex[name] ?? .null
      type = QueryModel.shop.structure(complex.typeName ?? QueryDataSet.declared(complex))
    default: return .null
    }
    if case .collection(let items) = value { return .many(items.map { .value($0) }) }
    if case .enumeration(let members) = value {
      let declared = type?.property(name)?.type.name.flatMap { QueryModel.shop.enumType($0) }
      return .value(.enumeration(String(QueryEvaluator.number(members, of: declared))))
    }
    return .value(value)
  }

  private func related(_ navigation: ODataDeclaredNavigation, _ item: Item) -> Item {
    let targets: [QueryEntity]
    if case .entity(let entity) = item { targets = entity.links[navigation.name] ?? [] } else { targets = [] }
    if navigation.property.isCollection { return .many(targets.map { .entity($0) }) }
    return targets.first.map { .entity($0) } ?? .null
  }

  private func items(_ expression: ODataBoundExpression) throws -> [Item] {
    switch expression.kind {
    case .list(let items), .array(let items): try items.map { try item($0) }
    default: all(try item(expression))
    }
  }
}

extension ODataBinaryOperator {
  /// Whether the result is true, false or null.
  var isRelation: Bool {
    switch self {
    case .add, .subtract, .multiply, .divide, .divideBy, .modulo: false
    default: true
    }
  }
}
