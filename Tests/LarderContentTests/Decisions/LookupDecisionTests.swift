import LarderHTTP
import Testing

@testable import LarderContent

/// One line of a table: what is stored, what is requested, and the expected outcome.
struct LookupCase: Sendable, CustomTestStringConvertible {
  var stored: StoredRules?
  var seconds: Int64
  var requested: String?
  var method = HTTPMethod.get
  var policy = ContentPolicy.standard
  var override = FreshnessOverride.none
  var outcome: String

  init(
    _ stored: StoredRules?, after seconds: Int64 = 0, requested: String? = nil, method: HTTPMethod = .get,
    policy: ContentPolicy = .standard, override: FreshnessOverride = .none, _ outcome: String
  ) {
    self.stored = stored
    self.seconds = seconds
    self.requested = requested
    self.method = method
    self.policy = policy
    self.override = override
    self.outcome = outcome
  }

  var testDescription: String { "\(policy) \(requested ?? "") after \(seconds): \(outcome)" }

  func decide(covers: Bool = true, groups: Bool = true) -> String {
    let fields: HTTPFields = requested.map { ["Cache-Control": $0] } ?? [:]
    let context = LookupContext(
      now: FreshnessTests.at(seconds), policy: policy, override: override, covers: covers, groupsAreValid: groups)
    switch LookupDecision.of(RequestRules(method: method, fields: fields), stored: stored, context) {
    case .reuse: return "reuse"
    case .reuseWhileRevalidating: return "intermediate"
    case .validate(let reason, _): return "validate \(reason.rawValue)"
    case .forward(let reason): return "forward \(reason.rawValue)"
    case .unsatisfiable: return "504"
    }
  }
}

@Suite("The decision for a request (RFC 9111 §4, RFC 5861, RFC 8246)", .timeLimit(.minutes(5)))
struct LookupDecisionTests {
  static func stored(_ cacheControl: String?, age: String? = nil) -> StoredRules {
    FreshnessTests.rules(cacheControl, age: age, etag: "\"a\"")
  }

  static let minute = stored("max-age=60")

  static let standardTable: [LookupCase] = [
    LookupCase(nil, "forward uri-miss"),
    LookupCase(minute, after: 59, "reuse"),
    LookupCase(minute, after: 59, method: .head, "reuse"),
    LookupCase(minute, after: 60, "validate stale"),
    LookupCase(stored(nil), "validate stale"),
    LookupCase(stored("max-age=60", age: "7200"), "validate stale"),
    LookupCase(minute, after: -5, "validate stale"),
    LookupCase(minute, method: .post, "forward method"),
    LookupCase(minute, method: .options, "forward method"),
    // §5.2.2: the response's directives.
    LookupCase(stored("max-age=60, no-cache"), "validate stale"),
    LookupCase(stored("max-age=60, no-cache=\"a\""), "reuse"),
    LookupCase(stored("max-age=60, must-revalidate"), after: 59, "reuse"),
    LookupCase(stored("max-age=60, private"), after: 59, "reuse"),
    // RFC 5861 §3.
    LookupCase(stored("max-age=60, stale-while-revalidate=10"), after: 59, "reuse"),
    LookupCase(stored("max-age=60, stale-while-revalidate=10"), after: 60, "intermediate"),
    LookupCase(stored("max-age=60, stale-while-revalidate=10"), after: 69, "intermediate"),
    LookupCase(stored("max-age=60, stale-while-revalidate=10"), after: 70, "validate stale"),
    LookupCase(stored("max-age=60, stale-while-revalidate=10, must-revalidate"), after: 61, "validate stale"),
    LookupCase(stored("max-age=60, stale-while-revalidate=10"), after: 61, requested: "only-if-cached", "reuse"),
  ]

  static let requestTable: [LookupCase] = [
    // §5.2.1.1.
    LookupCase(minute, after: 0, requested: "max-age=0", "validate request"),
    LookupCase(minute, after: 5, requested: "max-age=4", "validate request"),
    LookupCase(minute, after: 5, requested: "max-age=5", "reuse"),
    LookupCase(stored("max-age=6000", age: "1800"), requested: "max-age=600", "validate request"),
    LookupCase(stored("max-age=60, stale-while-revalidate=10"), after: 61, requested: "max-age=100", "validate stale"),
    // §5.2.1.2.
    LookupCase(minute, after: 70, requested: "max-stale=10", "reuse"),
    LookupCase(minute, after: 71, requested: "max-stale=10", "validate stale"),
    LookupCase(minute, after: 1_000_000, requested: "max-stale", "reuse"),
    LookupCase(minute, after: 70, requested: "max-stale=x", "validate stale"),
    LookupCase(stored("max-age=1500", age: "2000"), requested: "max-stale=1000", "reuse"),
    LookupCase(stored("max-age=60, must-revalidate"), after: 61, requested: "max-stale", "validate stale"),
    LookupCase(stored("max-age=60, no-cache"), after: 1, requested: "max-stale", "validate stale"),
    LookupCase(stored("max-age=60, stale-while-revalidate=10"), after: 65, requested: "max-stale=10", "reuse"),
    // §5.2.1.3.
    LookupCase(minute, after: 30, requested: "min-fresh=30", "reuse"),
    LookupCase(minute, after: 31, requested: "min-fresh=30", "validate request"),
    LookupCase(stored("max-age=1500", age: "1000"), requested: "min-fresh=1000", "validate request"),
    // §5.2.1.4, §5.2.1.5, §5.2.1.7.
    LookupCase(minute, requested: "no-cache", "validate request"),
    LookupCase(minute, after: 60, requested: "no-cache", "validate stale"),
    LookupCase(minute, requested: "no-store", "forward request"),
    LookupCase(minute, after: 60, requested: "no-store", "forward stale"),
    LookupCase(stored("max-age=60, no-cache"), requested: "no-store", "forward stale"),
    LookupCase(minute, requested: "only-if-cached", "reuse"),
    LookupCase(minute, after: 60, requested: "only-if-cached", "504"),
    LookupCase(minute, after: 61, requested: "only-if-cached, max-stale=5", "reuse"),
    LookupCase(minute, requested: "only-if-cached, no-cache", "504"),
    LookupCase(nil, requested: "only-if-cached", "504"),
    LookupCase(minute, requested: "no-transform", "reuse"),
    // RFC 8246 §2: a reload leaves fresh immutable responses alone; a forced one, or a requested age, does not.
    LookupCase(stored("max-age=60, immutable"), after: 5, requested: "max-age=0", "reuse"),
    LookupCase(stored("max-age=60, immutable"), after: 60, requested: "max-age=0", "validate stale"),
    LookupCase(stored("max-age=60, immutable"), after: 5, requested: "no-cache", "validate request"),
    LookupCase(stored("max-age=60, immutable"), after: 5, requested: "max-age=3", "validate request"),
  ]

