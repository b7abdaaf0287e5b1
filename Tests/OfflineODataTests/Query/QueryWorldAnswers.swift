import OData

/// Evaluates bound expressions on entities in memory, straightforwardly: what the standard says, and nothing of SQL.
struct QueryWorldAnswers {
  let world: QueryWorld
  var current: Item
  var it: Item
  var this: Item
  var variables: [String: Item] = [:]

  /// What a path begins at or has come to.
  indirect enum Item {
    case value(ODataValue)
    case entity(QueryEntity)
    case many([Item])

    static var null: Item { .value(.null) }
  }

  init(world: QueryWorld, entity: QueryEntity) {
    self.world = world
    current = .entity(entity)
    it = current
    this = current
  }

  // MARK: Conditions

  /// True, false or null.
  func test(_ expression: ODataBoundExpression) -> Bool? {
    switch expression.kind {
    case .and(let parts):
      let values = parts.map { test($0) }
      return values.contains(false) ? false : values.contains(nil) ? nil : true
    case .or(let parts):
      let values = parts.map { test($0) }
      return values.contains(true) ? true : values.contains(nil) ? nil : false
    case .not(let operand): return test(operand).map { !$0 }
    case .binary(let name, let left, let right): return compare(name, item(left), item(right))
    case .membership(let left, let right):
      let value = item(left)
      return items(right).contains { equal(value, $0) }
    case .isof(let operand, let type): return isof(operand.map { item($0) } ?? current, type)
    case .call(let function, let arguments): return truth(function, arguments)
    default:
      if case .value(.boolean(let flag)) = item(expression) { return flag }
      return nil
    }
  }

  private func compare(_ name: ODataBinaryOperator, _ left: Item, _ right: Item) -> Bool? {
    switch name {
    case .equal: return equal(left, right)
    case .notEqual: return !equal(left, right)
    case .has:
      guard case .value(.enumeration(let one)) = left, case .value(.enumeration(let other)) = right else { return nil }
      guard let a = Int64(one), let b = Int64(other) else { return nil }
      return a & b == b
    default:
      guard case .value(let one) = left, case .value(let other) = right, let order = QueryWorldAnswers.order(one, other)
      else {
        return false
      }
      switch name {
      case .less: return order < 0
      case .lessOrEqual: return order <= 0
      case .greater: return order > 0
      default: return order >= 0
      }
    }
  }

  private func equal(_ left: Item, _ right: Item) -> Bool {
    switch (left, right) {
    case (.entity(let one), .entity(let other)): one == other
    case (.value(.null), .value(.null)): true
    case (.value(let one), .value(let other)):
      one != .null && other != .null && QueryWorldAnswers.order(one, other) == 0
    default: false
    }
  }

  private func isof(_ item: Item, _ type: ODataBoundType) -> Bool {
    switch item {
    case .entity(let entity):
      return QueryModel.shop.structure(entity.type)?.chain.contains { $0.name == type.structure?.name } ?? false
    case .value(.complex(let complex)):
      let name = complex.typeName ?? "Shop.Address"
      return QueryModel.shop.structure(name)?.chain.contains { $0.name == type.structure?.name } ?? false
    case .value(let value): return value != .null
    case .many: return false
    }
  }

  private func truth(_ function: ODataCanonicalFunction, _ arguments: [ODataBoundExpression]) -> Bool? {
    let values = arguments.map { item($0) }
    guard values.count == 2, case .value(.string(let text)) = values[0], case .value(.string(let part)) = values[1]
    else { return nil }
    let (all, some) = (Array(text.unicodeScalars), Array(part.unicodeScalars))
    switch function {
    case .contains: return index(of: some, in: all) != nil
    case .startswith: return all.starts(with: some)
    case .endswith: return all.reversed().starts(with: some.reversed())
    default: return nil
    }
  }

  private func index(of part: [Unicode.Scalar], in all: [Unicode.Scalar]) -> Int? {
    guard part.count <= all.count else { return nil }
    return (0...(all.count - part.count)).first { all[$0...].starts(with: part) }
  }

  // MARK: Values

