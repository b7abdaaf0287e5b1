/// The scope of names in an expression: the prefix before them, and the type that has them.
struct QueryScope {
  var prefix: String
  var place: QueryPlace
  /// The enclosing lambdas.
  var lambdas = 0

  init(_ prefix: String, _ place: QueryPlace) {
    self.prefix = prefix
    self.place = place
  }
}

/// The kinds of values.
enum QueryKind: Hashable {
  case whole, decimal, double, single, string, boolean, date, timestamp, time, duration, guid, color, traits, binary

  var isNumber: Bool { self == .whole || self == .decimal || self == .double || self == .single }
  var isOrdered: Bool { self != .binary && self != .boolean && self != .guid }
}

/// Types with properties.
enum QueryPlace {
  case product, category, order, item, address, maker

  func leaves(_ kind: QueryKind) -> [String] {
    switch (self, kind) {
    case (.product, .whole):
      ["ID", "Rating", "Stock", "Rating", "Big", "Shop.Special/Discount", "Tags/$count", "Friends/$count"]
    case (.product, .decimal): ["Price", "Weight"]
    case (.product, .double): ["Score"]
    case (.product, .single): ["Ratio"]
    case (.product, .string): ["Name", "Shop.Special/Name"]
    case (.product, .boolean): ["Active"]
    case (.product, .date): ["Day"]
    case (.product, .timestamp): ["Made"]
    case (.product, .time): ["At"]
    case (.product, .duration): ["Life"]
    case (.product, .guid): ["Code"]
    case (.product, .color): ["Color"]
    case (.product, .traits): ["Traits"]
    case (.product, .binary): ["Bytes"]
    case (.category, .whole): ["ID", "ParentID", "Products/$count", "Children/$count"]
    case (.category, .string): ["Name"]
    case (.order, .string): ["ID"]
    case (.order, .decimal): ["Total"]
    case (.order, .whole): ["Items/$count"]
    case (.item, .whole): ["No", "Count"]
    case (.address, .whole): ["Zip"]
    case (.address, .string): ["City", "City", "Shop.Abroad/Land"]
    case (.maker, .string): ["Name"]
    case (.maker, .double): ["Rate"]
    default: []
    }
  }

  /// Single values that have properties themselves.
  var singles: [(String, QueryPlace)] {
    switch self {
    case .product:
      [
        ("Category", .category), ("Home", .address), ("Shop.Special/Best", .product), ("Maker", .maker),
        ("Home/Shop.Abroad", .address),
      ]
    case .category: [("Parent", .category)]
    case .item: [("Product", .product)]
    case .maker: [("Site", .address)]
    case .address: [("Shop.Abroad", .address)]
    case .order: []
    }
  }

  /// Collections of values with properties.
  var collections: [(String, QueryPlace)] {
    switch self {
    case .product:
      [
        ("Friends", .product), ("Places", .address), ("Friends/Shop.Special", .product),
        ("Places/Shop.Abroad", .address),
      ]
    case .category: [("Products", .product), ("Children", .category), ("Products/Shop.Special", .product)]
    case .order: [("Items", .item)]
    case .item, .address, .maker: []
    }
  }
}

// Values of every kind.
extension QueryGenerator {
  /// A path to a value; nil if there is none.
  mutating func path(_ kind: QueryKind, _ scope: QueryScope) -> String? {
    var scope = scope
    for _ in 0..<3 {
      let leaves = scope.place.leaves(kind)
      let singles = scope.place.singles
      if !leaves.isEmpty, singles.isEmpty || chance(70) { return scope.prefix + pick(leaves) }
      guard !singles.isEmpty else { return nil }
      let (name, place) = pick(singles)
      scope.prefix += name + "/"
      scope.place = place
    }
    let leaves = scope.place.leaves(kind)
    return leaves.isEmpty ? nil : scope.prefix + pick(leaves)
  }

  /// A path to a collection of entities or complex values.
  mutating func many(_ scope: QueryScope) -> (String, QueryPlace)? {
    var scope = scope
    for _ in 0..<2 {
      let collections = scope.place.collections
      if !collections.isEmpty, chance(65) {
        let (name, place) = pick(collections)
        return (scope.prefix + name, place)
      }
      guard !scope.place.singles.isEmpty else { break }
      let (name, place) = pick(scope.place.singles)
      scope.prefix += name + "/"
      scope.place = place
    }
    guard !scope.place.collections.isEmpty else { return nil }
    let (name, place) = pick(scope.place.collections)
    return (scope.prefix + name, place)
  }

