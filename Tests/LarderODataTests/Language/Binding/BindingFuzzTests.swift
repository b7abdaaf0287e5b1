import LarderOData
import Testing

/// Expressions and URLs made at random from the names of the model: nothing traps, and what binds prints, is read and bound
/// again to the same.
@Suite("Binding: random trees", .timeLimit(.minutes(5)))
struct BindingFuzzTests {
  /// SplitMix64: the same numbers for the same seed, everywhere.
  struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  enum Sort: CaseIterable { case truth, number, text, timestamp, length, collection, anything }

  private static let atoms: [Sort: [String]] = [
    .truth: ["Active", "true", "false", "null", "Tags/any()", "Extra/Yes", "@p"],
    .number: [
      "Price", "Rating", "Stock", "Big", "Tiny", "Score", "Ratio", "Weight", "1", "2.50", "-7", "1e3", "INF", "0",
      "null",
      "Category/ID", "Category/Products/$count", "$it/Rating", "Sales.Special/Discount", "99999999999", "Extra/Size",
    ],
    .text: ["Name", "'x'", "'it''s'", "Category/Name", "null", "Extra/Note", "'Red'", "''", "$root/Orders(1)/Note"],
    .timestamp: ["Made", "now()", "2020-01-01T00:00:00Z", "2020-02-29T23:59:59.5%2B02:00", "maxdatetime()"],
    .length: ["Life", "duration'PT5M'", "'P1D'", "-Life"],
    .collection: ["Tags", "Numbers", "Category/Products", "[1,2]", "[\"a\"]", "[]", "Category/Products/Sales.Special"],
    .anything: [
      "Color", "Pattern", "Category", "Data", "Place", "Day", "Open", "Any", "Photo", "{\"Size\":1}",
      "Sales.Color'Red'", "$it",
      "Extra", "12:30:00", "2020-01-01", "binary'AAEC'", "01234567-89ab-cdef-0123-456789abcdef", "Nothing",
      "Price/@S.Term",
    ],
  ]

  private static func make(_ sort: Sort, _ depth: Int, _ random: inout Generator) -> String {
    // One in ten is of another sort than its place requires.
    let sort = Int.random(in: 0..<10, using: &random) == 0 ? Sort.allCases.randomElement(using: &random) ?? sort : sort
    guard depth > 0, Int.random(in: 0..<4, using: &random) > 0 else {
      return atoms[sort]?.randomElement(using: &random) ?? "null"
    }
    func inner(_ sort: Sort) -> String { make(sort, depth - 1, &random) }
    func one(_ items: [String]) -> String { items.randomElement(using: &random) ?? "" }
    switch sort {
    case .truth:
      switch Int.random(in: 0..<8, using: &random) {
      case 0: return "(\(inner(.truth)) \(one(["and", "or"])) \(inner(.truth)))"
      case 1: return "not (\(inner(.truth)))"
      case 2: return "(\(inner(.number)) \(one(["eq", "ne", "lt", "ge"])) \(inner(.number)))"
      case 3: return "\(one(["contains", "startswith", "endswith"]))(\(inner(.text)),\(inner(.text)))"
      case 4: return "Category/Products/\(one(["any", "all"]))(p:p/Rating gt \(inner(.number)) or \(inner(.truth)))"
      case 5: return "(\(inner(.anything)) \(one(["eq", "ne", "has"])) \(inner(.anything)))"
      case 6: return "(\(inner(.number)) in (\(inner(.number)),\(inner(.number))))"
      default: return "(\(inner(.timestamp)) lt \(inner(.timestamp)))"
      }
    case .number:
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1: return "(\(inner(.number)) \(one(["add", "sub", "mul", "div", "divby", "mod"])) \(inner(.number)))"
      case 2: return "\(one(["round", "floor", "ceiling"]))(\(inner(.number)))"
      case 3: return "case(\(inner(.truth)):\(inner(.number)),true:\(inner(.number)))"
      default: return "\(one(["length(", "indexof('x',"]))\(inner(.text)))"
      }
    case .text:
      return one([
        "concat(\(inner(.text)),\(inner(.text)))", "tolower(\(inner(.text)))", "cast(\(inner(.anything)),Edm.String)",
      ])
    case .timestamp: return "(\(inner(.timestamp)) \(one(["add", "sub"])) \(inner(.length)))"
    case .length:
      return one(["(\(inner(.length)) mul \(inner(.number)))", "(\(inner(.timestamp)) sub \(inner(.timestamp)))"])
    case .collection: return "concat(\(inner(.collection)),\(inner(.collection)))"
    case .anything: return inner(Sort.allCases.randomElement(using: &random) ?? .text)
    }
  }

  @Test("Filters", arguments: [1, 20261121] as [UInt64]) func filters(_ seed: UInt64) throws {
    print("Binding: random filters from seed \(seed)")
    var random = Generator(state: seed)
    var count = 0
    for _ in 0..<1000 {
      let text = "Products?$filter=" + Self.make(.truth, 4, &random) + "&@p=Rating gt 3"
      guard let tree = try? ODataParser(.v401).relativeURL(text), let bound = try? BindingModel.binder.bind(tree) else {
        continue
      }
      count += 1
      try BindingURLTests.roundTrip(bound)
    }
    #expect(count > 200)
  }

  private static let pieces = [
    "Products", "Orders", "Customers", "Me", "Categories", "Items", "Customer", "Boss", "Address", "Country", "Name",
    "Amount",
    "Sales.Special", "Best", "$count", "$ref", "$value", "1", "('a')", "(1)", "(No=2)", "$filter(true)", "$each",
    "Buyers()",
    "Sales.Buyers()", "Top(number=1)", "$all", "$crossjoin(Orders,Products)", "Emails", "Addresses", "Photo", "Extra",
    "x",
  ]
  private static let queries = [
    "$filter=Amount gt 1", "$filter=Name eq 'x'", "$select=Name", "$select=*", "$expand=*", "$expand=Orders($top=1)",
    "$top=1",
    "$expand=Customer", "$count=true", "$orderby=Name", "$orderby=Amount desc", "$search=x", "$compute=1 add 1 as Two",
    "$apply=groupby((Name))", "$apply=aggregate($count as N)", "$filter=N gt 1", "$expand=Boss($levels=2)",
    "$select=Two",
    "$filter=Items/any(i:i/No eq 1)", "$expand=Orders($expand=Items($filter=$it/Name eq 'x'))", "$skip=2",
    "$format=json",
  ]

  @Test("URLs", arguments: [2, 20261122] as [UInt64]) func urls(_ seed: UInt64) throws {
    print("Binding: random URLs from seed \(seed)")
    var random = Generator(state: seed)
    var count = 0
    for _ in 0..<4000 {
      var text = ["Orders", "Customers", "Me", "Products"].randomElement(using: &random) ?? ""
      for _ in 0..<Int.random(in: 0..<4, using: &random) {
        let piece = Self.pieces.randomElement(using: &random) ?? ""
        text += piece.hasPrefix("(") ? piece : "/" + piece
      }
      let options = (0..<Int.random(in: 0..<3, using: &random)).map { _ in
        Self.queries.randomElement(using: &random) ?? ""
      }
      if !options.isEmpty { text += "?" + options.joined(separator: "&") }
      guard let tree = try? ODataParser(.v401).relativeURL(text), let bound = try? BindingModel.binder.bind(tree) else {
        continue
      }
      count += 1
      try BindingURLTests.roundTrip(bound)
    }
    #expect(count > 200)
  }
}
