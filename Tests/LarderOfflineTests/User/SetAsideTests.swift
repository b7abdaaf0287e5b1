import Foundation
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Offline store: another user's set aside", .timeLimit(.minutes(2)))
struct SetAsideTests {
  private let rig: UserRig

  init() throws { rig = try UserRig() }

  @Test("each finds its own rows, changes, archive and events again, and nothing of the other's is seen or sent")
  func neverMixed() async throws {
    let ada = try await rig.open(try rig.provider("ada", .setAside()))
    try await ada.rename("Orders(1)", to: "changed by ada")
    rig.service.fail(.status(400)) { $0.hasPrefix("PATCH Orders(2)") }
    try await ada.rename("Orders(2)", to: "refused of ada")
    #expect(try await ada.upload(OfflineODataUploadOptions(changesPerBatch: 0)).failed == 1)
    try await ada.rename("Orders(1)", to: "changed by ada again")
    try await ada.close()

    let line = rig.line()
    let bob = try await rig.open(try rig.provider("bob", .setAside(), by: line))
    #expect(try await bob.names() == ["changed by ada", "order 2"], "what the service has")
    #expect(try await !bob.hasPendingUpload())
    #expect(try await bob.readCount("ErrorArchive") == 0)
    #expect(try await bob.readCount("EventLog?$filter=EventType eq 'Upload'") == 0)
    #expect(try await bob.upload().sent == 0)
    #expect(line.changes == [])
    try await bob.rename("Orders(2)", to: "changed by bob")
    try await bob.close()

    let again = try rig.provider("ada", .setAside())
    try await again.open()
    #expect(try await again.names() == ["changed by ada again", "refused of ada"])
    #expect(try await again.pendingUploadCount() == 1)
    #expect(try await again.readCount("ErrorArchive") == 1)
    try await again.close()

    let last = rig.line()
    let bobAgain = try rig.provider("bob", .setAside(), by: last)
    try await bobAgain.open()
    #expect(try await bobAgain.names() == ["changed by ada", "changed by bob"])
    #expect(try await bobAgain.upload(OfflineODataUploadOptions(changesPerBatch: 0)).sent == 1)
    #expect(last.changes.count == 1)
    let bobsAuthorization = try await authorization("bob")
    #expect(last.credentials == [bobsAuthorization] && last.fields == ["bob"])
    try await bobAgain.close()
    #expect(rig.files.filter { $0.contains("-user-") } == [UserRig.aside("ada")])
  }

  private func authorization(_ user: String) async throws -> String {
    try await BasicAuthentication(user: user, password: "secret of \(user)").authorization() ?? ""
  }

  @Test("a plain store is set aside with the given key, and rejected without one")
  func plain() async throws {
    try await rig.makeStoreWithPendingChange("ada", isPlain: true)
    let before = rig.contents.filter { !$0.value.isEmpty }
    let error = await UserRig.error { try await rig.provider("bob", .setAside()).open() }
    #expect(error?.name == .setAsideNeedsKey, "\(error.debugDescription)")
    #expect(error?.errorMessage.hasSuffix(OfflineODataErrorName.setAsideNeedsKey.cure ?? "no cure") == true)
    #expect(rig.files.contains("store.larder"))
    #expect(rig.contents["store.larder-user"] == before["store.larder-user"])

    let bob = try await rig.open(try rig.provider("bob", .setAside(encryptionKey: try UserCrashRig.key(of: "ada"))))
    #expect(try await bob.names() == ["order 1", "order 2"])
    var search = MarkerSearch(for: ["changed by ada", "SQLite format 3", "CREATE TABLE", "EntityContainer"])
    search.look(in: rig.folder.path)
    try await bob.close()
    search.look(in: rig.folder.path)
    #expect(search.matches == [])
    #expect(search.names.contains(UserRig.aside("ada")))

    let before2 = rig.contents
    let plain = try rig.provider("ada", .setAside(), isPlain: true)
    #expect(await UserRig.error { try await plain.open() }?.name == .encryptionKeyMissing)
    #expect(rig.contents == before2)
    let ada = try rig.provider("ada", .setAside())
    try await ada.open()
    #expect(try await ada.names() == ["changed by ada", "order 2"])
    #expect(try await ada.pendingUploadCount() == 1)
    try await ada.close()
  }

  @Test("a user who returns with a wrong key is rejected, and neither store is changed")
  func wrongKey() async throws {
    try await rig.makeStoreWithPendingChange("ada")
    try await rig.makeStoreWithPendingChange("bob", .setAside())
    let before = rig.contents
    for userSwitch in [OfflineODataUserSwitch.setAside(), .uploadFirst()] {
      let wrong = try rig.provider("ada", userSwitch, key: try UserCrashRig.key(of: "eve"))
      let error = await UserRig.error { try await wrong.open() }
      #expect(error?.name == .wrongEncryptionKey, "\(error.debugDescription)")
      #expect(rig.contents == before)
    }
    let ada = try rig.provider("ada", .setAside())
    try await ada.open()
    #expect(try await ada.pendingUploadCount() == 1)
    try await ada.close()
  }

