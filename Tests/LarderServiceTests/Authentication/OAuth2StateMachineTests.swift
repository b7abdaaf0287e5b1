import LarderHTTP
import Testing

@testable import LarderService

@Suite("The lifecycle of a token", .timeLimit(.minutes(5)))
struct OAuth2StateMachineTests {
  typealias Machine = OAuth2Authentication.StateMachine

  static func token(_ text: String, _ lifetime: Duration? = nil, refresh: String? = nil) -> OAuth2Token {
    OAuth2Token(accessToken: text, lifetime: lifetime, refreshToken: refresh)
  }

  @Test(
    "client credentials: the token is requested, used until shortly before it expires, and requested again (RFC 6749 §4.4)"
  )
  func clientCredentials() {
    var machine = Machine(refreshToken: nil, hasClientCredentials: true, skew: .seconds(30))
    #expect(machine.next(now: .zero) == .request(.clientCredentials))
    machine.received(Self.token("A", .seconds(3600)), requestedAt: .seconds(10))
    #expect(machine.next(now: .seconds(3579)) == .use("A"))
    #expect(machine.next(now: .seconds(3580)) == .request(.clientCredentials))
    machine.received(Self.token("B", .seconds(2)), requestedAt: .seconds(4000))
    #expect(machine.next(now: .seconds(4001.7)) == .use("B"), "the skew is a tenth of a short life")
    #expect(machine.next(now: .seconds(4001.8)) == .request(.clientCredentials))
    machine.received(Self.token("C"), requestedAt: .seconds(5000))
    #expect(machine.next(now: .seconds(1e9)) == .use("C"), "no end is said")
  }

  @Test(
    "a refresh token is used and replaced by a newer one; when it is no longer valid, the user must sign in again (RFC 6749 §6, §5.2)"
  )
  func refresh() {
    var machine = Machine(refreshToken: "R1", hasClientCredentials: false, skew: .zero)
    #expect(machine.next(now: .zero) == .request(.refreshToken("R1")))
    machine.received(Self.token("A", .seconds(10)), requestedAt: .zero)
    #expect(machine.next(now: .seconds(10)) == .request(.refreshToken("R1")), "the old one stays good")
    machine.received(Self.token("B", .seconds(10), refresh: "R2"), requestedAt: .seconds(10))
    #expect(machine.next(now: .seconds(20)) == .request(.refreshToken("R2")))
    machine.failed(.unavailable(status: 503, retryAfter: nil))
    #expect(machine.next(now: .seconds(20)) == .request(.refreshToken("R2")), "that may pass")
    machine.failed(.invalidGrant())
    #expect(machine.next(now: .seconds(20)) == .fail(.invalidGrant()), "the endpoint is not asked again")
  }

  @Test("with client credentials a refresh token is not used, and a rejection is not final (RFC 6749 §4.4.3)")
  func noRefresh() {
    var machine = Machine(refreshToken: nil, hasClientCredentials: true, skew: .zero)
    machine.received(Self.token("A", .seconds(10), refresh: "R"), requestedAt: .zero)
    #expect(machine.next(now: .seconds(10)) == .request(.clientCredentials))
    machine.failed(.invalidGrant())
    #expect(machine.next(now: .seconds(10)) == .request(.clientCredentials))
  }

  @Test("a 401 to the current token removes it; a 401 to an older token does not")
  func rejected() {
    var machine = Machine(refreshToken: nil, hasClientCredentials: true, skew: .zero)
    machine.received(Self.token("B"), requestedAt: .zero)
    machine.rejected("A")
    #expect(machine.next(now: .zero) == .use("B"))
    machine.rejected("B")
    #expect(machine.next(now: .zero) == .request(.clientCredentials))
  }

  @Test("a device's token is requested at the server's interval (RFC 8628 §3.5)")
  func polling() {
    var polling = DeviceCodePolling(interval: .seconds(5), lifetime: .seconds(100), start: .zero)
    #expect(polling.next(now: .zero) == .wait(.seconds(5)))
    #expect(polling.after(.tokenEndpoint(code: "authorization_pending")) == nil)
    #expect(polling.next(now: .seconds(5)) == .wait(.seconds(5)))
    #expect(polling.after(.tokenEndpoint(code: "slow_down")) == nil)
    #expect(polling.next(now: .seconds(10)) == .wait(.seconds(10)))
    #expect(polling.after(.unreachable(.timeout(phase: "connect"))) == nil)
    #expect(polling.next(now: .seconds(20)) == .wait(.seconds(20)))
    #expect(polling.next(now: .seconds(81)) == .expired)
    #expect(polling.after(.tokenEndpoint(code: "access_denied")) == .accessDenied)
    #expect(polling.after(.tokenEndpoint(code: "expired_token")) == .deviceCodeExpired)
    for failure in [
      HTTPAuthenticationError.accessDenied, .deviceCodeExpired, .invalidGrant(), .tokenEndpoint(code: "invalid_client"),
      .unreachable(.cancelled),
    ] {
      #expect(polling.after(failure) == failure)
    }
  }
}
