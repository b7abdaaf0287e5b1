public import LarderCore
public import LarderHTTP
import LarderOData

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Sign-in on a second device, for programs without a browser (RFC 8628).
public struct OAuth2DeviceFlow: Sendable {
  private let client: OAuth2Client
  private let endpoint: URL
  private let transport: any HTTPTransport
  private let environment: LarderEnvironment

  /// Creates a flow for the server's device authorization endpoint. Throws ``ODataServiceError`` for an endpoint
  /// without TLS.
  public init(
    client: OAuth2Client, deviceEndpoint: URL, transport: any HTTPTransport, environment: LarderEnvironment = .system
  ) throws(ODataServiceError) {
    try OAuth2Client.check(deviceEndpoint)
    self.client = client
    endpoint = deviceEndpoint
    self.transport = transport
    self.environment = environment
  }

  /// What the user must do to sign in.
  public struct UserPrompt: Sendable, Hashable {
    /// The code that the user enters.
    public let userCode: String
    /// The address where the user enters it.
    public let verificationURI: String
    /// The address with the code in it, for a QR code; nil if the server gives none.
    public let verificationURIComplete: String?
    /// How long the code is valid.
    public let lifetime: Duration
    let deviceCode: String
    let interval: Duration
    let start: Duration
  }

  /// Requests a code (§3.1, §3.2). Throws ``HTTPAuthenticationError``.
  public func start() async throws(HTTPAuthenticationError) -> UserPrompt {
    let start = environment.uptime()
    let scope = client.scope.map { [(name: "scope", value: $0)] } ?? []
    // A client that sends its id in the `Authorization` field repeats it here, because the parameter is required.
    var form = scope
    if case .basic = client.proof { form.append(("client_id", client.id)) }
    let node = try await OAuth2TokenEndpoint.response(
      to: client.request(to: endpoint, form + client.parameters), over: transport)
    guard let deviceCode = node["device_code"]?.string, let userCode = node["user_code"]?.string,
      let uri = node["verification_uri"]?.string ?? node["verification_url"]?.string
    else { throw .malformedTokenResponse("device_code, user_code or verification_uri is missing") }
    guard let lifetime = try OAuth2TokenEndpoint.seconds(node["expires_in"]) else {
      throw .malformedTokenResponse("expires_in is missing")
    }
    return UserPrompt(
      userCode: userCode, verificationURI: uri, verificationURIComplete: node["verification_uri_complete"]?.string,
      lifetime: lifetime, deviceCode: deviceCode,
      interval: try OAuth2TokenEndpoint.seconds(node["interval"]) ?? .seconds(5), start: start)
  }

  /// Requests the token repeatedly until the user has confirmed or denied access, or the code has expired (§3.4, §3.5).
  ///
  /// Throws ``HTTPAuthenticationError``: `accessDenied`, `deviceCodeExpired`, or the endpoint's error.
  public func token(for prompt: UserPrompt) async throws(HTTPAuthenticationError) -> OAuth2Token {
    var polling = DeviceCodePolling(
      interval: prompt.interval, lifetime: prompt.lifetime, start: prompt.start)
    let form = OAuth2Grant.deviceCode(prompt.deviceCode).form(scope: nil) + client.parameters
    var lastFailure: HTTPAuthenticationError?
    while case .wait(let pause) = polling.next(now: environment.uptime()) {
      do { try await environment.sleep(pause) } catch { throw .unreachable(.cancelled) }
      do throws(HTTPAuthenticationError) {
        let node = try await OAuth2TokenEndpoint.response(
          to: client.request(to: client.tokenEndpoint, form), over: transport)
        return try OAuth2TokenEndpoint.token(node)
      } catch {
        if let failure = polling.after(error) { throw failure }
        lastFailure = error
      }
    }
    // The user may have confirmed the code, but the server does not give a token before it expires.
    if case .unavailable? = lastFailure, let lastFailure { throw lastFailure }
    throw .deviceCodeExpired
  }
}

/// Decides when to request a device's token, as a pure state machine (RFC 8628 §3.5).
struct DeviceCodePolling {
  enum Action: Equatable {
    /// Wait, then request the token.
    case wait(Duration)
    /// The code has expired.
    case expired
  }

  private var interval: Duration
  /// The wait that the server's last response requires (`Retry-After`).
  private var requiredWait = Duration.zero
  private let end: Duration

  init(interval: Duration, lifetime: Duration, start: Duration) {
    self.interval = max(interval, .seconds(1))
    end = start + lifetime
  }

  /// Decides what to do now.
  func next(now: Duration) -> Action {
    let wait = max(interval, requiredWait)
    return now + wait > end ? .expired : .wait(wait)
  }

  /// Decides what a failure means. Nil continues polling, more slowly if the server requires it or cannot be reached.
  mutating func after(_ failure: HTTPAuthenticationError) -> HTTPAuthenticationError? {
    requiredWait = .zero
    switch failure {
    case .tokenEndpoint("authorization_pending", _): return nil
    case .tokenEndpoint("slow_down", _):
      interval += .seconds(5)
      return nil
    case .unavailable(_, let retryAfter):
      interval = min(interval * 2, .seconds(300))
      // A date stays a date only if the response has none: then the interval decides.
      requiredWait = retryAfter.flatMap { Int32($0) }.map { Duration.seconds(max($0, 0)) } ?? .zero
      return nil
    case .tokenEndpoint("access_denied", _): return .accessDenied
    case .tokenEndpoint("expired_token", _): return .deviceCodeExpired
    case .unreachable(let error) where error.isTransient:
      interval = min(interval * 2, .seconds(300))
      return nil
    default: return failure
    }
  }
}