  func item(_ expression: ODataBoundExpression) -> Item {
    switch expression.kind {
    case .literal(let value): return .value(value)
    case .enumeration(_, let number): return .value(.enumeration(String(number)))
    case .path(let path): return follow(path)
    case .conditional(let branches):
      return branches.first { test($0.condition) == true }.map { item($0.value) } ?? .null
    case .binary(let name, let left, let right) where [.add, .subtract, .multiply].contains(name):
      return .value(calculate(name, item(left), item(right)))
    case .call(.concat, let arguments):
      var all = ""
      for argument in arguments {
        guard case .value(.string(let text)) = item(argument) else { return .null }
        all += text
      }
      return .value(.string(all))
    case .call(let function, let arguments) where !QueryWorldAnswers.truths.contains(function):
      return .value(scalar(function, arguments.map { item($0) }))
    case .cast(let operand, let type):
      return isof(operand.map { item($0) } ?? current, type) ? operand.map { item($0) } ?? current : .null
    default: return test(expression).map { .value(.boolean($0)) } ?? .null
    }
  }

  private static let truths: Set<ODataCanonicalFunction> = [.contains, .startswith, .endswith]

  private func scalar(_ function: ODataCanonicalFunction, _ values: [Item]) -> ODataValue {
    switch values[0] {
    case .value(.decimal(let number)):
      // Ten decimals are far more than these numbers need to be rounded rightly.
      let double = Double(number)
      let whole =
        switch function {
        case .round: double.rounded(.toNearestOrAwayFromZero)
        case .floor: double.rounded(.down)
        default: number > ODataDecimal(Int(double)) ? Double(Int(double) + 1) : double.rounded(.up)
        }
      return .decimal(ODataDecimal(Int(whole)))
    case .value(.date(let date)): return part(function, date)
    case .value(.dateTimeOffset(let moment)): return part(function, moment.date)
    default: break
    }
    guard case .value(.string(let text)) = values[0] else { return .null }
    switch function {
    case .length: return .int32(Int32(text.unicodeScalars.count))
    case .tolower: return .string(text.lowercased())
    case .trim: return .string(text)
    default:
      guard values.count == 2, case .value(.string(let part)) = values[1] else { return .null }
      return .int32(Int32(index(of: Array(part.unicodeScalars), in: Array(text.unicodeScalars)) ?? -1))
    }
  }

  private func part(_ function: ODataCanonicalFunction, _ date: ODataDate) -> ODataValue {
    .int32(Int32(function == .year ? date.year : function == .month ? date.month : date.day))
  }

  private func calculate(_ name: ODataBinaryOperator, _ left: Item, _ right: Item) -> ODataValue {
    guard case .value(let a) = left, case .value(let b) = right, let one = QueryWorldAnswers.whole(a),
      let other = QueryWorldAnswers.whole(b)
    else { return .null }
    return .int64(name == .add ? one + other : name == .subtract ? one - other : one * other)
  }

  private func items(_ expression: ODataBoundExpression) -> [Item] {
    switch expression.kind {
    case .list(let items), .array(let items): return items.map { item($0) }
    default: if case .many(let items) = item(expression) { return items } else { return [] }
    }
  }

  // MARK: Paths

  private func follow(_ path: ODataBoundPath) -> Item {
    var item: Item
    switch path.root {
    case .it: item = it
    case .this: item = this
    case .variable(let name): item = variables[name] ?? .null
    case .expression(let expression): item = self.item(expression)
    case .root: item = .null
    default: item = current
    }
    for segment in path.segments { item = step(segment, item) }
    return item
  }

  private func step(_ segment: ODataBoundSegment, _ item: Item) -> Item {
    switch segment.kind {
    case .source(let source): return .many(world.all(source.name).map { .entity($0) })
    case .property(let property): return member(property.name, item)
    case .dynamic(let name): return member(name, item)
    case .navigation(let navigation): return related(navigation, item)
    case .cast(let type): return isof(item, ODataBoundType(.structure(type))) ? item : .null
    case .key(let parts):
      guard case .many(let items) = item else { return .null }
      return items.first { candidate in
        parts.allSatisfy { part in
          guard let value = part.value else { return true }
          return equal(member(part.part.property.name, candidate), self.item(value))
        }
      } ?? .null
    case .any(let lambda): return .value(.boolean(all(item).contains { test($0, lambda) == true || lambda == nil }))
    case .all(let lambda): return .value(.boolean(all(item).allSatisfy { test($0, lambda) == true }))
    case .count(let options):
      let filter = options?.filter
      let found = all(item).filter { candidate in
        guard let filter else { return true }
        var inner = self
        inner.current = candidate
        inner.this = candidate
        return inner.test(filter) == true
      }
      return .value(.int64(Int64(found.count)))
    default: return .null
    }
  }

