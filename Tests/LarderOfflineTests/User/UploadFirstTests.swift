import Foundation
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Offline store: another user's changes uploaded first", .timeLimit(.minutes(2)))
struct UploadFirstTests {
  private let rig: UserRig
  private let options = OfflineODataUploadOptions(changesPerBatch: 0)

  init() throws { rig = try UserRig() }

  @Test(
    "pending changes are sent with the credentials and fields of their user, then the store is cleared and filled"
  )
  func sent() async throws {
    try await rig.makeStoreWithPendingChange("ada")
    let (adas, bobs) = (rig.line(), rig.line())
    let former = try rig.provider("ada", by: adas)
    let bob = try await rig.open(
      try rig.provider("bob", .uploadFirst(as: former, options: options), by: bobs))
    #expect(!former.isOpen)
    #expect(adas.changes.count == 1 && bobs.changes == [])
    #expect(adas.fields == ["ada"] && bobs.fields == ["bob"])
    let ada = try await BasicAuthentication(user: "ada", password: "secret of ada").authorization() ?? ""
    #expect(adas.credentials == [ada])
    #expect(!bobs.credentials.contains(ada))
    #expect(rig.service.entities("Orders")[1]?.values["Name"] == "\"changed by ada\"")
    #expect(try await bob.names() == ["changed by ada", "order 2"])
    #expect(try await bob.readCount("EventLog?$filter=EventType eq 'Upload'") == 0)
    try await bob.close()
    #expect(!rig.files.contains { $0.contains("-user-") })
  }

  @Test("a former provider that is still open and has nothing to send is closed, and its store goes")
  func openWithNothing() async throws {
    let adas = rig.line()
    let ada = try await rig.open(try rig.provider("ada", by: adas))
    let bob = try await rig.open(try rig.provider("bob", .uploadFirst(as: ada, options: options)))
    #expect(!ada.isOpen && bob.isOpen)
    #expect(adas.changes == [])
    #expect(try await bob.names() == ["order 1", "order 2"])
    try await bob.close()
    #expect(await UserRig.error { try await ada.open() }?.name == .otherUser)
  }

