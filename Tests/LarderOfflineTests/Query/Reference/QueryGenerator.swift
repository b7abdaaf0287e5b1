import LarderOData

/// Creates random expressions as the text of URLs: over a shop's entities, of all types and with all operators that have a
/// value in ``QueryEvaluator``.
struct QueryGenerator<Random: RandomNumberGenerator> {
  var random: Random
  private var variables = 0
  /// Whether `$it` may refer to entities of the URL's path.
  var outermost = QueryPlace.product

  init(_ random: Random) { self.random = random }

  /// A condition on entities.
  mutating func filter(_ place: QueryPlace = .product, depth: Int = 3) -> String {
    outermost = place
    return condition(QueryScope("", place), depth)
  }

  /// A value of a simple kind.
  mutating func value(_ place: QueryPlace, depth: Int = 2) -> String {
    outermost = place
    let kinds: [QueryKind] = [.whole, .decimal, .double, .string, .date, .timestamp, .time, .duration, .boolean]
    return value(pick(kinds), QueryScope("", place), depth)
  }

  // MARK: Chance

  mutating func pick<Item>(_ items: [Item]) -> Item { items[Int.random(in: 0..<items.count, using: &random)] }
  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  // MARK: Conditions

  mutating func condition(_ scope: QueryScope, _ depth: Int) -> String {
    if depth > 0, chance(50) {
      let one = condition(scope, depth - 1)
      switch below(6) {
      case 0, 1: return "(\(one) and \(condition(scope, depth - 1)))"
      case 2, 3: return "(\(one) or \(condition(scope, depth - 1)))"
      case 4: return "not (\(one))"
      default: return "(\(one)) \(pick(["eq", "ne"])) \(pick(["true", "false", "null"]))"
      }
    }
    switch below(20) {
    case 0...8: return comparison(scope, depth)
    case 9, 10:
      let function = pick(["contains", "startswith", "endswith"])
      return "\(function)(\(value(.string, scope, depth)),\(chance(80) ? literal(.string) : value(.string, scope, 0)))"
    case 11, 12: return membership(scope, depth)
    case 13: return special(scope)
    case 14:
      guard let path = path(.boolean, scope) else { return comparison(scope, depth) }
      return path
    case 15: return collections(scope)
    case 16 where depth > 0:
      return "case(\(condition(scope, depth - 1)):\(condition(scope, 0)),true:\(condition(scope, 0)))"
    default: return lambda(scope, depth) ?? comparison(scope, depth)
    }
  }

  private mutating func comparison(_ scope: QueryScope, _ depth: Int) -> String {
    let kind = pick(
      [
        .whole, .whole, .decimal, .double, .string, .string, .date, .timestamp, .time, .duration, .guid, .color,
        .traits,
        .boolean, .binary, .single,
      ] as [QueryKind])
    let relation = kind.isOrdered ? pick(["eq", "ne", "lt", "le", "gt", "ge"]) : pick(["eq", "ne"])
    // Numbers of all kinds are mixed.
    let other = kind.isNumber && chance(30) ? pick([.whole, .decimal, .double, .single] as [QueryKind]) : kind
    let left = value(kind, scope, depth)
    let right = chance(10) ? "null" : chance(45) ? literal(other) : value(other, scope, depth)
    return chance(15) ? "\(right) \(relation) \(left)" : "\(left) \(relation) \(right)"
  }

  private mutating func membership(_ scope: QueryScope, _ depth: Int) -> String {
    let kind = pick([.whole, .decimal, .double, .string, .date, .timestamp, .duration, .guid, .color] as [QueryKind])
    let left = value(kind, scope, depth)
    if kind == .string, let tags = collection(.string, scope), chance(25) { return "\(left) in \(tags)" }
    if kind == .whole, let numbers = collection(.whole, scope), chance(25) { return "\(left) in \(numbers)" }
    let items = (0..<(1 + below(3))).map { _ in chance(15) ? "null" : literal(kind) }
    return "\(left) in (\(items.joined(separator: ",")))"
  }

