import OData

/// Long texts that are not deep: twice the text takes about twice the time.
enum FuzzGrowth {
  struct Family: Sendable {
    let entry: FuzzEntry
    var before = ""
    let part: String
    var after = ""
    var version = ODataVersion.v401

    func text(_ bytes: Int) -> String {
      before + String(repeating: part, count: max(bytes / part.utf8.count, 1)) + after
    }
  }

  static let families: [Family] = [
    Family(entry: .expression, part: "a eq 1 and ", after: "a"),
    Family(entry: .expression, part: "a or ", after: "a"),
    Family(entry: .expression, part: "(a or b) and (a and b) and ", after: "a"),
    Family(entry: .expression, part: "a add ", after: "a"),
    Family(entry: .expression, before: "a in (1", part: ",2", after: ")"),
    Family(entry: .expression, before: "[1", part: ",{\"a\":'b'}", after: "]"),
    Family(entry: .expression, before: "'", part: "x", after: "'"),
    Family(entry: .expression, before: "'", part: "''", after: "'"),
    Family(entry: .expression, before: "'", part: "%C3%A4%27%27", after: "'"),
    Family(entry: .expression, before: "'", part: "x"),
    Family(entry: .expression, before: "[\"", part: "\\u00e4\\n", after: "\"]"),
    Family(entry: .expression, part: "1"),
    Family(entry: .expression, before: "1.", part: "1"),
    Family(entry: .expression, before: "1e", part: "1"),
    Family(entry: .expression, part: "1", version: .v2),
    Family(entry: .expression, before: "binary'", part: "AAAA", after: "'"),
    Family(entry: .expression, before: "X'", part: "AB", after: "'", version: .v2),
    Family(entry: .expression, before: "duration'PT", part: "1", after: "S'"),
    Family(entry: .expression, before: "geography'SRID=0;LineString(0 0", part: ",1 1", after: ")'"),
    Family(entry: .expression, before: "Ns.Color'a", part: ",a", after: "'"),
    Family(entry: .expression, before: "a", part: "/b"),
    Family(entry: .expression, before: "a", part: ".b", after: "/c"),
    Family(entry: .expression, before: "a", part: "/f(x=1)"),
    Family(entry: .expression, before: "a", part: "/@b.c"),
    Family(entry: .expression, part: "a/any(x:x/b) and ", after: "a"),
    Family(entry: .expression, before: "F(x=1", part: ",x=cast(a,Edm.String)", after: ")"),
    Family(entry: .expression, before: "case(a:1", part: ",b:isof(Edm.String)", after: ")"),
    Family(entry: .expression, before: "concat('a'", part: ",'b'", after: ")", version: .v2),
    Family(entry: .expression, part: " ", after: "a"),
    Family(entry: .expression, before: "a", part: " ", after: "eq 1"),
    Family(entry: .expression, part: "-1 add -2 sub ", after: "1"),
    Family(entry: .expression, part: "x"),
    Family(entry: .expression, part: "ä"),
    Family(entry: .orderBy, before: "a", part: ",b desc"),
    Family(entry: .compute, before: "a as b", part: ",a as b"),
    Family(entry: .select, before: "a", part: ",b/Ns.c/d($top=1),Ns.F(a,b)"),
    Family(entry: .expand, before: "a", part: ",b/Ns.c($filter=d eq 1;$select=e)"),
    Family(entry: .search, before: "a", part: " b"),
    Family(entry: .search, before: "a", part: " OR NOT \"b\" AND c"),
    Family(entry: .search, part: "x"),
    Family(entry: .apply, before: "identity", part: "/filter(a eq 1)"),
    Family(entry: .apply, before: "concat(identity", part: ",top(1)/skip(2)", after: ")"),
    Family(
      entry: .apply, before: "aggregate(a", part: ",b/c with sum from d,e with max as f,a add 1 with min as g",
      after: ")"),
    Family(entry: .apply, before: "groupby((a", part: ",rollup(b,c/d),rollup(e)", after: "))"),
    Family(entry: .apply, before: "traverse($root/A,B,C,preorder,Ns.F(a=1)", part: "/Ns.F(a=1)", after: ")"),
    Family(entry: .apply, before: "aggregate(a", part: "/b", after: " add 1 with sum as c)"),
    Family(entry: .apply, before: "aggregate(a with sum", part: " from b with max", after: " as c)"),
    Family(entry: .queryOptions, before: "a=b", part: "&c=%20d"),
    Family(entry: .queryOptions, before: "@a=1&$filter=@a eq 1", part: "&@b=1"),
    Family(entry: .queryOptions, before: "$skiptoken=", part: "%2F"),
    Family(entry: .queryOptions, before: "$filter=a eq '", part: "&"),
    Family(entry: .path, before: "A", part: "/B(1)/Ns.C"),
    Family(entry: .path, before: "A", part: "/1"),
    Family(entry: .path, before: "A", part: "/$filter(a eq 1)"),
    Family(entry: .path, before: "$crossjoin(A", part: ",B", after: ")"),
    Family(entry: .url, before: "https://h/", part: "a/"),
    Family(entry: .url, before: "https://h/", part: "a(1)/"),
    Family(entry: .url, before: "https://", part: "h"),
    Family(entry: .contextFragment, before: "A(a", part: ",b/c,d+(e),@f.g#h", after: ")"),
    Family(entry: .contextFragment, before: "A", part: "(1)/Ns.B/C"),
    Family(entry: .expression, part: "%"),
    Family(entry: .expression, part: "%41"),
    Family(entry: .relativeURL, before: "A?", part: "?"),
  ]

  /// How much longer twice the text takes; the best of a few attempts, as other work of the machine only lengthens.
  static func ratio(_ family: Family, bytes: Int, attempts: Int = 4, enough: Double) -> Double {
    var best = Double.infinity
    for _ in 0..<attempts {
      let once = seconds(family, bytes: bytes)
      let twice = seconds(family, bytes: 2 * bytes)
      // Below this the clock tells nothing.
      best = min(best, twice < 2e-4 ? 1 : twice / max(once, 1e-6))
      if best <= enough { break }
    }
    return best
  }

  private static func seconds(_ family: Family, bytes: Int) -> Double {
    let text = family.text(bytes)
    var best = Double.infinity
    for _ in 0..<3 {
      let start = FuzzChecks.processorTime()
      _ = family.entry.refusal(text, family.version)
      best = min(best, FuzzChecks.processorTime() - start)
    }
    return best
  }
}
