public import LarderHTTP

/// How often and how long a request is repeated after a failure that may be temporary.
public struct HTTPRetryPolicy: Sendable, Hashable {
  /// The number of sends, including the first; 1 never repeats.
  public var attemptLimit: Int
  /// The longest wait before the second send. It doubles for each further one.
  public var baseDelay: Duration
  /// The longest wait, whatever the number of sends. A `Retry-After` may require a longer one.
  public var delayLimit: Duration
  /// The longest `Retry-After` that is waited for. A response with a longer one is an error, which says when the service
  /// accepts requests again.
  public var retryAfterLimit: Duration
  /// The time after the first send within which every send must begin.
  public var totalTimeLimit: Duration

  /// Whether a server that cannot be reached, or whose connection is lost, is sent to only as often as with the default
  /// policy.
  package var isBriefWithoutConnection = false

  /// The default policy: 4 sends, waits up to 0.25 s, 0.5 s and 1 s or as long as the service requires, within 60 s.
  public init(
    attemptLimit: Int = 4, baseDelay: Duration = .milliseconds(250), delayLimit: Duration = .seconds(20),
    retryAfterLimit: Duration = .seconds(60), totalTimeLimit: Duration = .seconds(60)
  ) {
    self.attemptLimit = attemptLimit
    self.baseDelay = baseDelay
    self.delayLimit = delayLimit
    self.retryAfterLimit = retryAfterLimit
    self.totalTimeLimit = totalTimeLimit
  }

  /// The policy that sends once.
  public static let never = HTTPRetryPolicy(attemptLimit: 1)

  /// The policy for downloads and uploads, for which nobody waits at a screen: 8 sends, waits up to 1 s, 2 s, 4 s and so
  /// on up to 60 s, a `Retry-After` up to 5 minutes, within 15 minutes. A server that cannot be reached, or whose
  /// connection is lost, is sent to only as often as with the default policy.
  public static let background = {
    var policy = HTTPRetryPolicy(
      attemptLimit: 8, baseDelay: .seconds(1), delayLimit: .seconds(60), retryAfterLimit: .seconds(300),
      totalTimeLimit: .seconds(900))
    policy.isBriefWithoutConnection = true
    return policy
  }()

  /// Which failed requests may be repeated.
  public enum Repeatability: Sendable, Hashable {
    /// Nothing: a POST, or a batch with changes.
    case never
    /// Only requests that the service has certainly not executed: a change with an ETag would meet its own effect as a
    /// conflict.
    case ifUntouched
    /// All: executing the request twice has the same effect as once (RFC 9110 §9.2.2).
    case always

    /// Creates the repeatability that a method allows.
    ///
    /// - `isConditional`: whether the request carries `If-Match`.
    public init(method: HTTPMethod, isConditional: Bool) {
      if method.isSafe {
        self = .always
      } else if method.isIdempotent {
        self = isConditional ? .ifUntouched : .always
      } else {
        self = .never
      }
    }
  }
}

