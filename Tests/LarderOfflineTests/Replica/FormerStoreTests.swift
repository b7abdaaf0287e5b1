import LarderOData
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Stores of earlier versions", .timeLimit(.minutes(2)))
struct FormerStoreTests {
  private static let options = DatabaseOptions(extensions: ReplicaSQL.extensions)

  private func tables(_ replica: Replica) async throws -> [String] {
    try await replica.read { (snapshot) throws(StorageError) in
      try snapshot.connection.rows("SELECT coalesce(sql, name) FROM sqlite_schema WHERE name LIKE 'larder%'") {
        (row) throws(StorageError) in try row.text(0)
      }.sorted()
    }
  }

  @Test("a file of each earlier schema can be opened, and then has the tables of a new one", arguments: 1...8)
  func schemas(steps: Int) async throws {
    let folder = try TemporaryFolder()
    let key = try RigKey.fromEnvironment()
    let former = Schema(
      applicationID: ReplicaSchema.applicationID, steps: Array(ReplicaSchema.schema.steps.prefix(steps)))
    let database = try await Database.open(folder.file("a"), key: key, schema: former, options: Self.options)
    try await database.close()
    let (opened, created) = (
      try await Replica.open(path: folder.file("a"), key: key), try await Replica.open(path: folder.file("b"), key: key)
    )
    let openedTables = try await tables(opened)
    #expect(try await tables(created) == openedTables)
    #expect(openedTables.contains { $0.contains("larder_uploaded") })
    try await opened.close()
    try await created.close()
  }

  /// Converts a closed store to the eighth schema, whose requests lack the columns of the ninth.
  private func makeFormer(_ path: String) async throws {
    let database = try await Database.open(
      path, key: try RigKey.fromEnvironment(), schema: ReplicaSchema.schema, options: Self.options)
    try await database.write { (connection) throws(StorageError) in
      try connection.run("DROP TABLE larder_uploaded")
      let members = ["streamETag", "formerEnd", "wantsCondition", "usesEntityETag"].map { "'$.\($0)'" }
      try connection.run(
        "UPDATE larder_request SET request = json_remove(request, \(members.joined(separator: ", ")))")
      try connection.run(
        "UPDATE larder_request SET failure = json_remove(failure, '$.mayHaveTakenEffect', '$.showsTheirs')")
      try connection.run("PRAGMA user_version = 8")
    }
    try await database.close()
  }

  @Test("pending, uncertain and archived changes of the previous version are sent once", arguments: [false, true])
  func changes(isV2: Bool) async throws {
    let rig = try await UploadRig(.init(isV2: isV2))
    let path = rig.store.file
    try await rig.update(rig.row("Orders", 1), ["Name": .string("rejected")])
    rig.service.fail(.status(400)) { $0.contains("Orders(1)") }
    #expect(try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 0)).failed == 1)
    try await rig.update(rig.row("Orders", 2), ["Name": .string("lost")])
    rig.service.fail(.lost, times: 9) { !$0.hasPrefix("GET") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    rig.service.change { $0.fault = nil }
    try await rig.update(rig.row("Orders", 3), ["Name": .string("pending")])
    try await rig.store.close()

    try await makeFormer(path)
    let store = try UploadRig.provider(rig.folder, rig.service)
    try await store.open()
    #expect(try await store.pendingUploadCount() == 2)
    let report = try await store.upload()
    #expect(report.failed == 0, "\(report)")
    #expect(try await store.retryAll() == 1)
    #expect(try await store.upload().sent == 1)
    var names: [Int: String] = [:]
    rig.service.change { state in names = state.sets["Orders"]?.mapValues { $0.values["Name"] ?? "" } ?? [:] }
    #expect(names == [1: "\"rejected\"", 2: "\"lost\"", 3: "\"pending\""])
    #expect(rig.service.log.filter { $0.contains("Orders(2)") }.count == 1)
    try await store.close()
  }
}
