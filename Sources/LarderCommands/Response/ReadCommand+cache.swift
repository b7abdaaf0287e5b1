internal import LarderHTTP
internal import LarderOnline
internal import LarderService
internal import Synchronization

// Runs `larder get` through the technical cache.
extension ReadCommand {
  /// Uses the folder's cache for the URL's origin, which is one file for all its URLs. The listener receives the cached
  /// response first; the final response is the server's, or the cached one in passive mode.
  func throughCache(_ folder: String) async throws -> CommandStatus {
    let isPassive = arguments.has(.passive)
    let store = try await CacheAccess(folder: folder, key: try KeyAccess.key(arguments, context), context).open(
      origin: target.origin, access: access, isPassive: isPassive)
    do {
      let status = try await read(store, isPassive: isPassive)
      await context.warnIfClosingFails { try await store.close() }
      return status
    } catch {
      try? await store.close()
      throw error
    }
  }

  private func read(_ store: OnlineODataStore, isPassive: Bool) async throws -> CommandStatus {
    let printer = EventPrinter(context.output)
    let notice = CacheNotice(context)
    let listener: any ODataRequestListener = arguments.has(.events) ? printer : notice
    let execution = store.schedule(.single(request), listener: listener)
    let last: ODataResponse?
    do {
      last = try await withTaskCancellationHandler {
        try await execution.finalResponse()
      } onCancel: {
        execution.cancel()
      }
    } catch {
      if let failure = printer.outputError { throw failure }
      throw withHint(error, wasCached: notice.wasCached || printer.wasCached)
    }
    if let failure = printer.outputError { throw failure }
    guard var response = last?.single else {
      throw CommandFailure(
        .negative, "the cache has no response for \(target.url)", hint: "Read it once without --passive.")
    }
    if response.isNotModified {
      // Without a cached response, the condition was the caller's own.
      guard notice.wasCached || printer.wasCached else { throw CommandFailure.notModified(target.url) }
      // The cached response is printed, which is no 304: that has no content (RFC 9110 §15.4.5).
      response.httpStatus = notice.cachedStatus
    }
    if !arguments.has(.events) { try await ResponseOutput(arguments, context).print(response) }
    return .done
  }

  /// Adds a hint to a failure. An older cached response does not replace the server's: the hint offers it, but it is
  /// not printed.
  private func withHint(_ error: any Error, wasCached: Bool) -> CommandFailure {
    let failure = CommandFailure(error)
    guard wasCached, failure.status == .network else { return failure }
    let hint = [failure.hint, "The cache has the last response: --passive prints it."].compactMap { $0 }
    return CommandFailure(failure.status, failure.message, hint: hint.joined(separator: "\n"))
  }
}

/// Informs a user at a terminal that the cached response is available while the request to the server is still running.
private final class CacheNotice: ODataRequestListener {
  private let context: CommandContext
  private let start = ContinuousClock.now
  /// The status of the cached response; 0 before there is one.
  private let status = Atomic(0)

  init(_ context: CommandContext) { self.context = context }

  /// The status of the response that the cache has returned; nil without one.
  var cachedStatus: Int? {
    let status = status.load(ordering: .relaxed)
    return status == 0 ? nil : status
  }
  /// True once the cache has returned a response.
  var wasCached: Bool { cachedStatus != nil }

  func requestCacheResponse(_ execution: ODataRequestExecution) {
    guard let response = execution.response?.single else { return }
    status.store(response.httpStatus ?? 200, ordering: .relaxed)
    guard context.diagnostics.isTerminal else { return }
    let time = Milliseconds.text(ContinuousClock.now - start)
    context.note("cache: \(response.payloadBytes.count) bytes after \(time) ms")
  }

  func requestServerResponse(_ execution: ODataRequestExecution) {
    guard context.diagnostics.isTerminal, wasCached, let response = execution.response?.single else { return }
    let time = Milliseconds.text(ContinuousClock.now - start)
    let result = response.isNotModified ? "not modified" : "\(response.payloadBytes.count) bytes"
    context.note("server: \(result) after \(time) ms")
  }
}

/// Formats durations for people.
enum Milliseconds {
  /// The duration with one decimal.
  static func text(_ duration: Duration) -> String {
    let tenths = duration / .microseconds(100)
    let rounded = Int(tenths.rounded())
    return "\(rounded / 10).\(rounded % 10)"
  }
}
