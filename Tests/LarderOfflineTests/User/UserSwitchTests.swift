import Foundation
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Offline store: the owner of a store", .timeLimit(.minutes(2)))
struct UserSwitchTests {
  private let rig: UserRig

  init() throws { rig = try UserRig() }

  private func names(_ user: String?, _ userSwitch: OfflineODataUserSwitch = .reject, key: StorageKey? = nil)
    async throws
    -> [String]
  {
    let store = try await rig.open(try rig.provider(user, userSwitch, key: key))
    let names = try await store.names()
    try await store.close()
    return names
  }

  // MARK: Without a switch

  @Test("without a user a store of any owner is opened, and no file is added beside it")
  func withoutUser() async throws {
    try await rig.makeStoreWithPendingChange(nil)
    #expect(rig.files == ["store.larder", "store.larder-changes", "store.larder-download"])
    try await rig.provider(nil).clear()
    #expect(rig.files == [])
    try await rig.makeStoreWithPendingChange("ada")
    #expect(try await names(nil, key: try UserCrashRig.key(of: "ada")) == ["changed by ada", "order 2"])
    try await rig.provider(nil).clear()
    #expect(rig.files == [])
  }

  @Test(
    "a store without an owner belongs to the first user who opens it, with its pending changes",
    arguments: [true, false])
  func claimed(isPlain: Bool) async throws {
    let first = try await rig.open(try rig.provider(nil, key: try UserCrashRig.key(of: "ada"), isPlain: isPlain))
    try await first.rename("Orders(1)", to: "from before")
    try await first.close()
    let ada = try await rig.open(try rig.provider("ada", isPlain: isPlain))
    #expect(try await ada.names() == ["from before", "order 2"])
    #expect(try await ada.hasPendingUpload())
    try await ada.close()
    let bob = try rig.provider("bob", isPlain: isPlain)
    #expect(await UserRig.error { try await bob.open() }?.name == .otherUser)
  }

  @Test("a store of another service stays without an owner, and the next user can open it")
  func notClaimed() async throws {
    try await rig.makeStoreWithPendingChange(nil, isPlain: true)
    let before = rig.contents["store.larder-user"]
    let root = try #require(URL(string: "http://elsewhere/s/"))
    let bob = try OfflineODataProvider(
      serviceRoot: root, transport: rig.line(), parameters: try rig.provider("bob", isPlain: true).parameters)
    #expect(await UserRig.error { try await bob.open() }?.name == .otherService)
    #expect((rig.contents["store.larder-user"] ?? Data()) == (before ?? Data()))
    let ada = try rig.provider("ada", isPlain: true)
    try await ada.open()
    #expect(try await ada.names() == ["changed by nobody", "order 2"])
    try await ada.close()
  }

  @Test("no file says a user's name, in its name or in it", arguments: [true, false])
  func digests(isPlain: Bool) async throws {
    let name = "Ottilie-Merkwort-66f1"
    let store = try await rig.open(try rig.provider(name, .setAside(), isPlain: isPlain))
    var search = MarkerSearch(for: [name])
    search.look(in: rig.folder.path)
    try await store.close()
    search.look(in: rig.folder.path)
    #expect(search.matches == [])
    #expect(search.names.contains("store.larder-user"))
  }

  @Test("an empty name is no user")
  func emptyName() {
    #expect(throws: OfflineODataError.self) { try rig.provider("", isPlain: true) }
  }

  // MARK: Rejected

  @Test("rejected: the number of pending changes, and what to do; nothing is changed")
  func rejected() async throws {
    try await rig.makeStoreWithPendingChange("ada", isPlain: true)
    let ada = try rig.provider("ada", isPlain: true)
    try await ada.open()
    try await ada.rename("Orders(2)", to: "changed by ada, too")
    try await ada.close()
    let line = rig.line()
    let bob = try rig.provider("bob", isPlain: true, by: line)
    let error = await UserRig.error { try await bob.open() }
    #expect(error?.name == .otherUser)
    #expect(error?.category == .preconditionFailed)
    let message = error?.errorMessage ?? ""
    #expect(message.contains("2 pending changes"), "\(message)")
    #expect(message.hasSuffix(OfflineODataErrorName.otherUser.cure ?? "no cure"), "\(message)")
    #expect(!bob.isOpen && line.count == 0)
    try await ada.open()
    #expect(try await ada.names() == ["changed by ada", "changed by ada, too"])
    #expect(try await ada.pendingUploadCount() == 2)
    try await ada.close()
    // A user with the key and nothing to send is rejected all the same: the rows are ada's.
    try await ada.open()
    try await ada.upload()
    try await ada.close()
    #expect(await UserRig.error { try await bob.open() }?.errorMessage.contains("no pending changes") == true)
  }