  static let policiesTable: [LookupCase] = [
    LookupCase(minute, policy: .reload, "validate request"),
    LookupCase(stored("max-age=60, immutable"), policy: .reload, "validate request"),
    LookupCase(minute, after: 60, policy: .reload, "validate stale"),
    LookupCase(nil, policy: .reload, "forward uri-miss"),
    LookupCase(minute, after: 600, policy: .cacheElseNetwork, "reuse"),
    LookupCase(minute, after: -600, policy: .cacheElseNetwork, "reuse"),
    LookupCase(stored("no-cache, must-revalidate"), after: 600, policy: .cacheElseNetwork, "reuse"),
    LookupCase(nil, policy: .cacheElseNetwork, "forward uri-miss"),
    LookupCase(minute, after: 600, requested: "no-cache, no-store", policy: .cacheOnly, "reuse"),
    LookupCase(nil, policy: .cacheOnly, "504"),
    LookupCase(minute, method: .post, policy: .cacheOnly, "504"),
    LookupCase(minute, after: 59, policy: .staleWhenUnreachable, "reuse"),
    LookupCase(minute, after: 60, policy: .staleWhenUnreachable, "validate stale"),
  ]

  static let overridesTable: [LookupCase] = [
    LookupCase(stored("max-age=0"), after: 9, override: .init(ttl: .seconds(10)), "reuse"),
    LookupCase(stored("max-age=0"), after: 10, override: .init(ttl: .seconds(10)), "validate stale"),
    LookupCase(stored("no-cache"), after: 9, override: .init(ttl: .seconds(10)), "reuse"),
    LookupCase(stored("no-cache"), after: 9, override: .init(softTTL: .seconds(10)), "validate stale"),
    LookupCase(minute, after: 9, override: .init(ttl: .seconds(5)), "validate stale"),
    LookupCase(minute, after: 4, override: .init(ttl: .seconds(10), softTTL: .seconds(5)), "reuse"),
    LookupCase(minute, after: 5, override: .init(ttl: .seconds(10), softTTL: .seconds(5)), "intermediate"),
    LookupCase(minute, after: 10, override: .init(ttl: .seconds(10), softTTL: .seconds(5)), "validate stale"),
    LookupCase(minute, after: 5, override: .init(softTTL: .seconds(5)), "intermediate"),
    LookupCase(minute, requested: "no-cache", override: .init(ttl: .seconds(500)), "validate request"),
  ]

  @Test("by the response alone", arguments: standardTable)
  func standard(line: LookupCase) { #expect(line.decide() == line.outcome) }

  @Test("with directives of the request (§5.2.1)", arguments: requestTable)
  func requested(line: LookupCase) { #expect(line.decide() == line.outcome) }

  @Test("with a policy of the query", arguments: policiesTable)
  func policies(line: LookupCase) { #expect(line.decide() == line.outcome) }

  @Test("with times to live of the query", arguments: overridesTable)
  func overrides(line: LookupCase) { #expect(line.decide() == line.outcome) }

  @Test("what is invalidated, itself or by a group, is validated first (§4.4, RFC 9875 §3)")
  func invalidated() {
    #expect(LookupCase(Self.minute, "").decide(groups: false) == "validate stale")
    var outdated = Self.minute
    outdated.isInvalidated = true
    #expect(LookupCase(outdated, "").decide() == "validate stale")
    #expect(LookupCase(outdated, policy: .cacheElseNetwork, "").decide() == "validate stale")
    #expect(LookupCase(outdated, override: .init(ttl: .seconds(9)), "").decide() == "validate stale")
    #expect(LookupCase(outdated, policy: .cacheOnly, "").decide() == "reuse")
  }

  @Test("ranges that are not stored are fetched (§3.3)")
  func partial() {
    #expect(LookupCase(Self.minute, "").decide(covers: false) == "forward partial")
    #expect(LookupCase(Self.minute, policy: .cacheOnly, "").decide(covers: false) == "504")
  }

  @Test("the reason for a miss is the caller's")
  func varyMiss() {
    let context = LookupContext(now: 0, miss: .varyMiss)
    let decision = LookupDecision.of(RequestRules(method: .get, fields: [:]), stored: nil, context)
    #expect(decision == .forward(.varyMiss))
  }
}