  @Test("if no store may be created, a user without one gets an error, and the other's stays in its place")
  func notCreated() async throws {
    try await rig.makeStoreWithPendingChange("ada")
    let before = rig.contents
    let bob = try rig.provider("bob", .setAside(), createsStore: false)
    #expect(await UserRig.error { try await bob.open() }?.name == .resourceNotFound)
    #expect(rig.contents == before)
    try await rig.makeStoreWithPendingChange("bob", .setAside())
    let ada = try rig.provider("ada", .setAside(), createsStore: false)
    try await ada.open()
    #expect(try await ada.names() == ["changed by ada", "order 2"])
    try await ada.close()
    // Both are away, as after a crash.
    try await rig.provider("ada").clear()
    let again = try rig.provider("bob", createsStore: false)
    try await again.open()
    #expect(try await again.names() == ["changed by bob", "order 2"])
    try await again.close()
  }

  @Test("a store opened without a user while the user's own is aside is not taken for the user's")
  func ofNobody() async throws {
    try await rig.makeStoreWithPendingChange("ada")
    try await rig.makeStoreWithPendingChange("bob", .setAside())
    try await rig.provider("bob").clear()
    let before = rig.contents[UserRig.aside("ada")]
    let key = try UserCrashRig.key(of: "ada")
    try await rig.open(try rig.provider(nil, key: key)).close()
    let error = await UserRig.error { try await rig.provider("ada", .setAside()).open() }
    #expect(error?.name == .otherUser, "\(error.debugDescription)")
    #expect(before != nil && rig.contents[UserRig.aside("ada")] == before)
    try await rig.provider(nil, key: key).clear()
    let ada = try rig.provider("ada", .setAside())
    try await ada.open()
    #expect(try await ada.pendingUploadCount() == 1)
    try await ada.close()
  }

  @Test("while anybody has the store open it is not pulled from under him", arguments: [true, false])
  func inUse(isPlain: Bool) async throws {
    let ada = try await rig.open(try rig.provider("ada", isPlain: isPlain))
    func number() throws -> String {
      let matches = try FileManager.default.attributesOfItem(atPath: rig.folder.file("store.larder"))
      return String(describing: matches[.systemFileNumber])
    }
    let before = try number()
    let key = try UserCrashRig.key(of: "ada")
    for userSwitch in [
      OfflineODataUserSwitch.setAside(encryptionKey: key), .uploadFirst(as: try rig.provider("ada", isPlain: isPlain)),
    ] {
      let error = await UserRig.error { try await rig.provider("bob", userSwitch).open() }
      #expect(error?.name == .storeInUse, "\(error.debugDescription)")
    }
    try await ada.rename("Orders(1)", to: "changed by ada")
    #expect(try number() == before)
    try await ada.rename("Orders(2)", to: "still here")
    #expect(try await ada.names() == ["changed by ada", "still here"])
    try await ada.close()
    let bob = try await rig.open(try rig.provider("bob", .setAside(encryptionKey: try UserCrashRig.key(of: "ada"))))
    #expect(try await bob.names() == ["order 1", "order 2"])
    try await bob.close()
  }

  @Test("nor while another process has it open")
  func inUseElsewhere() async throws {
    try await rig.makeStoreWithPendingChange("ada")
    let process = try CrashRigProcess(["users", "hold", rig.folder.path, "ada", "0"])
    let heard = Tally("openings of the other process")
    async let said: Void = process.forEachLine { line in
      if line == "open" { heard.add() }
      return false
    }
    try await heard.wait(for: 1)
    let error = await UserRig.error { try await rig.provider("bob", .setAside()).open() }
    #expect(error?.name == .storeInUse, "\(error.debugDescription)")
    let key = try UserCrashRig.key(of: "ada")
    let sameKey = await UserRig.error { try await rig.provider("bob", .uploadFirst(), key: key).open() }
    #expect(sameKey?.name == .otherUser, "\(sameKey.debugDescription)")
    process.kill()
    await said
    let bob = try await rig.open(try rig.provider("bob", .setAside()))
    #expect(try await bob.names() == ["order 1", "order 2"])
    try await bob.close()
    let ada = try rig.provider("ada", .setAside())
    try await ada.open()
    #expect(try await ada.names() == ["changed by ada", "order 2"])
    try await ada.close()
  }

  @Test("two users who open at once, again and again: each has its own store or gets the error that it is in use")
  func atOnce() async throws {
    try await rig.makeStoreWithPendingChange("ada", .setAside())
    try await rig.makeStoreWithPendingChange("bob", .setAside())
    try await withThrowingTaskGroup(of: Int.self) { group in
      for user in ["ada", "bob"] {
        group.addTask {
          var rejected = 0
          // A rejected user tries again: at the latest when the other is done, the place is free.
          for _ in 0..<8 {
            let store = try rig.provider(user, .setAside())
            while !store.isOpen {
              do { try await store.open() } catch let error as OfflineODataError where error.name == .storeInUse {
                rejected += 1
                await Task.yield()
              }
            }
            #expect(try await store.names() == ["changed by \(user)", "order 2"])
            #expect(try await store.pendingUploadCount() == 1)
            try await store.close()
          }
          return rejected
        }
      }
      var all = 0
      for try await rejected in group { all += rejected }
      print("\(all) openings refused, 16 not")
    }
  }
}
