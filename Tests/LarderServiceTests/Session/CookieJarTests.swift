import Testing

@testable import LarderService

@Suite("Session cookies", .timeLimit(.minutes(5)))
struct CookieJarTests {
  static func field(
    _ cookies: [String], host: String = "erp.example", from: String = "/sap/S/P", to: String = "/sap/S/P",
    isSecure: Bool = true, later: Int64 = 0
  ) -> String? {
    var jar = CookieJar(host: host)
    _ = jar.storeCookies(cookies, path: from, now: 1000)
    return jar.field(path: to, isSecure: isSecure, now: 1000 + later)
  }

  @Test(
    "which cookies are sent (RFC 6265 §5.2 to §5.4)",
    arguments: [
      (["a=1"], "a=1"), (["a = 1 ; Secure"], "a=1"), (["a=\"x y\"; HttpOnly"], "a=\"x y\""), (["a=b=c"], "a=b=c"),
      (["a=1", "b=2"], "a=1; b=2"), (["a=1", "a=2"], "a=2"), (["a"], nil), (["=x"], nil), ([""], nil),
      (["a=1; Max-Age=0"], nil), (["a=1; Max-Age=-1"], nil), (["a=1; Max-Age=60"], "a=1"),
      (["a=1; Max-Age=bad"], "a=1"), (["a=1; Expires=Thu, 01 Jan 1970 00:00:01 GMT"], nil),
      (["a=1; Expires=Thu, 01 Jan 1970 00:00:01 GMT; Max-Age=9"], "a=1"),
      (["a=1; Expires=Wed, 09 Jun 2100 10:18:14 GMT"], "a=1"), (["a=1; Expires=never"], "a=1"),
      (["a=1", "a=; Max-Age=0"], nil), (["a=1; Domain=erp.example"], "a=1"), (["a=1; Domain=.Example"], "a=1"),
      (["a=1; Domain=other.example"], nil), (["a=1; Domain=rp.example"], nil), (["a=1; Domain="], "a=1"),
      (["a=1; Path=/"], "a=1"), (["a=1; Path=/sap"], "a=1"), (["a=1; Path=/sap/S/P/Q"], nil),
      (["a=1; Path=/sa"], nil), (["a=1; Path=x"], "a=1"), (["a=1; Path=/", "b=2; Path=/sap/S"], "b=2; a=1"),
      (["a=1\u{1}"], nil), (["a=1; Max-Age=99999999999999999999999"], "a=1"),
    ] as [([String], String?)])
  func sent(cookies: [String], expected: String?) {
    #expect(Self.field(cookies) == expected)
  }

  @Test("a secure cookie is not sent on plain connections; an expired one is not sent; an address has no parent domain")
  func limits() {
    #expect(Self.field(["a=1; Secure"], isSecure: false) == nil)
    #expect(Self.field(["a=1; Max-Age=60"], later: 60) == nil)
    #expect(Self.field(["a=1; Max-Age=60"], later: 59) == "a=1")
    #expect(Self.field(["a=1; Domain=0.0.1"], host: "127.0.0.1") == nil)
    #expect(Self.field(["a=1"], from: "/sap/S/P", to: "/sap/other") == nil, "the default path is the folder")
  }

  @Test("a session cookie with another value, or a removed one, is a new session; a persistent one is not")
  func sessions() {
    var jar = CookieJar(host: "h")
    let steps: [(String, Bool)] = [
      ("s=1", false), ("s=1", false), ("s=2", true), ("s=; Max-Age=0", true), ("lb=1; Max-Age=9", false),
      ("lb=2; Max-Age=9", false), ("lb=3; Max-Age=0", false),
    ]
    for (cookie, isOther) in steps { #expect(jar.storeCookies([cookie], path: "/", now: 0) == isOther, "\(cookie)") }
  }

  @Test("a server cannot store unlimited cookies")
  func bounded() {
    var jar = CookieJar(host: "h")
    for number in 0..<1000 { _ = jar.storeCookies(["c\(number)=1"], path: "/", now: 0) }
    #expect(jar.cookies.count == CookieJar.maximumCount)
    #expect(jar.cookies.last?.name == "c999")
    _ = jar.storeCookies(["big=" + String(repeating: "x", count: 10_000)], path: "/", now: 0)
    #expect(jar.cookies.last?.name == "c999")
  }
}
