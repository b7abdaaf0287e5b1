import LarderOData

/// Makes random trees of the language, each of a form that a parser gives: printed and parsed back they are equal.
struct TreeGenerator {
  let version: ODataVersion
  var random: FuzzRandom
  /// How much deeper the tree may become.
  var depth: Int
  /// Lambda variables in scope.
  var variables: [String] = []

  init(version: ODataVersion, seed: UInt64, depth: Int = 6) {
    self.version = version
    self.depth = depth
    random = FuzzRandom(seed: seed)
  }

  var isV4: Bool { version >= .v4 }

  /// Makes something one level deeper.
  mutating func deeper<Value>(_ make: (inout TreeGenerator) -> Value) -> Value {
    depth -= 1
    defer { depth += 1 }
    return make(&self)
  }

  mutating func several<Item>(_ range: ClosedRange<Int>, _ make: (inout TreeGenerator) -> Item) -> [Item] {
    let count = Int.random(in: range, using: &random)
    return (0..<count).map { _ in make(&self) }
  }

  mutating func maybe<Value>(_ chances: Int, _ make: (inout TreeGenerator) -> Value) -> Value? {
    random.once(in: chances) ? make(&self) : nil
  }
}

// Names.
extension TreeGenerator {
  private static let names = [
    "Name", "Amount", "a", "_x1", "Größe", "名前", "Ω2", "Customers", "Orders", "ID", "eq", "and", "desc", "in", "as",
    "with",
    "asc", "from", "identity", "filter", "top", "Date", "length", "contains", "e5", "M", "Collection", "rollup", "max",
    "min",
    "duration", "guid", "X", "it", "NaNa", "nullable", "trueish", "true", "null", "INF", "not", "AND", "orderby",
    "items", "ß", "Straße_9",
    String(repeating: "n", count: 128),
  ]
  private static let parts = ["Ns", "Sales", "Self", "A", "Größe", "odata", "com"]
  private static let variableNames = ["v", "w", "öö", "d1", "v"]

  /// An identifier that means nothing by itself.
  mutating func name() -> String { random.pick(TreeGenerator.names) }

  /// A name of a function: none that the language has.
  mutating func functionName() -> String { random.pick(["F", "MostExpensive", "Größte", "top5", "doIt_"]) }

  mutating func qualifiedName() -> String {
    let prefix = several(1...3) { $0.random.pick(TreeGenerator.parts) }.joined(separator: ".")
    return "\(prefix).\(random.pick(["T", "Vip", "Fähig", "Address", "x"]))"
  }

  mutating func variable() -> String { random.pick(TreeGenerator.variableNames) }

  mutating func typeName() -> ODataTypeName {
    let name =
      random.once(in: 2) ? "Edm.\(random.pick(["String", "Int32", "Guid", "GeographyPoint"]))" : qualifiedName()
    return ODataTypeName(random.once(in: 5) ? "Type" : name, isCollection: isV4 && random.once(in: 6))
  }

  /// Any text: quotes, marks of URLs and of the language, characters beyond ASCII, control characters.
  mutating func text(_ length: ClosedRange<Int> = 0...8) -> String {
    let pieces: [String] = [
      "a", "B", "0", " ", "'", "''", "\"", "&", "#", "?", "/", "%", "%27", "+", "=", ";", ",", "(", ")", "[", "]", "{",
      "}", "\\",
      "$", "@", "*", ":", "ü", "€", "😀", "e\u{301}", "\u{0}", "\n", "\t", "\u{7F}", "\u{FFFD}", "\u{10FFFF}", " eq ",
      ")/top(1",
      "null", "<", "|", "^", "`", "~",
    ]
    return several(length) { $0.random.pick(pieces) }.joined()
  }
}
