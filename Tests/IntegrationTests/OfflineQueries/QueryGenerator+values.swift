import LarderOData

/// Expressions that give values.
extension QueryGenerator {
  /// A property of a scope with a suitable kind.
  mutating func leaf(_ scope: Scope, where fits: (ValueKind) -> Bool) -> QueryData.Leaf? {
    if let item = scope.item { return fits(item.kind) ? item : nil }
    guard let type = scope.type else { return nil }
    return pick(data.leaves(of: type).filter { fits($0.kind) })
  }

  func path(_ leaf: QueryData.Leaf, _ scope: Scope) -> String { scope.prefix + leaf.path }

  /// A property behind navigation properties that lead to one entity each.
  mutating func far(
    _ scope: Scope, where fits: (ValueKind) -> Bool
  ) -> (path: String, leaf: QueryData.Leaf, owner: EdmStructure)? {
    guard var type = scope.type else { return nil }
    var path = scope.prefix
    for step in 0..<2 {
      let ones = type.navigationProperties.filter { !$0.isCollection }
      guard let navigation = pick(ones), let target = navigation.type.name.flatMap({ model.structure($0) }) else {
        break
      }
      if step > 0, chance(60) { break }
      path += navigation.name + "/"
      type = target
    }
    guard path != scope.prefix, let leaf = pick(data.leaves(of: type).filter { fits($0.kind) }) else { return nil }
    return (path + leaf.path, leaf, type)
  }

  func values(_ leaf: QueryData.Leaf, _ scope: Scope) -> [JSONNode] {
    data.values[scope.values ?? "\(scope.type?.name ?? "")/\(leaf.path)"] ?? []
  }

  mutating func literal(_ leaf: QueryData.Leaf, _ scope: Scope) -> String? {
    pick(values(leaf, scope)).flatMap { QueryLiteral.text($0, leaf.kind, type: leaf.type, version: version) }
  }

  mutating func literal(_ leaf: QueryData.Leaf, _ type: EdmStructure) -> String? {
    literal(leaf, Scope(type: type, prefix: ""))
  }

  /// An expression of a kind: a property, a function's result, or something computed.
  mutating func value(_ kind: ValueKind, _ scope: Scope, depth: Int) -> QueryNode? {
    guard let leaf = leaf(scope, where: { $0 == kind }) else { return nil }
    let plain = QueryNode(.value(kind), path(leaf, scope))
    guard depth > 0, chance(75) else { return plain }
    switch kind {
    case .string: return text(plain, scope, depth: depth)
    case .integer, .decimal, .double: return number(kind, plain, leaf, scope, depth: depth)
    default: return plain
    }
  }

  private mutating func text(_ plain: QueryNode, _ scope: Scope, depth: Int) -> QueryNode? {
    let names = ["tolower", "toupper", "trim", "concat", "substring"].filter(features.functions.contains)
    guard let name = pick(names), let inner = value(.string, scope, depth: depth - 1) else { return plain }
    switch name {
    case "concat":
      return QueryNode(.value(.string), [.text("concat("), .node(inner), .text(",'\(roll(100))')")])
    case "substring":
      let length = chance(50) ? ",\(roll(5))" : ""
      return QueryNode(.value(.string), [.text("substring("), .node(inner), .text(",\(roll(4))\(length))")])
    default: return QueryNode(.value(.string), [.text("\(name)("), .node(inner), .text(")")])
    }
  }

  private mutating func number(
    _ kind: ValueKind, _ plain: QueryNode, _ leaf: QueryData.Leaf, _ scope: Scope, depth: Int
  ) -> QueryNode? {
    if kind == .integer, chance(30) {
      let names = ["length", "indexof"].filter(features.functions.contains)
      if let name = pick(names), let inner = value(.string, scope, depth: 0) {
        let more = name == "indexof" ? ",'a'" : ""
        return QueryNode(.value(kind), [.text("\(name)("), .node(inner), .text("\(more))")])
      }
    }
    let roundings = ["round", "floor", "ceiling"].filter(features.functions.contains)
    // Whole numbers beyond 64 bits are another matter, too.
    let isHuge = values(leaf, scope).contains { ($0.text.flatMap(Double.init) ?? 0).magnitude > 1e15 }
    if kind != .integer, !isHuge, chance(35), let name = pick(roundings) {
      return QueryNode(.value(kind), [.text("\(name)("), .node(plain), .text(")")])
    }
    guard let name = pick(features.arithmetic), leaf.type != .int64 else { return plain }
    // Small numbers: results of 64 bits and more are another matter.
    let constant = name == "div" || name == "mod" || name == "divby" ? "\(2 + roll(5))" : "\(roll(9))"
    let suffix = kind == .integer || chance(50) ? "" : isV4 ? ".5" : ".5M"
    if (name == "div" || name == "divby"), kind != .double { return plain }
    let (begin, end) = features.hasParentheses ? ("(", ")") : ("", "")
    // Python's decimals have the dividend's sign, as the standard has it; its other numbers have not.
    let isTaken = name == "mod" && (kind != .decimal || suffix.isEmpty && kind == .integer)
    return QueryNode(
      .value(kind), [.text(begin), .node(plain), .text(" \(name) \(constant)\(suffix)\(end)")],
      isTaken ? .remainder(constant + suffix) : .plain)
  }

  /// A part of a date or time.
  mutating func part(_ leaf: QueryData.Leaf, _ scope: Scope) -> QueryNode? {
    let names: [(String, ClosedRange<Int>)] =
      leaf.kind == .date
      ? [("year", 2010...2026), ("month", 1...12), ("day", 1...28)]
      : leaf.kind == .time
        ? [("hour", 0...23), ("minute", 0...59), ("second", 0...59)]
        : [
          ("year", 2010...2026), ("month", 1...12), ("day", 1...28), ("hour", 0...23), ("minute", 0...59),
          ("second", 0...59), ("totaloffsetminutes", -60...330),
        ]
    guard let (name, range) = pick(names.filter { features.functions.contains($0.0) }) else { return nil }
    let number = Int.random(in: range, using: &random)
    return .relation(
      .text("\(name)(\(path(leaf, scope)))"), pick(["eq", "ne", "lt", "ge"]) ?? "eq", .text("\(number)"))
  }
}
