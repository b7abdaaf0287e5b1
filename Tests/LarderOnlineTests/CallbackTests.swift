import Foundation
import LarderHTTP
import LarderOnline
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@Suite("Callbacks and their responses", .timeLimit(.minutes(5)))
struct CallbackTests {
  @Test("two URLs read twice: first each a miss, then each a hit")
  func fourReads() async throws {
    let rig = try StoreRig { request in .ok(#"{"at":"\#(request.url.lastPathComponent)"}"#) }
    let store = try await rig.openStore()
    var seen: [String] = []
    for path in ["A", "B", "A", "B"] {
      seen.append(await store.calls(.read(path))[1])
    }
    #expect(
      seen == [
        "cacheResponse(inProgress)", "cacheResponse(inProgress)", #"cacheResponse(inProgress)={"at":"A"}"#,
        #"cacheResponse(inProgress)={"at":"B"}"#,
      ])
    try await store.close()
  }

  @Test("the response in `finished` is the server's, in failures the failure's, in passive mode the cache's")
  func responses() async throws {
    let count = Atomic(0)
    let rig = try StoreRig { _ in
      .ok(#"{"n":\#(count.add(1, ordering: .relaxed).newValue)}"#)
    }
    let store = try await rig.openStore()
    #expect(
      await store.calls(.read("P")) == [
        "started(initialized)", "cacheResponse(inProgress)", #"serverResponse(inProgress)={"n":1}"#,
        #"finished(completed)={"n":1}"#,
      ])
    #expect(
      await store.calls(.read("P")) == [
        "started(initialized)", #"cacheResponse(inProgress)={"n":1}"#, #"serverResponse(inProgress)={"n":2}"#,
        #"finished(completed)={"n":2}"#,
      ])
    rig.service.isAway = true
    #expect(
      await store.calls(.read("P")) == [
        "started(initialized)", #"cacheResponse(inProgress)={"n":2}"#, "failed(failed)", "finished(failed)",
      ])
    try store.setPassive(true)
    #expect(
      await store.calls(.read("P")) == [
        "started(initialized)", #"cacheResponse(inProgress)={"n":2}"#, #"finished(completed)={"n":2}"#,
      ])
    #expect(
      await store.calls(.read("never")) == [
        "started(initialized)", "cacheResponse(inProgress)", "finished(completed)",
      ])
    try await store.close()
  }

  @Test("a failed response leaves the entry, except 404 and 410", arguments: [400, 401, 403, 404, 410, 500, 503])
  func failures(_ status: Int) async throws {
    let rig = try StoreRig { _ in .ok("{}") }
    let store = try await rig.openStore()
    await store.calls(.read("P"))
    rig.service.respond { _ in .status(status, "{}") }
    let calls = await store.calls(.read("P"))
    #expect(calls.last?.hasPrefix("finished(failed)") == true)
    try store.setPassive(true)
    let stored = await store.calls(.read("P"))[1]
    #expect(stored == (status == 404 || status == 410 ? "cacheResponse(inProgress)" : "cacheResponse(inProgress)={}"))
    try await store.close()
  }

  @Test(
    "A web page with 404 or 410 never removes the entry, whether or not the service answers otherwise",
    arguments: [404, 410],
    [false, true])
  func webPage(status: Int, isOff: Bool) async throws {
    let rig = try StoreRig { _ in .ok("{}") }
    let store = try await rig.openStore()
    await store.calls(.read("Products(1)"))
    rig.service.respond { request in
      guard isOff || request.url.path.hasSuffix("Products(1)") else { return .ok(#"{"value":[]}"#) }
      var page = StubService.Response.status(status, "<html></html>")
      page.fields = ["Content-Type": "text/html"]
      return page
    }
    let calls = await store.calls(.read("Products(1)"))
    #expect(calls.last?.hasPrefix("finished(failed)") == true)
    try store.setPassive(true)
    let stored = await store.calls(.read("Products(1)"))[1]
    #expect(stored == "cacheResponse(inProgress)={}")
    try await store.close()
  }

  @Test("an empty payload is a response; nil is none")
  func empty() async throws {
    let rig = try StoreRig { _ in .status(204) }
    let store = try await rig.openStore()
    await store.calls(.read("P/Nav"))
    #expect(await store.calls(.read("P/Nav"))[1] == "cacheResponse(inProgress)=")
    try await store.close()
  }

  @Test("a request keeps the mode it started with")
  func modeIsUnchanged() async throws {
    let gate = AsyncGate()
    let rig = try StoreRig { _ in
      await gate.wait()
      return .ok("{}")
    }
    let store = try await rig.openStore()
    let log = CallLog()
    let execution = store.schedule(.read("P"), listener: log)
    for await event in execution.events {
      if case .requestCacheResponse = event {
        try store.setPassive(true)
        gate.open()
      }
    }
    #expect(execution.status == .completed)
    try await store.close()
  }

  @Test("cancelled after the cache's response: finished (cancelled), and nothing is kept")
  func cancel() async throws {
    let gate = AsyncGate()
    let rig = try StoreRig { _ in
      await gate.wait()
      return .ok("{}")
    }
    let store = try await rig.openStore()
    let log = CallLog()
    let execution = store.schedule(.read("P"), listener: log)
    for await event in execution.events {
      if case .requestCacheResponse = event { execution.cancel() }
    }
    try await log.finished()
    #expect(log.names == ["started(initialized)", "cacheResponse(inProgress)", "finished(cancelled)"])
    gate.open()
    try await store.close()
    #expect(try await rig.cacheFile.entries().isEmpty)
  }

  @Test("closing the store ends requests in progress")
  func closeEnds() async throws {
    let gate = AsyncGate()
    let rig = try StoreRig { _ in
      await gate.wait()
      return .ok("{}")
    }
    let store = try await rig.openStore()
    let log = CallLog()
    let execution = store.schedule(.read("P"), listener: log)
    for await event in execution.events {
      if case .requestCacheResponse = event {
        gate.open()
        try await store.close()
        break
      }
    }
    #expect(execution.status == .cancelled || execution.status == .completed)
    #expect(!store.isOpen)
  }

  @Test("await returns the server's response, in passive mode the cached one, and throws for a miss there")
  func awaiting() async throws {
    let rig = try StoreRig { _ in .ok(#"{"v":1}"#) }
    let store = try await rig.openStore()
    #expect(text(try await store.execute(single: ODataSingleRequest.read("P"))) == #"{"v":1}"#)
    try store.setPassive(true)
    #expect(text(try await store.execute(single: ODataSingleRequest.read("P"))) == #"{"v":1}"#)
    await #expect(throws: ODataServiceError.self) { _ = try await store.execute(single: ODataSingleRequest.read("Q")) }
    await #expect(throws: ODataServiceError.self) {
      _ = try await store.execute(single: ODataSingleRequest.delete("P(1)"))
    }
    try await store.close()
  }

  @Test("blocking requests never use the cache, and fail in passive mode")
  func blocking() async throws {
    let rig = try StoreRig { _ in .ok("{}") }
    let store = try await rig.openStore()
    func block(_ request: ODataRequest) async -> Result<ODataResponse, any Error> {
      await withCheckedContinuation { done in
        Thread.detachNewThread { done.resume(returning: Result { try store.executeBlocking(request) }) }
      }
    }
    #expect(try await block(.read("P")).get().single?.httpStatus == 200)
    #expect(try await rig.cacheFile.entries().isEmpty)
    try store.setPassive(true)
    guard case .failure(let error as ODataServiceError) = await block(.read("P")), case .passive = error.category else {
      Issue.record("a passive store sent a blocking request")
      return
    }
    try await store.close()
  }

  @Test("a hundred reads of one URL at once all end well, and one entry is kept")
  func concurrency() async throws {
    let rig = try StoreRig { _ in .ok(#"{"value":[1,2,3]}"#) }
    let store = try await rig.openStore()
    await withTaskGroup(of: [String].self) { group in
      for _ in 0..<100 { group.addTask { await store.calls(.read("P")) } }
      for await calls in group {
        #expect(calls.first == "started(initialized)")
        #expect(calls.last == #"finished(completed)={"value":[1,2,3]}"#)
        #expect(calls.count == 4)
      }
    }
    #expect(try await rig.cacheFile.entries().count == 1)
    try await store.close()
  }
}

/// Holds callers until it is opened.
final class AsyncGate: Sendable {
  private let state = Mutex((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

  func wait() async {
    await withCheckedContinuation { waiting in
      let passes = state.withLock { state in
        if !state.isOpen { state.waiting.append(waiting) }
        return state.isOpen
      }
      if passes { waiting.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for one in waiting { one.resume() }
  }
}
