public import LarderCore

/// The error of a request that got no (complete) response.
public enum HTTPTransportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The request itself cannot be sent, because of its URL, a header field or its body. The text says what to change.
  case invalidRequest(String)
  /// The host's name has no address.
  case hostNotFound(host: String)
  /// No connection could be established.
  case cannotConnect(host: String, reason: String)
  /// TLS failed: certificate, host name, protocol.
  case tls(host: String, reason: String)
  /// One of ``HTTPTimeouts`` ran out; `phase` is `connect`, `idle` or `total`.
  case timeout(phase: String)
  /// The connection broke before the response was complete.
  case connectionLost(reason: String)
  /// The peer does not speak HTTP, or not correctly.
  case protocolViolation(String)
  /// The server sent more redirects than the transport follows, or a cycle.
  case tooManyRedirects
  /// A redirect is not followed for security: from https to http, to another scheme, or to a URL with credentials.
  case redirectRejected(String)
  /// The content is longer than the reader's limit.
  case bodyTooLarge(limit: Int)
  /// The content was read (or abandoned) before: an ``HTTPBodyStream`` can be read once.
  case bodyConsumed
  /// The caller cancelled.
  case cancelled
  /// The transport does not support a feature on this platform; the text names it.
  case notSupported(String)
  /// Any other error of the underlying library.
  case other(String)
  /// The cache that the request was sent through is suspended, or was suspended while the request ran.
  case suspended

  /// Safe to show to users: it contains host names, never URLs or content.
  public var description: String {
    switch self {
    case .invalidRequest(let detail): "The request cannot be sent: \(detail)"
    case .hostNotFound(let host): "The host \(host) was not found. Check its name and the network."
    case .cannotConnect(let host, let reason): "Cannot connect to \(host): \(reason)"
    case .tls(let host, let reason): "Cannot establish a secure connection to \(host): \(reason)"
    case .timeout(let phase): "The request timed out (\(phase) timeout)."
    case .connectionLost(let reason): "The connection was lost: \(reason)"
    case .protocolViolation(let detail): "The server's response is not valid HTTP: \(detail)"
    case .tooManyRedirects: "The server sent too many redirects."
    case .redirectRejected(let reason): "The server's redirect was not followed: \(ErrorExplanation.sentence(reason))"
    case .bodyTooLarge(let limit): "The response is larger than the limit of \(limit) bytes."
    case .bodyConsumed: "The content has already been read; it can be read only once."
    case .notSupported(let feature): "Not supported by this transport: \(feature)"
    case .cancelled: "The request was cancelled."
    case .other(let reason): "The request failed: \(reason)"
    case .suspended: "The cache is suspended."
    }
  }

  /// True if no part of the request can have reached the server; false if that is unknown.
  package var isBeforeSending: Bool {
    switch self {
    case .hostNotFound, .cannotConnect, .tls, .invalidRequest, .notSupported: true
    default: false
    }
  }

  /// Whether a retry may succeed without any change by the caller.
  public var isTransient: Bool {
    switch self {
    case .hostNotFound, .cannotConnect, .timeout, .connectionLost: true
    default: false
    }
  }
}

extension HTTPTransportError: LarderError {
  /// The stable number, from 1 in the order of the cases.
  public var errorIdentity: ErrorIdentity {
    switch self {
    case .invalidRequest: ErrorIdentity(1, "invalidRequest", .invalidInput)
    case .hostNotFound: ErrorIdentity(2, "hostNotFound", .offline)
    case .cannotConnect: ErrorIdentity(3, "cannotConnect", .offline)
    case .tls: ErrorIdentity(4, "tls", .server)
    case .timeout: ErrorIdentity(5, "timeout", .timeout)
    case .connectionLost: ErrorIdentity(6, "connectionLost", .offline)
    case .protocolViolation: ErrorIdentity(7, "protocolViolation", .server)
    case .tooManyRedirects: ErrorIdentity(8, "tooManyRedirects", .server)
    case .redirectRejected: ErrorIdentity(9, "redirectRejected", .server)
    case .bodyTooLarge: ErrorIdentity(10, "bodyTooLarge", .limit)
    case .bodyConsumed: ErrorIdentity(11, "bodyConsumed", .invalidInput)
    case .cancelled: ErrorIdentity(12, "cancelled", .cancelled)
    case .notSupported: ErrorIdentity(13, "notSupported", .notSupported)
    case .other: ErrorIdentity(14, "other", .other)
    case .suspended: ErrorIdentity(15, "suspended", .state)
    }
  }

  /// What happened and what to do about it. Contains host names, never URLs or content.
  public var explanation: ErrorExplanation {
    switch self {
    case .invalidRequest: ErrorExplanation(description, cure: "Correct the request.")
    case .hostNotFound(let host):
      ErrorExplanation("The host \(host) was not found.", cure: "Check its name and the network.")
    case .cannotConnect: ErrorExplanation(description, cure: "Check the URL and the network, and try again later.")
    case .tls: ErrorExplanation(description, cure: "Check the server's name, and which certificates are trusted.")
    case .timeout: ErrorExplanation(description, cure: "Try again, or set a longer timeout.")
    case .connectionLost: ErrorExplanation(description, cure: "Try again.")
    case .protocolViolation:
      ErrorExplanation(description, cure: "Check the URL, or report the problem to the operator of the server.")
    case .tooManyRedirects:
      ErrorExplanation(description, cure: "Check the URL, or report the problem to the operator of the server.")
    case .redirectRejected:
      ErrorExplanation(description, cure: "If you trust the new URL, send the request to it directly.")
    case .bodyTooLarge: ErrorExplanation(description, cure: "Raise the limit, or read the content as a stream.")
    case .bodyConsumed:
      ErrorExplanation(
        "The content has already been read.", cure: "Store the content when you read it, or send the request again.")
    case .cancelled: ErrorExplanation(description, cure: "Send the request again if you still need it.")
    case .notSupported: ErrorExplanation(description, cure: "Use another transport, or do not use this feature.")
    case .other: ErrorExplanation(description, cure: "Try again.")
    case .suspended: ErrorExplanation(description, cure: "Call resume() when the application is active again.")
    }
  }
}