  @Test("rejected without the other's key: the number is not known, and not one byte is changed")
  func rejectedUnread() async throws {
    try await rig.makeStoreWithPendingChange("ada")
    let before = rig.contents
    let error = await UserRig.error { try await rig.provider("bob").open() }
    #expect(error?.name == .otherUser)
    #expect(error?.errorMessage.contains("cannot be read without its key") == true, "\(error.debugDescription)")
    #expect(rig.contents == before)
  }

  @Test(
    "a user's own store and a wrong key, or none: an error of the key, whatever other users exist; nothing is changed")
  func ownWrongKey() async throws {
    try await rig.makeStoreWithPendingChange("ada")
    let before = rig.contents
    let wrong = try rig.provider("ada", .setAside(), key: try UserCrashRig.key(of: "bob"))
    #expect(await UserRig.error { try await wrong.open() }?.name == .wrongEncryptionKey)
    let none = try rig.provider("ada", .setAside(), isPlain: true)
    #expect(await UserRig.error { try await none.open() }?.name == .encryptionKeyMissing)
    #expect(rig.contents == before)
  }

  @Test("where the mark beside the store is lost, what the store says decides, and where that cannot be read the key")
  func lostMark() async throws {
    let key = try UserCrashRig.key(of: "all")
    let ada = try await rig.open(try rig.provider("ada", key: key))
    try await ada.close()
    try FileManager.default.removeItem(atPath: rig.folder.file("store.larder-user"))
    #expect(await UserRig.error { try await rig.provider("bob").open() }?.name == .wrongEncryptionKey)
    #expect(await UserRig.error { try await rig.provider("bob", key: key).open() }?.name == .otherUser)
    // A mark that says something else is put right, too.
    try Data(StoreUser("bob").digest.utf8).write(to: URL(filePath: rig.folder.file("store.larder-user")))
    #expect(await UserRig.error { try await rig.provider("bob", key: key).open() }?.name == .otherUser)
    try Data(StoreUser("eve").digest.utf8).write(to: URL(filePath: rig.folder.file("store.larder-user")))
    #expect(try await names("ada", key: key) == ["order 1", "order 2"])
  }

  @Test("a folder that may not be written to: the owner reads, another user is rejected")
  func readOnly() async throws {
    guard let sealed = try SealedFolder() else { return print("nothing may be sealed here") }
    try await rig.makeStoreWithPendingChange("ada", isPlain: true)
    for file in ["store.larder", "store.larder-user"] {
      try FileManager.default.copyItem(atPath: rig.folder.file(file), toPath: sealed.file(file))
    }
    try #require(sealed.seal())
    func provider(_ user: String?) throws -> OfflineODataProvider {
      guard let root = URL(string: "http://h/s/") else { throw OfflineODataError(.invalidServiceRoot) }
      return try OfflineODataProvider(
        serviceRoot: root, transport: rig.service,
        parameters: OfflineODataParameters(
          path: sealed.path, currentUser: user, onUserSwitch: .setAside(encryptionKey: try UserCrashRig.key(of: "ada")))
      )
    }
    for user in ["ada", nil] {
      let store = try provider(user)
      try await store.open()
      #expect(store.isReadOnly)
      #expect(try await store.names() == ["changed by ada", "order 2"])
      try await store.close()
    }
    let error = await UserRig.error { try await provider("bob").open() }
    #expect(error?.name == .otherUser, "\(error.debugDescription)")
    try #require(sealed.unseal())
  }

  // MARK: Cleared, and other keys

