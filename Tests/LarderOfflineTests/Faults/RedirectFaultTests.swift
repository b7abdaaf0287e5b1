import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

/// Downloads of a store whose requests are redirected: by a captive portal, or within the service (RFC 9110 §15.4).
@Suite("Offline store: redirects", .timeLimit(.minutes(5)))
struct RedirectFaultTests {
  /// A server of another origin that responds to every request alike.
  private static func portal(
    _ body: String, status: Int = 200, type: String = "application/json", etag: String = "\"portal\""
  ) throws -> ScriptedServer {
    try ScriptedServer { _ in
      .response(status, fields: [.contentType: type, .odataVersion: "4.0", .etag: etag], body: body)
    }
  }

  private static func redirect(to url: String) -> ScriptedServer.Response { .response(302, fields: ["Location": url]) }

  private static func rows(_ version: Int, etag: String) -> ScriptedServer.Response {
    .response(
      200, fields: [.contentType: "application/json", .odataVersion: "4.0", .etag: etag],
      body: FaultyService.good(version))
  }

  @Test(
    "Rows from another origin are not the service's, and neither is its 304, 404 or 410",
    arguments: [200, 304, 404, 410])
  func rowsOfAnotherOrigin(status: Int) async throws {
    let body = status == 200 ? FaultyService.good(7) : status == 304 ? "" : #"{"error":{"code":"1","message":"gone"}}"#
    let portal = try Self.portal(body, status: status)
    defer { portal.stop() }
    let rig = try await FaultRig()
    #expect(await rig.download { _ in Self.rows(2, etag: "\"2\"") } == nil)
    let url = portal.url("/login").absoluteString
    let error = await rig.download { _ in Self.redirect(to: url) }
    #expect(error?.name == .serviceUnavailable, "\(error.debugDescription)")
    #expect(portal.requests.allSatisfy { $0.fields[.ifNoneMatch] == nil })
    #expect(try await rig.texts() == [String](repeating: "v2", count: 5))
    let conditions = Mutex<[String?]>([])
    _ = await rig.download { request in
      conditions.withLock { $0.append(request.fields[.ifNoneMatch]) }
      return request.fields[.ifNoneMatch] == "\"2\"" ? .response(304) : .response(500)
    }
    #expect(conditions.withLock { $0 } == ["\"2\""])
    #expect(try await rig.isIntact(2))
    try await rig.end()
  }

  @Test("A next page and a delta from another origin end the download, and the rows stay", arguments: [true, false])
  func links(isDelta: Bool) async throws {
    let portal = try Self.portal(
      #"{"@odata.context":"$metadata#Rows/$delta","value":[],"@odata.deltaLink":"Rows?d=9"}"#)
    defer { portal.stop() }
    let rig = try await FaultRig(tracks: true)
    let link = isDelta ? "deltaLink" : "nextLink"
    let first = "{\"value\":[{\"ID\":1,\"Text\":\"v1\"}],\"@odata.\(link)\":\"Rows?d=1\"}"
    if isDelta { #expect(await rig.download { _ in FaultyService.json(first) } == nil) }
    let before = try await rig.texts()
    let url = portal.url("/login").absoluteString
    let error = await rig.download { request in
      request.query?.contains("d=1") == true || isDelta ? Self.redirect(to: url) : FaultyService.json(first)
    }
    #expect(error?.name == .serviceUnavailable, "\(error.debugDescription)")
    #expect(portal.requests.count > 0)
    #expect(try await rig.texts() == before)
    try await rig.end()
  }

  @Test("Rows from another URL of the service are stored, and its entity tag is sent to no other URL")
  func rowsOfTheSameOrigin() async throws {
    let rig = try await FaultRig()
    rig.service.faulty = { request in
      switch request.path {
      case "/s/Rows": Self.redirect(to: "/s/Rows/")
      case "/s/Rows/": Self.rows(3, etag: "\"moved\"")
      default: nil
      }
    }
    try await rig.store.download()
    #expect(try await rig.texts() == [String](repeating: "v3", count: 5))
    rig.service.faulty = nil
    try await rig.store.download()
    #expect(!rig.server.requests.contains { $0.fields[.ifNoneMatch] != nil })
    try await rig.end()
  }

  @Test("A model from another origin is not adopted, and its entity tag is not sent to the service")
  func metadata() async throws {
    let portal = try Self.portal(FaultyService.metadata(""), type: "application/xml")
    defer { portal.stop() }
    let rig = try await FaultRig()
    let url = portal.url("/$metadata").absoluteString
    let error = await rig.download(from: "/s/$metadata") { _ in Self.redirect(to: url) }
    #expect(error?.name == .serviceUnavailable, "\(error.debugDescription)")
    #expect(try await rig.isIntact())
    #expect(!rig.server.requests.contains { $0.fields[.ifNoneMatch] == "\"portal\"" })
    try await rig.end()
  }

  /// What a server of another origin sends in place of a stream, and the stream in the store after that.
  struct Media: Sendable, CustomTestStringConvertible {
    var status = 200
    var type = "image/png"
    var stored: String
    var fails = false
    var testDescription: String { "\(status) \(type)" }
  }

  @Test(
    "The bytes of a stream may come from another origin if their type fits; their entity tag is not kept",
    arguments: [
      Media(stored: "moved"), Media(type: "application/octet-stream", stored: "moved"),
      Media(type: "application/json", stored: "bytes", fails: true),
      Media(type: "text/html", stored: "bytes", fails: true), Media(status: 404, stored: "bytes"),
      Media(status: 404, type: "text/html", stored: "bytes", fails: true), Media(status: 304, stored: "bytes"),
    ])
  func media(_ media: Media) async throws {
    let portal = try Self.portal(media.status == 304 ? "" : "moved", status: media.status, type: media.type)
    defer { portal.stop() }
    let rig = try await FaultRig()
    rig.service.metadata = FaultyService.metadata("<Property Name=\"Photo\" Type=\"Edm.Stream\"/>")
    try await rig.store.removeDefiningQuery("rows")
    try await rig.store.add(OfflineODataDefiningQuery("photos", "Rows", automaticallyRetrievesStreams: true))
    let target = Mutex<String?>(nil)
    let conditions = Mutex<[String?]>([])
    rig.service.faulty = { request in
      switch request.path {
      case "/s/Rows":
        return FaultyService.json("{\"value\":[{\"ID\":1,\"Photo@odata.mediaContentType\":\"image/png\"}]}")
      case "/s/Rows(1)/Photo":
        conditions.withLock { $0.append(request.fields[.ifNoneMatch]) }
        if let target = target.withLock({ $0 }) { return Self.redirect(to: target) }
        return .response(200, fields: [.contentType: "image/png", .etag: "\"own\""], body: "bytes")
      default: return nil
      }
    }
    try await rig.store.download()
    target.withLock { $0 = portal.url("/photo").absoluteString }
    let report = try? await rig.store.download()
    #expect((report == nil) == media.fails)
    #expect(try await rig.store.readMedia("Rows(1)/Photo") == Array(media.stored.utf8))
    target.withLock { $0 = nil }
    try await rig.store.download()
    #expect(conditions.withLock { $0 } == [nil, "\"own\"", media.stored == "moved" ? nil : "\"own\""])
    #expect(portal.requests.allSatisfy { $0.fields[.ifNoneMatch] == nil })
    try await rig.end()
  }
}
