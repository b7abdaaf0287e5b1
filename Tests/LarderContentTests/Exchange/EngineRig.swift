import Foundation
import LarderContent
import LarderCore
import LarderHTTP
import LarderTestSupport
import Synchronization

/// An engine over a shelf and a hand-driven network, with a clock that the test sets.
struct EngineRig: Sendable {
  let shelf = ShelfCache()
  /// ``shelf`` behind a gate, for rigs that are created with one.
  let slow: SlowShelf
  let network: ManualNetwork
  let engine: HTTPCache
  let clock: RigClock
  let diagnostics = DiagnosticLog()

  init(
    _ automatic: (@Sendable (HTTPRequest, Int) -> ManualNetwork.Scripted?)? = nil,
    commitsSlowly: Bool = false, over cache: (any Cache)? = nil, configure: (inout HTTPCacheOptions) -> Void = { _ in }
  ) {
    network = ManualNetwork(automatic)
    let clock = RigClock()
    let diagnostics = diagnostics
    self.clock = clock
    var options = HTTPCacheOptions()
    options.environment = .at { clock.now }
    options.onDiagnostic = { diagnostics.add($0) }
    configure(&options)
    slow = SlowShelf(shelf)
    engine = HTTPCache(cache: cache ?? (commitsSlowly ? slow : shelf), transport: network, options: options)
  }

  /// Sends a request, reads everything, and returns it in one line: status, content, origin.
  func line(
    _ path: String = "/a", method: HTTPMethod = .get, _ fields: HTTPFields = [:],
    policy: ContentPolicy = .standard, override: FreshnessOverride = .none
  ) async throws -> String {
    let response = try await response(path, method: method, fields, policy: policy, override: override)
    return try await Self.line(response)
  }

  func response(
    _ path: String = "/a", method: HTTPMethod = .get, _ fields: HTTPFields = [:],
    policy: ContentPolicy = .standard, override: FreshnessOverride = .none
  ) async throws -> CachedResponse {
    try await engine.response(to: request(path, method: method, fields), policy: policy, override: override)
  }

  func request(_ path: String = "/a", method: HTTPMethod = .get, _ fields: HTTPFields = [:]) -> HTTPRequest {
    HTTPRequest(method: method, url: URL(string: "http://h\(path)") ?? URL(fileURLWithPath: "/"), fields: fields)
  }

  static func line(_ response: CachedResponse) async throws -> String {
    let body = try await response.response.body.collect()
    return "\(response.response.status) \(String(decoding: body, as: UTF8.self)) \(response.origin)"
  }
}

/// Milliseconds that pass when the test says so.
final class RigClock: Sendable {
  private let time = Atomic<Int64>(1_800_000_000_000)
  var now: Int64 { time.load(ordering: .relaxed) }
  func pass(seconds: Int64) { time.add(seconds * 1000, ordering: .relaxed) }
}