  private func all(_ item: Item) -> [Item] { if case .many(let items) = item { items } else { [] } }

  private func test(_ item: Item, _ lambda: ODataBoundLambda?) -> Bool? {
    guard let lambda else { return nil }
    var inner = self
    inner.variables[lambda.variable] = item
    return inner.test(lambda.predicate)
  }

  private func member(_ name: String, _ item: Item) -> Item {
    var value = ODataValue.null
    var type: EdmStructure?
    switch item {
    case .entity(let entity):
      value = entity.values[name] ?? .null
      type = QueryModel.shop.structure(entity.type)
    case .value(.complex(let complex)):
      value = complex[name] ?? .null
      type = QueryModel.shop.structure(complex.typeName ?? "Shop.Address")
    default: return .null
    }
    if case .collection(let items) = value { return .many(items.map { .value($0) }) }
    if case .enumeration(let members) = value {
      let declared = type?.property(name)?.type.name.flatMap { QueryModel.shop.enumType($0) }
      return .value(.enumeration(String(QueryWorldAnswers.number(members, of: declared))))
    }
    return .value(value)
  }

  private func related(_ navigation: ODataDeclaredNavigation, _ item: Item) -> Item {
    let targets: [QueryEntity]
    if case .entity(let entity) = item { targets = entity.links[navigation.name] ?? [] } else { targets = [] }
    if navigation.property.isCollection { return .many(targets.map { .entity($0) }) }
    return targets.first.map { .entity($0) } ?? .null
  }

  // MARK: Order

  static func number(_ members: String, of type: EdmEnumType?) -> Int64 {
    members.split(separator: ",").reduce(0) { sum, name in
      sum | (type?.members.first { $0.name == name }?.value ?? Int64(name) ?? 0)
    }
  }

  static func whole(_ value: ODataValue) -> Int64? {
    switch value {
    case .byte(let number): Int64(number)
    case .sbyte(let number): Int64(number)
    case .int16(let number): Int64(number)
    case .int32(let number): Int64(number)
    case .int64(let number): number
    default: nil
    }
  }

  /// How two values are ordered; nil where they are not, as with null and NaN.
  static func order(_ left: ODataValue, _ right: ODataValue) -> Int? {
    func sign<Value: Comparable>(_ a: Value, _ b: Value) -> Int { a < b ? -1 : a == b ? 0 : 1 }
    func decimal(_ value: ODataValue) -> ODataDecimal? {
      if case .decimal(let number) = value { return number }
      return whole(value).map { ODataDecimal($0) }
    }
    func double(_ value: ODataValue) -> Double? {
      if case .double(let number) = value { return number }
      return decimal(value).map { Double($0) }
    }
    switch (left, right) {
    case (.string(let a), .string(let b)):
      return a.utf8.elementsEqual(b.utf8) ? 0 : a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
    case (.boolean(let a), .boolean(let b)): return sign(a ? 1 : 0, b ? 1 : 0)
    case (.date(let a), .date(let b)): return sign(a, b)
    case (.dateTimeOffset(let a), .dateTimeOffset(let b)): return sign(a, b)
    case (.duration(let a), .duration(let b)): return sign(a, b)
    case (.guid(let a), .guid(let b)): return sign(a, b)
    case (.enumeration(let a), .enumeration(let b)): return sign(Int64(a) ?? 0, Int64(b) ?? 0)
    default:
      if let a = decimal(left), let b = decimal(right) { return sign(a, b) }
      guard let a = double(left), let b = double(right), !a.isNaN, !b.isNaN else { return nil }
      return sign(a, b)
    }
  }
}
