import LarderHTTP
import Testing

@testable import LarderContent

@Suite("Stale responses in place of failures (RFC 9111 §4.2.4, RFC 5861 §4)", .timeLimit(.minutes(5)))
struct StaleVerdictTests {
  static func serves(
    _ stored: String, _ requested: String? = nil, after seconds: Int64 = 70,
    failure: StaleVerdict.Failure = .unreachable,
    policy: ContentPolicy = .standard, isInvalidated: Bool = false, method: HTTPMethod = .get, groups: Bool = true,
    limitsStaleness: Bool = false
  ) -> Bool {
    var rules = FreshnessTests.rules(stored)
    rules.isInvalidated = isInvalidated
    let request = RequestRules(method: method, fields: requested.map { ["Cache-Control": $0] } ?? [:])
    var context = LookupContext(now: FreshnessTests.at(seconds), policy: policy, groupsAreValid: groups)
    context.limitsStaleness = limitsStaleness
    return StaleVerdict.of(failure, request, stored: rules, context) != .reject
  }

  @Test("by itself nothing stale is served; stale-if-error of either side allows it for its time")
  func staleIfError() {
    #expect(!Self.serves("max-age=60"))
    #expect(Self.serves("max-age=60, stale-if-error=10"))
    #expect(!Self.serves("max-age=60, stale-if-error=9"))
    #expect(Self.serves("max-age=60", "stale-if-error=10"))
    #expect(!Self.serves("max-age=60", "stale-if-error=9"))
    #expect(Self.serves("max-age=60, stale-if-error=10", failure: .status(503)))
    #expect(Self.serves("max-age=60, stale-if-error=10", method: .head))
    #expect(!Self.serves("max-age=60, stale-if-error=10", method: .post))
  }

  @Test(
    "The responses that count as failures (RFC 5861 §4)",
    arguments: [
      (500, true), (502, true), (503, true), (504, true), (501, false), (505, false), (599, false), (404, false),
      (403, false), (200, false),
    ])
  func statuses(status: Int, isError: Bool) {
    #expect(Self.serves("max-age=60, stale-if-error=10", failure: .status(status)) == isError)
    #expect(Self.serves("max-age=60", failure: .status(status), policy: .staleWhenUnreachable) == isError)
  }

  @Test("the policy serves what is stale, of any age")
  func policy() {
    #expect(Self.serves("max-age=60", after: 10_000_000, policy: .staleWhenUnreachable))
    #expect(Self.serves("max-age=60, stale-if-error=1", after: 10_000_000, policy: .staleWhenUnreachable))
    #expect(!Self.serves("max-age=60, stale-if-error=10", policy: .reload))
  }

  @Test("the response's stale-if-error limits the policy if the cache is configured so (RFC 5861 §4)")
  func limitedPolicy() {
    func serves(_ stored: String, _ requested: String? = nil, after seconds: Int64 = 70) -> Bool {
      Self.serves(stored, requested, after: seconds, policy: .staleWhenUnreachable, limitsStaleness: true)
    }
    #expect(serves("max-age=60", after: 10_000_000))
    #expect(serves("max-age=60, stale-if-error=10"))
    #expect(!serves("max-age=60, stale-if-error=9"))
    #expect(!serves("max-age=60, stale-if-error=0"))
    #expect(serves("max-age=60, stale-if-error=0", "stale-if-error=10"))
  }

  @Test(
    "never, whatever the policy: must-revalidate, no-cache, and what the request forbids",
    arguments: [ContentPolicy.standard, .staleWhenUnreachable, .reload, .cacheElseNetwork])
  func never(policy: ContentPolicy) {
    #expect(!Self.serves("max-age=60, must-revalidate, stale-if-error=100", policy: policy))
    #expect(!Self.serves("max-age=60, no-cache, stale-if-error=100", policy: policy))
    for requested in ["no-cache", "no-store", "max-age=0", "max-age=69"] {
      #expect(!Self.serves("max-age=60, stale-if-error=100", requested, policy: policy), "\(requested)")
    }
    #expect(!Self.serves("max-age=60, stale-if-error=100", policy: policy, isInvalidated: true))
    #expect(!Self.serves("max-age=60, stale-if-error=100", policy: policy, groups: false))
    #expect(!Self.serves("max-age=60, stale-if-error=100", after: -100, policy: policy))
  }
}
