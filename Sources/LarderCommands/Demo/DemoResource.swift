internal import LarderCore
internal import LarderOnline
internal import LarderService

/// One resource that the demonstration reads.
struct DemoResource {
  let title: String
  let store: OnlineODataStore
  let path: String

  /// Reads it as an application does, with a listener, and notes when that was called.
  func read() async throws -> DemoTimes {
    let watch = DemoListener()
    let execution = store.schedule(.read(path), listener: watch)
    do {
      _ = try await withTaskCancellationHandler {
        try await execution.finalResponse()
      } onCancel: {
        execution.cancel()
      }
    } catch {
      if Task.isCancelled { throw error }
    }
    return watch.times
  }
}

/// When the calls came, and with what.
struct DemoTimes: Sendable {
  fileprivate var cached: (time: Duration, bytes: Int)?
  fileprivate var served: (time: Duration, bytes: Int, isNotModified: Bool)?
  fileprivate var failedAfter: Duration?
  /// What the caller sees of a failure.
  fileprivate(set) var failure: String?

  /// When the cache's answer came; a dash where it had none.
  var cache: String { cached.map { Milliseconds.text($0.time) } ?? "-" }
  /// Bytes of the cache's answer.
  var bytes: Int? { cached?.bytes }
  /// When the failure came.
  var failed: String { failedAfter.map { "after " + Milliseconds.text($0) } ?? "none" }
  /// Cache and server.
  var cells: [String] { [cache, served.map { Milliseconds.text($0.time) } ?? failure.map { _ in "failed" } ?? "-"] }
  /// The content that need not be sent again.
  var saved: String {
    guard let served else { return "-" }
    return served.isNotModified ? "\(served.bytes) bytes" : "no ETag, all sent"
  }
}

private final class DemoListener: ODataRequestListener {
  private let start = ContinuousClock.now
  private let held = Locked(DemoTimes())

  var times: DemoTimes { held.withLock { $0 } }

  func requestCacheResponse(_ execution: ODataRequestExecution) {
    let time = ContinuousClock.now - start
    guard let response = execution.response?.single else { return }
    held.withLock { $0.cached = (time, response.payloadBytes.count) }
  }

  func requestServerResponse(_ execution: ODataRequestExecution) {
    let time = ContinuousClock.now - start
    guard let response = execution.response?.single else { return }
    held.withLock { $0.served = (time, response.payloadBytes.count, response.isNotModified) }
  }

  func requestFailed(_ execution: ODataRequestExecution) {
    let time = ContinuousClock.now - start
    let failure = execution.error.map { TerminalText.line(CommandFailure($0).message) }
    held.withLock {
      $0.failedAfter = time
      $0.failure = failure ?? "unknown"
    }
  }
}
