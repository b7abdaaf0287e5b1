import Testing

@testable import LarderHTTP

@Suite("Hosts in ASCII", .timeLimit(.minutes(1)))
struct HostNameTests {
  @Test(
    "Hosts outside ASCII have an ASCII form (RFC 3492, RFC 5891)",
    arguments: [
      ("m\u{FC}nchen.example", "xn--mnchen-3ya.example"), ("M\u{DC}NCHEN.Example", "xn--mnchen-3ya.example"),
      ("mu\u{308}nchen.example", "xn--mnchen-3ya.example"), ("m%C3%BCnchen.example", "xn--mnchen-3ya.example"),
      ("b\u{FC}cher.example.", "xn--bcher-kva.example."), ("stra\u{DF}e.example", "xn--strae-oqa.example"),
      ("\u{65E5}\u{672C}\u{8A9E}.example", "xn--wgv71a119e.example"),
      ("\u{4F8B}\u{3048}\u{3002}\u{30C6}\u{30B9}\u{30C8}", "xn--r8jz45g.xn--zckzah"),
      ("pro\u{10D}prost\u{11B}nemluv\u{ED}\u{10D}esky", "xn--proprostnemluvesky-uyb24dma41a"),
    ])
  func ascii(host: String, expected: String) { #expect(HostName.ascii(host) == expected) }

  @Test(
    "Hosts in ASCII stay as they are",
    arguments: ["Example.com", "127.0.0.1", "[::1]", "[fe80::1%25eth0]", "a_b.example", "xn--mnchen-3ya.example"])
  func unchanged(host: String) { #expect(HostName.ascii(host) == host) }

  @Test(
    "Other hosts have no ASCII form",
    arguments: [
      "", "a b", "a%20b", "a%2Fb", "a|b", "%zz", "%FF", "a\u{2028}b", "\u{10FEE9}", "a\u{200B}b", "\u{FF0F}",
      String(repeating: "\u{FC}", count: 64),
    ])
  func none(host: String) { #expect(HostName.ascii(host) == nil) }
}

@Suite("References as they are sent", .timeLimit(.minutes(1)))
struct URLReferenceTests {
  @Test(
    "A reference in ASCII keeps its bytes",
    arguments: [
      ("/a/b?c=d", "/a/b?c=d"), ("/a b", "/a%20b"), ("/%41%zz%", "/%41%zz%"), ("x:y//\u{E9}", "x:y//%C3%A9"),
      ("//\u{E9}.example/\u{E9}", "//xn--9ca.example/%C3%A9"),
      ("http://u@\u{E9}.example:8/?\u{E9}", "http://u@xn--9ca.example:8/?%C3%A9"), ("?a=//\u{E9}", "?a=//%C3%A9"),
      ("http://[::1]:8/\u{E9}", "http://[::1]:8/%C3%A9"), ("", ""),
    ])
  func ascii(reference: String, sent: String) { #expect(URLReference.ascii(reference).map(URLReference.sent) == sent) }
}
