import LarderHTTP
import Testing

@testable import LarderContent

@Suite("Age and the request's fields (RFC 9111 §5.1, §5.2.1)", .timeLimit(.minutes(5)))
struct AgeTests {
  @Test(
    "the first member of Age, where it is a number",
    arguments: [
      ("0", 0), ("7200", 7200), (" 7200 ", 7200), ("7200, 0", 7200), ("0, 7200", 0), ("7200;foo=bar", 7200),
      ("7200 x", 7200), ("2147483647", 2_147_483_647), ("2147483649", 2_147_483_648),
      ("99999999999999999999", 2_147_483_648), ("", nil), ("abc", nil), ("-7200", nil), ("7200.0", nil),
      ("7200a", nil), (",7200", nil), ("+1", nil), ("\"5\"", nil),
    ] as [(String, Int64?)])
  func age(value: String, seconds: Int64?) {
    #expect(DeltaSeconds.age(value) == seconds)
  }

  @Test("of two Age lines the first counts, also where it is no number")
  func lines() {
    func age(_ lines: String...) -> Int64 {
      let fields = HTTPFields(lines.map { HTTPField(name: "Age", value: $0) })
      return StoredRules(status: 200, fields: fields, requestTime: 0, responseTime: 0).initialAge
    }
    #expect(age("7200", "0") == 7_200_000)
    #expect(age("0", "7200") == 0)
    #expect(age("x", "7200") == 0)
  }

  @Test(
    "methods as the cache sees them (RFC 9110 §9.2.1, RFC 9111 §4.4)",
    arguments: [
      ("GET", RequestRules.MethodKind.get), ("HEAD", .head), ("OPTIONS", .safe), ("TRACE", .safe),
      ("PROPFIND", .safe), ("QUERY", .safe), ("POST", .unsafe), ("PUT", .unsafe), ("DELETE", .unsafe),
      ("PATCH", .unsafe), ("M-SEARCH", .unsafe), ("MERGE", .unsafe), ("get", .unsafe), ("", .unsafe),
    ])
  func methods(name: String, kind: RequestRules.MethodKind) {
    #expect(RequestRules(method: HTTPMethod(rawValue: name), fields: [:]).method == kind)
  }

  @Test("what a request carries is read in one pass")
  func request() {
    let plain = RequestRules(method: .get, fields: ["Accept": "a", "Pragma": "no-cache"])
    #expect(plain == RequestRules(method: .get, fields: [:]))
    let full = RequestRules(
      method: .get, fields: ["RANGE": "bytes=0-1", "cache-control": "no-cache", "Cache-Control": "max-age=3"])
    #expect(full.hasRange)
    #expect(!full.isConditional)
    #expect(full.cacheControl.contains(.noCache))
    #expect(full.cacheControl.maxAge == 3)
    for name in ["If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"] {
      #expect(RequestRules(method: .get, fields: [HTTPFieldName(name): "x"]).isConditional, "\(name)")
    }
  }
}
