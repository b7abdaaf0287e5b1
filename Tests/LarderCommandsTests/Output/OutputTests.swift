import Testing

@testable import LarderCommands

@Suite("Output", .timeLimit(.minutes(5)))
struct OutputTests {
  static func pretty(_ text: String, _ type: String? = nil) -> String {
    String(decoding: PayloadPrinter.indented(Array(text.utf8), contentType: type), as: UTF8.self)
  }

  @Test(
    "JSON is indented; numbers, escapes, order and repeated names are unchanged",
    arguments: [
      (#"{"b":1.50,"a":[1E+2,{}],"c":[]}"#, "{\n  \"b\": 1.50,\n  \"a\": [\n    1E+2,\n    {}\n  ],\n  \"c\": []\n}\n"),
      (#"  [ 12345678901234567890.10 , -0 ] "#, "[\n  12345678901234567890.10,\n  -0\n]\n"),
      (#"{"\u0041":"\/\n\u00e9"}"#, "{\n  \"\\u0041\": \"\\/\\n\\u00e9\"\n}\n"),
      ("true", "true\n"),
    ])
  func json(text: String, indented: String) {
    #expect(Self.pretty(text, "application/json;odata.metadata=minimal") == indented)
  }

  @Test(
    "Invalid JSON or XML, and other types, are shown unchanged",
    arguments: [
      ("{\"a\":", "application/json"), ("{a:1}", nil), ("<a><b></a>", "application/xml"), ("<a", nil),
      ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "text/xml"), ("{\"a\":1}", "text/plain"), ("", nil), ("42", nil),
      ("</a>", "application/xml"), ("text<a/>", "application/xml"),
    ] as [(String, String?)])
  func unchanged(text: String, type: String?) {
    #expect(Self.pretty(text, type) == text)
  }

  @Test("100,000 levels of nesting are shown unchanged")
  func deep() {
    let json = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
    #expect(Self.pretty(json, "application/json") == json)
    let xml = String(repeating: "<a>", count: 100_000) + String(repeating: "</a>", count: 100_000)
    #expect(Self.pretty(xml, "application/xml").utf8.count < 40_000_000)
  }

  @Test(
    "XML is indented between tags; text and mixed content are unchanged",
    arguments: [
      ("<a><b>x</b><c/></a>", "<a>\n  <b>x</b>\n  <c/>\n</a>\n"),
      ("<?xml version='1.0'?><a p=\"1>2\"> <b></b> </a>", "<?xml version='1.0'?>\n<a p=\"1>2\">\n  <b></b>\n</a>\n"),
      ("<a>text <b>x</b> more</a>", "<a>text <b>x</b> more</a>\n"),
      ("<a><!-- <x> --><b><![CDATA[<y>]]></b></a>", "<a>\n  <!-- <x> -->\n  <b><![CDATA[<y>]]></b>\n</a>\n"),
      ("<a>  </a>", "<a>  </a>\n"), ("\u{FEFF}<a/>", "<a/>\n"),
    ])
  func xml(text: String, indented: String) {
    #expect(Self.pretty(text, "application/atom+xml;type=feed") == indented)
  }

  @Test("A terminal shows text only")
  func terminal() {
    #expect(TerminalText.line("one\r\ntwo\nthree\u{2028}four") == "one two three four")
    #expect(!TerminalText.isShowable([0x89, 0x50]))
    #expect(!TerminalText.isShowable([0x1B, 0x5B]))
    #expect(TerminalText.isShowable(Array("é\r\n".utf8)))
    #expect(!TerminalText.isShowable(Array("all is well\rnothing is".utf8)))
  }

  @Test("Colour is used on terminals that support it")
  func colour() {
    #expect(TextStyle.forTerminal(environment: ["TERM": "xterm"]) == .colour)
    #expect(TextStyle.forTerminal(environment: ["TERM": "xterm", "NO_COLOR": "1"]) == .plain)
    #expect(TextStyle.forTerminal(environment: ["TERM": "dumb"]) == .plain)
    #expect(TextStyle.forTerminal(environment: [:]) == .plain)
  }
}