  /// A collection of primitive values.
  mutating func collection(_ kind: QueryKind, _ scope: QueryScope) -> String? {
    guard scope.place == .product else { return nil }
    return scope.prefix + (kind == .string ? "Tags" : "Numbers")
  }

  mutating func literal(_ kind: QueryKind) -> String {
    switch kind {
    case .whole: pick(["0", "1", "3", "2", "-1", "9007199254740993", "4"])
    case .decimal: pick(["1.5", "-2.25", "3.0000000000000000000001", "0.0", "10", "1.50"])
    case .double: pick(["1.5", "-2.25", "INF", "NaN", "3", "0", "-INF"])
    case .single: pick(["0.1", "1.5", "0", "INF"])
    case .string: pick(["''", "'a'", "'ab'", "'b'", "'a''b'", "'%C3%84'", "'%25'", "'%F0%9F%98%80z'"])
    case .boolean: pick(["true", "false"])
    case .date: pick(["2024-01-31", "2024-02-29", "2020-01-01"])
    case .timestamp: pick(["2024-01-31T12:00:00Z", "2024-03-01T00:59:59.5%2B01:00", "2019-12-31T05:00:00Z"])
    case .time: pick(["12:30:00.5", "00:00:00", "13:00:00"])
    case .duration: "duration'\(pick(["PT300S", "P1D", "PT0S", "-PT1S", "P1DT2H"]))'"
    case .guid: "00000000-0000-0000-0000-00000000000\(pick(["1", "2"]))"
    case .color: pick(["Shop.Color'Green'", "Shop.Color'Red'", "Shop.Color'Blue'"])
    case .traits: pick(["Shop.Traits'New,Sale'", "Shop.Traits'New'", "Shop.Traits'Plain'"])
    case .binary: pick(["binary'AA=='", "binary''", "binary'AQID'"])
    }
  }

  mutating func value(_ kind: QueryKind, _ scope: QueryScope, _ depth: Int) -> String {
    if depth > 0, chance(12) {
      let condition = condition(scope, 0)
      return "case(\(condition):\(value(kind, scope, 0))\(chance(70) ? ",true:\(value(kind, scope, 0))" : ""))"
    }
    if depth > 0, chance(45), let call = call(kind, scope, depth - 1) { return call }
    if chance(85), let path = path(kind, scope) { return path }
    return literal(kind)
  }

  private mutating func number(_ scope: QueryScope, _ depth: Int) -> String {
    value(pick([.whole, .decimal, .double]), scope, depth)
  }

  /// An expression with operators or functions.
  private mutating func call(_ kind: QueryKind, _ scope: QueryScope, _ depth: Int) -> String? {
    switch kind {
    case .whole: return whole(scope, depth)
    case .decimal: return decimal(scope, depth)
    case .double, .single: return double(scope, depth)
    case .string: return string(scope, depth)
    case .boolean: return "(\(condition(scope, 0)))"
    case .date: return date(scope, depth)
    case .timestamp: return timestamp(scope, depth)
    case .time: return "time(\(value(.timestamp, scope, 0)))"
    case .duration: return duration(scope, depth)
    case .guid, .color, .traits, .binary: return nil
    }
  }

  private mutating func whole(_ scope: QueryScope, _ depth: Int) -> String? {
    let one = value(.whole, scope, depth)
    switch below(14) {
    case 0, 1, 2: return "(\(one) \(pick(["add", "sub", "mul"])) \(value(.whole, scope, depth)))"
    case 3: return "(\(one) \(pick(["div", "mod"])) \(pick(["2", "3", "-2"])))"
    case 4: return "-(\(one))"
    case 5: return "length(\(value(.string, scope, depth)))"
    case 6: return "indexof(\(value(.string, scope, depth)),\(literal(.string)))"
    case 7: return "\(pick(["year", "month", "day"]))(\(value(pick([.date, .timestamp]), scope, depth)))"
    case 8: return "\(pick(["hour", "minute", "second"]))(\(value(pick([.timestamp, .time]), scope, depth)))"
    case 9: return "totaloffsetminutes(\(value(.timestamp, scope, 0)))"
    case 10: return "cast(\(number(scope, 0)),Edm.\(pick(["Int32", "Int64", "Byte"])))"
    case 11:
      guard let (path, place) = many(scope) else { return nil }
      let inner = QueryScope("", place)
      return "\(path)/$count($filter=\(condition(inner, 0)))"
    case 12: return "cast(\(pick(["'12'", "'x'", value(.string, scope, 0)])),Edm.Int32)"
    default: return "length(\(value(.string, scope, 0)))"
    }
  }

