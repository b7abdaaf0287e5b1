internal import LarderHTTP

/// Why a command failed, with the exit status of the process.
package struct CommandFailure: Error, Sendable, Hashable {
  /// The exit status.
  package let status: CommandStatus
  /// What went wrong, one line.
  package let message: String
  /// What to do about it.
  package let hint: String?

  /// Creates a failure.
  package init(_ status: CommandStatus, _ message: String, hint: String? = nil) {
    self.status = status
    self.message = message
    self.hint = hint
  }

  /// The failure if a condition of the caller's own is not met: there is no content to print.
  static func notModified(_ url: String) -> CommandFailure {
    CommandFailure(
      .negative, "\(url) is not modified: the server responded with 304 to the condition of this request",
      hint: "Without the condition in --header, the content is printed.")
  }

  /// The status for a transport's error.
  static func status(of error: HTTPTransportError) -> CommandStatus {
    switch error {
    case .cancelled: .interrupted
    case .invalidRequest: .usage
    default: .network
    }
  }

  /// The exit status for an unsuccessful HTTP status. A request that the server rejects is a negative result. If the
  /// server cannot execute it, or not before the client signs in or waits, that is a failure of the server. So is a
  /// redirect that led nowhere, or a 304 that no condition asked for.
  static func status(ofHTTP status: Int) -> CommandStatus {
    switch status {
    case 200..<300: .done
    case 401, 407, 408, 425, 429: .network
    case 400..<500: .negative
    default: .network
    }
  }
}
