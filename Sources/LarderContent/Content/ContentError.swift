public import LarderCore
public import LarderHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Why a query has no (final) response, or an operation of a ``ContentManager`` failed.
public struct ContentError: Error, Sendable, CustomStringConvertible {
  /// The category of a failure, with its details.
  public enum Category: Sendable {
    /// There was no response, or it was incomplete.
    case transport(HTTPTransportError)
    /// The server's response has a status that is not a success.
    case status(Int)
    /// The parser rejected the content with this error.
    case parse(any Error)
    /// The content is larger than the query's memory limit. Use ``ContentManager/stream(_:takesIntermediate:)`` or a
    /// larger ``ContentQuery/memoryByteLimit``.
    case tooLarge(limit: Int)
    /// Only the cache was allowed, and it has no response.
    case notCached
    /// A file could not be written; `reason` says why.
    case file(path: String, reason: String)
    /// The cache failed: removing content, suspending or resuming it.
    case storage(CacheError)
  }

  /// The maximum number of bytes of an error response's content that are kept.
  public static let contentByteLimit = 1 << 16

  /// What happened.
  public let category: Category
  /// The URL of the last request, after redirects; nil if the error concerns the whole cache.
  public let url: URL?
  /// The response's status; nil if there was no response.
  public let httpStatus: Int?
  /// The response's header fields.
  public let fields: HTTPFields
  /// The beginning of the response's content, at most ``contentByteLimit`` bytes.
  public let content: Data

  /// Creates an error.
  public init(_ category: Category, url: URL?, httpStatus: Int? = nil, fields: HTTPFields = [:], content: Data = Data())
  {
    self.category = category
    self.url = url
    self.httpStatus = httpStatus
    self.fields = fields
    self.content = content
  }

  /// The error of the transport, the parser or the cache that caused this one.
  public var cause: (any Error)? {
    switch category {
    case .transport(let error): error
    case .parse(let error): error
    case .storage(let error): error
    case .status, .tooLarge, .notCached, .file: nil
    }
  }

  /// True for the statuses 401 and 403: the client must authenticate, or has no permission.
  public var isAuthenticationError: Bool {
    if case .status(let status) = category { status == 401 || status == 403 } else { false }
  }

  /// True if there was no response, or it was interrupted: no connection, a timeout, a broken or rejected connection.
  ///
  /// Includes ``isNoConnectionError`` and ``isTimeoutError``, but neither a cancelled request nor one that cannot be
  /// sent.
  public var isNetworkError: Bool {
    if case .transport(let error) = category { error.isOfNetwork } else { false }
  }

  /// True if there is no connection to the server: an application shows that it is offline, and tries again later.
  ///
  /// The server's name is unknown, no connection could be established (in time), or the connection was lost during the
  /// transfer. Only the timeout for connecting is included; ``isTimeoutError`` includes the others too.
  public var isNoConnectionError: Bool {
    switch category {
    case .transport(.hostNotFound), .transport(.cannotConnect), .transport(.connectionLost),
      .transport(.timeout(phase: "connect")):
      true
    default: false
    }
  }

  /// True if the parser rejected the received content.
  public var isParseError: Bool {
    if case .parse = category { true } else { false }
  }

  /// True if the server's status was neither 2xx nor 401 or 403.
  public var isServerError: Bool {
    guard case .status(let status) = category else { return false }
    return !(200...299).contains(status) && !isAuthenticationError
  }

  /// True if the time limit for connecting, for inactivity or for the whole request was exceeded.
  public var isTimeoutError: Bool {
    if case .transport(.timeout) = category { true } else { false }
  }

  /// One sentence, safe to show: without URL, fields and content.
  public var description: String {
    switch category {
    case .transport(let error): error.description
    case .status(let status): "The server responded with status \(status)."
    case .parse(let error): "The content cannot be parsed: \(error)"
    case .tooLarge(let limit): "The content is larger than the limit of \(limit) bytes for content in memory."
    case .notCached: "The cache has no response for this query, and the query does not allow the network."
    case .file(let path, let reason): "\(path): \(reason)"
    case .storage(let error): error.description
    }
  }
}

extension HTTPTransportError {
  /// True for failures between the client and the server; false for failures of the request itself, and if the caller
  /// cancelled it.
  var isOfNetwork: Bool {
    switch self {
    case .hostNotFound, .cannotConnect, .tls, .timeout, .connectionLost, .protocolViolation, .other: true
    case .tooManyRedirects, .redirectRejected, .bodyTooLarge, .bodyConsumed, .invalidRequest, .notSupported, .cancelled,
      .suspended:
      false
    }
  }
}

extension ContentError: LarderError {
  /// The stable number: the HTTP status (100 or more) of a response that is not a success; for other kinds of failure a
  /// number from 1.
  public var errorIdentity: ErrorIdentity {
    switch category {
    case .transport(let error): ErrorIdentity(1, "transport", error.errorCategory)
    case .status(let status): ErrorIdentity(status: status)
    case .parse: ErrorIdentity(2, "parse", .invalidData)
    case .tooLarge: ErrorIdentity(3, "tooLarge", .limit)
    case .notCached: ErrorIdentity(4, "notCached", .notFound)
    case .file: ErrorIdentity(5, "file", .storage)
    case .storage(let error): ErrorIdentity(6, "storage", error.errorCategory)
    }
  }

  /// The URL, without user information and query, and the status; nil if the error has no URL.
  public var exchange: ErrorExchange? {
    guard let url else { return nil }
    var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    parts?.user = nil
    parts?.password = nil
    parts?.query = nil
    return ErrorExchange(method: nil, url: parts?.string, status: httpStatus)
  }

  /// Whether there is no connection, the time ran out, or the server says that it is busy: 408, 425, 429, 502, 503, 504.
  public var isTransient: Bool {
    switch category {
    case .transport(let error): error.isTransient
    case .status(let status): [408, 425, 429, 502, 503, 504].contains(status)
    case .storage(let error): error.isTransient
    default: false
    }
  }

  /// What happened and how to fix it; without URL, fields and content.
  public var explanation: ErrorExplanation {
    switch category {
    case .transport(let error): error.explanation
    case .status(401): ErrorExplanation(description, cure: "Sign in.")
    case .status(403): ErrorExplanation(description, cure: "Request the permission.")
    case .status(400..<500): ErrorExplanation(description, cure: "Check the URL.")
    case .status: ErrorExplanation(description, cure: "Try again later.")
    case .parse: ErrorExplanation(description, cure: "Check the URL, and which content the parser accepts.")
    case .tooLarge:
      ErrorExplanation(description, cure: "Read the content as a stream, or increase the query's memory limit.")
    case .notCached: ErrorExplanation(description, cure: "Run the query once with the network.")
    case .storage(let error): error.explanation
    case .file:
      ErrorExplanation(
        "A file could not be written: \(description)", cure: "Check the path, its permissions and the disk.")
    }
  }
}

extension ContentError: CustomReflectable {
  /// Shows the length of the content instead of its bytes.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "category": category, "url": url as Any, "httpStatus": httpStatus as Any, "fields": fields,
        "content": ByteCount(content),
      ], displayStyle: .struct)
  }
}
