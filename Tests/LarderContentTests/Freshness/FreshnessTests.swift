import LarderHTTP
import Testing

@testable import LarderContent

@Suite("Freshness and age (RFC 9111 §4.2)", .timeLimit(.minutes(5)))
struct FreshnessTests {
  /// 2026-01-15T00:00:00Z in seconds; responses arrive here.
  static let start: Int64 = 1_768_435_200

  /// A response; `date` and the like are seconds before or after its arrival.
  static func rules(
    status: Int = 200, _ cacheControl: String? = nil, date: Int64? = 0, expires: Int64? = nil,
    changed: Int64? = nil, age: String? = nil, delay: Int64 = 0, etag: String? = nil, extra: HTTPFields = [:]
  ) -> StoredRules {
    var fields = extra
    if let cacheControl { fields[.cacheControl] = cacheControl }
    if let date { fields[.date] = HTTPDate.text(start + date) }
    if let expires { fields["Expires"] = HTTPDate.text(start + expires) }
    if let changed { fields[.lastModified] = HTTPDate.text(start + changed) }
    if let age { fields["Age"] = age }
    if let etag { fields[.etag] = etag }
    return StoredRules(
      status: status, fields: fields, requestTime: (start - delay) * 1000, responseTime: start * 1000)
  }

  static func at(_ seconds: Int64) -> Int64 { (start + seconds) * 1000 }

  @Test(
    "the lifetime: max-age, else Expires minus Date, else a tenth of the time since the last change (§4.2.1, §4.2.2)",
    arguments: [
      (Self.rules("max-age=60"), 60, false),
      (Self.rules("max-age=60", expires: -100), 60, false),
      (Self.rules("max-age=0", expires: 100), 0, false),
      (Self.rules("s-maxage=1, max-age=60"), 60, false),
      (Self.rules("max-age=x", expires: 100), 0, false),
      (Self.rules(expires: 100), 100, false),
      (Self.rules(date: -10, expires: 100), 110, false),
      (Self.rules(date: nil, expires: 100), 100, false),
      (Self.rules(expires: -100), 0, false),
      (Self.rules(date: 400, expires: 300), 0, false),
      (Self.rules(extra: ["Expires": "0"]), 0, false),
      (Self.rules(changed: -1000, extra: ["Expires": "0"]), 0, false),
      (Self.rules(changed: -1000), 100, true),
      (Self.rules(date: nil, changed: -1000), 100, true),
      (Self.rules(changed: -100_000_000), 604_800, true),
      (Self.rules(changed: 1000), 0, true),
      // What the server wants is not fully known, so no heuristic applies.
      (Self.rules("no-cache no-store", changed: -1000), nil, false),
      (Self.rules("max-age: 0", changed: -1000), nil, false),
      (Self.rules("max-age=60 x", changed: -1000), 60, false),
      (Self.rules("public; x", changed: -1000), 100, true),
      (Self.rules(status: 301, changed: -1000), 100, true),
      (Self.rules(status: 404, changed: -1000), 10, true),
      (Self.rules(status: 599, "public", changed: -1000), 10, true),
      (Self.rules(), nil, false),
      (Self.rules(status: 302, changed: -1000), nil, false),
      (Self.rules(status: 500, changed: -1000), nil, false),
      (Self.rules(etag: "\"a\""), nil, false),
    ] as [(StoredRules, Int64?, Bool)])
  func lifetime(rules: StoredRules, seconds: Int64?, isHeuristic: Bool) {
    #expect(rules.lifetime == seconds.map { $0 * 1000 })
    #expect(rules.isHeuristic == isHeuristic)
  }

  @Test(
    "statuses that may be guessed to be fresh (RFC 9110 §15.1)",
    arguments: [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501])
  func heuristicStatuses(status: Int) {
    #expect(StoredRules.isHeuristicallyCacheable(status))
    for other in [201, 202, 302, 303, 307, 400, 403, 500, 502, 503, 504, 599] {
      #expect(!StoredRules.isHeuristicallyCacheable(other))
    }
  }

  @Test(
    "the age on arrival: the larger of what Date and what Age with the delay say (§4.2.3)",
    arguments: [
      (Self.rules(), 0), (Self.rules(date: nil), 0), (Self.rules(date: -30), 30), (Self.rules(date: 30), 0),
      (Self.rules(age: "30"), 30), (Self.rules(date: -50, age: "30"), 50), (Self.rules(date: -20, age: "30"), 30),
      (Self.rules(age: "30", delay: 5), 35), (Self.rules(delay: 5), 5), (Self.rules(age: "-7", delay: 5), 5),
      (Self.rules(extra: ["Date": "foo"]), 0), (Self.rules(delay: -5), 0),
    ] as [(StoredRules, Int64)])
  func initialAge(rules: StoredRules, seconds: Int64) {
    #expect(rules.initialAge == seconds * 1000)
  }

