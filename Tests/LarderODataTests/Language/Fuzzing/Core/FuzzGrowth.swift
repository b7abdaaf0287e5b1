import LarderOData

/// Long texts that are not deep: twice the text takes about twice the time.
enum FuzzGrowth {
  static let families: [FuzzFamily] = [
    FuzzFamily(entry: .expression, part: "a eq 1 and ", after: "a"),
    FuzzFamily(entry: .expression, part: "a or ", after: "a"),
    FuzzFamily(entry: .expression, part: "(a or b) and (a and b) and ", after: "a"),
    FuzzFamily(entry: .expression, part: "a add ", after: "a"),
    FuzzFamily(entry: .expression, before: "a in (1", part: ",2", after: ")"),
    FuzzFamily(entry: .expression, before: "[1", part: ",{\"a\":'b'}", after: "]"),
    FuzzFamily(entry: .expression, before: "'", part: "x", after: "'"),
    FuzzFamily(entry: .expression, before: "'", part: "''", after: "'"),
    FuzzFamily(entry: .expression, before: "'", part: "%C3%A4%27%27", after: "'"),
    FuzzFamily(entry: .expression, before: "'", part: "x"),
    FuzzFamily(entry: .expression, before: "[\"", part: "\\u00e4\\n", after: "\"]"),
    FuzzFamily(entry: .expression, part: "1"),
    FuzzFamily(entry: .expression, before: "1.", part: "1"),
    FuzzFamily(entry: .expression, before: "1e", part: "1"),
    FuzzFamily(entry: .expression, part: "1", version: .v2),
    FuzzFamily(entry: .expression, before: "binary'", part: "AAAA", after: "'"),
    FuzzFamily(entry: .expression, before: "X'", part: "AB", after: "'", version: .v2),
    FuzzFamily(entry: .expression, before: "duration'PT", part: "1", after: "S'"),
    FuzzFamily(entry: .expression, before: "geography'SRID=0;LineString(0 0", part: ",1 1", after: ")'"),
    FuzzFamily(entry: .expression, before: "Ns.Color'a", part: ",a", after: "'"),
    FuzzFamily(entry: .expression, before: "a", part: "/b"),
    FuzzFamily(entry: .expression, before: "a", part: ".b", after: "/c"),
    FuzzFamily(entry: .expression, before: "a", part: "/f(x=1)"),
    FuzzFamily(entry: .expression, before: "a", part: "/@b.c"),
    FuzzFamily(entry: .expression, part: "a/any(x:x/b) and ", after: "a"),
    FuzzFamily(entry: .expression, before: "F(x=1", part: ",x=cast(a,Edm.String)", after: ")"),
    FuzzFamily(entry: .expression, before: "case(a:1", part: ",b:isof(Edm.String)", after: ")"),
    FuzzFamily(entry: .expression, before: "case(a:1", part: ",b gt 10:20", after: ")"),
    FuzzFamily(entry: .expression, before: "concat('a'", part: ",'b'", after: ")", version: .v2),
    FuzzFamily(entry: .expression, part: " ", after: "a"),
    FuzzFamily(entry: .expression, before: "a", part: " ", after: "eq 1"),
    FuzzFamily(entry: .expression, part: "-1 add -2 sub ", after: "1"),
    FuzzFamily(entry: .expression, part: "x"),
    FuzzFamily(entry: .expression, part: "ä"),
    FuzzFamily(entry: .orderBy, before: "a", part: ",b desc"),
    FuzzFamily(entry: .compute, before: "a as b", part: ",a as b"),
    FuzzFamily(entry: .select, before: "a", part: ",b/Ns.c/d($top=1),Ns.F(a,b)"),
    FuzzFamily(entry: .expand, before: "a", part: ",b/Ns.c($filter=d eq 1;$select=e)"),
    FuzzFamily(entry: .search, before: "a", part: " b"),
    FuzzFamily(entry: .search, before: "a", part: " OR NOT \"b\" AND c"),
    FuzzFamily(entry: .search, part: "x"),
    FuzzFamily(entry: .apply, before: "identity", part: "/filter(a eq 1)"),
    FuzzFamily(entry: .apply, before: "concat(identity", part: ",top(1)/skip(2)", after: ")"),
    FuzzFamily(
      entry: .apply, before: "aggregate(a", part: ",b/c with sum from d,e with max as f,a add 1 with min as g",
      after: ")"),
    FuzzFamily(entry: .apply, before: "groupby((a", part: ",rollup(b,c/d),rollup(e)", after: "))"),
    FuzzFamily(entry: .apply, before: "traverse($root/A,B,C,preorder,Ns.F(a=1)", part: "/Ns.F(a=1)", after: ")"),
    FuzzFamily(entry: .apply, before: "aggregate(a", part: "/b", after: " add 1 with sum as c)"),
    FuzzFamily(entry: .apply, before: "aggregate(a with sum", part: " from b with max", after: " as c)"),
    FuzzFamily(entry: .queryOptions, before: "a=b", part: "&c=%20d"),
    FuzzFamily(entry: .queryOptions, before: "@a=1&$filter=@a eq 1", part: "&@b=1"),
    FuzzFamily(entry: .queryOptions, before: "$skiptoken=", part: "%2F"),
    FuzzFamily(entry: .queryOptions, before: "$filter=a eq '", part: "&"),
    FuzzFamily(entry: .path, before: "A", part: "/B(1)/Ns.C"),
    FuzzFamily(entry: .path, before: "A", part: "/1"),
    FuzzFamily(entry: .path, before: "A", part: "/$filter(a eq 1)"),
    FuzzFamily(entry: .path, before: "$crossjoin(A", part: ",B", after: ")"),
    FuzzFamily(entry: .url, before: "https://h/", part: "a/"),
    FuzzFamily(entry: .url, before: "https://h/", part: "a(1)/"),
    FuzzFamily(entry: .url, before: "https://", part: "h"),
    FuzzFamily(entry: .contextFragment, before: "A(a", part: ",b/c,d+(e),@f.g#h", after: ")"),
    FuzzFamily(entry: .contextFragment, before: "A", part: "(1)/Ns.B/C"),
    FuzzFamily(entry: .expression, part: "%"),
    FuzzFamily(entry: .expression, part: "%41"),
    FuzzFamily(entry: .relativeURL, before: "A?", part: "?"),
  ]

  /// How much longer twice the text takes; the best of a few attempts, as other work of the machine only lengthens.
  static func ratio(_ family: FuzzFamily, bytes: Int, attempts: Int = 4, enough: Double) -> Double {
    var best = Double.infinity
    for _ in 0..<attempts {
      let once = seconds(family, bytes: bytes)
      let twice = seconds(family, bytes: 2 * bytes)
      // Shorter times cannot be measured.
      best = min(best, twice < 2e-4 ? 1 : twice / max(once, 1e-6))
      if best <= enough { break }
    }
    return best
  }

  private static func seconds(_ family: FuzzFamily, bytes: Int) -> Double {
    let text = family.text(bytes: bytes)
    var best = Double.infinity
    for _ in 0..<3 {
      let start = FuzzChecks.processorTime()
      _ = family.entry.rejection(text, family.version)
      best = min(best, FuzzChecks.processorTime() - start)
    }
    return best
  }
}
