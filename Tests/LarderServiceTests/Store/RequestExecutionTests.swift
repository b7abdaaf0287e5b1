import Foundation
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderService

/// Records each call with the state that the execution has during it.
final class CallLog: ODataRequestListener {
  let calls = Mutex<[String]>([])
  let onCall: @Sendable (String, ODataRequestExecution) -> Void

  init(onCall: @escaping @Sendable (String, ODataRequestExecution) -> Void = { _, _ in }) { self.onCall = onCall }

  private func note(_ name: String, _ execution: ODataRequestExecution) {
    let status = execution.response?.single?.httpStatus.map(String.init) ?? "nil"
    calls.withLock { $0.append("\(name) \(execution.status) \(status)") }
    onCall(name, execution)
  }

  var lines: [String] { calls.withLock { $0 } }

  func requestStarted(_ execution: ODataRequestExecution) { note("started", execution) }
  func requestCacheResponse(_ execution: ODataRequestExecution) { note("cache", execution) }
  func requestServerResponse(_ execution: ODataRequestExecution) { note("server", execution) }
  func requestFailed(_ execution: ODataRequestExecution) { note("failed", execution) }
  func requestFinished(_ execution: ODataRequestExecution) { note("finished", execution) }
}

/// Counts calls that began while another one ran.
final class OverlapLog: ODataRequestListener {
  private let inside = Atomic(0)
  let overlaps = Atomic(0)
  let finished = Atomic(0)

  private func note() {
    if inside.add(1, ordering: .sequentiallyConsistent).newValue != 1 { overlaps.add(1, ordering: .relaxed) }
    inside.subtract(1, ordering: .sequentiallyConsistent)
  }

  func requestStarted(_ execution: ODataRequestExecution) { note() }
  func requestCacheResponse(_ execution: ODataRequestExecution) { note() }
  func requestServerResponse(_ execution: ODataRequestExecution) { note() }
  func requestFinished(_ execution: ODataRequestExecution) {
    note()
    finished.add(1, ordering: .relaxed)
  }
}

@Suite("A request's execution and its callbacks", .timeLimit(.minutes(5)))
struct RequestExecutionTests {
  static func response(_ status: Int) -> ODataResponse { .single(ODataSingleResponse(httpStatus: status, url: "u")) }
  static let failure = ODataServiceError(.notOpen, operation: "read")

  // Otherwise a waiting change could take effect although an earlier one was cancelled.
  @Test("A store that closes cancels its requests from the last to the first")
  func orderOfCancellation() async {
    let running = RunningRequests()
    let order = Mutex<[Int]>([])
    for number in 0..<20 {
      let execution = ODataRequestExecution(request: .read("P"))
      running.add(execution)
      execution.start()
      execution.onCancel {
        order.withLock { $0.append(number) }
        running.remove(execution)
      }
    }
    await running.endAll()
    #expect(order.withLock { $0 } == (0..<20).reversed())
  }

  @Test(
    "each run makes its calls, with the status and the response at that time",
    arguments: [
      (
        "active, success", ["start", "cache nil", "server 200", "finish"],
        ["started initialized nil", "cache inProgress nil", "server inProgress 200", "finished completed 200"]
      ),
      (
        "active, failure", ["start", "cache 203", "fail"],
        ["started initialized nil", "cache inProgress 203", "failed failed nil", "finished failed nil"]
      ),
      (
        "active, refused", ["start", "cache 203", "fail 500"],
        ["started initialized nil", "cache inProgress 203", "failed failed 500", "finished failed 500"]
      ),
      (
        "passive, success", ["start", "cache 203", "finish"],
        ["started initialized nil", "cache inProgress 203", "finished completed 203"]
      ),
      (
        "passive, miss", ["start", "cache nil", "finish"],
        ["started initialized nil", "cache inProgress nil", "finished completed nil"]
      ),
      ("closed", ["start", "fail"], ["started initialized nil", "failed failed nil", "finished failed nil"]),
      (
        "cancelled", ["start", "cache 203", "cancel", "server 200", "finish", "fail"],
        ["started initialized nil", "cache inProgress 203", "finished cancelled 203"]
      ),
      ("cancelled before its start", ["cancel", "start", "server 200"], ["finished cancelled nil"]),
      (
        "cancelled too late", ["start", "server 200", "finish", "cancel"],
        ["started initialized nil", "server inProgress 200", "finished completed 200"]
      ),
      (
        "out of order", ["server 200", "finish", "start", "start", "finish", "finish"],
        ["started initialized nil", "finished completed nil"]
      ),
    ])
  func courses(name: String, inputs: [String], expected: [String]) async throws {
    let log = CallLog()
    let execution = ODataRequestExecution(request: .read("P"), listener: log)
    for input in inputs { Self.apply(input, to: execution) }
    #expect(log.lines == expected)
    var events: [String] = []
    for await event in execution.events {
      let status = event.snapshot.response?.single?.httpStatus.map(String.init) ?? "nil"
      let name = event.name.replacing("request", with: "").replacing("Response", with: "").lowercased()
      events.append("\(name) \(event.snapshot.status) \(status)")
    }
    #expect(events == expected, "events are the same, also for those who come late")
  }

  static func apply(_ input: String, to execution: ODataRequestExecution) {
    let words = input.split(separator: " ")
    let status = words.dropFirst().first.flatMap { Int($0) }
    switch words.first {
    case "start": execution.start()
    case "cache": execution.receive(cacheResponse: status.map(response))
    case "server": execution.receive(serverResponse: response(status ?? 0))
    case "finish": execution.finish()
    case "fail": execution.fail(failure, response: status.map(response))
    default: execution.cancel()
    }
  }

