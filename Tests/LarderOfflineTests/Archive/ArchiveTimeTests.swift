import Foundation
import LarderCore
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("The times of archived requests", .timeLimit(.minutes(5)))
struct ArchiveTimeTests {
  private static let seconds: Int64 = 1_000_000_000

  /// An open store with a fixed time, and one pending change of order 1.
  private func store(_ service: UploadService, _ folder: TemporaryFolder) async throws -> OfflineODataProvider {
    service.change { $0.sets["Orders"]?[1] = .init(values: ["ID": "1", "Name": "\"n1\""]) }
    var parameters = OfflineODataParameters(
      storeName: "store", path: folder.path, encryptionKey: try RigKey.fromEnvironment())
    parameters.conversation.environment = .at { Self.seconds * 1000 }
    let root = try #require(URL(string: "http://h/s/"))
    let store = try OfflineODataProvider(serviceRoot: root, transport: service, parameters: parameters)
    try await store.add(OfflineODataDefiningQuery("orders", "Orders"))
    try await store.open()
    try await store.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Name", .string("mine"))]))
    return store
  }

  private func times(_ store: OfflineODataProvider) async throws -> [Double] {
    try await store.openStore().read { snapshot in
      try ChangeQueue(snapshot.connection).entries().compactMap(\.failure?.time)
    }
  }

  @Test("A conflict that a download has noticed has the time of the store's clock")
  func noticed() async throws {
    let (service, folder) = (UploadService(), try TemporaryFolder())
    let store = try await store(service, folder)
    service.change { state in
      state.sets["Orders"]?[1]?.values["Name"] = "\"theirs\""
      state.sets["Orders"]?[1]?.version += 1
    }
    #expect(try await store.download().queries.flatMap(\.conflicts).count == 1)
    #expect(try await times(store) == [Double(Self.seconds)])
    try await store.close()
    withExtendedLifetime(folder) {}
  }

  @Test("A change that no longer fits the model is archived with the time of the store's clock")
  func unfitting() async throws {
    let folder = try TemporaryFolder()
    let store = try await store(UploadService(), folder)
    try await store.openStore().changeRows { rows in
      try rows.connection.run("UPDATE larder_effect SET name = 'Gone'")
      _ = try rows.fit(to: ModelTransition(within: rows.plan))
    }
    #expect(try await times(store) == [Double(Self.seconds)])
    try await store.close()
    withExtendedLifetime(folder) {}
  }
}