  @Test("the part of a second that Date cannot express is no age")
  func dateIsWholeSeconds() {
    let fields: HTTPFields = ["Date": HTTPDate.text(Self.start)]
    let late = StoredRules(
      status: 200, fields: fields, requestTime: Self.at(0) + 900, responseTime: Self.at(0) + 999)
    #expect(late.initialAge == 99)
  }

  @Test("the age grows with the time in the cache; a clock that went backwards leaves it unknown")
  func currentAge() {
    let rules = Self.rules(age: "30")
    #expect(rules.currentAge(at: Self.at(0)) == 30_000)
    #expect(rules.currentAge(at: Self.at(12) + 345) == 42_345)
    // Two readings of the clock in different tasks may change places.
    #expect(rules.currentAge(at: Self.at(0) - 900) == 30_000)
    #expect(rules.currentAge(at: Self.at(-2)) == nil)
    #expect(rules.currentAge(at: .min) == nil)
    #expect(rules.currentAge(at: .max).map { $0 > 1 << 60 } == true)
  }

  @Test(
    "the soft TTL and the TTL: the response's own and the query's",
    arguments: [
      (Self.rules("max-age=10"), FreshnessOverride.none, 10, 10),
      (Self.rules("max-age=10, stale-while-revalidate=5"), .none, 10, 15),
      (Self.rules("max-age=10, stale-while-revalidate=5, must-revalidate"), .none, 10, 10),
      (Self.rules(), .none, 0, 0),
      (Self.rules("max-age=10"), .init(ttl: .seconds(100)), 100, 100),
      (Self.rules("max-age=10, stale-while-revalidate=5"), .init(ttl: .seconds(100)), 100, 100),
      (Self.rules("max-age=10"), .init(ttl: .seconds(3)), 3, 3),
      (Self.rules("max-age=10"), .init(ttl: .seconds(100), softTTL: .seconds(20)), 20, 100),
      (Self.rules("max-age=10"), .init(ttl: .seconds(100), softTTL: .seconds(200)), 100, 100),
      (Self.rules("max-age=10"), .init(softTTL: .seconds(2)), 2, 10),
      (Self.rules("max-age=10"), .init(softTTL: .seconds(20)), 10, 10),
      (Self.rules("max-age=10, stale-while-revalidate=5"), .init(softTTL: .seconds(12)), 12, 15),
      (Self.rules(), .init(ttl: .seconds(-1)), 0, 0),
      (Self.rules(), .init(ttl: .seconds(Int64.max)), Int64.max / 1000, Int64.max / 1000),
    ] as [(StoredRules, FreshnessOverride, Int64, Int64)])
  func overrides(rules: StoredRules, override: FreshnessOverride, soft: Int64, hard: Int64) throws {
    let freshness = try #require(rules.freshness(at: Self.at(0), override))
    #expect(freshness.softLifetime / 1000 == soft)
    #expect(freshness.lifetime / 1000 == hard)
  }

  @Test("times to live below a second count")
  func milliseconds() throws {
    let override = FreshnessOverride(ttl: .milliseconds(1500), softTTL: .microseconds(700_999))
    let freshness = try #require(Self.rules().freshness(at: Self.at(0), override))
    #expect(freshness.lifetime == 1500)
    #expect(freshness.softLifetime == 700)
  }

  @Test("Age in whole seconds, and the remaining freshness, negative once stale (RFC 9211 §2.4)")
  func reported() {
    func reported(_ age: Int64, of lifetime: Int64) -> (Int64, Int64) {
      let freshness = Freshness(age: age, softLifetime: lifetime, lifetime: lifetime)
      return (freshness.ageInSeconds, freshness.remainingSeconds)
    }
    #expect(reported(1999, of: 10_000) == (1, 8))
    #expect(reported(10_000, of: 10_000) == (10, 0))
    #expect(reported(10_001, of: 10_000) == (10, -1))
    #expect(reported(12_000, of: 10_000) == (12, -2))
    #expect(reported(.max, of: 0).1 < -(1 << 50))
  }
}
