import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

@Suite("Offline store: the place of media", .timeLimit(.minutes(1)))
struct MediaPlaceTests {
  private static func response(_ request: ScriptedServer.Request) -> ScriptedServer.Response {
    let bodies = [
      "Photos":
        "[{\"ID\":1},{\"@odata.type\":\"#N.Raw\",\"ID\":2},{\"ID\":4}]", "Me": "{\"Name\":\"I\"}",
      "Albums": "[{\"ID\":1,\"Pages\":[{\"ID\":3}]}]",
    ]
    let path = String(request.path.dropFirst("/s/".count))
    if path == "$metadata" { return .response(200, fields: [.contentType: "application/xml"], body: metadata) }
    if let body = bodies[path] {
      let text = body.hasPrefix("[") ? "{\"value\":\(body)}" : body
      return .response(200, fields: [.contentType: "application/json", .odataVersion: "4.0"], body: text)
    }
    let media = [
      "Photos(1)/$value", "Photos(2)/$value", "Photos(2)/N.Raw/Sensor", "Photos(4)/$value", "Me/$value",
      "Albums(1)/Pages(3)/$value",
    ]
    guard media.contains(path) else { return .response(404) }
    return .response(200, fields: [.contentType: "image/x"], body: path)
  }

  private static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Photo" HasStream="true"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
    <EntityType Name="Raw" BaseType="N.Photo" HasStream="true"><Property Name="Sensor" Type="Edm.Stream"/></EntityType>
    <EntityType Name="Person" HasStream="true"><Key><PropertyRef Name="Name"/></Key>
    <Property Name="Name" Type="Edm.String" Nullable="false"/></EntityType>
    <EntityType Name="Album"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <NavigationProperty Name="Pages" Type="Collection(N.Photo)" ContainsTarget="true"/></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Photos" EntityType="N.Photo"/><EntitySet Name="Albums"
    EntityType="N.Album"/><Singleton Name="Me" Type="N.Person"/></EntityContainer></Schema>
    </edmx:DataServices></edmx:Edmx>
    """

  @Test(
    "Media that the service no longer has is removed, but bytes with a pending upload stay",
    arguments: [204, 404, 410])
  func removedWhilePending(status: Int) async throws {
    let isGone = Atomic(false)
    let uploaded = Mutex<[UInt8]>([])
    let server = try ScriptedServer { request in
      if request.method == .put {
        uploaded.withLock { $0 = request.body }
        return .response(204, fields: [.odataVersion: "4.0"])
      }
      if request.path.hasSuffix("/$value"), isGone.load(ordering: .relaxed) { return .response(status) }
      return Self.response(request)
    }
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try rig.provider()
    try await store.add(OfflineODataDefiningQuery("photos", "Photos", automaticallyRetrievesStreams: true))
    try await store.open()
    let bytes = Array("changed here".utf8)
    try await store.updateMedia("Photos(1)/$value", to: .bytes(bytes, contentType: "image/x"))
    isGone.store(true, ordering: .relaxed)
    try await store.download()
    try await store.downloadMedia("Photos(1)/$value")
    #expect(try await store.readMedia("Photos(1)/$value") == bytes)
    await #expect(throws: OfflineODataError.self) { try await store.readMedia("Photos(4)/$value") }
    _ = try await store.upload()
    #expect(uploaded.withLock { $0 } == bytes)
    try await store.close()
  }

  @Test("Bytes stay if something else than the service says that they do not exist", arguments: [404, 410])
  func webPage(status: Int) async throws {
    let isOff = Atomic(false)
    let server = try ScriptedServer { request in
      guard isOff.load(ordering: .relaxed), request.path.contains("Photos") else { return Self.response(request) }
      return .response(status, fields: [.contentType: "text/html"], body: "<html></html>")
    }
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try rig.provider()
    try await store.add(OfflineODataDefiningQuery("photos", "Photos", automaticallyRetrievesStreams: true))
    try await store.open()
    isOff.store(true, ordering: .relaxed)
    let error = await #expect(throws: OfflineODataError.self) { try await store.downloadMedia("Photos(1)/$value") }
    #expect(error?.name == .serviceUnavailable, "\(error.debugDescription)")
    #expect(try await store.readMedia("Photos(1)/$value") == Array("Photos(1)/$value".utf8))
    try await store.close()
  }

  @Test(
    "those of derived types, stream properties of derived types, those of singletons; contained ones one by one",
    arguments: [nil, 1])
  func places(resultPageSize: Int?) async throws {
    let server = try ScriptedServer { Self.response($0) }
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try rig.provider(resultPageSize: resultPageSize)
    for (name, query) in [("photos", "Photos"), ("me", "Me")] {
      try await store.add(OfflineODataDefiningQuery(name, query, automaticallyRetrievesStreams: true))
    }
    try await store.open()
    for path in [
      "Photos(1)/$value", "Photos(2)/$value", "Photos(2)/N.Raw/Sensor", "Photos(4)/$value", "Me/$value",
    ] {
      #expect(try await store.readMedia(path) == Array(path.utf8), "\(path)")
    }
    let rejected = await #expect(throws: OfflineODataError.self) {
      try await store.add(
        OfflineODataDefiningQuery("albums", "Albums?$expand=Pages", automaticallyRetrievesStreams: true))
    }
    #expect(rejected?.name == .unsupportedQuery)
    #expect(rejected?.errorMessage.contains("Albums/Pages") == true, "\(rejected.debugDescription)")
    try await store.add(OfflineODataDefiningQuery("albums", "Albums?$expand=Pages"))
    try await store.download(["albums"])
    try await store.downloadMedia("Albums(1)/Pages(3)/$value")
    #expect(try await store.readMedia("Albums(1)/Pages(3)/$value") == Array("Albums(1)/Pages(3)/$value".utf8))
    try await store.close()
  }
}