  @Test("a store that is open is not removed; a log that is left beside a closed one is no reason to keep it")
  func removal() async throws {
    let ada = try await rig.open(try rig.provider("ada"))
    let opening = UserOpening(ada.parametersWithKeys, in: ada.folder, user: "bob")
    #expect(await UserRig.error { try opening.remove() }?.name == .storeInUse)
    #expect(try await ada.names() == ["order 1", "order 2"])
    try await ada.close()
    let paths = ["store.larder", "store.larder-wal"].map(rig.folder.file)
    try Data([1, 2, 3]).write(to: URL(filePath: paths[1]))
    try opening.remove()
    for path in paths { #expect(!FileManager.default.fileExists(atPath: path)) }
  }

  @Test("an upload that is interrupted throws its error and leaves the store, its changes and its user unchanged")
  func interrupted() async throws {
    try await rig.makeStoreWithPendingChange("ada")
    rig.service.fail(.unreachable, times: 100) { !$0.hasPrefix("GET") }
    let former = try rig.provider("ada")
    let bob = try rig.provider("bob", .uploadFirst(as: former, options: options))
    let error = await UserRig.error { try await bob.open() }
    #expect(error?.category == .communicationError, "\(error.debugDescription)")
    #expect(!former.isOpen && !bob.isOpen)
    #expect(await UserRig.error { try await rig.provider("bob").open() }?.name == .otherUser)
    try await former.open()
    #expect(try await former.names() == ["changed by ada", "order 2"])
    #expect(try await former.pendingUploadCount() == 1)
    rig.service.change { $0.fault = nil }
    try await former.close()
    try await rig.open(bob)
    #expect(rig.service.entities("Orders")[1]?.values["Name"] == "\"changed by ada\"")
    try await bob.close()
  }

  @Test("a change that the service rejects keeps the store: its user corrects or discards it first, or it is set aside")
  func archived() async throws {
    try await rig.makeStoreWithPendingChange("ada")
    rig.service.fail(.status(400)) { $0.hasPrefix("PATCH") }
    let former = try rig.provider("ada")
    let bob = try rig.provider("bob", .uploadFirst(as: former, options: options))
    for _ in 0..<2 {
      let error = await UserRig.error { try await bob.open() }
      #expect(error?.name == .otherUser)
      #expect(error?.errorMessage.contains("1 request is in the error archive") == true, "\(error.debugDescription)")
    }
    try await former.open()
    #expect(try await former.readCount("ErrorArchive") == 1)
    try await former.discardAll()
    try await former.close()
    try await rig.open(bob)
    #expect(try await bob.names() == ["order 1", "order 2"])
    try await bob.close()
  }

  @Test("without a network: rejected while changes are pending, and cleared if there are none")
  func bySelf() async throws {
    let key = try UserCrashRig.key(of: "all")
    let ada = try await rig.open(try rig.provider("ada", key: key))
    try await ada.rename("Orders(1)", to: "changed by ada")
    try await ada.close()
    let bob = try rig.provider("bob", .uploadFirst(), key: key)
    let error = await UserRig.error { try await bob.open() }
    #expect(error?.name == .otherUser)
    #expect(error?.errorMessage.contains("1 pending change") == true, "\(error.debugDescription)")
    try await ada.open()
    try await ada.upload(options)
    try await ada.close()
    try await rig.open(bob)
    #expect(try await bob.names() == ["changed by ada", "order 2"])
    try await bob.close()
    #expect(await UserRig.error { try await ada.open() }?.name == .otherUser)
  }

  @Test("a store whose key is not given is not removed, whatever changes are pending in it")
  func unread() async throws {
    try await rig.makeStoreWithPendingChange("ada")
    let before = rig.contents
    #expect(await UserRig.error { try await rig.provider("bob", .uploadFirst()).open() }?.name == .otherUser)
    let wrong = try rig.provider("ada", key: try UserCrashRig.key(of: "eve"))
    let error = await UserRig.error { try await rig.provider("bob", .uploadFirst(as: wrong)).open() }
    #expect(error?.name == .wrongEncryptionKey)
    #expect(rig.contents == before)
  }

  @Test("changes are not sent as a third user, nor by a provider of no user or of another file")
  func otherFormer() async throws {
    try await rig.makeStoreWithPendingChange("ada", isPlain: true)
    let line = rig.line()
    let cases: [(OfflineODataProvider, OfflineODataErrorName)] = [
      (try rig.provider("eve", isPlain: true, by: line), .otherUser),
      (try rig.provider("bob", isPlain: true, by: line), .otherUser),
      (try rig.provider(nil, isPlain: true, by: line), .invalidParameter),
      (try rig.provider("ada", isPlain: true, in: try TemporaryFolder(), by: line), .invalidParameter),
    ]
    for (former, name) in cases {
      let error = await UserRig.error { try await rig.provider("bob", .uploadFirst(as: former)).open() }
      #expect(error?.name == name, "\(error.debugDescription)")
    }
    #expect(line.count == 0)
  }

  @Test("a user who was set aside is restored when the other's changes are sent")
  func comesBack() async throws {
    try await rig.makeStoreWithPendingChange("ada")
    try await rig.makeStoreWithPendingChange("bob", .setAside())
    let former = try rig.provider("bob")
    // Open already, with a change that is made just now.
    try await former.open()
    try await former.rename("Orders(2)", to: "late of bob")
    let ada = try rig.provider("ada", .uploadFirst(as: former, options: options))
    try await ada.open()
    #expect(!former.isOpen)
    #expect(rig.service.entities("Orders")[2]?.values["Name"] == "\"late of bob\"")
    #expect(try await ada.names() == ["changed by ada", "order 2"])
    #expect(try await ada.pendingUploadCount() == 1)
    try await ada.close()
    #expect(!rig.files.contains { $0.contains("-user-") })
  }
}