/// The run of one request with its repetitions, as a pure state machine.
///
/// `sending(n)` is left by an outcome: to `wait` and `sending(n + 1)`, or to the end (`deliver`).
package struct RetryStateMachine: Sendable {
  /// The unsuccessful outcome of a send.
  package enum Outcome: Sendable {
    case transport(HTTPTransportError)
    /// - `retryAfter`: the field `Retry-After`.
    /// - `date`: the field `Date`, for a `Retry-After` with a date: the service's clock may differ from this one.
    case status(Int, retryAfter: String?, date: String? = nil)
    /// The request was not sent, because the token endpoint is overloaded or unavailable.
    case noToken(retryAfter: String?)

    /// Whether the service has certainly not executed the request.
    var isUntouched: Bool {
      switch self {
      case .transport(.hostNotFound), .transport(.cannotConnect), .noToken: true
      case .status(let status, _, _): TemporaryStatus.isUntouched(status)
      default: false
      }
    }

    /// The fields `Retry-After` and `Date`; nil without a `Retry-After`.
    var requiredWait: (field: String, date: String?)? {
      switch self {
      case .status(_, let field?, let date): (field, date)
      case .noToken(let field?): (field, nil)
      default: nil
      }
    }
  }

  /// What to do after an outcome.
  package enum Action: Equatable, Sendable {
    /// Wait, then send again.
    case wait(Duration)
    /// Return the outcome to the caller.
    case deliver
  }

  private let policy: HTTPRetryPolicy
  private let repeatability: HTTPRetryPolicy.Repeatability
  private let isSafe: Bool
  private let start: Duration
  /// The number of sends so far.
  package private(set) var attempts = 1

  /// - Parameters:
  ///   - isSafe: whether the request changes nothing at the service (RFC 9110 §9.2.1).
  ///   - start: the time of the first send.
  package init(
    policy: HTTPRetryPolicy, repeatability: HTTPRetryPolicy.Repeatability, isSafe: Bool = false, start: Duration
  ) {
    self.policy = policy
    self.repeatability = repeatability
    self.isSafe = isSafe
    self.start = start
  }

  /// Decides what to do after an outcome.
  ///
  /// - `now`: the time on the clock of `start`.
  /// - `unixTime`: seconds since 1970, for a `Retry-After` date in a response without a date.
  /// - `random`: uniformly distributed bits for the jitter.
  package mutating func after(_ outcome: Outcome, now: Duration, unixTime: Int64, random: UInt64) -> Action {
    guard attempts < limits(for: outcome).attempts, canRepeat(outcome) else { return .deliver }
    var delay = jitter(random, base: limits(for: outcome).base)
    if let (field, date) = outcome.requiredWait,
      let requiredDelay = RetryAfter.delay(field, unixTime: date.flatMap(HTTPDate.unixTime) ?? unixTime)
    {
      guard requiredDelay <= policy.retryAfterLimit else { return .deliver }
      delay = max(delay, requiredDelay)
    }
    guard now - start + delay <= policy.totalTimeLimit else { return .deliver }
    attempts += 1
    return .wait(delay)
  }

  /// The number of sends, and the longest wait before the second one. Without a connection a long wait is of no use: the
  /// caller can continue offline, and knows better when the network is there again.
  private func limits(for outcome: Outcome) -> (attempts: Int, base: Duration) {
    guard case .transport = outcome, policy.isBriefWithoutConnection else {
      return (policy.attemptLimit, policy.baseDelay)
    }
    let brief = HTTPRetryPolicy()
    return (min(policy.attemptLimit, brief.attemptLimit), min(policy.baseDelay, brief.baseDelay))
  }

  private func canRepeat(_ outcome: Outcome) -> Bool {
    switch (repeatability, outcome) {
    case (_, .noToken): true
    case (_, .status(let status, _, _)) where TemporaryStatus.isUntouched(status): true
    case (.never, _): false
    case (.always, .transport(let error)): error.isTransient
    case (.always, .status(let status, _, _)):
      // Another error of a service is rarely temporary, and each repetition costs the caller time.
      TemporaryStatus.contains(status) || isSafe && TemporaryStatus.isFailure(status) && attempts < 3
    case (.ifUntouched, .status(503, _, _)): true
    case (.ifUntouched, let outcome): outcome.isUntouched
    }
  }

  /// Full jitter: a wait between zero and the limit of this attempt, so that many clients do not return at once.
  private func jitter(_ random: UInt64, base: Duration) -> Duration {
    let doublings = min(attempts - 1, 30)
    let limit = min(base * (1 << doublings), policy.delayLimit)
    return limit * (Double(random >> 11) / Double(1 << 53))
  }
}

/// The statuses after which the same request may succeed later.
package enum TemporaryStatus {
  /// True for a request that the service did not execute for lack of time or capacity, and for a gateway or service that
  /// is unavailable. 500 is not included: the service may have executed the request.
  package static func contains(_ status: Int) -> Bool { isUntouched(status) || (502...504).contains(status) }

  /// True if the service did not execute the request: it was not received in time, was sent too early, or is one of too
  /// many (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4).
  package static func isUntouched(_ status: Int) -> Bool { status == 408 || status == 425 || status == 429 }

  /// True for a failure of a service or gateway that may not occur again. 501, 505, 510 and 511 are about the request or
  /// the network, and remain.
  static func isFailure(_ status: Int) -> Bool {
    (500...599).contains(status) && ![501, 505, 510, 511].contains(status)
  }
}

/// The `Retry-After` field (RFC 9110 §10.2.3).
package enum RetryAfter {
  /// The wait that the field requires: seconds, or until a date; nil for other texts. One year at most.
  package static func delay(_ field: String, unixTime: Int64) -> Duration? {
    let text = String(field.prefix { $0 != "," || field.contains(":") })
    let year: Int64 = 366 * 86_400
    if !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) {
      return .seconds(min(Int64(text) ?? year, year))
    }
    guard let date = HTTPDate.unixTime(field) else { return nil }
    let (difference, overflow) = date.subtractingReportingOverflow(unixTime)
    return overflow ? nil : .seconds(min(max(difference, 0), year))
  }
}