  @Test("a user clears their own store, in its place or set aside, and no other's")
  func clearing() async throws {
    try await rig.makeStoreWithPendingChange("ada")
    try await rig.makeStoreWithPendingChange("bob", .setAside())
    try await rig.provider("eve").clear()
    #expect(rig.files.contains("store.larder") && rig.files.contains(UserRig.aside("ada")))
    try await rig.provider("ada").clear()
    #expect(rig.files.contains("store.larder") && !rig.files.contains(UserRig.aside("ada")))
    #expect(try await names("bob") == ["changed by bob", "order 2"])
    try await rig.provider("bob").clear()
    #expect(rig.files == [])
  }

  @Test("what another sets aside while it waits is cleared all the same, and found where no store may be made")
  func movedMeanwhile() async throws {
    try await rig.makeStoreWithPendingChange("ada")
    let path = rig.folder.file("store.larder")
    let (place, aside) = (DatabaseFile(path), StoreUser("ada").aside(of: path))
    func begin<T: Sendable>(_ work: @escaping @Sendable () async throws -> T) async -> Task<T, any Error> {
      let started = Tally("work begun")
      let task = Task {
        started.add()
        return try await work()
      }
      try? await started.wait(for: 1)
      for _ in 0..<1000 { await Task.yield() }
      return task
    }
    // Bob is about to restore Ada's when she opens: for a short time it has neither name.
    var mark = try #require(try await UserMark.take(of: path, isShared: false))
    try place.move(to: path + "-moving") { _ in }
    let ada = try rig.provider("ada", createsStore: false)
    let opening = await begin { try await ada.open() }
    try DatabaseFile(path + "-moving").move(to: path) { _ in }
    mark.release()
    try await opening.value
    #expect(try await ada.names() == ["changed by ada", "order 2"])
    try await ada.close()
    mark = try #require(try await UserMark.take(of: path, isShared: false))
    let clearing = await begin { try await ada.clear() }
    try place.move(to: aside.path) { _ in }
    try mark.set(StoreUser("bob"))
    mark.release()
    try await clearing.value
    #expect(!rig.files.contains { $0 == "store.larder" || $0.contains("-user-") }, "\(rig.files)")
  }

  @Test("the key of another user's store is not changed")
  func otherKey() async throws {
    try await rig.makeStoreWithPendingChange("ada", isPlain: true)
    let error = await UserRig.error {
      try await OfflineODataProvider.changeEncryptionKey(
        of: try rig.provider("bob", isPlain: true).parameters, to: try UserCrashRig.key(of: "bob"))
    }
    #expect(error?.name == .otherUser)
    let ada = try UserCrashRig.key(of: "ada")
    try await OfflineODataProvider.changeEncryptionKey(of: try rig.provider("ada", isPlain: true).parameters, to: ada)
    #expect(try await names("ada") == ["changed by ada", "order 2"])
  }

  @Test("nor where the mark beside the store is lost or names another: what the store says decides")
  func otherKeyLostMark() async throws {
    try await rig.makeStoreWithPendingChange("ada", isPlain: true)
    let mark = URL(filePath: rig.folder.file("store.larder-user"))
    try FileManager.default.removeItem(at: mark)
    let store = rig.contents["store.larder"]
    for isMarked in [false, true] {
      if isMarked { try Data(StoreUser("bob").digest.utf8).write(to: mark) }
      let error = await UserRig.error {
        try await OfflineODataProvider.changeEncryptionKey(
          of: try rig.provider("bob", isPlain: true).parameters, to: try UserCrashRig.key(of: "bob"))
      }
      #expect(error?.name == .otherUser, "\(error.debugDescription)")
      #expect(rig.contents["store.larder"] == store)
    }
    let ada = try UserCrashRig.key(of: "ada")
    try await OfflineODataProvider.changeEncryptionKey(of: try rig.provider("ada", isPlain: true).parameters, to: ada)
    #expect(try await names("ada") == ["changed by ada", "order 2"])
    // So does an encrypted one, by its key.
    var parameters = try rig.provider("bob", key: ada).parameters
    parameters.encryptionKey = ada
    let error = await UserRig.error { try await OfflineODataProvider.changeEncryptionKey(of: parameters, to: nil) }
    #expect(error?.name == .otherUser, "\(error.debugDescription)")
  }
}
