import Testing

@testable import LarderOData

@Suite("JSON scanner", .timeLimit(.minutes(5)))
struct JSONScannerTests {
  /// The tokens of a text, each as `kind:text`.
  static func tokens(_ chunks: [[UInt8]], limits: JSONLimits = JSONLimits()) throws(JSONError) -> [String] {
    var scanner = JSONScanner(limits: limits)
    var tokens: [String] = []
    func take(_ scanner: inout JSONScanner) throws(JSONError) {
      while let token = try scanner.next() { tokens.append("\(token.kind):\(scanner.string(token))") }
    }
    for chunk in chunks {
      scanner.feed(chunk)
      try take(&scanner)
    }
    scanner.finish()
    try take(&scanner)
    return tokens
  }

  static func problem(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) -> JSONError? {
    do throws(JSONError) {
      _ = try tokens([bytes], limits: limits)
      return nil
    } catch { return error }
  }

  @Test("Values of RFC 8259 §3 to §7 are read with their exact characters")
  func values() throws {
    let text = #" {"a" : [1, -0, 1.5e+10, 1E-2, true,false,null, "x\n\u00e9\ud83d\ude00\/", ""], "b":{}, "é":[]} "#
    #expect(
      try Self.tokens([Array(text.utf8)]) == [
        "beginObject:{", "name:a", "beginArray:[", "number:1", "number:-0", "number:1.5e+10", "number:1E-2",
        "true:true", "false:false", "null:null", "string:x\né😀/", "string:", "endArray:]", "name:b", "beginObject:{",
        "endObject:}", "name:é", "beginArray:[", "endArray:]", "endObject:}",
      ])
  }

  @Test("A text can be a value other than an object", arguments: ["12", "\"x\"", " null ", "-1.5", "true", "[]"])
  func alone(text: String) throws {
    #expect(try Self.tokens([Array(text.utf8)]).isEmpty == false)
  }

  @Test(
    "Text that RFC 8259 does not allow is an error at its byte",
    arguments: [
      ("", 0), ("   ", 3), ("{", 1), ("[1,", 3), ("[1,]", 3), ("[,1]", 1), ("{\"a\"}", 4), ("{\"a\":}", 5), ("{,}", 1),
      ("{\"a\":1,}", 7), ("[1 2]", 3), ("[1}", 2), ("{\"a\":1]", 6), ("01", 0), ("+1", 0), ("1.", 0), (".5", 0),
      ("1e", 0), ("-", 0), ("--1", 0), ("1.e5", 0), ("0x10", 1), ("tru", 3), ("trux", 0), ("nulll", 4), ("NaN", 0),
      ("[1] x", 4), ("{}{}", 2), ("\"a", 2), ("\"\\x\"", 1), ("\"\\u12g4\"", 1), ("\"\\ud800\"", 1),
      ("\"\\udc00\"", 1), ("\"\\ud800\\u0041\"", 1), ("\"a\tb\"", 2), ("{a:1}", 1), ("'a'", 0), ("[1]]", 3), ("]", 0),
      ("// c\n1", 0), ("\u{FEFF}\u{FEFF}1", 3),
    ])
  func rejected(text: String, offset: Int) {
    let error = Self.problem(Array(text.utf8))
    #expect(error?.offset == offset, "\(text): \(String(describing: error))")
  }

  @Test(
    "Bytes that are not UTF-8 are rejected inside strings (Unicode 3.9)",
    arguments: [
      [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xF0, 0x8F, 0x80, 0x80],
      [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xC3, 0x22], [0xE2, 0x82, 0x41],
    ] as [[UInt8]])
  func notUTF8(sequence: [UInt8]) {
    #expect(Self.problem([0x22, 0x61] + sequence + [0x22, 0x22, 0x22])?.problem == .invalidUTF8)
  }

  @Test("A byte order mark is skipped, other encodings are rejected (§8.1)")
  func byteOrderMark() throws {
    #expect(try Self.tokens([[0xEF], [0xBB], [0xBF, 0x31]]) == ["number:1"])
    #expect(Self.problem([0xFF, 0xFE, 0x31, 0x00])?.problem == .notUTF8)
    #expect(Self.problem([0x00, 0x31])?.problem == .notUTF8)
    #expect(Self.problem([0xEF, 0xBB])?.problem == .notUTF8)
  }

  @Test("An error names line and column")
  func place() {
    let error = Self.problem(Array("{\n  \"a\": 1,\n  \"b\" 2\n}".utf8))
    #expect(error?.line == 3)
    #expect(error?.column == 7)
    #expect(error?.description == "'2' instead of ':' at line 3, column 7 (byte 18)")
  }

  @Test("Brackets deeper than the limit are rejected, whatever their number", arguments: ["[", "{\"a\":"])
  func tooDeep(opening: String) {
    let bytes = Array(String(repeating: opening, count: 100_000).utf8)
    let error = Self.problem(bytes)
    #expect(error?.problem == .tooDeep(limit: 512))
    #expect(error?.offset == 512 * opening.utf8.count)
    #expect(throws: JSONError.self) { try JSONNode(bytes) }
  }

  @Test("Tokens longer than their limit are rejected")
  func tooLong() {
    let text = [UInt8](repeating: 0x61, count: 101)
    #expect(
      Self.problem([0x22] + text + [0x22], limits: JSONLimits(depth: 5, stringBytes: 100))?.problem
        == .tokenTooLong(limit: 100))
    #expect(Self.problem([UInt8](repeating: 0x31, count: 5000))?.problem == .tokenTooLong(limit: 4096))
  }

  @Test("Chunk boundaries anywhere change nothing")
  func chunks() throws {
    let text = #"{"näme":[12.5e3,true,null,"a\u00e9\ud83d\ude00€\\"],"b\"":{"c":false,"long":"0123456789abcdef€"}}"#
    let bytes = Array(text.utf8)
    let whole = try Self.tokens([bytes])
    for border in 0...bytes.count {
      #expect(try Self.tokens([Array(bytes[..<border]), Array(bytes[border...])]) == whole)
    }
    #expect(try Self.tokens(bytes.map { [$0] }) == whole)
    for end in 0..<bytes.count { #expect(Self.problem(Array(bytes[..<end]))?.problem != nil, "cut at \(end)") }
  }

  @Test("A long string that arrives byte by byte is scanned once")
  func linear() throws {
    var scanner = JSONScanner()
    scanner.feed([0x22])
    for _ in 0..<300_000 {
      scanner.feed([0x61])
      #expect(try scanner.next()?.kind == nil)
    }
    scanner.feed([0x22])
    scanner.finish()
    let token = try #require(try scanner.next())
    #expect(scanner.string(token).utf8.count == 300_000)
    #expect(try scanner.next()?.kind == nil)
  }

  @Test("Names are compared and values skipped without creating strings")
  func skipping() throws {
    var scanner = JSONScanner(Array(#"{"skip":[{"x":[1,2]},3],"take":7}"#.utf8))
    _ = try scanner.next()
    let name = try #require(try scanner.next())
    #expect(scanner.matches(name, "skip"))
    #expect(!scanner.matches(name, "skid"))
    let value = try #require(try scanner.next())
    #expect(try scanner.skip(value))
    let take = try #require(try scanner.next())
    #expect(scanner.string(take) == "take")
    #expect(scanner.offset(of: take) == 25)
  }
}
