public import LarderHTTP

/// How often and how long a request is repeated after a failure that may pass.
public struct RetryPolicy: Sendable, Hashable {
  /// Sends in all, the first among them; 1 never repeats.
  public var maximumAttempts: Int
  /// The longest wait before the second send; it doubles for each further one.
  public var baseDelay: Duration
  /// The longest wait, whatever the number of sends. A `Retry-After` may ask for more.
  public var maximumDelay: Duration
  /// No send begins later than this after the first one.
  public var maximumTotalTime: Duration

  /// The defaults: 4 sends, waits up to 0.25 s, 0.5 s and 1 s, within 60 s.
  public init(
    maximumAttempts: Int = 4, baseDelay: Duration = .milliseconds(250), maximumDelay: Duration = .seconds(20),
    maximumTotalTime: Duration = .seconds(60)
  ) {
    self.maximumAttempts = maximumAttempts
    self.baseDelay = baseDelay
    self.maximumDelay = maximumDelay
    self.maximumTotalTime = maximumTotalTime
  }

  /// Sends once.
  public static let never = RetryPolicy(maximumAttempts: 1)

  /// What may be repeated.
  public enum Repeatability: Sendable, Hashable {
    /// Nothing: a POST, or a batch with changes.
    case never
    /// Only what the service has certainly not done: a change under an ETag would meet its own effect as a conflict.
    case ifUntouched
    /// Twice has the effect of once (RFC 9110 §9.2.2).
    case always

    /// What a method allows.
    ///
    /// - `isConditional`: the request carries `If-Match`.
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

/// The course of one request with its repetitions, as a pure state machine.
///
/// `sending(n)` leaves by an outcome: to `wait` and `sending(n + 1)`, or to the end (`deliver`).
struct RetryStateMachine {
  /// How a send ended, other than well.
  enum Outcome {
    case transport(HTTPTransportError)
    case status(Int, retryAfter: String?)

    /// Whether the service has certainly not done what was asked.
    var isUntouched: Bool {
      switch self {
      case .transport(.hostNotFound), .transport(.cannotConnect), .status(429, _): true
      default: false
      }
    }
  }

  /// What to do about it.
  enum Action: Equatable {
    /// Wait, then send again.
    case wait(Duration)
    /// Give the outcome to the caller.
    case deliver
  }

  private let policy: RetryPolicy
  private let repeatability: RetryPolicy.Repeatability
  private let start: Duration
  private var attempts = 1

  init(policy: RetryPolicy, repeatability: RetryPolicy.Repeatability, start: Duration) {
    self.policy = policy
    self.repeatability = repeatability
    self.start = start
  }

  /// Decides about an outcome.
  ///
  /// - `now`: time on the clock of `start`.
  /// - `unixTime`: seconds since 1970, for a `Retry-After` date.
  /// - `random`: evenly spread bits for the jitter.
  mutating func after(_ outcome: Outcome, now: Duration, unixTime: Int64, random: UInt64) -> Action {
    guard attempts < policy.maximumAttempts, mayRepeat(outcome) else { return .deliver }
    var delay = jitter(random)
    if case .status(_, let field?) = outcome, let asked = RetryAfter.delay(field, unixTime: unixTime) {
      delay = max(delay, asked)
    }
    guard now - start + delay <= policy.maximumTotalTime else { return .deliver }
    attempts += 1
    return .wait(delay)
  }

  private func mayRepeat(_ outcome: Outcome) -> Bool {
    switch (repeatability, outcome) {
    case (.never, _): false
    case (.always, .transport(let error)): error.isTransient
    case (.always, .status(let status, _)): RetryableStatus.contains(status)
    case (.ifUntouched, .status(503, _)): true
    case (.ifUntouched, let outcome): outcome.isUntouched
    }
  }

  /// Full jitter: anything between nothing and the limit of this attempt, so that many clients do not come back at once.
  private func jitter(_ random: UInt64) -> Duration {
    let doublings = min(attempts - 1, 30)
    let limit = min(policy.baseDelay * (1 << doublings), policy.maximumDelay)
    return limit * (Double(random >> 11) / Double(1 << 53))
  }
}

/// The `Retry-After` field (RFC 9110 §10.2.3).
enum RetryAfter {
  /// The wait that it asks for: seconds, or until a date; nil for other texts. Not more than a year.
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
