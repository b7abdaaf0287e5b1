@_spi(Stores) internal import LarderCore
internal import LarderService
internal import Synchronization

/// Prints each step of a request as one line of JSON, as soon as it happens.
final class EventPrinter: ODataRequestListener {
  private let port: OutputPort
  private let failure = Locked<OutputError?>(nil)
  private let hasCachedResponse = Atomic(false)

  init(_ port: OutputPort) { self.port = port }

  /// Why a line could not be written; nil if all were.
  var outputError: OutputError? { failure.withLock { $0 } }

  /// True once the cache has returned a response.
  var wasCached: Bool { hasCachedResponse.load(ordering: .relaxed) }

  func requestStarted(_ execution: ODataRequestExecution) { print("requestStarted", execution) }
  func requestCacheResponse(_ execution: ODataRequestExecution) {
    if execution.response != nil { hasCachedResponse.store(true, ordering: .relaxed) }
    print("requestCacheResponse", execution)
  }
  func requestServerResponse(_ execution: ODataRequestExecution) { print("requestServerResponse", execution) }
  func requestFailed(_ execution: ODataRequestExecution) { print("requestFailed", execution) }
  func requestFinished(_ execution: ODataRequestExecution) { print("requestFinished", execution) }

  private func print(_ event: String, _ execution: ODataRequestExecution) {
    let line = EventLine(event: event, status: execution.status, response: execution.response?.single)
    do throws(OutputError) { try port.line(line.json) } catch {
      failure.withLock { $0 = $0 ?? error }
      // The reader has closed the output: the request is no longer needed.
      execution.cancel()
    }
  }
}

/// One step as JSON, always with the same keys in this order.
struct EventLine {
  let event: String
  let status: ODataRequestStatus
  let response: ODataSingleResponse?

  var json: String {
    let bytes = response.map { "\($0.payloadBytes.count)" } ?? "null"
    let http = response?.httpStatus.map { "\($0)" } ?? "null"
    let notModified = response?.isNotModified ?? false
    return #"{"event":"\#(event)","status":"\#(status.rawValue)","payloadBytes":\#(bytes),"#
      + #""httpStatus":\#(http),"notModified":\#(notModified)}"#
  }
}
