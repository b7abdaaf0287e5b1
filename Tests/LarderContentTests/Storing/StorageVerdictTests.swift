import LarderHTTP
import Testing

@testable import LarderContent

@Suite("Which responses are stored (RFC 9111 §3)", .timeLimit(.minutes(5)))
struct StorageVerdictTests {
  static func verdict(
    status: Int = 200, _ said: String? = nil, requested: String? = nil, method: HTTPMethod = .get, vary: String? = nil,
    override: FreshnessOverride = .none, partial: Bool = false, contentLocation: String? = nil, expires: Int64? = nil
  ) -> StorageVerdict {
    let response = FreshnessTests.rules(
      status: status, said, expires: expires, extra: vary.map { ["Vary": $0] } ?? [:])
    var fields: HTTPFields = ["Authorization": "Basic eA=="]
    if let requested { fields[.cacheControl] = requested }
    return StorageVerdict.of(
      RequestRules(method: method, fields: fields), method: method, response: response, override: override,
      storesPartial: partial, url: "http://h/a", contentLocation: contentLocation)
  }

  @Test(
    "with freshness of its own any final status is kept",
    arguments: [
      200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599, 201, 403, 401, 700,
    ])
  func explicit(status: Int) {
    #expect(Self.verdict(status: status, "max-age=60") == .store)
    #expect(Self.verdict(status: status, expires: -5) == .store)
    #expect(Self.verdict(status: status, "public") == .store)
    #expect(Self.verdict(status: status, "private") == .store)
  }

  @Test("without, those that are cacheable by themselves")
  func byStatus() {
    for status in [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501] {
      #expect(Self.verdict(status: status) == .store, "\(status)")
    }
    for status in [201, 202, 302, 303, 307, 400, 401, 403, 500, 502, 503, 504, 599] {
      #expect(Self.verdict(status: status) == .reject(.notCacheable), "\(status)")
      #expect(Self.verdict(status: status, "no-cache") == .reject(.notCacheable), "\(status)")
    }
  }

  @Test("statuses of one exchange are not kept", arguments: [100, 103, 199, 304, 412, 416])
  func passing(status: Int) {
    #expect(Self.verdict(status: status, "max-age=60") == .reject(.status))
  }

  @Test("statuses that no cache may store (RFC 6585 §§3 to 6)", arguments: [428, 429, 431, 511])
  func neverStored(status: Int) {
    for said in ["max-age=60", "public", "private", "must-understand, max-age=60"] {
      #expect(Self.verdict(status: status, said) == .reject(.status))
      #expect(Self.verdict(status: status, said, override: .init(ttl: .seconds(60))) == .reject(.status))
    }
  }

  @Test("206 only where ranges can be kept (§3.3)")
  func partial() {
    #expect(Self.verdict(status: 206, "max-age=60") == .reject(.status))
    #expect(Self.verdict(status: 206, "max-age=60", partial: true) == .store)
  }

  @Test(
    "no-store on either side, and what lifts it (§5.2.1.5, §5.2.2.3, §5.2.2.5)",
    arguments: [
      (200, "no-store", nil, StorageVerdict.reject(.responseNoStore)),
      (200, "max-age=60, No-StOrE", nil, .reject(.responseNoStore)),
      (200, "none", nil, .reject(.responseNoStore)),
      (200, "max-age=60", "no-store", .reject(.requestNoStore)),
      (200, "max-age=60, no-store, must-understand", nil, .store),
      (200, "max-age=60, no-store, must-understand", "no-store", .reject(.requestNoStore)),
      (599, "max-age=60, no-store, must-understand", nil, .reject(.notUnderstood)),
      (599, "max-age=60, must-understand", nil, .reject(.notUnderstood)),
      (200, "no-cache", nil, .store), (200, "private, max-age=60", nil, .store),
      (200, "private=\"a\", max-age=60", nil, .store),
    ] as [(Int, String, String?, StorageVerdict)])
  func noStore(status: Int, said: String, requested: String?, expected: StorageVerdict) {
    #expect(Self.verdict(status: status, said, requested: requested) == expected)
  }

  @Test("a query's time to live never overcomes no-store, and keeps what else would not be")
  func override() {
    let override = FreshnessOverride(ttl: .seconds(60))
    #expect(Self.verdict("no-store", override: override) == .reject(.responseNoStore))
    #expect(Self.verdict(status: 202, override: override) == .store)
    #expect(Self.verdict(status: 403, override: override) == .reject(.notCacheable))
    #expect(Self.verdict(status: 500, override: override) == .reject(.notCacheable))
  }

  @Test("Vary: * is not stored (§4.1)", arguments: ["*", "*, *", ", *", "*, Foo", "Foo, *"])
  func varyStar(vary: String) {
    #expect(Self.verdict("max-age=60", vary: vary) == .reject(.varyStar))
    #expect(Self.verdict("max-age=60", vary: "Foo") == .store)
  }

  @Test("methods: GET, and POST whose response is declared usable for a later GET (RFC 9110 §9.3.3)")
  func methods() {
    #expect(Self.verdict("max-age=60", method: .head) == .reject(.method))
    #expect(Self.verdict("max-age=60", method: .put, contentLocation: "http://h/a") == .reject(.method))
    #expect(Self.verdict("max-age=60", method: .post) == .reject(.method))
    #expect(Self.verdict("max-age=60", method: .post, contentLocation: "http://h/b") == .reject(.method))
    #expect(Self.verdict(method: .post, contentLocation: "http://h/a") == .reject(.method))
    #expect(Self.verdict("max-age=60", method: .post, contentLocation: "http://h/a") == .store)
    #expect(Self.verdict(status: 500, "max-age=60", method: .post, contentLocation: "http://h/a") == .reject(.method))
  }
}
