// HTTP over libcurl's multi interface: many transfers, one thread.
//
// The steps of one request:
// 1. `CurlTransport.send` validates it, follows redirects (by `HTTPRedirection`), and for each hop creates
// 2. a `CurlExchange`: the state shared by the calling task and the engine's thread (response head, buffered content,
//    upload);
// 3. `CurlEngine` passes it from its inbox to its thread, where `CurlLoop` drives libcurl;
// 4. a `CurlTransfer` is the thread's side of the exchange: an easy handle, set up from a `CurlRequest`, and the
//    implementations of the functions in `Callbacks.swift`: `ResponseHead` parses field lines, content is added to the
//    exchange, and a full exchange pauses the transfer until its reader has caught up; `ContentDecoding` decompresses
//    content on the reader's side;
// 5. at the end, `CurlFailure` turns an error of libcurl into an `HTTPTransportError`.
//
// Only the engine's thread uses libcurl's handles; other threads post to its inbox and wake it.

// Files that import this module can use these modules without another import.
@_exported public import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The transport on libcurl: HTTP/1.1 and HTTP/2, connection reuse, back-pressure in both directions, real
/// cancellation.
///
/// One transport is one pool of connections with one set of ``Options``; create one and share it. Certificates are
/// always checked, TLS is 1.2 or later. Redirects are followed if the request says so. Cookies and authentication are
/// the caller's task.
///
/// - Content: `Content-Encoding` (gzip, deflate) is requested and decoded, and both it and `Content-Length` are removed
///   from the fields. Content that ends before its coding fails with `HTTPTransportError.connectionLost`, damaged
///   content with `HTTPTransportError.protocolViolation`. Content is passed on as sent if the request sets its own
///   `Accept-Encoding`, if a coding is none of these two, and if the response is a part (206). Together with `Range`,
///   no coding is requested.
/// - Slow readers: the transfer pauses once about 256 KiB are unread; that does not count for the idle time-out. The
///   connection stays in use meanwhile: read or cancel every body (releasing it cancels).
/// - Retries: if a kept connection turns out to be closed, an idempotent request is sent once more on another one; any
///   other fails with `HTTPTransportError.connectionLost`, as its effect is not known.
/// - Content of a request: HTTP/1.1 sends an unknown length in chunks. `Expect` is never sent.
public final class CurlTransport: HTTPTransport {
  private let settings: TransportSettings

  /// The client certificate as given, without a key from the same file.
  public let identity: String

  private let engine: CurlEngine

  /// Creates a transport and starts the engine's thread.
  ///
  /// Throws `HTTPTransportError.invalidRequest` if a file that the options name cannot be read or has the wrong
  /// content, and `HTTPTransportError.other` if the system cannot create a thread.
  public init(_ options: Options = Options()) throws(HTTPTransportError) {
    settings = try TransportSettings(options, environment: ProcessInfo.processInfo.environment)
    identity = settings.certificate.map { Data(CurlTransport.withoutPrivateKeys($0)).base64EncodedString() } ?? ""
    engine = try CurlEngine(settings)
  }

  /// Returns a PEM file without its private keys (RFC 7468 §10, §11, and the older labels); any other file unchanged.
  private static func withoutPrivateKeys(_ file: [UInt8]) -> [UInt8] {
    guard let text = String(validating: file, as: UTF8.self), text.contains("-----BEGIN ") else { return file }
    var publicPart = ""
    var isKey = false
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("-----BEGIN ") { isKey = line.hasSuffix("PRIVATE KEY-----") }
      if !isKey { publicPart += line + "\n" }
      if line.hasPrefix("-----END ") { isKey = false }
    }
    return Array(publicPart.utf8)
  }

  /// Sends a request; see ``HTTPTransport/send(_:)``.
  public func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    try request.validate()
    return try await request.followingRedirects { hop throws(HTTPTransportError) in try await sendOnce(hop) }
  }

  /// Ends all transfers (they throw `HTTPTransportError.cancelled`), closes all connections, and returns when the
  /// thread has ended. Later requests throw.
  ///
  /// Releasing the last reference to a transport also shuts it down, in the background. A body that is still being read
  /// keeps the transport alive.
  public func close() async { await engine.stop() }

  deinit { engine.requestStop() }

  private func sendOnce(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    let exchange = CurlExchange(try CurlRequest(request, settings), content: request.body, engine: engine, owner: self)
    let head = try await exchange.start()
    let decoding =
      head.codings.isEmpty
      ? nil
      : ContentDecoding(
        head.codings, nextCoded: { () async throws(HTTPTransportError) in try await exchange.nextChunk() },
        cancel: { exchange.cancel() })
    let body = HTTPBodyStream(
      length: head.length,
      next: { if let decoding { try await decoding.nextChunk() } else { try await exchange.nextChunk() } },
      abandon: { exchange.cancel() })
    return HTTPResponse(status: head.status, fields: head.fields, url: request.url, body: body)
  }
}

extension CurlTransport: DecodingTransport {
  /// The option of this name.
  package var decodesContent: Bool { settings.options.decodesContent }

  /// Decodes stored content as that of a response is decoded.
  package func decoder(for fields: HTTPFields) -> (@Sendable (HTTPBodyStream) -> HTTPBodyStream)? {
    guard let codings = try? ContentCoding.codings(in: fields) else { return nil }
    if codings.isEmpty { return { $0 } }
    return { body in
      let source = Puller(body)
      let decoding = ContentDecoding(
        codings,
        nextCoded: { () async throws(HTTPTransportError) in
          do { return try await source.next() } catch { throw error as? HTTPTransportError ?? .other("\(error)") }
        }, cancel: { body.cancel() })
      return HTTPBodyStream(next: { try await decoding.nextChunk() }, abandon: { body.cancel() })
    }
  }
}