  /// A condition that is neither a comparison of values nor a lambda.
  private mutating func special(_ scope: QueryScope) -> String {
    let prefix = scope.prefix
    switch (scope.place, below(6)) {
    case (.product, 0):
      return "\(prefix)\(pick(["Category", "Home", "Shop.Special/Best", "Maker/Site"])) \(pick(["eq", "ne"])) null"
    case (.product, 1): return "\(prefix)Traits has Shop.Traits'\(pick(["New", "Sale", "New,Sale", "Plain"]))'"
    case (.product, 2): return isof(scope, ["Shop.Special", "Shop.Product"])
    case (.product, 3): return "isof(\(prefix)\(pick(["Home", "Maker/Site"])),\(pick(["Shop.Abroad", "Shop.Address"])))"
    case (.product, 4):
      return "\(prefix)Home \(pick(["eq", "ne"])) \(prefix)\(pick(["Maker/Site", "Home"]))"
    case (.product, _):
      return
        "\(prefix)Category \(pick(["eq", "ne"])) \(prefix)\(pick(["Category/Parent", "Category", "Shop.Special/Best/Category"]))"
    case (.category, _): return "\(prefix)Parent \(pick(["eq", "ne"])) null"
    case (.order, 0...2):
      let name = pick(["Note", "Rank", "Nothing"])
      return "\(prefix)\(name) \(pick(["eq", "ne"])) \(pick(["null", "'note 2'", "3", "'x'"]))"
    case (.order, 3): return "isdefined(\(prefix)\(pick(["Note", "Rank", "Nothing"])))"
    case (.order, _): return "\(prefix)Rank \(pick(["lt", "ge"])) \(pick(["3", "3.5", "4"]))"
    case (.item, _): return "\(prefix)Product \(pick(["eq", "ne"])) null"
    case (.address, 0...2) where !prefix.isEmpty: return isof(scope, ["Shop.Abroad", "Shop.Address"])
    case (.address, 3) where outermost == .product:
      return "$it/Home eq \(prefix.isEmpty ? "$this" : String(prefix.dropLast()))"
    case (.address, _), (.maker, _): return "\(prefix)\(scope.place == .maker ? "Name" : "City") ne null"
    }
  }

  private mutating func isof(_ scope: QueryScope, _ types: [String]) -> String {
    scope.prefix.isEmpty ? "isof(\(pick(types)))" : "isof(\(scope.prefix.dropLast()),\(pick(types)))"
  }

  private mutating func collections(_ scope: QueryScope) -> String {
    guard let tags = collection(.string, scope), let numbers = collection(.whole, scope) else {
      return comparison(scope, 0)
    }
    let (words, wholes) = ("[\"a\",\"ab\"]", pick(["[1,2]", "[3]", "[]", "[0,0]"]))
    switch below(6) {
    case 0: return "hassubset(\(numbers),\(wholes))"
    case 1: return "hassubsequence(\(pick([numbers, "concat(\(numbers),\(numbers))"])),\(wholes))"
    case 2: return "\(pick(["contains", "startswith", "endswith"]))(\(tags),\(pick([words, "[\"b\"]"])))"
    case 3: return "\(numbers) \(pick(["eq", "ne"])) \(pick([wholes, numbers]))"
    case 4: return "length(\(tags)) \(pick(["eq", "gt"])) \(below(4))"
    default: return "substring(\(numbers),\(below(2) - 1)) eq \(wholes)"
    }
  }

  private mutating func lambda(_ scope: QueryScope, _ depth: Int) -> String? {
    variables += 1
    let (name, word) = ("v\(variables)", pick(["any", "all"]))
    let inner = max(0, depth - 1)
    if chance(30), let tags = collection(.string, scope) {
      return
        "\(tags)/\(word)(\(name):\(pick(["\(name) \(pick(["eq", "lt", "ge"])) \(literal(.string))", "startswith(\(name),'a')", "length(\(name)) gt 1"])))"
    }
    if chance(20), let numbers = collection(.whole, scope) {
      return "\(numbers)/\(word)(\(name):\(name) \(pick(["eq", "ne", "lt", "ge"])) \(value(.whole, scope, 0)))"
    }
    guard scope.lambdas < 3, let (path, place) = many(scope) else { return nil }
    if chance(12) { return "\(path)/any()" }
    var below = QueryScope(name + "/", place)
    below.lambdas = scope.lambdas + 1
    var body = condition(below, inner)
    if chance(25), let near = self.path(.whole, scope), let far = self.path(.whole, below) {
      body = "(\(body) \(pick(["and", "or"])) \(far) \(pick(["eq", "lt", "ne"])) \(near))"
    }
    if chance(15), outermost == .product, let far = self.path(.whole, below) { body += " and \(far) ge $it/Stock" }
    return "\(path)/\(word)(\(name):\(body))"
  }

  mutating func variable() -> String {
    variables += 1
    return "v\(variables)"
  }
}
