import Foundation
import LarderCurl
import LarderHTTP
import Synchronization

/// A network to a real service that breaks at one change: before the service has seen it, or before its response is
/// back.
final class InterruptingTransport: HTTPTransport {
  /// Where the network breaks, counting changes from 1.
  enum Interruption: Sendable, Hashable, CustomStringConvertible {
    case before(Int)
    case behind(Int)

    var description: String {
      switch self {
      case .before(let number): "before change \(number)"
      case .behind(let number): "behind change \(number)"
      }
    }
  }

  private struct State {
    var interruption: Interruption?
    var changes = 0
    var heard: [String] = []
    var lost: String?
  }

  private let inner: CurlTransport
  private let state = Mutex(State())

  init() throws { inner = try CurlTransport() }

  var identity: String { inner.identity }
  /// The changes that went to the service, with or without a response: method and path.
  var heard: [String] { state.withLock { $0.heard } }

  /// The change whose response was lost; nil if none was.
  var lost: String? { state.withLock { $0.lost } }

  /// Breaks once at a change from now on; nil breaks no more.
  func arm(_ interruption: Interruption?) { state.withLock { ($0.interruption, $0.changes) = (interruption, 0) } }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    guard request.method != .get, request.method != .head else { return try await inner.send(request) }
    let path = request.url.absoluteString.split(separator: "/").dropFirst(2).joined(separator: "/")
    let (isBefore, isBehind) = state.withLock { state in
      state.changes += 1
      let isBefore = state.interruption == .before(state.changes)
      if !isBefore { state.heard.append("\(request.method) \(path)") }
      let isBehind = state.interruption == .behind(state.changes)
      if isBehind { state.lost = "\(request.method) \(path)" }
      return (isBefore, isBehind)
    }
    if isBefore { throw .connectionLost(reason: "cut") }
    let response = try await inner.send(request)
    guard isBehind else { return response }
    // The service has done it, and the response is lost.
    do { _ = try await response.body.collect() } catch { throw .connectionLost(reason: "cut") }
    throw .connectionLost(reason: "cut")
  }
}
