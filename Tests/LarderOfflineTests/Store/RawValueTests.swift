import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

/// Queries that keep values that do not fit their declared type.
@Suite("Offline store: values that do not fit are kept", .timeLimit(.minutes(1)))
struct RawValueTests {
  /// A row with one value that does not fit, the path of its property, and the text that results show.
  static let kept: [(row: String, name: String, text: String)] = [
    (##"{"ID":1,"At":"0000-00-00T00:00:00Z"}"##, "At", "0000-00-00T00:00:00Z"), (##"{"ID":1,"At":""}"##, "At", ""),
    (##"{"ID":1,"D":"2022-08-11T00:00:00Z"}"##, "D", "2022-08-11T00:00:00Z"), (##"{"ID":1,"Du":"P2W"}"##, "Du", "P2W"),
    (##"{"ID":1,"C":"Green"}"##, "C", "Green"), (##"{"ID":1,"N":5}"##, "N", "5"),
    (##"{"ID":1,"N":["a\u00e4",1]}"##, "N", ##"[\"a\\u00e4\",1]"##), (##"{"N":"a","ID":1,"N":"b"}"##, "N", "b"),
    (##"{"ID":1,"Tags":"a\"b"}"##, "Tags", ##"a\"b"##), (##"{"ID":1,"Tags":[["b"]]}"##, "Tags", ##"[[\"b\"]]"##),
    (##"{"ID":1,"Where":"Rome"}"##, "Where", "Rome"), (##"{"ID":1,"B":"?"}"##, "B", "?"),
    (##"{"ID":1,"Where":{"City":"Rome","Since":"x"}}"##, "Since", "x"),
  ]

  /// A store of a query that keeps values.
  private static func store(
    _ rig: StoreRig, _ query: String = "Ps", keepsRawValues: Bool = true
  ) async throws -> OfflineODataProvider {
    let store = try rig.provider()
    try await store.add(OfflineODataDefiningQuery("ps", query, keepsRawValues: keepsRawValues))
    try await store.open()
    return store
  }

  @Test("Results leave the property out, and an annotation has the text", arguments: kept)
  func results(_ row: String, _ name: String, _ text: String) async throws {
    let server = try UnfittingValueTests.service(row + ##",{"ID":2,"N":"b"}"##).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await Self.store(rig)
    let result = try await store.text("Ps(1)")
    #expect(result.contains("\"\(name)@larder.rawValue\":\"\(text)\""), "\(result)")
    #expect(!result.contains("\"\(name)\":"), "\(result)")
    #expect(try await !store.text("Ps(2)").contains("rawValue"))
    #expect(try await store.text("Ps?$orderby=ID&$filter=ID gt 0").contains("@larder.rawValue"))
    let entity = try #require(try await store.readEntitySet("Ps?$filter=ID eq 1").entities.first)
    #expect(name == "Since" || entity[name] == nil)
    let notes = try await store.download(whole: true).queries[0].notes
    #expect(notes.contains { $0.hasPrefix("Ps(1)/") && $0.contains("does not fit") }, "\(notes)")
    try await store.close()
  }

  @Test(
    "A query that needs the value fails and names the entity",
    arguments: [
      "Ps?$filter=At gt 2020-01-01T00:00:00Z", "Ps?$orderby=At", "Ps?$compute=year(At) as Y&$select=Y",
      "Ps?$apply=groupby((At))", "Ps?$apply=aggregate(At with max as M)", "Ps(1)/At", "Ps(1)/At/$value",
    ])
  func needed(_ query: String) async throws {
    let server = try UnfittingValueTests.service(##"{"ID":1,"At":"x"},{"ID":2,"At":"2024-01-01T00:00:00Z"}"##).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await Self.store(rig)
    let error = await #expect(throws: OfflineODataError.self) { try await store.readJSON(query) }
    let message = error?.errorMessage ?? ""
    #expect(error?.name == .invalidQuery && message.contains("Ps(1)/At"), "\(message)")
    // A query of another row is not concerned.
    #expect(try await store.text("Ps(2)/At").contains("2024-01-01T00:00:00Z"))
    try await store.close()
  }

  private struct Dated: Decodable, Sendable {
    let at: ODataDateTimeOffset?

    private enum CodingKeys: String, CodingKey { case at = "At" }
  }

  private struct Named: Decodable, Sendable {
    let name: String?

    private enum CodingKeys: String, CodingKey { case name = "N" }
  }

  private final class Later: Sendable {
    private let state = Mutex(false)
    var isNow: Bool { state.withLock { $0 } }
    func begin() { state.withLock { $0 = true } }
  }

  @Test("A typed read that uses the property fails and names the entity; others do not")
  func typed() async throws {
    let server = try UnfittingValueTests.service(##"{"ID":1,"At":"x","N":"a"}"##).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await Self.store(rig)
    let error = await #expect(throws: OfflineODataError.self) { try await store.read([Dated].self, "Ps") }
    #expect(error?.name == .undecodableType && error?.errorMessage.contains("Ps(1)/At") == true)
    #expect(try await store.read([Named].self, "Ps")?.map(\.name) == ["a"])
    try await store.close()
  }

  @Test("A change replaces the value, and undoing it restores the text; a change of another property leaves it")
  func changes() async throws {
    let server = try UnfittingValueTests.service(##"{"ID":1,"At":"x","N":"a"}"##).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await Self.store(rig)
    try await store.update("Ps(1)", to: ODataEntity(properties: [ODataProperty("N", .string("b"))]))
    #expect(try await store.text("Ps(1)").contains(#""At@larder.rawValue":"x""#))
    let at = try ODataValue(text: "2024-01-01T00:00:00Z", type: .dateTimeOffset)
    try await store.update("Ps(1)", to: ODataEntity(properties: [ODataProperty("At", at)]))
    #expect(try await store.text("Ps(1)/At").contains("2024-01-01T00:00:00Z"))
    // The service still has the text.
    try await store.download(whole: true)
    #expect(try await store.text("Ps(1)/At").contains("2024-01-01T00:00:00Z"))
    _ = try await store.undoAllPendingChanges()
    let result = try await store.text("Ps(1)")
    #expect(result.contains(#""At@larder.rawValue":"x""#) && result.contains(#""N":"a""#), "\(result)")
    try await store.close()
  }

  @Test("A delta stores and replaces texts; the file keeps them when it is opened again")
  func delta() async throws {
    let service = OddService(metadata: UnfittingValueTests.service("").metadata) { path, _ in
      switch path {
      case "Ps?$deltatoken=1":
        OddService.json(
          ##"{"@odata.context":"$metadata#Ps/$delta","@odata.deltaLink":"Ps?$deltatoken=2","value":["##
            + ##"{"ID":1,"At":"2024-01-01T00:00:00Z"},{"ID":2,"Du":"P2W"},{"ID":"x","N":"left out"}]}"##)
      case _ where path.hasPrefix("Ps"):
        OddService.json(
          ##"{"@odata.context":"$metadata#Ps","@odata.deltaLink":"Ps?$deltatoken=1","value":["##
            + ##"{"ID":1,"At":"x"},{"ID":2,"Du":"PT1H"}]}"##)
      default: nil
      }
    }
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await Self.store(rig)
    #expect(try await store.text("Ps(1)").contains("At@larder.rawValue"))
    #expect(try await store.download().queries.map(\.strategy) == [.changes])
    try await store.close()
    try await store.open()
    #expect(try await store.text("Ps(1)").contains(#""At":"2024-01-01T00:00:00Z""#))
    #expect(try await store.text("Ps(2)").contains(#""Du@larder.rawValue":"P2W""#))
    #expect(try await store.size("Ps") == 2)
    try await store.close()
  }

  @Test(
    "An entity with an unknown key is left out and counted, and nothing is deleted for absence",
    arguments: [true, false])
  func unknownKey(hasChange: Bool) async throws {
    let later = Later()
    let service = OddService(metadata: UnfittingValueTests.service("").metadata) { path, _ in
      guard path.hasPrefix("Ps") else { return nil }
      let rows =
        later.isNow
        ? ##"{"ID":1,"N":"new"},{"ID":"x","N":"?"},{"ID":"y","N":"?"}"## : ##"{"ID":1,"N":"a"},{"ID":2,"N":"b"}"##
      return OddService.json("{\"@odata.count\":3,\"value\":[\(rows)]}")
    }
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await Self.store(rig)
    if hasChange {
      try await store.update("Ps(2)", to: ODataEntity(properties: [ODataProperty("N", .string("mine"))]))
    }
    later.begin()
    let report = try await store.download(whole: true)
    #expect(report.queries[0].error == nil)
    let notes = report.queries[0].notes
    #expect(notes.contains { $0.contains("left out") }, "\(notes)")
    let names = try await store.readEntitySet("Ps?$orderby=ID").entities.map { $0["N"] }
    #expect(names == [.string("new"), .string(hasChange ? "mine" : "b")])
    try await store.close()
  }

  @Test("Without the option the next download reads everything, and fails as before")
  func optionRemoved() async throws {
    let server = try UnfittingValueTests.service(##"{"ID":1,"At":"x"}"##).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await Self.store(rig)
    #expect(try await store.definingQueries().map(\.definingQuery.keepsRawValues) == [true])
    try await store.removeDefiningQuery("ps")
    try await store.add(OfflineODataDefiningQuery("ps", "Ps"))
    await #expect(throws: OfflineODataError.self) { try await store.download() }
    try await store.close()
  }
}
