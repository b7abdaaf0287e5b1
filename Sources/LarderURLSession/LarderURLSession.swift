// HTTP over Foundation's URLSession: the transport for Apple platforms, also built and tested on Linux.
//
// The steps of one request:
// 1. `URLSessionTransport.send` validates it, follows redirects (by `HTTPRedirection`, the session follows none), and
//    for each hop creates
// 2. a session task and a `SessionExchange`, which the delegate fills and the caller's task empties; streamed content
//    of a request is written to an `UploadFile` first;
// 3. `SessionDelegate` finds the exchange of each task and passes head, content and end to it;
// 4. `HTTPFields+URLResponse.swift` converts the fields, `SessionFailure.swift` the errors.

@_spi(Stores) import LarderCore
// Files that import this module can use these modules without another import.
@_exported public import LarderHTTP

#if canImport(FoundationNetworking)
  import Foundation
  import FoundationNetworking
#else
  import Foundation
#endif

/// The transport on URLSession.
///
/// It uses no URL cache, cookie storage or credential storage. Redirects are followed if the request says so;
/// certificates are always checked. URLSession differs from the promises of `HTTPTransport` in these points:
///
/// - Back-pressure: on Apple platforms the task is suspended while more than 256 KiB are unread. On Linux it is not
///   (Foundation delivers bytes twice if a task is suspended): unread content is buffered in memory, so use the
///   transport on libcurl for large responses.
/// - Streamed content of a request is first written to a temporary file and sent from there, with its length.
/// - The connect time-out cannot be separated from idle time: until the first byte the idle time-out applies.
/// - The order of response fields is lost; fields of one name are joined, except `Set-Cookie`, which is split again.
///   `Content-Encoding` is decoded even if the request sets its own `Accept-Encoding`.
/// - Fields that Foundation reserves (`Host`, `Connection`, …) may be overwritten, fields with an empty value left out,
///   and content without `Content-Type` may get one.
/// - On Linux, Foundation itself stops the process if a server closes its connection in the middle of a head.
/// - A request on a connection that the server has just closed is repeated by Foundation's own rules, idempotent or
///   not.
public final class URLSessionTransport: HTTPTransport {
  /// The settings of a transport.
  public struct Options: Sendable {
    /// CA certificates (PEM) to trust in addition to the system's. Not supported: creating the transport throws if
    /// there are any.
    public var certificateAuthorities: [[UInt8]] = []
    /// A client's certificate (PKCS #12). Not supported: creating the transport throws if there is one.
    public var clientCertificate: [UInt8]?
    /// The most connections to one host at once (HTTP/1.1).
    public var connectionLimitPerHost = 32
    /// The `User-Agent` of requests that do not set one; `nil` leaves Foundation's own.
    public var userAgent: String? = "Larder"

    /// Creates the default options: the system's CAs, no client certificate.
    public init() {}
  }

  private let session: URLSession
  private let delegate: SessionDelegate
  private let lifetime = Locked(Lifetime())
  private let userAgent: String?

  /// Counts the tasks that are being created. Creating a task of an invalid session ends the process, so the session is
  /// invalidated only when no task is being created.
  private struct Lifetime {
    var isShutDown = false
    var tasksBeingCreated = 0
  }

  /// The exchange enforces the time limits. Foundation's own must not be reached before.
  private static let foundationTimeout: TimeInterval = 7 * 24 * 3600

  /// Creates a transport with its session.
  ///
  /// Throws `HTTPTransportError.notSupported(_:)` if the options ask for a feature that Foundation does not have here.
  public init(_ options: Options = Options()) throws(HTTPTransportError) {
    if !options.certificateAuthorities.isEmpty {
      throw .notSupported(
        "extra certificate authorities on URLSession; install them in the system or use CurlTransport")
    }
    if options.clientCertificate != nil { throw .notSupported("client certificates on URLSession; use CurlTransport") }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.urlCredentialStorage = nil
    // The stricter of the session's and the request's time-outs applies.
    configuration.timeoutIntervalForRequest = URLSessionTransport.foundationTimeout
    configuration.timeoutIntervalForResource = URLSessionTransport.foundationTimeout
    configuration.httpMaximumConnectionsPerHost = max(1, options.connectionLimitPerHost)
    userAgent = options.userAgent
    delegate = SessionDelegate()
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  /// Sends a request; see ``HTTPTransport/send(_:)``.
  public func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    try request.validate()
    return try await request.followingRedirects { hop throws(HTTPTransportError) in try await sendOnce(hop) }
  }

  /// Ends all transfers and the session. Later requests throw.
  public func close() {
    let hasNoTasks = lifetime.withLock { lifetime in
      lifetime.isShutDown = true
      return lifetime.tasksBeingCreated == 0
    }
    delegate.close()
    if hasNoTasks { session.invalidateAndCancel() }
  }

  /// Creates a task of the session, unless the transport has been shut down.
  private func task(_ createTask: (URLSession) -> URLSessionTask) throws(HTTPTransportError) -> URLSessionTask {
    let isShutDown = lifetime.withLock { lifetime in
      if !lifetime.isShutDown { lifetime.tasksBeingCreated += 1 }
      return lifetime.isShutDown
    }
    guard !isShutDown else { throw .other("the transport has been shut down") }
    let task = createTask(session)
    let isLast = lifetime.withLock { lifetime in
      lifetime.tasksBeingCreated -= 1
      return lifetime.isShutDown && lifetime.tasksBeingCreated == 0
    }
    if isLast { session.invalidateAndCancel() }
    return task
  }

  deinit { session.invalidateAndCancel() }

  private func sendOnce(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    var native = nativeRequest(request)
    var uploadFile: UploadFile?
    let task: URLSessionTask
    switch request.body {
    case .none: task = try self.task { [native] in $0.dataTask(with: native) }
    case .bytes(let bytes):
      native.httpBody = Data(bytes)
      task = try self.task { [native] in $0.dataTask(with: native) }
    case .stream(let length, let open):
      let file = try await UploadFile(open(), length: length)
      uploadFile = file
      task = try self.task { [native] in $0.uploadTask(with: native, fromFile: file.url) }
    }
    let exchange = SessionExchange(request, task: task, uploadFile: uploadFile, owner: self)
    guard delegate.add(exchange, for: task) else { throw .other("the transport has been shut down") }
    let head = try await exchange.start()
    let body = HTTPBodyStream(
      length: head.length, next: { try await exchange.nextChunk() }, abandon: { exchange.cancel() })
    return HTTPResponse(status: head.status, fields: head.fields, url: request.url, body: body)
  }

  private func nativeRequest(_ request: HTTPRequest) -> URLRequest {
    var native = URLRequest(
      url: request.url, cachePolicy: .reloadIgnoringLocalCacheData,
      timeoutInterval: URLSessionTransport.foundationTimeout)
    native.httpMethod = request.method.rawValue
    native.httpShouldHandleCookies = false
    for field in request.fields where field.name != .contentLength {
      native.addValue(field.value, forHTTPHeaderField: field.name.rawName)
    }
    if let userAgent, !request.fields.contains(.userAgent) {
      native.setValue(userAgent, forHTTPHeaderField: "User-Agent")
    }
    return native
  }
}
