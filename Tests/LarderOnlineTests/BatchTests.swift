import Foundation
import LarderHTTP
import LarderOnline
import LarderService
import LarderTestSupport
import Testing

/// Batches on the scripted service: each part gets a response as a request of its own, in multipart as V4 writes it.
@Suite("Batches and the cache", .timeLimit(.minutes(5)))
struct BatchTests {
  /// Responds to every part of a multipart batch by its first line and its conditions.
  static func response(_ request: HTTPRequest, part: (String, Bool) -> (Int, String)) -> StubService.Response {
    guard case .bytes(let bytes) = request.body else { return .ok(#"{"single":true}"#, ["ETag": "\"1\""]) }
    var body = ""
    let text = String(decoding: bytes, as: UTF8.self)
    let lines: [String] = text.split(whereSeparator: \.isNewline).map(String.init)
    for (index, line) in lines.enumerated() where line.hasSuffix("HTTP/1.1") {
      var isConditional = false
      for next in lines[(index + 1)...] {
        if next.hasPrefix("--") || next.hasSuffix("HTTP/1.1") { break }
        if next.lowercased().hasPrefix("if-none-match") { isConditional = true }
      }
      let (status, payload) = part(line, isConditional)
      body += "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
      body += "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\nETag: \"1\"\r\n"
      body += "Content-Length: \(payload.utf8.count)\r\n\r\n\(payload)\r\n"
    }
    return .ok(body + "--b--\r\n", ["Content-Type": "multipart/mixed; boundary=b"])
  }

  static func batch(_ items: [ODataBatchRequest.Item]) -> ODataRequest { .batch(ODataBatchRequest(items)) }

  @Test("one slot a part: nil for misses, changes and parts without the cache; entries are shared with single reads")
  func slots() async throws {
    let rig = try StoreRig { request in
      BatchTests.response(request) { line, _ in line.hasPrefix("DELETE") ? (204, "") : (200, #"{"batch":true}"#) }
    }
    let store = try await rig.openStore()
    _ = try await store.read("A")
    let request = BatchTests.batch([
      .read("A"), .read("B"), .read("A", useCache: false), .single(.delete("A(1)")),
    ])
    let first = await store.calls(request)
    #expect(first[1] == #"cacheResponse(inProgress)={"single":true}|nil|nil|nil"#)
    #expect(first.last == #"finished(completed)={"batch":true}|{"batch":true}|{"batch":true}|"#)
    // The batch's responses are those of single reads now, and vice versa.
    #expect(text(try await store.read("B").cached) == #"{"batch":true}"#)
    #expect(await store.calls(request)[1] == #"cacheResponse(inProgress)={"batch":true}|{"single":true}|nil|nil"#)
    try await store.close()
  }

  @Test("a batch of reads is sent with the known validators, and a 304 part becomes the cached payload")
  func conditions() async throws {
    let rig = try StoreRig { request in
      BatchTests.response(request) { _, isConditional in isConditional ? (304, "") : (200, #"{"v":1}"#) }
    }
    let store = try await rig.openStore()
    let request = BatchTests.batch([.read("A"), .read("B")])
    await store.calls(request)
    let execution = store.schedule(request)
    let slots = try #require(try await execution.finalResponse()?.batch?.slots)
    #expect(slots.map { text($0?.response) } == [#"{"v":1}"#, #"{"v":1}"#])
    #expect(slots.map { $0?.response?.isNotModified } == [true, true])
    try await store.close()
  }

  @Test("a service that rejects conditions in batches gets the batch without them, at once and from then on")
  func rejectedConditions() async throws {
    let rig = try StoreRig { request in
      BatchTests.response(request) { _, isConditional in isConditional ? (501, "{}") : (200, #"{"v":1}"#) }
    }
    let store = try await rig.openStore()
    let request = BatchTests.batch([.read("A")])
    await store.calls(request)
    #expect(await store.calls(request).last == #"finished(completed)={"v":1}"#)
    #expect(rig.service.requests.count == 3)
    #expect(await store.calls(request).last == #"finished(completed)={"v":1}"#)
    #expect(rig.service.requests.count == 4)
    try await store.close()
  }

  @Test("in passive mode nothing of a batch is sent: one with cached reads succeeds, others fail")
  func passive() async throws {
    let rig = try StoreRig { request in BatchTests.response(request) { _, _ in (200, #"{"v":1}"#) } }
    let store = try await rig.openStore()
    await store.calls(BatchTests.batch([.read("A")]))
    let sent = rig.service.requests.count
    try store.setPassive(true)
    let mixed = await store.calls(BatchTests.batch([.read("A"), .read("B"), .single(.delete("A(1)"))]))
    #expect(mixed.last == #"finished(completed)={"v":1}|nil|nil"#)
    let changes = await store.calls(BatchTests.batch([.single(.delete("A(1)"))]))
    #expect(changes == ["started(initialized)", "failed(failed)", "finished(failed)"])
    #expect(rig.service.requests.count == sent)
    try await store.close()
  }

  @Test("a part that is not there any more loses its entry, a part that failed otherwise keeps it")
  func gone() async throws {
    let rig = try StoreRig { request in BatchTests.response(request) { _, _ in (200, #"{"v":1}"#) } }
    let store = try await rig.openStore()
    let request = BatchTests.batch([.read("A"), .read("B")])
    await store.calls(request)
    rig.service.respond { request in
      BatchTests.response(request) { line, _ in line.contains("A HTTP") ? (404, "{}") : (500, "{}") }
    }
    await store.calls(request)
    try store.setPassive(true)
    #expect(await store.calls(request).last == #"finished(completed)=nil|{"v":1}"#)
    try await store.close()
  }
}