  @Test("after a cancel inside a call, that call keeps its state, and the next call reports the cancellation")
  func cancelInside() {
    let log = CallLog { name, execution in
      guard name == "cache" else { return }
      execution.cancel()
      #expect(execution.status == .inProgress)
    }
    let execution = ODataRequestExecution(request: .read("P"), listener: log)
    let cancelled = Mutex(0)
    execution.onCancel { cancelled.withLock { $0 += 1 } }
    execution.start()
    execution.receive(cacheResponse: nil)
    #expect(log.lines.last == "finished cancelled nil")
    #expect(cancelled.withLock { $0 } == 1)
    execution.onCancel { cancelled.withLock { $0 += 1 } }
    #expect(cancelled.withLock { $0 } == 2, "a handler that comes after the cancellation runs at once")
  }

  @Test("calls never overlap, whichever threads advance and cancel")
  func serialized() async {
    for _ in 0..<200 {
      let log = OverlapLog()
      let execution = ODataRequestExecution(request: .read("P"), listener: log)
      await withTaskGroup { group in
        group.addTask { execution.start() }
        group.addTask { execution.receive(cacheResponse: nil) }
        group.addTask { execution.receive(serverResponse: Self.response(200)) }
        group.addTask { execution.cancel() }
        group.addTask { execution.finish() }
      }
      execution.cancel()
      #expect(log.overlaps.load(ordering: .relaxed) == 0)
      #expect(log.finished.load(ordering: .relaxed) == 1)
    }
  }

  @Test("the final response: the response, nil for a passive miss, the error, the cancellation")
  func finalResponse() async throws {
    let success = ODataRequestExecution(request: .read("P"))
    async let response = success.finalResponse()
    success.start()
    success.receive(serverResponse: Self.response(200))
    success.finish()
    #expect(try await response?.single?.httpStatus == 200)

    let miss = ODataRequestExecution(request: .read("P"))
    for input in ["start", "cache nil", "finish"] { Self.apply(input, to: miss) }
    let missed = try await miss.finalResponse()
    if missed != nil { Issue.record("a miss has no response") }

    let failed = ODataRequestExecution(request: .read("P"))
    for input in ["start", "fail"] { Self.apply(input, to: failed) }
    await #expect(throws: ODataServiceError.self) { try await failed.finalResponse() }

    let cancelled = ODataRequestExecution(request: .read("P"))
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.finalResponse() }
  }

  @Test("the listener is released after its last call")
  func letsListenerGo() {
    let execution: ODataRequestExecution
    weak var gone: CallLog?
    do {
      let log = CallLog()
      gone = log
      execution = ODataRequestExecution(request: .read("P"), listener: log)
      execution.start()
    }
    #expect(gone != nil)
    execution.finish()
    #expect(gone == nil)
  }

  @Test("cancelling a waiting task leaves the execution running")
  func waiterLeaves() async {
    let execution = ODataRequestExecution(request: .read("P"))
    execution.start()
    let waiter = Task { try await execution.finalResponse() }
    waiter.cancel()
    await #expect(throws: CancellationError.self) { try await waiter.value }
    #expect(execution.status == .initialized)
  }
}

@Suite("Readers of the steps of an execution", .timeLimit(.minutes(5)))
struct RequestReaderTests {
  private func execution(_ listener: (any ODataRequestListener)? = nil) -> ODataRequestExecution {
    ODataRequestExecution(request: .read("P"), listener: listener)
  }

  /// A task that reads, after it has read the first step.
  private func reader(of execution: ODataRequestExecution) async -> Task<Int, Never> {
    let (steps, begun) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      var count = 0
      for await _ in execution.events {
        count += 1
        begun.yield()
      }
      return count
    }
    for await _ in steps { break }
    return task
  }

  @Test("only cancelling the last reader cancels the request")
  func lastOne() async throws {
    let execution = execution()
    execution.start()
    let (first, second) = (await reader(of: execution), await reader(of: execution))
    first.cancel()
    #expect(await first.value == 1)
    #expect(!execution.isCancelled)
    second.cancel()
    _ = await second.value
    #expect(execution.isCancelled && execution.status == .cancelled)
  }

  @Test("a request continues while it has a listener, or while a task awaits its final response")
  func retained() async throws {
    let listened = execution(CallLog())
    listened.start()
    let reader1 = await reader(of: listened)
    reader1.cancel()
    _ = await reader1.value
    #expect(!listened.isCancelled)

    let awaited = execution()
    awaited.start()
    let waiting = immediately { try await awaited.finalResponse() }
    let reader2 = await reader(of: awaited)
    reader2.cancel()
    _ = await reader2.value
    #expect(!awaited.isCancelled)
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(!awaited.isCancelled)
  }

  @Test("leaving the loop early leaves the request running")
  func leaving() async throws {
    let execution = execution()
    execution.start()
    for await _ in execution.events { break }
    #expect(!execution.isCancelled)
    execution.receive(serverResponse: RequestExecutionTests.response(200))
    execution.finish()
    var steps = 0
    for await _ in execution.events { steps += 1 }
    #expect(steps == 3)
  }

  @Test("a reader that is cancelled in a listener's call, under any lock, does not end the process")
  func cancelledInACall() async throws {
    let task = Mutex<Task<Int, Never>?>(nil)
    let log = CallLog { _, _ in task.withLock { $0 }?.cancel() }
    let execution = execution(log)
    let reader = Task { () -> Int in
      var count = 0
      for await _ in execution.events { count += 1 }
      return count
    }
    task.withLock { $0 = reader }
    execution.start()
    execution.finish()
    #expect(await reader.value <= 2)
    #expect(log.lines.count == 2)
  }
}
