@_spi(Stores) internal import LarderCore
internal import LarderOnline
internal import LarderService

/// One resource that the demonstration reads.
struct DemoResource {
  let title: String
  let store: OnlineODataStore
  let path: String

  /// Reads the resource as an application does, with a listener, and records when that was called.
  func read() async throws -> DemoTimes {
    let listener = DemoListener()
    let execution = store.schedule(.read(path), listener: listener)
    do {
      _ = try await withTaskCancellationHandler {
        try await execution.finalResponse()
      } onCancel: {
        execution.cancel()
      }
    } catch {
      if Task.isCancelled { throw error }
    }
    return listener.times
  }
}

/// The times of the listener's calls, and what they reported.
struct DemoTimes: Sendable {
  fileprivate var cached: (time: Duration, bytes: Int)?
  fileprivate var server: (time: Duration, bytes: Int, isNotModified: Bool)?
  fileprivate var failedAfter: Duration?
  /// The failure that the caller sees.
  fileprivate(set) var failure: String?

  /// The time of the cached response; a dash if there was none.
  var cache: String { cached.map { Milliseconds.text($0.time) } ?? "-" }
  /// The size of the cached response in bytes.
  var bytes: Int? { cached?.bytes }
  /// The time of the failure.
  var failed: String { failedAfter.map { "after " + Milliseconds.text($0) } ?? "none" }
  /// The cells for cache and server.
  var cells: [String] { [cache, server.map { Milliseconds.text($0.time) } ?? failure.map { _ in "failed" } ?? "-"] }
  /// The content that did not have to be sent again.
  var saved: String {
    guard let server else { return "-" }
    return server.isNotModified ? "\(server.bytes) bytes" : "no ETag, sent in full"
  }
}

private final class DemoListener: ODataRequestListener {
  private let start = ContinuousClock.now
  private let state = Locked(DemoTimes())

  var times: DemoTimes { state.withLock { $0 } }

  func requestCacheResponse(_ execution: ODataRequestExecution) {
    let time = ContinuousClock.now - start
    guard let response = execution.response?.single else { return }
    state.withLock { $0.cached = (time, response.payloadBytes.count) }
  }

  func requestServerResponse(_ execution: ODataRequestExecution) {
    let time = ContinuousClock.now - start
    guard let response = execution.response?.single else { return }
    state.withLock { $0.server = (time, response.payloadBytes.count, response.isNotModified) }
  }

  func requestFailed(_ execution: ODataRequestExecution) {
    let time = ContinuousClock.now - start
    let failure = execution.error.map { TerminalText.line(CommandFailure($0).message) }
    state.withLock {
      $0.failedAfter = time
      $0.failure = failure ?? "unknown"
    }
  }
}
