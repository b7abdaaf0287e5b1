import Foundation
import LarderHTTP
import LarderOnline
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@Suite("Revalidation", .timeLimit(.minutes(5)))
struct RevalidationTests {
  @Test("an entry with validators is requested with them, and a 304 delivers the known content")
  func notModified() async throws {
    let rig = try StoreRig { request in
      if request.fields[.ifNoneMatch] == "W/\"1\"" {
        return .status(304, "", ["ETag": "W/\"1\"", "X-New": "yes"])
      }
      return .ok(#"{"v":1}"#, ["ETag": "W/\"1\"", "Last-Modified": "Thu, 15 Jan 2026 10:00:00 GMT"])
    }
    let store = try await rig.openStore()
    _ = try await store.read("P(1)")
    let (cached, last) = try await store.read("P(1)")
    #expect(cached?.httpStatus == 200)
    #expect(cached?.isNotModified == false)
    #expect(last?.httpStatus == 304)
    #expect(last?.isNotModified == true)
    #expect(text(last) == #"{"v":1}"#)
    #expect(last?.fields["X-New"] == "yes")
    #expect(last?.fields[.contentType] == "application/json")
    #expect(rig.service.requests.last?.fields[.ifModifiedSince] == "Thu, 15 Jan 2026 10:00:00 GMT")
    // The new field is kept.
    #expect(try await store.read("P(1)").cached?.fields["X-New"] == "yes")
    try await store.close()
  }

  // OData Protocol 4.01 §8.3.1: the ETag is that of the entity, whatever happens to the expanded ones.
  @Test(
    "an entity with expanded entities is asked for without a condition, a collection with one",
    arguments: [
      ("Products(1)?$expand=Parts", false), ("Products(1)?$select=ID&%24expand=Parts", false),
      ("Products?$expand=Parts", true), ("Products(1)?$select=ID", true), ("Products(1)?x=$expand", true),
    ])
  func expansion(_ path: String, _ isConditional: Bool) async throws {
    let rig = try StoreRig { request in
      if request.fields[.ifNoneMatch] != nil { return .status(304) }
      return .ok(#"{"value":[]}"#, ["ETag": "W/\"1\"", "Last-Modified": "Thu, 15 Jan 2026 10:00:00 GMT"])
    }
    let store = try await rig.openStore()
    _ = try await store.read(path)
    let last = try await store.read(path).last
    #expect(last?.isNotModified == isConditional)
    #expect((rig.service.requests.last?.fields[.ifModifiedSince] != nil) == isConditional)
    try await store.close()
  }

  @Test("a full response replaces the old one")
  func replaced() async throws {
    let version = Atomic(1)
    let rig = try StoreRig { _ in
      let now = version.load(ordering: .relaxed)
      return .ok(#"{"v":\#(now)}"#, ["ETag": "\"\(now)\""])
    }
    let store = try await rig.openStore()
    _ = try await store.read("P")
    version.store(2, ordering: .relaxed)
    #expect(text(try await store.read("P").last) == #"{"v":2}"#)
    #expect(text(try await store.read("P").cached) == #"{"v":2}"#)
    #expect(rig.service.requests.last?.fields[.ifNoneMatch] == "\"2\"")
    #expect(try await rig.cacheFile.entries().count == 1)
    try await store.close()
  }

  @Test("a 304 to an unconditional request is a malformed response")
  func unasked() async throws {
    let rig = try StoreRig { _ in .status(304) }
    let store = try await rig.openStore()
    await #expect(throws: ODataServiceError.self) { _ = try await store.read("P") }
    try await store.close()
  }

  static let full = #"{"@odata.context":"$metadata#P","value":[{"ID":1}],"@odata.deltaLink":"P?$deltatoken=1"}"#
  static let emptyDelta =
    #"{"@odata.context":"$metadata#P/$delta","value":[],"@odata.deltaLink":"P?$deltatoken=2"}"#

  @Test("an empty V4 delta counts like a 304, and the next one is requested by its link")
  func emptyDelta() async throws {
    let rig = try StoreRig { request in
      request.url.query()?.contains("deltatoken") == true
        ? .ok(RevalidationTests.emptyDelta) : .ok(RevalidationTests.full)
    }
    let store = try await rig.openStore()
    _ = try await store.read("P")
    let (_, last) = try await store.read("P")
    #expect(last?.isNotModified == true)
    #expect(last?.httpStatus == 304)
    #expect(text(last) == RevalidationTests.full)
    _ = try await store.read("P")
    #expect(rig.queries == [nil, "$deltatoken=1", "$deltatoken=2"])
    #expect(text(try await store.read("P").cached) == RevalidationTests.full)
    try await store.close()
  }

  @Test(
    "anything but an empty delta is followed by one whole read, and is neither delivered nor kept",
    arguments: [
      #"{"@odata.context":"$metadata#P/$delta","value":[{"ID":2}],"@odata.deltaLink":"P?$deltatoken=2"}"#,
      #"{"@odata.context":"$metadata#P/$delta","value":[{"@removed":{},"ID":1}],"@odata.deltaLink":"P?x"}"#,
      #"{"@odata.context":"$metadata#P/$delta","value":[],"@odata.nextLink":"P?$skiptoken=2"}"#,
      #"{"@odata.context":"$metadata#P/$delta","value":[]}"#,
      #"{"@odata.context":"$metadata#P","value":[],"@odata.deltaLink":"P?$deltatoken=2"}"#,
      #"{"@odata.context":"$metadata#P/$delta","value":["#, "", "garbage",
      #"{"d":{"results":[],"__delta":"P?!deltatoken=2"}}"#,
    ])
  func changedDelta(_ delta: String) async throws {
    let rig = try StoreRig { request in
      request.url.query()?.contains("deltatoken") == true ? .ok(delta) : .ok(RevalidationTests.full)
    }
    let store = try await rig.openStore()
    _ = try await store.read("P")
    let (_, last) = try await store.read("P")
    #expect(last?.isNotModified == false)
    #expect(text(last) == RevalidationTests.full)
    #expect(rig.service.requests.count == 3)
    #expect(try await rig.cacheFile.entries().map(\.url) == [rig.root.absoluteString + "P"])
    try await store.close()
  }

  @Test("a delta link that has gone is forgotten after one whole read", arguments: [410, 404, 400])
  func goneDelta(_ status: Int) async throws {
    let rig = try StoreRig { request in
      request.url.query() != nil
        ? .status(status, "{}") : .ok(RevalidationTests.full.replacing("deltatoken=1", with: "deltatoken=old"))
    }
    let store = try await rig.openStore()
    _ = try await store.read("P")
    rig.service.respond { request in request.url.query() != nil ? .status(status, "{}") : .ok(#"{"value":[]}"#) }
    #expect(text(try await store.read("P").last) == #"{"value":[]}"#)
    _ = try await store.read("P")
    #expect(rig.queries == [nil, "$deltatoken=old", nil, nil])
    try await store.close()
  }

  @Test("a service that is away during a delta is a failure, and the entry stays")
  func deltaFails() async throws {
    let rig = try StoreRig { _ in .ok(RevalidationTests.full) }
    let store = try await rig.openStore()
    _ = try await store.read("P")
    rig.service.isAway = true
    await #expect(throws: ODataServiceError.self) { _ = try await store.read("P") }
    try store.setPassive(true)
    #expect(text(try await store.read("P").last) == RevalidationTests.full)
    try await store.close()
  }

  @Test("a delta link on another origin is not followed")
  func foreignDelta() async throws {
    let body = RevalidationTests.full.replacing("P?$deltatoken=1", with: "http://elsewhere.test/P?$deltatoken=1")
    let rig = try StoreRig { _ in .ok(body) }
    let store = try await rig.openStore()
    _ = try await store.read("P")
    _ = try await store.read("P")
    #expect(rig.service.requests.allSatisfy { $0.url.host() == rig.root.host() })
    try await store.close()
  }

  @Test("V2: an empty delta in Atom proves, one in JSON does not", arguments: [true, false])
  func v2(_ isAtom: Bool) async throws {
    let atom = """
      <?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><id>x</id><title/><updated>2026-01-15T10:00:00Z\
      </updated><link rel="http://docs.oasis-open.org/odata/ns/delta" href="P?!deltatoken=1&amp;a=b"/></feed>
      """
    let json = #"{"d":{"results":[],"__delta":"P?!deltatoken=1&a=b"}}"#
    let type = isAtom ? "application/atom+xml" : "application/json"
    let rig = try StoreRig { _ in .ok(isAtom ? atom : json, ["Content-Type": type, "DataServiceVersion": "2.0"]) }
    let store = try await rig.openStore()
    _ = try await store.read("P")
    let (_, last) = try await store.read("P")
    #expect(last?.isNotModified == isAtom)
    var queries: [String?] = [nil, "!deltatoken=1&a=b"]
    if !isAtom { queries.append(nil) }
    #expect(rig.queries == queries)
    try await store.close()
  }

  @Test("tracksChanges requests delta links from V4 services")
  func tracksChanges() async throws {
    let rig = try StoreRig { _ in .ok("{}") }
    let store = try await rig.openStore { $0.tracksChanges = true }
    _ = try await store.read("P")
    #expect(rig.service.requests.last?.fields[.prefer] == "odata.track-changes")
    try await store.close()
  }

  @Test(
    "a service that rejects change tracking gets the request once more without it, and never again with it",
    arguments: [400, 501])
  func rejectedTracking(_ status: Int) async throws {
    let rig = try StoreRig { request in request.fields[.prefer] == nil ? .ok("{}") : .status(status) }
    let store = try await rig.openStore { $0.tracksChanges = true }
    _ = try await store.read("P")
    #expect(rig.service.requests.map { $0.fields[.prefer] } == ["odata.track-changes", nil])
    _ = try await store.read("Q")
    #expect(rig.service.requests.last?.fields[.prefer] == nil && rig.service.requests.count == 3)
    #expect(rig.diagnostics.first("trackingRejected")?.fields == ["status": "\(status)"])
    try await store.close()
  }

  @Test("a request that is invalid itself stays rejected, and tracking is requested again")
  func rejectedAnyway() async throws {
    let rig = try StoreRig { request in request.url.path.hasSuffix("P") ? .status(400) : .ok("{}") }
    let store = try await rig.openStore { $0.tracksChanges = true }
    await #expect(throws: ODataServiceError.self) { _ = try await store.read("P") }
    _ = try await store.read("Q")
    #expect(rig.service.requests.last?.fields[.prefer] == "odata.track-changes")
    try await store.close()
  }
}
