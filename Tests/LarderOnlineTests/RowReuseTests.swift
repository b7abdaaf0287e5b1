import Foundation
import LarderHTTP
import LarderOnline
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@Suite("A late 304 and the rows of the cache", .timeLimit(.minutes(5)))
struct RowReuseTests {
  @Test(
    "a 304 for a row that was removed or replaced meanwhile leaves every other row as it is", arguments: [404, 200])
  func lateNotModified(_ meanwhile: Int) async throws {
    let gate = AsyncGate()
    let heldReads = Tally("reads held")
    let reads = Atomic(0)
    let rig = try StoreRig { request in
      guard request.url.lastPathComponent == "A" else { return .ok(#"{"of":"B"}"#, ["ETag": "\"B\""]) }
      switch reads.add(1, ordering: .relaxed).oldValue {
      case 0: return .ok(#"{"of":"A"}"#, ["ETag": "\"A1\""])
      case 1:
        heldReads.add()
        await gate.wait()
        return .status(304, "", ["ETag": "\"A1\"", "X-New": "yes"])
      default: return .status(meanwhile, #"{"of":"A2"}"#, ["ETag": "\"A2\""])
      }
    }
    let store = try await rig.openStore()
    _ = try await store.read("A")
    async let late = store.read("A")
    try await heldReads.wait(for: 1)
    // The row goes; the next one to be written would take its number, were numbers used twice.
    await store.calls(.read("A"))
    if meanwhile == 404 { await store.calls(.read("B")) }
    gate.open()
    #expect(try await late.last?.isNotModified == true)
    try store.setPassive(true)
    let stored = try await store.read(meanwhile == 404 ? "B" : "A").cached
    #expect(stored?.fields["ETag"] == (meanwhile == 404 ? "\"B\"" : "\"A2\""))
    #expect(stored?.fields["X-New"] == nil)
    #expect(text(stored) == (meanwhile == 404 ? #"{"of":"B"}"# : #"{"of":"A2"}"#))
    #expect(try await rig.cacheFile.entries().count == 1)
    try await store.close()
  }
}

@Suite("A 304 that the cache did not request", .timeLimit(.minutes(5)))
struct UnaskedNotModifiedTests {
  @Test("the caller's own condition gets its 304, with and without a cache", arguments: [true, false])
  func ownCondition(_ usesCache: Bool) async throws {
    let rig = try StoreRig { request in
      request.fields[.ifNoneMatch] == "\"1\"" ? .status(304, "", ["ETag": "\"1\""]) : .ok("{}")
    }
    let store = try await rig.openStore { $0.useCache = usesCache }
    let request = ODataSingleRequest(.read, "P", fields: ["If-None-Match": "\"1\""])
    let response = try await store.execute(single: request)
    #expect(response.httpStatus == 304)
    #expect(response.isNotModified)
    #expect(response.payloadBytes.isEmpty)
    try await store.close()
  }

  @Test("304 to a delta link counts as no change since the link")
  func deltaLink() async throws {
    let rig = try StoreRig { request in
      request.url.query() == nil ? .ok(RevalidationTests.full) : .status(304)
    }
    let store = try await rig.openStore()
    _ = try await store.read("P")
    let (_, last) = try await store.read("P")
    #expect(last?.isNotModified == true)
    #expect(text(last) == RevalidationTests.full)
    #expect(rig.queries == [nil, "$deltatoken=1"])
    // The link is still requested.
    _ = try await store.read("P")
    #expect(rig.queries.last == "$deltatoken=1")
    try await store.close()
  }

  @Test("an empty Atom feed without a delta link is followed by a whole read")
  func emptyFeed() async throws {
    @Sendable func feed(_ link: String) -> StubService.Response {
      .ok(
        """
        <?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><id>x</id><title/>\
        <updated>2026-01-15T10:00:00Z</updated>\(link)</feed>
        """, ["Content-Type": "application/atom+xml", "DataServiceVersion": "2.0"])
    }
    let link = #"<link rel="http://docs.oasis-open.org/odata/ns/delta" href="P?!deltatoken=1"/>"#
    let rig = try StoreRig { request in feed(request.url.query() == nil ? link : "") }
    let store = try await rig.openStore()
    _ = try await store.read("P")
    let (_, last) = try await store.read("P")
    #expect(last?.isNotModified == false)
    #expect(rig.queries == [nil, "!deltatoken=1", nil])
    try await store.close()
  }
}
