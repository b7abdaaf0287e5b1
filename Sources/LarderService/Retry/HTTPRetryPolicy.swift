public import LarderHTTP

/// How often and how long a request is repeated after a failure that may be temporary.
public struct HTTPRetryPolicy: Sendable, Hashable {
  /// The number of sends, including the first; 1 never repeats.
  public var attemptLimit: Int
  /// The longest wait before the second send. It doubles for each further one.
  public var baseDelay: Duration
  /// The longest wait, whatever the number of sends. A `Retry-After` may require a longer one.
  public var delayLimit: Duration
  /// The time after the first send within which every send must begin.
  public var totalTimeLimit: Duration

  /// The default policy: 4 sends, waits up to 0.25 s, 0.5 s and 1 s, within 60 s.
  public init(
    attemptLimit: Int = 4, baseDelay: Duration = .milliseconds(250), delayLimit: Duration = .seconds(20),
    totalTimeLimit: Duration = .seconds(60)
  ) {
    self.attemptLimit = attemptLimit
    self.baseDelay = baseDelay
    self.delayLimit = delayLimit
    self.totalTimeLimit = totalTimeLimit
  }

  /// The policy that sends once.
  public static let never = HTTPRetryPolicy(attemptLimit: 1)

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
struct RetryStateMachine {
  /// The unsuccessful outcome of a send.
  enum Outcome {
    case transport(HTTPTransportError)
    case status(Int, retryAfter: String?)

    /// Whether the service has certainly not executed the request.
    var isUntouched: Bool {
      switch self {
      case .transport(.hostNotFound), .transport(.cannotConnect), .status(429, _): true
      default: false
      }
    }
  }

  /// What to do after an outcome.
  enum Action: Equatable {
    /// Wait, then send again.
    case wait(Duration)
    /// Return the outcome to the caller.
    case deliver
  }

  private let policy: HTTPRetryPolicy
  private let repeatability: HTTPRetryPolicy.Repeatability
  private let start: Duration
  private var attempts = 1

  init(policy: HTTPRetryPolicy, repeatability: HTTPRetryPolicy.Repeatability, start: Duration) {
    self.policy = policy
    self.repeatability = repeatability
    self.start = start
  }

  /// Decides what to do after an outcome.
  ///
  /// - `now`: the time on the clock of `start`.
  /// - `unixTime`: seconds since 1970, for a `Retry-After` date.
  /// - `random`: uniformly distributed bits for the jitter.
  mutating func after(_ outcome: Outcome, now: Duration, unixTime: Int64, random: UInt64) -> Action {
    guard attempts < policy.attemptLimit, canRepeat(outcome) else { return .deliver }
    var delay = jitter(random)
    if case .status(_, let field?) = outcome, let requiredDelay = RetryAfter.delay(field, unixTime: unixTime) {
      delay = max(delay, requiredDelay)
    }
    guard now - start + delay <= policy.totalTimeLimit else { return .deliver }
    attempts += 1
    return .wait(delay)
  }

  private func canRepeat(_ outcome: Outcome) -> Bool {
    switch (repeatability, outcome) {
    case (.never, _): false
    case (.always, .transport(let error)): error.isTransient
    case (.always, .status(let status, _)): RetryableStatus.contains(status)
    case (.ifUntouched, .status(503, _)): true
    case (.ifUntouched, let outcome): outcome.isUntouched
    }
  }

  /// Full jitter: a wait between zero and the limit of this attempt, so that many clients do not return at once.
  private func jitter(_ random: UInt64) -> Duration {
    let doublings = min(attempts - 1, 30)
    let limit = min(policy.baseDelay * (1 << doublings), policy.delayLimit)
    return limit * (Double(random >> 11) / Double(1 << 53))
  }
}

/// The `Retry-After` field (RFC 9110 §10.2.3).
enum RetryAfter {
  /// The wait that the field requires: seconds, or until a date; nil for other texts. One year at most.
  static func delay(_ field: String, unixTime: Int64) -> Duration? {
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
