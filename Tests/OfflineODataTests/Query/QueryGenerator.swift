import OData

/// Makes filters by chance, of the shop's products, as text.
struct QueryGenerator<Random: RandomNumberGenerator> {
  var random: Random
  private var variables = 0

  init(_ random: Random) { self.random = random }

  mutating func filter() -> String { condition("", .product, 3) }

  /// What a prefix stands for.
  enum Kind { case product, category, address }

  private mutating func pick(_ items: [String]) -> String { items[Int.random(in: 0..<items.count, using: &random)] }
  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

  mutating func condition(_ prefix: String, _ kind: Kind, _ depth: Int) -> String {
    if depth > 0, below(2) == 0 {
      let one = condition(prefix, kind, depth - 1)
      switch below(4) {
      case 0: return "(\(one) and \(condition(prefix, kind, depth - 1)))"
      case 1: return "(\(one) or \(condition(prefix, kind, depth - 1)))"
      case 2: return "not (\(one))"
      default: return "(\(one)) eq \(pick(["true", "false", "null"]))"
      }
    }
    switch below(kind == .product ? 9 : 5) {
    case 0, 1: return "\(number(prefix, kind, depth)) \(relation()) \(number(prefix, kind, depth))"
    case 2: return "\(string(prefix, kind, depth)) \(relation()) \(string(prefix, kind, depth))"
    case 3:
      let function = pick(["contains", "startswith", "endswith"])
      return "\(function)(\(string(prefix, kind, depth)),\(stringLiteral()))"
    case 4: return membership(prefix, kind, depth)
    case 5: return scalar(prefix)
    case 6: return "\(prefix)Active"
    default: return lambda(prefix, depth)
    }
  }

  private mutating func relation() -> String { pick(["eq", "ne", "lt", "le", "gt", "ge"]) }

  private mutating func membership(_ prefix: String, _ kind: Kind, _ depth: Int) -> String {
    if below(2) == 0 {
      return "\(string(prefix, kind, depth)) in (\(stringLiteral()),\(pick([stringLiteral(), "null"])))"
    }
    return "\(number(prefix, kind, depth)) in (\(pick(["0", "1", "3"])),\(pick(["2", "null", "1.5"])))"
  }

  private mutating func number(_ prefix: String, _ kind: Kind, _ depth: Int) -> String {
    if below(12) == 0 { return "length(\(string(prefix, kind, 0)))" }
    if below(12) == 0 { return "indexof(\(string(prefix, kind, 0)),\(stringLiteral()))" }
    if below(3) == 0 { return pick(["0", "1", "3", "1.5", "-2.25", "3.0000000000000000000001", "null", "2"]) }
    switch kind {
    case .address: return prefix + "Zip"
    case .category:
      let names = ["ID", "ParentID", "Parent/ID", "Products/$count", "Parent/Parent/ID", "Children/$count"]
      return prefix + pick(names)
    case .product:
      if depth > 0, below(8) == 0 {
        return "case(\(condition(prefix, kind, depth - 1)):\(prefix)Rating,true:\(prefix)Stock)"
      }
      if depth > 0, below(6) == 0, prefix.isEmpty || below(2) == 0 {
        return "\(prefix)Friends/$count($filter=\(condition("", .product, 0)))"
      }
      if below(10) == 0 { return "\(pick(["year", "month", "day"]))(\(prefix)\(pick(["Made", "Day"])))" }
      if below(10) == 0 { return "\(pick(["round", "floor", "ceiling"]))(\(prefix)\(pick(["Price", "Weight"])))" }
      if below(6) == 0 { return "(\(prefix)Rating \(pick(["add", "sub", "mul"])) \(prefix)Stock)" }
      let names = [
        "ID", "Price", "Rating", "Stock", "Score", "Weight", "Home/Zip", "Category/ID", "Category/Parent/ID",
        "Tags/$count",
        "Friends/$count", "Shop.Special/Discount", "Shop.Special/Rating", "Category/Products/$count", "Price", "Score",
      ]
      return prefix + pick(names)
    }
  }

