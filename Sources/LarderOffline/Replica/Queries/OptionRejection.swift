/// What a status says about an option of the request, or about batches. Only what a service says of itself is remembered:
/// other statuses are about the caller (401, 403), the moment (429, 5xx) or the content.
enum OptionRejection: Sendable, Hashable {
  /// The service does not support it (RFC 9110 §15.5.6, §15.6.2).
  case certain
  /// The service may not support it. This is remembered if it is rejected again and the request succeeds without it.
  case possible
  /// The status says nothing about it.
  case none

  /// The number of seconds after which the service is asked again.
  private static let lifetime = 86_400.0

  /// Whether something that was learned at a time, in seconds since 1970, still counts; false if the time is not known.
  static func isRecent(_ learned: Double?, now: Double) -> Bool {
    learned.map { (0..<lifetime).contains(now - $0) } ?? false
  }

  init(status: Int) {
    switch status {
    case 405, 501: self = .certain
    case 400, 404, 406, 415: self = .possible
    default: self = .none
    }
  }
}
