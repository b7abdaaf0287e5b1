import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

@Suite("The URLs to which changes go, by the links in what was read", .timeLimit(.minutes(2)))
struct UploadEditLinkTests {
  /// What a service says about the entity `Ps(1)`, a change, and the request that is sent for it; nil if the change is
  /// rejected.
  struct Row: Sendable, CustomTestStringConvertible {
    let links: String
    let change: ODataSingleRequest
    let line: String?
    var isFull = false
    var testDescription: String { "\(links) \(change.operationName) \(change.path)" }

    init(_ links: String, _ change: ODataSingleRequest, _ line: String?, isFull: Bool = false) {
      (self.links, self.change, self.line, self.isFull) = (links, change, line, isFull)
    }
  }

  private static let update = ODataSingleRequest.update(
    "Ps(1)", to: ODataEntity(properties: [.init("N", .string("x"))]))
  private static let photo = ODataSingleRequest.updateMedia("Ps(1)/Photo", to: .bytes([1], contentType: "image/gif"))
  private static var property: ODataSingleRequest {
    var request = ODataSingleRequest(.update(.replace), "Ps(1)/N")
    request.body = .properties([.init("N", .string("x"))])
    return request
  }

  static let rows: [Row] = [
    Row("", update, "PATCH Ps(1)"),
    Row(#""@odata.readLink":"View(1)""#, update, "PATCH Ps(1)"),
    Row(#""@odata.readLink":"View(1)""#, .delete("Ps(1)"), "DELETE Ps(1)"),
    Row(#""@odata.readLink":"View(1)","@odata.editLink":"Edit(1)""#, update, "PATCH Edit(1)"),
    Row(#""@odata.editLink":"Edit(1)""#, .delete("Ps(1)"), "DELETE Edit(1)"),
    Row(#""@odata.editLink":"Edit(1)""#, property, "PUT Edit(1)/N"),
    Row(#""@odata.id":"http://h/ids/1""#, update, "PATCH http://h/ids/1"),
    Row(#""@odata.id":"http://h/ids/1","@odata.editLink":"Edit(1)""#, update, "PATCH Edit(1)"),
    // The conventional edit link of a derived type ends with the type.
    Row(##""@odata.type":"#S.D""##, update, "PATCH Ps(1)/S.D"),
    Row(##""@odata.type":"#S.D","@odata.readLink":"View(1)""##, property, "PUT Ps(1)/S.D/N"),
    Row(##""@odata.type":"#S.D","@odata.editLink":"Ps(1)""##, update, "PATCH Ps(1)"),
    Row(##""@odata.type":"#S.D","@odata.editLink":"Ps(1)/S.D""##, .delete("Ps(1)"), "DELETE Ps(1)/S.D"),
    // Links under another address of the service are under its root.
    Row(
      #""@odata.readLink":"http://in/s/Ps(1)","@odata.editLink":"http://in/s/Ps(1)""#, update, "PATCH Ps(1)",
      isFull: true),
    Row(#""@odata.editLink":"http://in/s/Edit(1)""#, update, "PATCH Edit(1)", isFull: true),
    // With full metadata, a link for reading alone means that the entity is read-only.
    Row(#""@odata.readLink":"Ps(1)""#, update, nil, isFull: true),
    Row(#""@odata.readLink":"Ps(1)""#, .delete("Ps(1)"), nil, isFull: true),
    Row(#""@odata.readLink":"Ps(1)""#, property, nil, isFull: true),
    Row(#""@odata.readLink":"Ps(1)","@odata.editLink":"Ps(1)""#, update, "PATCH Ps(1)", isFull: true),
    Row(#""Photo@odata.mediaReadLink":"read/1""#, photo, "PUT Ps(1)/Photo"),
    Row(#""Photo@odata.mediaReadLink":"read/1","Photo@odata.mediaEditLink":"bytes/1""#, photo, "PUT bytes/1"),
    Row(#""Photo@odata.mediaEditLink":"http://in/s/Ps(1)/Photo""#, photo, "PUT Ps(1)/Photo"),
    Row(#""Photo@odata.mediaReadLink":"read/1""#, photo, nil, isFull: true),
  ]

  @Test("A change goes to the edit link, else to the canonical URL, never to the link for reading", arguments: rows)
  func changes(_ row: Row) async throws {
    let service = LinkService(row.links, isFull: row.isFull)
    let store = try await Self.store(service)
    if let line = row.line {
      _ = try await store.execute(single: row.change)
      _ = try await store.upload(.init(changesPerBatch: 0))
      #expect(service.changes == [line])
    } else {
      let error = await #expect(throws: OfflineODataError.self) { try await store.execute(single: row.change) }
      #expect(error?.name == .updateRestricted)
      #expect(error?.errorMessage.contains("Ps(1)") == true)
      #expect(service.changes.isEmpty)
    }
    try await store.close()
  }

  @Test("Results name the entity-id and the edit link, not the link for reading")
  func output() async throws {
    var options = OfflineODataResultOptions()
    options.metadata = .full
    for (links, isFull, expected) in [
      (#""@odata.readLink":"View(1)""#, false, #""@odata.id":"http://h/s/Ps(1)","@odata.editLink":"Ps(1)""#),
      (#""@odata.editLink":"Edit(1)""#, false, #""@odata.id":"http://h/s/Ps(1)","@odata.editLink":"Edit(1)""#),
      (#""@odata.readLink":"Ps(1)""#, true, #""@odata.id":"http://h/s/Ps(1)","@odata.readLink":"Ps(1)""#),
    ] {
      let store = try await Self.store(LinkService(links, isFull: isFull))
      let text = String(decoding: try await store.openStore().json("Ps", options).bytes, as: UTF8.self)
      #expect(text.contains(expected), "\(text)")
      #expect(!text.contains("View"))
      try await store.close()
    }
  }

  private static func store(_ service: LinkService) async throws -> OfflineODataProvider {
    let folder = try TemporaryFolder()
    var parameters = OfflineODataParameters(storeName: "store", path: folder.path, onDiagnostic: { _ in _ = folder })
    parameters.conversation.retry = .never
    parameters.conversation.csrf = .never
    let store = try OfflineODataProvider(serviceRoot: ContentService.root, transport: service, parameters: parameters)
    try await store.add(OfflineODataDefiningQuery("ps", "Ps"))
    try await store.open()
    return store
  }
}

/// A service with one entity, whose links it names.
private final class LinkService: HTTPTransport {
  private let links: String
  private let isFull: Bool
  private let lines = Mutex<[String]>([])

  init(_ links: String, isFull: Bool) { (self.links, self.isFull) = (links, isFull) }

  /// The changes that it has received, with URLs relative to its root.
  var changes: [String] { lines.withLock { $0 } }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    let root = ContentService.root.absoluteString
    let url = request.url.absoluteString
    let path = String((url.hasPrefix(root) ? String(url.dropFirst(root.count)) : url).prefix { $0 != "?" })
    func response(_ status: Int, _ type: String, _ text: String) -> HTTPResponse {
      HTTPResponse(
        status: status, fields: ["Content-Type": type, "OData-Version": "4.0"], url: request.url,
        body: HTTPBodyStream(Array(text.utf8)))
    }
    if path == "$metadata" { return response(200, "application/xml", Self.metadata) }
    guard request.method == .get else {
      lines.withLock { $0.append("\(request.method.rawValue) \(path)") }
      return response(204, "application/json", "")
    }
    let entity = #"{"ID":1,"N":"a"\#(links.isEmpty ? "" : "," + links)}"#
    let type = "application/json" + (isFull ? ";odata.metadata=full" : "")
    let start = #"{"@odata.context":"http://\#(isFull ? "in" : "h")/s/$metadata#Ps"#
    if path == "Ps" { return response(200, type, start + #"","value":[\#(entity)]}"#) }
    return response(200, type, start + #"/$entity",\#(entity.dropFirst())"#)
  }

  private static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="P"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <Property Name="N" Type="Edm.String"/><Property Name="Photo" Type="Edm.Stream"/></EntityType>
    <EntityType Name="D" BaseType="S.P"><Property Name="More" Type="Edm.String"/></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Ps" EntityType="S.P"/></EntityContainer></Schema>
    </edmx:DataServices></edmx:Edmx>
    """
}
