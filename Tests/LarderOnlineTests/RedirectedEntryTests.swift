import Foundation
import LarderHTTP
import LarderOnline
import LarderService
import LarderTestSupport
import Testing

/// What redirects, and responses in place of the resource, do to entries of the technical cache (RFC 9110 §15.4).
@Suite("Redirected reads and the technical cache", .timeLimit(.minutes(5)))
struct RedirectedEntryTests {
  private static let real = #"{"real":1}"#
  private static let old = "Thu, 15 Jan 2026 10:00:00 GMT"
  private static let new = "Fri, 16 Jan 2026 10:00:00 GMT"

  /// A store that has read `P` from a service whose content is older than any date it is asked with.
  private func filled() async throws -> (StoreRig, OnlineODataStore) {
    let rig = try StoreRig { _ in .ok(RedirectedEntryTests.real, ["Last-Modified": RedirectedEntryTests.old]) }
    let store = try await rig.openStore()
    _ = try await store.read("P")
    return (rig, store)
  }

  private static func service(_ request: HTTPRequest) -> StubService.Response {
    request.fields[.ifModifiedSince] == nil ? .ok(real, ["Last-Modified": old]) : .status(304)
  }

  @Test(
    "What another origin sends is not stored, and the service is asked with its own date",
    arguments: [301, 302, 307, 308])
  func portal(_ status: Int) async throws {
    let (rig, store) = try await filled()
    rig.service.respond { request in
      request.url.host() == "portal.test"
        ? .ok(#"{"portal":1}"#, ["Last-Modified": RedirectedEntryTests.new])
        : .status(status, "", ["Location": "http://portal.test/login"])
    }
    #expect(text(try await store.read("P").last) == #"{"portal":1}"#)
    let toPortal = try #require(rig.service.requests.last)
    #expect(toPortal.url.host() == "portal.test")
    #expect(toPortal.fields[.ifModifiedSince] == nil)
    rig.service.respond { RedirectedEntryTests.service($0) }
    for _ in 1...2 {
      let (cached, last) = try await store.read("P")
      #expect(text(cached) == RedirectedEntryTests.real)
      #expect(text(last) == RedirectedEntryTests.real)
      #expect(rig.service.requests.last?.fields[.ifModifiedSince] == RedirectedEntryTests.old)
    }
    try await store.close()
  }

  @Test(
    "The status of a redirect's target changes nothing at the requested URL", arguments: [404, 410, 304], [true, false])
  func targetStatus(_ status: Int, isSameOrigin: Bool) async throws {
    let (rig, store) = try await filled()
    let target = isSameOrigin ? rig.root.absoluteString + "login" : "http://portal.test/login"
    rig.service.respond { request in
      request.url.absoluteString == target
        ? .status(status, #"{"error":{"code":"gone","message":"P is gone"}}"#)
        : .status(302, "", ["Location": target])
    }
    await #expect(throws: ODataServiceError.self) { _ = try await store.read("P") }
    try store.setPassive(true)
    #expect(text(try await store.read("P").last) == RedirectedEntryTests.real)
    try await store.close()
  }

  @Test("Content from another URL of the origin is stored, and its validators are sent to that URL only")
  func sameOrigin() async throws {
    let rig = try StoreRig { request in
      guard request.url.absoluteString.hasSuffix("/P/") else { return .status(301, "", ["Location": "/service/P/"]) }
      return request.fields[.ifNoneMatch] == nil ? .ok(RedirectedEntryTests.real, ["ETag": "\"B\""]) : .status(304)
    }
    let store = try await rig.openStore()
    _ = try await store.read("P")
    let (cached, last) = try await store.read("P")
    #expect(text(cached) == RedirectedEntryTests.real)
    #expect(last?.isNotModified == true)
    #expect(rig.service.requests.map { $0.fields[.ifNoneMatch] } == [nil, nil, nil, "\"B\""])
    rig.service.respond { _ in .ok(#"{"moved":"back"}"#, ["ETag": "\"A\""]) }
    _ = try await store.read("P")
    #expect(rig.service.requests.last?.fields[.ifNoneMatch] == nil)
    _ = try await store.read("P")
    #expect(rig.service.requests.last?.fields[.ifNoneMatch] == "\"A\"")
    try await store.close()
  }

  @Test(
    "Content that is not that of the resource replaces nothing",
    arguments: [
      ("text/plain", "log in"), ("", "log in"), ("", "<html><body>log in</body></html>"),
      ("application/xml", "<html><body>log in</body></html>"), ("application/json", "<html></html>"),
      ("application/json", #"{"error":{"code":"503","message":"Maintenance"}}"#),
      ("application/json", #"{"error":{"code":"","message":{"lang":"en","value":"Maintenance"}}}"#),
      ("application/json", #"{"odata.error":{"code":"1","message":{"lang":"en","value":"x"}}}"#),
      (
        "application/xml",
        #"<m:error xmlns:m="http://docs.oasis-open.org/odata/ns/metadata"><m:code>1</m:code></m:error>"#
      ),
      (
        "application/xml",
        #"<error xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><code>1</code></error>"#
      ),
    ])
  func foreignContent(type: String, body: String) async throws {
    let (rig, store) = try await filled()
    rig.service.respond { _ in
      var response = StubService.Response.ok(body)
      response.fields[.contentType] = type.isEmpty ? nil : type
      return response
    }
    _ = try await store.read("P")
    try store.setPassive(true)
    #expect(text(try await store.read("P").last) == RedirectedEntryTests.real)
    try await store.close()
  }

  @Test(
    "Properties named like an error, texts of counts and values are the resource",
    arguments: [
      ("P(1)", "application/json", #"{"error":{"code":1},"ID":1}"#),
      ("P(1)", "application/json", #"{"@odata.context":"$metadata#P/$entity","error":{"code":1}}"#),
      ("P(1)/error", "application/json", #"{"value":{"error":{"code":1}}}"#), ("P/$count", "text/plain", "3"),
      ("P(1)/Name/$value", "text/plain", "log in"),
      (
        "P(1)/error", "application/xml",
        #"<d:error xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices">1</d:error>"#
      ),
    ])
  func ownContent(path: String, type: String, body: String) async throws {
    let rig = try StoreRig { _ in .ok(body, ["Content-Type": type]) }
    let store = try await rig.openStore()
    _ = try await store.read(path)
    #expect(text(try await store.read(path).cached) == body)
    try await store.close()
  }

  @Test("A delta link that leads to another origin, or to a web page, says nothing", arguments: [200, 304, 404])
  func deltaLink(_ status: Int) async throws {
    let rig = try StoreRig { _ in .ok(RevalidationTests.full) }
    let store = try await rig.openStore()
    _ = try await store.read("P")
    rig.service.respond { request in
      if request.url.host() == "portal.test" {
        return .status(status, status == 200 ? RevalidationTests.emptyDelta : "")
      }
      return request.url.query() == nil ? .status(503) : .status(302, "", ["Location": "http://portal.test/login"])
    }
    await #expect(throws: ODataServiceError.self) { _ = try await store.read("P") }
    rig.service.respond { _ in .ok(RevalidationTests.emptyDelta) }
    let (cached, last) = try await store.read("P")
    #expect(text(cached) == RevalidationTests.full)
    #expect(last?.isNotModified == true)
    #expect(rig.queries.last == "$deltatoken=1")
    try await store.close()
  }

  @Test("A model from another origin is neither stored nor used in place of the stored one")
  func metadata() async throws {
    let (rig, store) = try await filled()
    try await store.close()
    rig.service.redirectMetadata(to: "http://portal.test/$metadata")
    rig.service.setMetadata(StubService.metadata.replacing("Products", with: "Others"))
    try await store.open()
    _ = try await store.read("P")
    try await rig.service.metadataRequested.wait(for: 2)
    _ = try await store.read("P")
    try await store.close()
    #expect(store.model?.entitySet("Products") != nil)
    rig.service.isAway = true
    try await store.open()
    #expect(store.model?.entitySet("Products") != nil)
    try await store.close()
  }
}