  private mutating func decimal(_ scope: QueryScope, _ depth: Int) -> String? {
    switch below(8) {
    case 0, 1, 2:
      let other = value(pick([.whole, .decimal]), scope, depth)
      return "(\(value(.decimal, scope, depth)) \(pick(["add", "sub", "mul"])) \(other))"
    case 3: return "(\(value(pick([.whole, .decimal]), scope, depth)) divby \(pick(["2", "3", "1.5", "-4"])))"
    case 4: return "(\(value(.decimal, scope, depth)) \(pick(["div", "mod"])) \(pick(["2", "0.7", "-3"])))"
    case 5: return "\(pick(["round", "floor", "ceiling"]))(\(value(.decimal, scope, depth)))"
    case 6:
      return
        "\(pick(["fractionalseconds(\(value(.timestamp, scope, 0)))", "totalseconds(\(value(.duration, scope, 0)))"]))"
    default: return "cast(\(value(.whole, scope, depth)),Edm.Decimal)"
    }
  }

  private mutating func double(_ scope: QueryScope, _ depth: Int) -> String? {
    let one = value(.double, scope, depth)
    switch below(5) {
    case 0, 1: return "(\(one) \(pick(["add", "sub", "mul"])) \(number(scope, depth)))"
    case 2: return "(\(one) \(pick(["div", "mod", "divby"])) \(pick(["2", "1.5"])))"
    case 3: return "\(pick(["round", "floor", "ceiling"]))(\(one))"
    default: return "cast(\(number(scope, 0)),Edm.Double)"
    }
  }

  private mutating func string(_ scope: QueryScope, _ depth: Int) -> String? {
    let one = value(.string, scope, depth)
    switch below(8) {
    case 0, 1: return "concat(\(one),\(value(.string, scope, depth)))"
    case 2: return "\(pick(["tolower", "toupper", "trim"]))(\(one))"
    case 3: return "substring(\(one),\(pick(["0", "1", "2", "-1", "-5"])))"
    case 4: return "substring(\(one),\(pick(["0", "1", "-2"])),\(pick(["0", "1", "5"])))"
    case 5:
      let kind = pick([.whole, .boolean, .date, .time, .guid] as [QueryKind])
      guard let path = path(kind, scope) else { return nil }
      return "cast(\(path),Edm.String)"
    case 6:
      guard let color = path(.color, scope) else { return nil }
      return "cast(\(color),Edm.String)"
    default: return "concat(concat('<',\(one)),'>')"
    }
  }

  private mutating func date(_ scope: QueryScope, _ depth: Int) -> String? {
    switch below(3) {
    case 0: return "date(\(value(.timestamp, scope, depth)))"
    case 1: return "(\(value(.date, scope, depth)) \(pick(["add", "sub"])) \(value(.duration, scope, 0)))"
    default: return "cast(\(pick(["'2024-01-31'", "'x'"])),Edm.Date)"
    }
  }

  private mutating func timestamp(_ scope: QueryScope, _ depth: Int) -> String? {
    switch below(6) {
    case 0: return pick(["mindatetime()", "maxdatetime()"])
    default: return "(\(value(.timestamp, scope, depth)) \(pick(["add", "sub"])) \(value(.duration, scope, 0)))"
    }
  }

  private mutating func duration(_ scope: QueryScope, _ depth: Int) -> String? {
    switch below(6) {
    case 0: return "(\(value(.duration, scope, depth)) \(pick(["add", "sub"])) \(value(.duration, scope, 0)))"
    case 1: return "(\(value(.timestamp, scope, 0)) sub \(value(.timestamp, scope, 0)))"
    case 2: return "(\(value(.date, scope, 0)) sub \(value(.date, scope, 0)))"
    case 3: return "-(\(value(.duration, scope, depth)))"
    case 4: return "(\(value(.duration, scope, depth)) mul \(pick(["2", "-3", "0"])))"
    default: return "(\(value(.duration, scope, depth)) div \(pick(["2", "1"])))"
    }
  }
}
