// HTTP over libcurl's multi interface: many transfers, one thread.
//
// The way of one request:
// 1. `CurlTransport.send` checks it, follows redirects (`HTTPRedirection` decides), and for each hop makes
// 2. an `Exchange`: what the calling task and the engine's thread share (answer's head, queue of content, upload);
// 3. `CurlEngine` takes it from its inbox to its thread, where `CurlLoop` drives libcurl;
// 4. a `Transfer` is the exchange's other half there: an easy handle, set up from a `PreparedRequest`, and what the
//    functions in `Callbacks.swift` do with bytes: `ResponseHead` reads field lines, content goes into the exchange,
//    and a full exchange pauses the transfer until its reader has caught up; compressed content is undone on the
//    reader's side, by `ContentDecoding`;
// 5. the end, in `CurlFailure`, becomes nothing or an `HTTPTransportError`.
//
// Only the engine's thread touches libcurl's handles; all else posts to its inbox and wakes it.

// Those who import this module use these modules without another import.
@_exported public import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The transport on libcurl: HTTP/1.1 and HTTP/2, kept connections, back-pressure both ways, real cancellation.
///
/// One transport is one pool of connections with one set of ``Options``; make one and share it. Certificates are always
/// checked, TLS is 1.2 or later. Redirects follow the request's wish. Cookies and authentication are the caller's.
///
/// - Content: `Content-Encoding` (gzip, deflate) is asked for and undone, and both it and `Content-Length` leave the
///   fields. Content that ends before its coding does fails with `HTTPTransportError.connectionLost`, damaged content with
///   `HTTPTransportError.protocolViolation`. A request that brings its own `Accept-Encoding` gets the content as it is
///   sent; so does every request where a coding is none of these two, and where the answer is a part (206). Together with
///   `Range`, no coding is asked for.
/// - Reading slowly stops the transfer once about 256 KiB wait for the reader, and is no silence for the idle time-out.
///   The connection stays taken meanwhile: read or cancel every body (dropping it cancels).
/// - Repeating: where a kept connection turns out to be closed, an idempotent request is sent once more on another; any
///   other fails with `HTTPTransportError.connectionLost`, as its effect is not known.
/// - Content of a request in the way of its answer: HTTP/1.1 sends an unknown length in chunks. `Expect` is never sent.
public final class CurlTransport: HTTPTransport {
  private let settings: TransportSettings

  /// The client certificate, as it was given, without a key that lies in the same file.
  public let identity: String

  private let engine: CurlEngine

  /// Starts the engine's thread.
  ///
  /// Throws `HTTPTransportError.invalidRequest` where a file that the options name cannot be read or is not what
  /// it should be, and `HTTPTransportError.other` where the system gives no thread.
  public init(_ options: Options = Options()) throws(HTTPTransportError) {
    settings = try TransportSettings(options, environment: ProcessInfo.processInfo.environment)
    identity = settings.certificate.map { Data(CurlTransport.withoutKeys($0)).base64EncodedString() } ?? ""
    engine = try CurlEngine(settings)
  }

  /// A PEM file without its private keys (RFC 7468 §10, §11, and the older labels); any other as it is.
  private static func withoutKeys(_ file: [UInt8]) -> [UInt8] {
    guard let text = String(validating: file, as: UTF8.self), text.contains("-----BEGIN ") else { return file }
    var kept = ""
    var isKey = false
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("-----BEGIN ") { isKey = line.hasSuffix("PRIVATE KEY-----") }
      if !isKey { kept += line + "\n" }
      if line.hasPrefix("-----END ") { isKey = false }
    }
    return Array(kept.utf8)
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
  public func shutdown() async { await engine.stop() }

  deinit { engine.requestStop() }

  private func sendOnce(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    let exchange = Exchange(try PreparedRequest(request, settings), content: request.body, engine: engine, owner: self)
    let head = try await exchange.start()
    let decoding = head.codings.isEmpty ? nil : ContentDecoding(exchange, head.codings)
    let body = HTTPBodyStream(
      length: head.length,
      next: { if let decoding { try await decoding.nextChunk() } else { try await exchange.nextChunk() } },
      abandon: { exchange.cancel() })
    return HTTPResponse(status: head.status, fields: head.fields, url: request.url, body: body)
  }
}