  private mutating func stringLiteral() -> String { pick(["''", "'a'", "'ab'", "'b'", "'a''b'", "'%C3%84'", "'%25'"]) }

  private mutating func string(_ prefix: String, _ kind: Kind, _ depth: Int) -> String {
    if below(3) == 0 { return pick(["null", stringLiteral(), stringLiteral()]) }
    switch kind {
    case .address: return prefix + "City"
    case .category: return prefix + pick(["Name", "Parent/Name"])
    case .product:
      let names = [
        "Name", "Home/City", "Category/Name", "Category/Parent/Name", "Shop.Special/Name", "Shop.Special/Best/Name",
        "Home/Shop.Abroad/Land",
      ]
      if below(8) == 0 { return "\(pick(["tolower", "trim"]))(\(prefix)\(pick(names)))" }
      if below(8) == 0 { return "concat(\(prefix)Name,\(prefix)\(pick(names)))" }
      return prefix + pick(names)
    }
  }

  private mutating func scalar(_ prefix: String) -> String {
    switch below(10) {
    case 0: return "\(prefix)Color \(relation()) \(pick(["Shop.Color'Green'", "'Red'", "null"]))"
    case 1: return "\(prefix)Traits has Shop.Traits'\(pick(["New", "Sale", "New,Sale"]))'"
    case 2:
      return "\(prefix)Made \(relation()) \(pick(["2024-01-31T12:00:00Z", "2024-03-01T00:59:59.5%2B01:00", "null"]))"
    case 3: return "\(prefix)Day \(relation()) \(pick(["2024-01-31", "2024-02-29"]))"
    case 4: return "\(prefix)Life \(relation()) duration'\(pick(["PT300S", "P1D"]))'"
    case 5: return "\(prefix)Code \(relation()) 00000000-0000-0000-0000-000000000002"
    case 6:
      return "\(prefix)Big \(relation()) \(pick(["9007199254740993", "-9223372036854775808", "3", "9007199254740992"]))"
    case 7: return "\(prefix)\(pick(["Category", "Home", "Shop.Special/Best"])) \(pick(["eq", "ne"])) null"
    case 8: return "\(prefix)Score \(relation()) \(pick(["INF", "-INF", "NaN", "1.5"]))"
    default:
      return prefix.isEmpty
        ? pick(["isof(Shop.Special)", "isof(Home,Shop.Abroad)", "isof(Home,Shop.Address)"])
        : "isof(\(prefix.dropLast()),Shop.Special)"
    }
  }

  private mutating func lambda(_ prefix: String, _ depth: Int) -> String {
    variables += 1
    let name = "v\(variables)"
    let word = pick(["any", "all"])
    let inner = max(0, depth - 1)
    switch below(6) {
    case 0: return "\(prefix)Tags/\(word)(\(name):\(name) \(relation()) \(stringLiteral()))"
    case 1:
      return "\(prefix)Numbers/\(word)(\(name):\(name) \(relation()) \(prefix)\(pick(["Rating", "Price", "Stock"])))"
    case 2: return "\(prefix)Places/\(word)(\(name):\(condition(name + "/", .address, inner)))"
    case 3: return "\(prefix)Category/Products/any(\(name):\(name)/ID \(relation()) \(prefix)Rating)"
    case 4: return "\(prefix)\(pick(["Friends", "Category/Children"]))/any()"
    default:
      guard depth > 0 else { return "\(prefix)Friends/\(word)(\(name):\(name)/Rating \(relation()) \(prefix)Rating)" }
      let both = below(2) == 0 ? "" : " and \(name)/Stock ge $it/Stock"
      return "\(prefix)Friends/\(word)(\(name):\(condition(name + "/", .product, inner))\(both))"
    }
  }
}
