import LarderOData

/// Texts that open very many levels.
enum FuzzDepth {
  static let families: [FuzzFamily] = [
    FuzzFamily(entry: .expression, part: "(", after: "a", closing: ")"),
    FuzzFamily(entry: .expression, part: "[", after: "a", closing: "]"),
    FuzzFamily(entry: .expression, part: "{\"a\":", after: "a", closing: "}"),
    FuzzFamily(entry: .expression, part: "A/any(a:", after: "a", closing: ")"),
    FuzzFamily(entry: .expression, part: "A/all(a:", after: "a", closing: ")"),
    FuzzFamily(entry: .expression, part: "not ", after: "a"),
    FuzzFamily(entry: .expression, part: "not(", after: "a", closing: ")"),
    FuzzFamily(entry: .expression, part: "-", after: "a"),
    FuzzFamily(entry: .expression, part: "- ", after: "a"),
    FuzzFamily(entry: .expression, part: "tolower(", after: "a", closing: ")"),
    FuzzFamily(entry: .expression, part: "cast(", after: "a", closing: ",Edm.String)"),
    FuzzFamily(entry: .expression, part: "isof(", after: "a", closing: ",Edm.String)"),
    FuzzFamily(entry: .expression, part: "case(a:", after: "a", closing: ")"),
    FuzzFamily(entry: .expression, part: "F(x=", after: "a", closing: ")"),
    FuzzFamily(entry: .expression, part: "isdefined(A/$filter(", after: "a", closing: "))"),
    FuzzFamily(entry: .expression, part: "A/$filter(", after: "a", closing: ")"),
    FuzzFamily(entry: .expression, part: "A/$count($filter=", after: "a", closing: ")"),
    FuzzFamily(entry: .expression, part: "$these/aggregate(", after: "a", closing: " with sum)"),
    FuzzFamily(entry: .expression, part: "a add (", after: "a", closing: ")"),
    FuzzFamily(entry: .expression, part: "a in (b in ", after: "c", closing: ")"),
    FuzzFamily(entry: .expression, part: "a add ", after: "a"),
    FuzzFamily(entry: .expression, part: "a has ", after: "a"),
    FuzzFamily(entry: .expression, part: "a or b and c eq d lt e add f mul -(", after: "a", closing: ")"),
    FuzzFamily(entry: .expand, part: "A($expand=", after: "a", closing: ")"),
    FuzzFamily(entry: .expand, part: "A($levels=1;$filter=b;$expand=", after: "a", closing: ")"),
    FuzzFamily(entry: .select, part: "A($select=", after: "a", closing: ")"),
    FuzzFamily(entry: .search, part: "(", after: "a", closing: ")"),
    FuzzFamily(entry: .search, part: "NOT ", after: "a"),
    FuzzFamily(entry: .search, part: "a OR NOT (b AND ", after: "a", closing: ")"),
    FuzzFamily(entry: .apply, part: "concat(", after: "identity", closing: ",identity)"),
    FuzzFamily(entry: .apply, part: "groupby((A),", after: "identity", closing: ")"),
    FuzzFamily(entry: .apply, part: "nest(", after: "identity", closing: " as a)"),
    FuzzFamily(entry: .apply, part: "addnested(A,", after: "identity", closing: " as a)"),
    FuzzFamily(entry: .apply, part: "join(A as B,", after: "identity", closing: ")"),
    FuzzFamily(entry: .apply, part: "ancestors($root/A,B,C,", after: "identity", closing: ")"),
    FuzzFamily(entry: .apply, part: "traverse($root/A,B,C,preorder,", after: "identity", closing: ")"),
    FuzzFamily(entry: .contextFragment, part: "A(", after: "A", closing: ")"),
    FuzzFamily(entry: .path, part: "A/$filter(A/any(a:", after: "a", closing: "))"),
  ]

  /// Openings of all families of an entry, in no order.
  static func mixture(seed: UInt64, count: Int) -> String {
    var random = FuzzRandom(seed: seed)
    let openings = families.filter { $0.entry == .expression }.map(\.part)
    return random.several(count...count) { $0.pick(openings) }.joined()
  }

  /// What opens a level somewhere in the grammar.
  static let openings = [
    "(", "[", "{\"a\":", "not ", "-", "A/any(a:", "$expand=A($expand=", "NOT ", "concat(", "A(",
    "geography'SRID=0;GeometryCollection(",
    "GeometryCollection(",
  ]

  /// Checks that each rule rejects or accepts very many openings; returns the problem, or nil.
  static func complaintOfRules(_ opening: String, levels: Int = 100_000) -> String? {
    let text = String(repeating: opening, count: levels)
    for rule in ODataGrammarRule.all {
      do throws(ODataSyntaxError) { _ = try rule.parse(text) } catch {
        guard error.offset >= 0, error.offset <= text.utf8.count else { return "\(rule) rejects at \(error.offset)" }
      }
    }
    return nil
  }

  /// Checks a family on the current stack: very many levels are rejected as too deep, a few are accepted, and all operations work
  /// on the deepest accepted tree. Returns the problem, or nil.
  static func complaint(_ family: FuzzFamily, levels: Int = 100_000) -> String? {
    let version = ODataVersion.v401
    for text in [family.text(count: levels), String(repeating: family.part, count: levels)] {
      guard let error = family.entry.rejection(text, version) else { return "takes \(levels) levels" }
      guard case .tooDeep = error.problem else { return "rejects \(levels) levels otherwise: \(error.problem)" }
    }
    var deepest = 0
    for count in 1...120 {
      guard let error = family.entry.rejection(family.text(count: count), version) else {
        deepest = count
        continue
      }
      guard case .tooDeep = error.problem else { return "rejects \(count) levels otherwise: \(error)" }
      break
    }
    guard deepest >= 5 else { return "takes only \(deepest) levels" }
    // What prints takes stack of its own.
    let complaint = FuzzChecks.complaint(
      FuzzCase(entry: family.entry, version: version, text: family.text(count: deepest)))
    return complaint?.contains("nested") == true ? nil : complaint
  }
}
