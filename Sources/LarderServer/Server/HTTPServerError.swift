public import LarderCore

/// Why a server, or a proxy in front of another server, could not start.
public enum HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Another program listens on this address and port.
  case addressInUse(host: String, port: Int)
  /// The address does not belong to this machine.
  case addressNotAvailable(host: String)
  /// The system does not let this user listen on this port (usually ports below 1024).
  case notPermitted(host: String, port: Int)
  /// The text is not an IP address.
  case invalidAddress(String)
  /// An option is out of its range; the text names it.
  case invalidOption(String)
  /// Any other error that the system reports.
  case failed(String)
  /// The URL is not one of an upstream server; the text says why.
  case invalidUpstream(String)

  /// What happened and how to fix it.
  public var description: String {
    switch self {
    case .addressInUse(let host, let port):
      "Port \(port) of \(host) is in use. Choose another port, or 0 for any that is free."
    case .addressNotAvailable(let host): "\(host) is not an address of this machine."
    case .notPermitted(let host, let port): "Not permitted to listen on port \(port) of \(host)."
    case .invalidAddress(let text): "\(text) is not an IP address. Use 127.0.0.1 or ::1."
    case .invalidOption(let reason), .failed(let reason):
      "The server cannot start: \(ErrorExplanation.sentence(reason))"
    case .invalidUpstream(let reason):
      "The URL is not a valid upstream server: \(ErrorExplanation.sentence(reason))"
    }
  }
}

extension HTTPServerError: LarderError {
  /// The stable number, from 1 in the order of the cases.
  public var errorIdentity: ErrorIdentity {
    switch self {
    case .addressInUse: ErrorIdentity(1, "addressInUse", .state)
    case .addressNotAvailable: ErrorIdentity(2, "addressNotAvailable", .invalidInput)
    case .notPermitted: ErrorIdentity(3, "notPermitted", .storage)
    case .invalidAddress: ErrorIdentity(4, "invalidAddress", .invalidInput)
    case .invalidOption: ErrorIdentity(5, "invalidOption", .invalidInput)
    case .failed: ErrorIdentity(6, "failed", .other)
    case .invalidUpstream: ErrorIdentity(7, "invalidUpstream", .invalidInput)
    }
  }

  /// What happened and how to fix it.
  public var explanation: ErrorExplanation {
    switch self {
    case .addressInUse(let host, let port):
      ErrorExplanation("Port \(port) of \(host) is in use.", cure: "Choose another port, or 0 for any that is free.")
    case .addressNotAvailable(let host):
      ErrorExplanation(
        "The address \(host) is not one of this machine.", cure: "Use 127.0.0.1 or ::1, or another address of it.")
    case .notPermitted: ErrorExplanation(description, cure: "Choose a port from 1024 on.")
    case .invalidAddress(let text): ErrorExplanation("'\(text)' is not an IP address.", cure: "Use 127.0.0.1 or ::1.")
    case .invalidOption: ErrorExplanation(description, cure: "Correct the option.")
    case .failed: ErrorExplanation(description, cure: "Try again, or use another address.")
    case .invalidUpstream: ErrorExplanation(description, cure: "Use an http or https URL with a host.")
    }
  }
}
