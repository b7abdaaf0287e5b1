import LarderHTTP
import Testing

@Suite("Header fields", .timeLimit(.minutes(5)))
struct HTTPFieldsTests {
  @Test(
    "Names are equal without regard to the case of ASCII letters (RFC 9110 §5.1)",
    arguments: [
      ("ETag", "etag", true), ("X-CSRF-Token", "x-csrf-TOKEN", true), ("ETag", "E-Tag", false),
      ("K", "\u{212A}", false), ("Ä", "ä", false), ("", "", true),
    ])
  func names(left: String, right: String, equal: Bool) {
    #expect((HTTPFieldName(left) == HTTPFieldName(right)) == equal)
    if equal { #expect(HTTPFieldName(left).hashValue == HTTPFieldName(right).hashValue) }
    #expect(HTTPFieldName(left).description == left)
  }

  @Test(
    "A name is a token (RFC 9110 §5.6.2)",
    arguments: [
      ("Accept", true), ("x!#$%&'*+-.^_`|~9", true), ("", false), ("a b", false), ("a:b", false), ("a\r", false),
      ("ä", false), ("a/b", false), ("a\u{0}", false),
    ])
  func tokens(name: String, valid: Bool) {
    #expect(HTTPFieldName(name).isValid == valid)
  }

  @Test(
    "A value cannot end its line (RFC 9110 §5.5)",
    arguments: [
      ("plain", true), ("Grüße", true), ("", true), ("a\tb", true), ("a\r\nb", false), ("a\nb", false), ("a\0", false),
    ])
  func values(value: String, valid: Bool) {
    #expect(HTTPField(name: "A", value: value).isValid == valid)
  }

  @Test("Several fields of one name can be read joined or separately, and keep their order")
  func repeated() {
    var fields: HTTPFields = ["Set-Cookie": "a=1", "Vary": "Accept", "set-cookie": "b=2"]
    fields.append(.vary, "Cookie")
    #expect(fields.values(of: .setCookie) == ["a=1", "b=2"])
    #expect(fields[.vary] == "Accept, Cookie")
    #expect(fields.map(\.name.rawName) == ["Set-Cookie", "Vary", "set-cookie", "Vary"])
    #expect(fields.count == 4)
  }

  @Test("Setting a value replaces all fields of its name, at the position of the first")
  func setting() {
    var fields: HTTPFields = ["A": "1", "B": "2", "a": "3", "C": "4", "A": "5"]
    fields["a"] = "9"
    #expect(fields == ["A": "9", "B": "2", "C": "4"])
    fields["D"] = "5"
    #expect(fields == ["A": "9", "B": "2", "C": "4", "D": "5"])
    fields["B"] = nil
    #expect(fields == ["a": "9", "c": "4", "d": "5"])
    fields.setDefault("A", "no")
    fields.setDefault("E", "yes")
    #expect(fields["A"] == "9" && fields["E"] == "yes")
  }

  @Test("Equality compares values and order")
  func equality() {
    #expect((["A": "1", "B": "2"] as HTTPFields) != ["B": "2", "A": "1"])
    #expect((["A": "x"] as HTTPFields) != ["A": "X"])
  }

  @Test("Setting one of 100,000 fields is linear")
  func manyFields() {
    var fields = HTTPFields((0..<100_000).map { _ in HTTPField(name: "Same", value: "v") })
    fields["Same"] = "one"
    #expect(fields.count == 1)
  }
}
