public import LarderCore
public import LarderHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Why a query has no (final) response.
public struct ContentError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it is.
  public enum Kind: Sendable {
    /// No answer came, or not all of it.
    case transport(HTTPTransportError)
    /// The server answered with a status that is no success.
    case status(Int)
    /// The parser did not take the content; what it threw is here.
    case parse(any Error)
    /// The content is larger than the query takes into memory. Use ``ContentManager/stream(_:takesIntermediate:)`` or a larger
    /// ``ContentQuery/memoryLimit``.
    case tooLarge(limit: Int)
    /// Only the cache was allowed to answer, and it has nothing.
    case notCached
    /// A file could not be written; the text says why.
    case file(path: String, reason: String)
  }

  /// The most bytes of an error's content that are kept.
  public static let contentLimit = 1 << 16

  /// What happened.
  public let kind: Kind
  /// The URL that was asked last, after redirects.
  public let url: URL
  /// The answer's status, nil where none came.
  public let status: Int?
  /// The answer's header fields.
  public let fields: HTTPFields
  /// The beginning of the answer's content, at most ``contentLimit`` bytes.
  public let content: Data

  /// Describes a failure.
  public init(_ kind: Kind, url: URL, status: Int? = nil, fields: HTTPFields = [:], content: Data = Data()) {
    self.kind = kind
    self.url = url
    self.status = status
    self.fields = fields
    self.content = content
  }

  /// The error below: the transport's or the parser's.
  public var underlying: (any Error)? {
    switch kind {
    case .transport(let error): error
    case .parse(let error): error
    case .status, .tooLarge, .notCached, .file: nil
    }
  }

  /// True for the statuses 401 and 403: the caller has to say who it is, or is not allowed to.
  public var isAuthenticationError: Bool {
    if case .status(let status) = kind { status == 401 || status == 403 } else { false }
  }

  /// True where the answer did not come, or broke off: no connection, time-out, a broken or refused connection.
  ///
  /// Includes ``isNoConnectionError`` and ``isTimeoutError``; not a cancelled request, nor one that cannot be sent.
  public var isNetworkError: Bool {
    if case .transport(let error) = kind { error.isOfNetwork } else { false }
  }

  /// True where there is no connection to the server: an application shows that it is offline, and tries again later.
  ///
  /// Its name is not known, no connection could be made (in time), or the connection was lost during the transfer. Of the
  /// time-outs only the one for connecting counts; ``isTimeoutError`` has the others too.
  public var isNoConnectionError: Bool {
    switch kind {
    case .transport(.hostNotFound), .transport(.cannotConnect), .transport(.connectionLost),
      .transport(.timeout(phase: "connect")):
      true
    default: false
    }
  }

  /// True where the content came, and the parser did not take it.
  public var isParseError: Bool {
    if case .parse = kind { true } else { false }
  }

  /// True where the server answered with anything but 2xx, 401 and 403.
  public var isServerError: Bool {
    guard case .status(let status) = kind else { return false }
    return !(200...299).contains(status) && !isAuthenticationError
  }

  /// True where the time allowed for connecting, for silence or in all ran out.
  public var isTimeoutError: Bool {
    if case .transport(.timeout) = kind { true } else { false }
  }

  /// One sentence, safe to show: without URL, fields and content.
  public var description: String {
    switch kind {
    case .transport(let error): error.description
    case .status(let status): "The server answered with status \(status)."
    case .parse(let error): "The content is not what was expected: \(error)"
    case .tooLarge(let limit): "The content is larger than the \(limit) bytes that are taken into memory."
    case .notCached: "Nothing is stored for this query, and the network was not to be asked."
    case .file(let path, let reason): "\(path): \(reason)"
    }
  }
}

extension HTTPTransportError {
  /// True for failures between here and the server; false for those of a request, and where its caller ended it.
  var isOfNetwork: Bool {
    switch self {
    case .hostNotFound, .cannotConnect, .tls, .timeout, .connectionLost, .protocolViolation, .other: true
    case .tooManyRedirects, .redirectRefused, .bodyTooLarge, .bodyConsumed, .invalidRequest, .notSupported, .cancelled,
      .suspended:
      false
    }
  }
}

extension ContentError: LarderError {
  /// The stable number: the HTTP status (100 or more) of a response that is no success; for other kinds of failure a number from 1.
  public var errorIdentity: ErrorIdentity {
    switch kind {
    case .transport(let error): ErrorIdentity(1, "transport", error.errorCategory)
    case .status(let status): ErrorIdentity(status: status)
    case .parse: ErrorIdentity(2, "parse", .invalidData)
    case .tooLarge: ErrorIdentity(3, "tooLarge", .limit)
    case .notCached: ErrorIdentity(4, "notCached", .notFound)
    case .file: ErrorIdentity(5, "file", .storage)
    }
  }

  /// The URL, without user information and query, and the status.
  public var exchange: ErrorExchange? {
    var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    parts?.user = nil
    parts?.password = nil
    parts?.query = nil
    return ErrorExchange(method: nil, url: parts?.string, status: status)
  }

  /// Whether there is no connection, the time ran out, or the server says that it is busy: 408, 429, 502, 503, 504.
  public var isTransient: Bool {
    switch kind {
    case .transport(let error): error.isTransient
    case .status(let status): [408, 429, 502, 503, 504].contains(status)
    default: false
    }
  }

  /// What happened and what to do about it; without URL, fields and content.
  public var explanation: ErrorExplanation {
    switch kind {
    case .transport(let error): error.explanation
    case .status(401): ErrorExplanation(description, cure: "Sign in.")
    case .status(403): ErrorExplanation(description, cure: "Ask for the permission.")
    case .status(400..<500): ErrorExplanation(description, cure: "Check the address.")
    case .status: ErrorExplanation(description, cure: "Try again later.")
    case .parse: ErrorExplanation(description, cure: "Check the address, and what the parser takes.")
    case .tooLarge: ErrorExplanation(description, cure: "Read it as a stream, or raise the query's limit.")
    case .notCached: ErrorExplanation(description, cure: "Read it once with the network.")
    case .file:
      ErrorExplanation(
        "A file could not be written: \(description)", cure: "Check the path, its permissions and the disk.")
    }
  }
}

extension ContentError: CustomReflectable {
  /// All but the content, of which the length.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "kind": kind, "url": url, "status": status as Any, "fields": fields, "content": ByteCount(content),
      ], displayStyle: .struct)
  }
}
