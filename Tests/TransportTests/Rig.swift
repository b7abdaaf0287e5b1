import Foundation
import LarderCurl
import LarderHTTP
import LarderTestSupport
import LarderURLSession
import Testing

/// The two transports, as the arguments of one test body.
enum Rig: String, Sendable, CaseIterable, CustomTestStringConvertible {
  case curl, urlSession

  var testDescription: String { rawValue }

  /// Runs a test with a transport of this kind, which no proxy of this machine's environment disturbs, and ends it.
  func run(
    _ change: (inout CurlTransport.Options) -> Void = { _ in },
    _ body: (any HTTPTransport) async throws -> Void
  ) async throws {
    switch self {
    case .curl:
      var options = CurlTransport.Options()
      options.proxy = .none
      change(&options)
      let transport = try CurlTransport(options)
      do { try await body(transport) } catch {
        await transport.close()
        throw error
      }
      await transport.close()
    case .urlSession:
      let transport = try URLSessionTransport()
      defer { transport.close() }
      try await body(transport)
    }
  }
}

/// A scripted server that is stopped whatever happens.
func withServer(
  _ handler: @escaping ScriptedServer.Handler, options: ScriptedServer.Options = .init(),
  _ body: (ScriptedServer) async throws -> Void
) async throws {
  let server = try ScriptedServer(options, handler: handler)
  defer { server.stop() }
  try await body(server)
}

extension HTTPTransport {
  /// Sends and reads all.
  func exchange(_ request: HTTPRequest) async throws -> (response: HTTPResponse, content: String) {
    let response = try await send(request)
    return (response, String(decoding: try await response.body.collect(), as: UTF8.self))
  }
}

/// The error that a request ends with, wherever it comes: at the head or in the content.
func failure(of transport: any HTTPTransport, _ request: HTTPRequest) async -> HTTPTransportError? {
  do {
    _ = try await transport.exchange(request)
    return nil
  } catch {
    return error as? HTTPTransportError
  }
}

/// The name of an error's case, without its values; `none` where there is no error.
func name(_ error: HTTPTransportError?) -> String {
  guard let error else { return "none" }
  return Mirror(reflecting: error).children.first?.label ?? error.description
}
