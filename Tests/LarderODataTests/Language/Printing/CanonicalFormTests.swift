import LarderOData
import LarderTestSupport
import Testing

@Suite("Equivalent URLs have one canonical form", .timeLimit(.minutes(5)))
struct CanonicalFormTests {
  private func canonical(_ text: String) throws -> String {
    let parser = ODataParser()
    let printer = ODataPrinter()
    let url = printer.canonical(try parser.relativeURL(text))
    let printed = try printer.print(url)
    #expect(try parser.relativeURL(printed) == url, "\(printed)")
    #expect(printer.canonical(url) == url, "\(printed)")
    return printed
  }

  @Test(
    "Literals replace their aliases: in expressions, keys and parameters",
    arguments: [
      ("P?$filter=contains(T,@w)&@w='Black'", "P?$filter=contains(T,'Black')"),
      ("P(@key)?@key=1", "P(1)"), ("P(A=@a,B=@b)?@b=2&@a='x'", "P(A='x',B=2)"), ("P(B=2,A='x')", "P(A='x',B=2)"),
      ("P/F(x=@x)?@x=null", "P/F(x=null)"), ("P(@key)?@key=null", "P(@p1)?@p1=null"),
      ("P?$filter=a%20eq%20@x%20or%20b%20eq%20@x&@x=5", "P?$filter=a%20eq%205%20or%20b%20eq%205"),
      ("P?$filter=a%20eq%20@x&@x=@y&@y=@z&@z=1", "P?$filter=a%20eq%201"),
      (
        "P?$expand=Q(@a=1;$filter=b%20eq%20@a%20and%20c%20eq%20@o)&@o=2&@a=3",
        "P?$expand=Q($filter=b%20eq%201%20and%20c%20eq%202)&@a=3"
      ),
    ])
  func literals(text: String, expected: String) throws {
    #expect(try canonical(text) == expected)
  }

  @Test(
    "So do other values that are used once and depend on nothing; other aliases are renamed in the order of use",
    arguments: [
      ("P?$filter=a%20in%20@x&@x=%5B1,2%5D", "P?$filter=a%20in%20%5B1,2%5D"),
      ("P/F(x=@x)?@x=%5B1%5D", "P/F(x=@p1)?@p1=%5B1%5D"),
      ("F(b=@beta,a=@alpha)?@alpha=%5B1%5D&@beta=%5B2%5D", "F(a=@p1,b=@p2)?@p1=%5B1%5D&@p2=%5B2%5D"),
      ("P?$filter=a%20eq%20@x&@x=5%20add%203", "P?$filter=a%20eq%205%20add%203"),
      (
        "P?$filter=a%20eq%20@x%20or%20b%20eq%20@x&@x=5%20add%203",
        "P?$filter=a%20eq%20@p1%20or%20b%20eq%20@p1&@p1=5%20add%203"
      ),
      ("P?$filter=a%20eq%20@x&@x=$root/S/b", "P?$filter=a%20eq%20$root/S/b"),
      ("P/$filter(@foo)?@foo=a%20gt%203", "P/$filter(@p1)?@p1=a%20gt%203"),
      ("P/$filter(@z)/$filter(@y)?@y=b&@z=a", "P/$filter(@p1)/$filter(@p2)?@p1=a&@p2=b"),
      ("P?$filter=@m/a%20eq%20b&@m=$it", "P?$filter=@p1/a%20eq%20b&@p1=$it"),
      ("P?$filter=a%20eq%20@x&@x=%5B@y,@z%5D&@y=b&@z=2", "P?$filter=a%20eq%20@p1&@p1=%5B@p2,2%5D&@p2=b"),
      ("P?$filter=@p9%20eq%20@x&@x=$it/a", "P?$filter=@p9%20eq%20@p1&@p1=$it/a"),
      ("P?$filter=@p1%20eq%20@x&@x=$it/a", "P?$filter=@p1%20eq%20@p2&@p2=$it/a"),
      ("ByManager?@ManagerID=3&@A=1", "ByManager?@A=1&@ManagerID=3"),
      ("P?$filter=a%20eq%20@x&@x=@y&@y=@x", "P?$filter=a%20eq%20@p1&@p1=@p2&@p2=@p1"),
      ("P?$filter=a%20eq%20@x&@x=@x", "P?$filter=a%20eq%20@p1&@p1=@p1"),
    ])
  func values(text: String, expected: String) throws {
    #expect(try canonical(text) == expected)
  }

  @Test(
    "Spelling of timestamps, enumerations, geo values; the order of custom options",
    arguments: [
      ("P?$filter=a%20gt%202012-09-03T12:00%2B02:00", "P?$filter=a%20gt%202012-09-03T10:00:00Z"),
      ("P?$filter=a%20gt%20hour(2012-09-03T12:00%2B02:00)", "P?$filter=a%20gt%20hour(2012-09-03T12:00:00%2B02:00)"),
      ("P?$filter=a%20has%20N.T'Red,%20%2B1'", "P?$filter=a%20has%20N.T'Red,1'"),
      ("P?b=1&a=2&b=0", "P?a=2&b=1&b=0"),
      ("P?$filter=a%20eq%205L%20and%20b%20eq%201.5d", "P?$filter=a%20eq%205%20and%20b%20eq%201.5"),
    ])
  func spelling(text: String, expected: String) throws {
    #expect(try canonical(text) == expected)
  }

  @Test("Aliases that double at each step do not grow")
  func bounded() throws {
    var text = "P?$filter=@a0"
    for step in 0..<60 { text += "&@a\(step)=%5B@a\(step + 1),@a\(step + 1)%5D" }
    text += "&@a60='\(String(repeating: "x", count: 1000))'"
    #expect(try canonical(text).utf8.count < 4000)
  }

  @Test("Trees deeper than the limit stay unchanged, on a small stack too", arguments: [10, 90])
  func depth(levels: Int) async throws {
    let isInlined = try await onSmallStack {
      var filter = ODataExpression(.path(ODataPath(root: .alias("b"), [])))
      for _ in 0..<levels { filter = ODataExpression(.not(ODataExpression(.call(.trim, [filter])))) }
      var options = ODataQueryOptions()
      options.filter = filter
      options.aliases = [ODataAlias(name: "b", value: ODataExpression(.literal(.int32(1))))]
      return ODataPrinter().canonical(options).aliases.isEmpty
    }
    #expect(isInlined == (levels == 10))
  }
}
