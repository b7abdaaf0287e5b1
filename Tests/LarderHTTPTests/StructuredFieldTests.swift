import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Structured fields (RFC 9651)", .timeLimit(.minutes(5)))
struct StructuredFieldTests {
  typealias Value = StructuredField.Value

  static let items: [(String, Value)] = [
    // §3.3.1 to §3.3.8
    ("42", .integer(42)), ("-0", .integer(0)), ("-999999999999999", .integer(-999_999_999_999_999)),
    ("00042", .integer(42)), ("4.5", .decimal(thousandths: 4500)), ("-0.001", .decimal(thousandths: -1)),
    ("123456789012.125", .decimal(thousandths: 123_456_789_012_125)), ("\"hello world\"", .string("hello world")),
    ("\"a\\\"b\\\\c\"", .string("a\"b\\c")), ("\"\"", .string("")), ("foo123/456", .token("foo123/456")),
    ("*a:b", .token("*a:b")), ("A", .token("A")), (":aGVsbG8=:", .bytes(Array("hello".utf8))),
    (":aGVsbG8:", .bytes(Array("hello".utf8))), ("::", .bytes([])), ("?1", .boolean(true)), ("?0", .boolean(false)),
    ("@1659578233", .date(1_659_578_233)), ("@-62135596800", .date(-62_135_596_800)),
    ("%\"This is intended for display to %c3%bcsers.\"", .displayString("This is intended for display to üsers.")),
    ("  1  ", .integer(1)),
  ]

  @Test("items of each type are parsed", arguments: items)
  func item(text: String, value: Value) throws {
    #expect(try StructuredField.item(text) == StructuredField.Item(value))
  }

  @Test(
    "text that the grammar does not allow is an error",
    arguments: [
      "", " ", "1000000000000000", "1.", "1.1234", "1234567890123.1", "-", "--1", ".5", "\"open", "\"a\\b\"", "\"ü\"",
      "\"\t\"", "?2", "?", ":a", ":a*b:", ":aa=a:", "@1.5", "@", "%\"%C3%BC\"", "%\"%c3\"", "%\"%zz\"", "%x", "ü",
      "1 2",
      "a;=1", "a;A=1", "a;", "a;b=", "(a)", "{", "\u{0}", "1\t",
    ])
  func malformedItem(text: String) {
    #expect(throws: StructuredFieldError.self) { try StructuredField.item(text) }
  }

  @Test("lists contain items and inner lists with parameters (§3.1)")
  func list() throws {
    let members = try StructuredField.list("a;q=1.5;last;q=2 ,\t(\"x\" y;z=?0 );p=:AQ==:, 3")
    #expect(
      members == [
        .item(.init(.token("a"), [.init(name: "q", value: .integer(2)), .init(name: "last", value: .boolean(true))])),
        .innerList(
          [.init(.string("x")), .init(.token("y"), [.init(name: "z", value: .boolean(false))])],
          [.init(name: "p", value: .bytes([1]))]),
        .item(.init(.integer(3))),
      ])
    #expect(try StructuredField.list("").isEmpty)
    #expect(try StructuredField.list("()") == [.innerList([], [])])
  }

  @Test(
    "lists fail as a whole (§4.2)",
    arguments: ["a,", ",a", "a,,b", "a b", "(a", "(a,b)", "(a\tb)", "((a))", "a;b c", "a=1", ")", "(a)b"])
  func malformedList(text: String) {
    #expect(throws: StructuredFieldError.self) { try StructuredField.list(text) }
  }

  @Test("an error contains its position")
  func place() {
    let error = #expect(throws: StructuredFieldError.self) { try StructuredField.list("abc, (d e") }
    #expect(error?.offset == 9)
    #expect(error?.description.hasPrefix("Structured field, byte 9: ") == true)
  }

  @Test("hostile texts fail quickly")
  func hostile() {
    let texts = [
      String(repeating: "(", count: 1_000_000), String(repeating: "a,", count: 500_000) + "a",
      "a" + String(repeating: ";b", count: 500_000), "\"" + String(repeating: "\\", count: 1_000_001),
      "(" + String(repeating: "1 ", count: 500_000) + ")", String(repeating: "9", count: 1_000_000),
    ]
    for text in texts { #expect(throws: StructuredFieldError.self) { try StructuredField.list(text) } }
  }

  @Test("printed values are parsed as the same values", arguments: items.map(\.1))
  func roundTrip(value: Value) throws {
    let member = StructuredField.Member.innerList(
      [.init(value, [.init(name: "a", value: value), .init(name: "*b", value: .boolean(true))])],
      [.init(name: "c.d-e", value: .boolean(false))])
    let text = try #require(StructuredField.text(of: [member, .item(.init(value))]))
    #expect(try StructuredField.list(text) == [member, .item(.init(value))])
  }

  @Test("printing is canonical (§4.1)")
  func printing() {
    let list: [StructuredField.Member] = [
      .item(.init(.decimal(thousandths: -1500), [.init(name: "a", value: .boolean(true))])),
      .item(.init(.decimal(thousandths: 2000))), .innerList([.init(.token("x")), .init(.integer(1))], []),
      .item(.init(.bytes([0xFB, 0xFF]))), .item(.init(.displayString("ü%\"\n"))),
    ]
    #expect(StructuredField.text(of: list) == "-1.5;a, 2.0, (x 1), :+/8=:, %\"%c3%bc%25%22%0a\"")
  }

  @Test(
    "values without a textual form are not printed (§4.1)",
    arguments: [
      Value.integer(1_000_000_000_000_000), .integer(.min), .decimal(thousandths: .max), .string("ü"), .string("\n"),
      .token(""), .token("1a"), .token("a b"), .date(.max),
    ])
  func unprintable(value: Value) {
    #expect(StructuredField.text(of: [.item(.init(value))]) == nil)
    #expect(StructuredField.text(of: [.item(.init(.integer(1), [.init(name: "a", value: value)]))]) == nil)
  }

  @Test("a parameter's name must be a key")
  func keys() {
    for name in ["", "A", "1", "a b", "ü"] {
      let item = StructuredField.Item(.integer(1), [.init(name: name, value: .boolean(true))])
      #expect(StructuredField.text(of: [.item(item)]) == nil)
    }
  }

  @Test("random bytes are parsed or rejected, and parsed values can be printed and parsed again")
  func random() throws {
    var generator = PrintedSeed(for: "StructuredFieldTests.random")
    let alphabet = Array("ab1.-;=, \t()\"\\?:@%*/ü0A".unicodeScalars)
    var accepted = 0
    for _ in 0..<20_000 {
      var text = ""
      for _ in 0..<Int.random(in: 0..<12, using: &generator) {
        text.unicodeScalars.append(alphabet[Int.random(in: 0..<alphabet.count, using: &generator)])
      }
      guard let list = try? StructuredField.list(text) else { continue }
      accepted += 1
      let printed = try #require(StructuredField.text(of: list), "\(text)")
      #expect(try StructuredField.list(printed) == list, "\(text) → \(printed)")
    }
    #expect(accepted > 100)
  }
}
