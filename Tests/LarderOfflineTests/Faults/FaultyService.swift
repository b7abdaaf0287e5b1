import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Synchronization

@testable import LarderCrashRig
@testable import LarderOffline

/// A V4 service of one set `Rows` that responds correctly until it is set to do otherwise.
final class FaultyService: Sendable {
  typealias Handler = @Sendable (ScriptedServer.Request) -> ScriptedServer.Response?

  private struct State {
    var version = 1
    var metadata = FaultyService.metadata()
    var faulty: Handler?
  }

  private let state = Mutex(State())

  /// Responses that take the place of the good ones; nil for the good one.
  var faulty: Handler? {
    get { state.withLock { $0.faulty } }
    set { state.withLock { $0.faulty = newValue } }
  }
  var metadata: String {
    get { state.withLock { $0.metadata } }
    set { state.withLock { $0.metadata = newValue } }
  }
  /// The text of the good rows.
  var version: Int {
    get { state.withLock { $0.version } }
    set { state.withLock { $0.version = newValue } }
  }

  func serve() throws -> ScriptedServer {
    try ScriptedServer { [self] request in
      if let response = faulty?(request) { return response }
      if request.path == "/s/$metadata" {
        return .response(200, fields: [.contentType: "application/xml"], body: metadata)
      }
      guard request.path == "/s/Rows" else { return .response(404) }
      return FaultyService.json(FaultyService.good(version))
    }
  }

  static func json(_ text: String) -> ScriptedServer.Response {
    .response(200, fields: [.contentType: "application/json", .odataVersion: "4.0"], body: text)
  }

  static func good(_ version: Int) -> String {
    "{\"value\":[\((1...5).map { "{\"ID\":\($0),\"Text\":\"v\(version)\"}" }.joined(separator: ","))]}"
  }

  static func metadata(_ properties: String = "<Property Name=\"Text\" Type=\"Edm.String\"/>") -> String {
    """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="Row">
    <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>\(properties)
    <NavigationProperty Name="Parts" Type="Collection(N.Part)" ContainsTarget="true"/></EntityType>
    <EntityType Name="Part"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32" Nullable="false"/>
    </EntityType>
    <EntityContainer Name="C"><EntitySet Name="Rows" EntityType="N.Row"/></EntityContainer></Schema>
    </edmx:DataServices></edmx:Edmx>
    """
  }
}

/// A filled store of a faulty service.
struct FaultRig {
  let service: FaultyService
  let server: ScriptedServer
  let rig: StoreRig
  let store: OfflineODataProvider

  /// `isPlain`: the store is never encrypted.
  init(query: String = "Rows", timeout: Duration? = nil, tracks: Bool = false, isPlain: Bool = false) async throws {
    service = FaultyService()
    server = try service.serve()
    rig = try StoreRig(server.url("/s/").absoluteString)
    var parameters = OfflineODataParameters(
      path: rig.folder.path, timeout: timeout,
      encryptionKey: isPlain ? nil : try RigKey.fromEnvironment())
    parameters.conversation.retry = .never
    parameters.customHeaders = ["X-API-Key": "secret"]
    store = try OfflineODataProvider(
      serviceRoot: server.url("/s/"), transport: rig.transport, parameters: parameters)
    try await store.add(OfflineODataDefiningQuery("rows", query, tracksChanges: tracks))
    try await store.open()
  }

  /// Downloads while the service responds to requests for rows so; the error's name, nil if it succeeded.
  func download(
    from path: String = "/s/Rows", _ response: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Response
  ) async -> OfflineODataError? {
    service.faulty = { $0.path.hasPrefix(path) ? response($0) : nil }
    defer { service.faulty = nil }
    do {
      _ = try await store.download()
      return nil
    } catch { return OfflineODataError(below: error) }
  }

  /// The texts of all rows, each once.
  func texts() async throws -> [String] {
    struct Row: Decodable, Sendable {
      var text: String?
      enum CodingKeys: String, CodingKey { case text = "Text" }
    }
    let rows = try await store.read([Row].self, "Rows?$select=Text&$orderby=ID") ?? []
    return rows.map { $0.text ?? "null" }
  }

  /// Whether the store has the good rows of a version, in a sound file, and works.
  func isIntact(_ version: Int = 1) async throws -> Bool {
    try await store.store?.replica.database.checkIntegrity()
    guard try await texts() == [String](repeating: "v\(version)", count: 5) else { return false }
    service.version += 1
    _ = try await store.download()
    return try await texts() == [String](repeating: "v\(service.version)", count: 5)
  }

  func end() async throws {
    try await store.close()
    server.stop()
  }
}
