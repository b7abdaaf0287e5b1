import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

@Suite("Offline store: services of unusual habits", .timeLimit(.minutes(1)))
struct OddServiceTests {
  @Test("rows that are expanded without a request do not hinder the query that reads their set")
  func unaskedExpansion() async throws {
    let server = try OddService.unaskedExpansion.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["groups": "Groups", "things": "Things"])
    #expect(try await store.size("Things") == 2)
    // No query requested the links: that they came with one response says nothing of the others.
    let error = await #expect(throws: OfflineODataError.self) { try await store.size("Groups(1)/Members") }
    #expect(error?.name == .notDownloaded)
    let report = try await store.download()
    #expect(report.queries.map(\.error) == [nil, nil])
    try await store.close()
  }

  @Test("a query is downloaded although another one, which was interrupted, has begun to fill its table")
  func interruptedNeighbour() async throws {
    let interruption = OpenSwitch()
    let service = OddService(metadata: OddService.unaskedExpansion.metadata) { path, fields in
      switch path {
      case _ where path.hasPrefix("Things?$skiptoken"):
        interruption.isOpen ? OddService.json(##"{"value":[{"ID":2}]}"##) : .response(503)
      case _ where path.hasPrefix("Things?$filter"): OddService.json(##"{"value":[{"ID":1}]}"##)
      case _ where path.hasPrefix("Things"):
        OddService.json(##"{"value":[{"ID":1}],"@odata.nextLink":"Things?$skiptoken=1"}"##)
      case _ where path.hasPrefix("Groups"): OddService.json(##"{"value":[{"ID":1}]}"##)
      default: nil
      }
    }
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["groups": "Groups"])
    try await store.add(OfflineODataDefiningQuery("all", "Things"))
    try await store.add(OfflineODataDefiningQuery("one", "Things?$filter=ID eq 1"))
    await #expect(throws: OfflineODataError.self) { try await store.download(["all"]) }
    #expect(try await store.hasPendingDownload())
    try await store.download(["one"])
    #expect(try await store.size("Things") == 1)
    interruption.open()
    try await store.download()
    #expect(try await store.size("Things") == 2)
    #expect(try await !store.hasPendingDownload())
    try await store.close()
  }

  /// A V2 service with one set of a duration and a point in time.
  private static func clocks(_ rows: String) -> OddService {
    OddService(
      metadata: """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
        <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityType Name="C">
        <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Long" Type="Edm.Time"/><Property Name="At" Type="Edm.DateTime"/></EntityType>
        <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Clocks" EntityType="N.C"/>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """
    ) { path, _ in
      path.hasPrefix("Clocks")
        ? .response(
          200, fields: [.contentType: "application/json", .dataServiceVersion: "2.0"],
          body: "{\"d\":{\"results\":[\(rows)]}}") : nil
    }
  }

  @Test("one value with more digits than its type does not fail its set: it is stored, ordered, and reported by name")
  func furtherDigits() async throws {
    let server = try Self.clocks(
      ##"{"ID":1,"Long":"PT1.5S","At":"2026-01-02T03:04:05"},{"Long":"PT1.1234567890123S","ID":2},"##
        + ##"{"ID":3,"Long":"PT1.12345678901225S","At":"2026-01-02T03:04:05.00000000000001"}"##
    ).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["clocks": "Clocks"])
    let notes = try await store.download(whole: true).queries[0].notes
    #expect(
      notes.contains { $0.hasPrefix("Clocks(2)/Long and 2 more values have more than 12 fractional digits") },
      "\(notes)")
    #expect(try await store.size("Clocks") == 3)
    let response = try await store.readJSON("Clocks?$orderby=Long&$filter=Long gt time'PT1.1234567890122S'")
    let text = String(decoding: response.bytes, as: UTF8.self)
    let places = ["PT1.12345678901225S", "PT1.1234567890123S", "PT1.5S"].map { text.firstRange(of: $0)?.lowerBound }
    #expect(
      places.allSatisfy { $0 != nil } && places == places.sorted { ($0 ?? text.endIndex) < ($1 ?? text.endIndex) },
      "\(text)")
    let later = try await store.readJSON("Clocks?$filter=At gt datetime'2026-01-02T03:04:05'")
    #expect(String(decoding: later.bytes, as: UTF8.self).contains("2026-01-02T03:04:05.00000000000001"))
    try await store.close()
  }

  @Test(
    "a value that its type cannot order fails, with entity and property in the error",
    arguments: [
      (##"{"ID":4,"At":"2026-01-02T03:04:05+02:00"}"##, "Clocks(4)/At"),
      (##"{"At":"x","ID":4}"##, "Clocks, entity 1 of the response/At"), (##"{"ID":4,"Long":"P1Y"}"##, "Clocks(4)/Long"),
    ])
  func unordered(_ row: String, _ place: String) async throws {
    let server = try Self.clocks(row).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let error = await #expect(throws: OfflineODataError.self) { try await rig.open(["clocks": "Clocks"]) }
    #expect(error?.errorMessage.contains(place) == true, "\(error?.errorMessage ?? "")")
  }

  @Test("where tracking and the count do not go together, tracking is chosen")
  func trackingAlone() async throws {
    let server = try OddService.trackingAlone.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["accounts": "accounts"])
    #expect(try await store.definingQueries().map(\.hasDeltaLink) == [true])
    let notes = try await store.text("EventLog?$filter=DefiningQuery eq 'accounts'&$select=Details")
    // Of the count alone: tracking, if it were rejected, would be named before it.
    #expect(notes.contains("The service rejects $count (HTTP"), "\(notes)")
    let report = try await store.download()
    #expect(report.queries.map(\.strategy) == [.changes])
    let names = try await store.readEntitySet("accounts?$select=name").entities.map { $0["name"] }
    #expect(names == [.string("new")])
    try await store.close()
  }

  @Test(
    "a function that returns changes is a defining query of its set",
    arguments: ["users/delta", "users/delta()", "users/N.delta()", "users/delta?$select=id,name"])
  func changesFunction(_ query: String) async throws {
    let server = try OddService.changesFunction.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["users": query])
    #expect(try await store.size("users") == 3)
    let report = try await store.download()
    #expect(report.queries.map(\.strategy) == [.changes])
    #expect(try await store.text("users?$orderby=id&$select=id,name").contains(#""id":"a","name":"new"},{"id":"c""#))
    await #expect(throws: OfflineODataError.self) {
      try await store.add(OfflineODataDefiningQuery("other", "users/delta2()"))
    }
    try await store.close()
  }

  @Test("query options of the root go with every request, links of the service included")
  func ownOption() async throws {
    let server = try OddService.ownOption.serve(below: "/my%20services/a(b)/")
    defer { server.stop() }
    let root = server.url("/my%20services/a(b)/").absoluteString + "?sap-client=100"
    let rig = try StoreRig(root)
    let store = try await rig.open(["rows": "Rows"])
    #expect(try await store.size("Rows") == 2)
    #expect(try await store.download().queries.map(\.strategy) == [.changes])
    #expect(try await store.size("Rows") == 3)
    #expect(try await store.size(root.prefix { $0 != "?" } + "Rows?$filter=ID gt 1") == 2)
    try await store.close()
  }

  @Test("a query that no longer fits the service is reported by its name, and the others continue")
  func unfittingQuery() async throws {
    let isLater = OpenSwitch()
    let before = OddService.unaskedExpansion
    let later = before.metadata.replacingOccurrences(of: "Name=\"Groups\"", with: "Name=\"Teams\"")
    let service = OddService(metadata: before.metadata) { path, fields in
      guard path == "$metadata" else { return before.response(path, fields) }
      return isLater.isOpen ? .response(200, fields: [.contentType: "application/xml"], body: later) : nil
    }
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["groups": "Groups", "things": "Things"])
    isLater.open()
    let events = store.events
    await #expect(throws: OfflineODataError.self) { try await store.download() }
    var outcomes: [String: OfflineODataErrorName?] = [:]
    for await event in events {
      if case .queryFinished(let outcome) = event { outcomes[outcome.name] = outcome.error?.name }
      if case .downloadFailed = event { break }
    }
    #expect(outcomes == ["groups": .invalidDefiningQuery, "things": nil])
    #expect(try await store.readCount("EventLog?$filter=DefiningQuery eq 'groups' and ErrorCode ne null") == 1)
    try await store.removeDefiningQuery("groups")
    try await store.download()
    #expect(try await store.size("Things") == 2)
    try await store.close()
  }

  @Test("the service's own words, and where it has no metadata, are in the error")
  func words() async throws {
    let service = OddService(metadata: OddService.ownOption.metadata) { path, _ in
      path.hasPrefix("Rows")
        ? OddService.json(#"{"error":{"code":"7","message":"Rows are\nclosed today"}}"#, status: 400) : nil
    }
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let rejected = await #expect(throws: OfflineODataError.self) { _ = try await rig.open(["rows": "Rows"]) }
    #expect(rejected?.errorMessage.contains("Rows are closed today") == true)
    let other = try StoreRig(server.url("/elsewhere/").absoluteString)
    let missing = await #expect(throws: OfflineODataError.self) { _ = try await other.open(["rows": "Rows"]) }
    let message = try #require(missing?.errorMessage)
    #expect(message.contains("There is no OData service at \(other.root)."), "\(message)")
  }
}

/// Something that is open or not.
private final class OpenSwitch: Sendable {
  private let state = Mutex(false)
  var isOpen: Bool { state.withLock { $0 } }
  func open() { state.withLock { $0 = true } }
}
