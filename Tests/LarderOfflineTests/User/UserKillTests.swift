import Foundation
import LarderOData
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Offline store: a process that is killed while users change", .timeLimit(.minutes(5)))
struct UserKillTests {
  private let rig: UserRig

  init() throws { rig = try UserRig() }

  /// A store before the change, and how it is made.
  struct Scene: Sendable, CustomTestStringConvertible {
    let name: String
    /// Ada's store, which is in place, has no key.
    var isPlain = false
    /// What ada has changed is in the log alone, as a crash leaves it.
    var hasLog = false
    /// Bob's store is aside.
    var isBobAside = false
    var userSwitch = UserCrashRig.Switch.aside
    /// How many steps there are.
    let steps: Int
    var testDescription: String { name }
  }

  static let scenes = [
    Scene(name: "for the first time", steps: 4), Scene(name: "a log is left", hasLog: true, steps: 4),
    Scene(name: "a plain store", isPlain: true, steps: 5),
    Scene(name: "a plain store with a log", isPlain: true, hasLog: true, steps: 5),
    Scene(name: "the other comes back", isBobAside: true, steps: 7),
    Scene(name: "a log is left, and the other comes back", hasLog: true, isBobAside: true, steps: 7),
    Scene(name: "an uploaded store is removed", isPlain: true, userSwitch: .remove, steps: 2),
    Scene(
      name: "an uploaded store is removed, and the other comes back", isPlain: true, isBobAside: true,
      userSwitch: .remove,
      steps: 5),
  ]

  @Test(
    "at every step: both stores are whole, each is found by its user alone, and no file is left over", arguments: scenes
  )
  func everyStep(scene: Scene) async throws {
    let template = try await template(scene)
    for last in 1...(scene.steps + 1) {
      let folder = try copy(of: template)
      let process = try CrashRigProcess(["users", scene.userSwitch.rawValue, folder.path, "bob", "\(last)"])
      let lines = await process.lines()
      let note = "\(scene.name), killed at \(last): \(lines)"
      #expect(lines.count == (last > scene.steps ? scene.steps + 1 : last), "\(note)")
      #expect(lines.contains("done") == (last > scene.steps), "\(note)")
      // Which user opens first afterwards makes a difference.
      try await look(scene, folder, last % 2 == 0 ? ["ada", "bob", "ada"] : ["bob", "ada", "bob"], note)
    }
  }

  /// A folder with closed stores.
  private func template(_ scene: Scene) async throws -> TemporaryFolder {
    if scene.isBobAside { try await rig.makeStoreWithPendingChange("bob") }
    let userSwitch = OfflineODataUserSwitch.setAside(encryptionKey: try UserCrashRig.key(of: "bob"))
    let ada = try await rig.open(try rig.provider("ada", userSwitch, isPlain: scene.isPlain))
    if scene.userSwitch == .aside { try await ada.rename("Orders(1)", to: "changed by ada") }
    if !scene.hasLog { try await ada.close() }
    let folder = try copy(of: rig.folder)
    try await ada.close()
    let log = folder.file("store.larder-wal")
    #expect(FileManager.default.fileExists(atPath: log) == scene.hasLog)
    return folder
  }

  private func copy(of folder: TemporaryFolder) throws -> TemporaryFolder {
    let copy = try TemporaryFolder()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.hasSuffix("-shm") {
      try FileManager.default.copyItem(atPath: folder.file(name), toPath: copy.file(name))
    }
    return copy
  }

  private func look(_ scene: Scene, _ folder: TemporaryFolder, _ users: [String], _ note: String) async throws {
    for user in users where scene.userSwitch == .aside || user == "bob" {
      let other = try UserCrashRig.key(of: user == "ada" ? "bob" : "ada")
      let userSwitch =
        scene.userSwitch == .remove ? OfflineODataUserSwitch.uploadFirst() : .setAside(encryptionKey: other)
      let store = try await rig.open(try rig.provider(user, userSwitch, in: folder))
      let isChanged = user == "ada" || scene.isBobAside
      #expect(try await store.names() == [isChanged ? "changed by \(user)" : "order 1", "order 2"], "\(note): \(user)")
      #expect(try await store.pendingUploadCount() == (isChanged ? 1 : 0), "\(note): \(user)")
      try await store.store?.replica.database.checkIntegrity()
      try await store.close()
      let rest = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { name in
        !name.contains("-user-") && ["-wal", "-shm", "-journal", "-rekey"].contains { name.hasSuffix($0) }
      }
      #expect(rest == [], "\(note): \(user)")
    }
  }

  @Test("at random times, between users who take turns: nothing is lost and nothing is mixed")
  func byChance() async throws {
    var random = PrintedSeed(for: "kills while users change")
    try await rig.makeStoreWithPendingChange("ada", .setAside())
    try await rig.makeStoreWithPendingChange("bob", .setAside())
    let kills = ProcessInfo.processInfo.environment["LARDER_KILLS"].flatMap { Int($0) } ?? 12
    for kill in 0..<kills {
      let process = try CrashRigProcess(["users", "turns", rig.folder.path, "-", "0"])
      let pause = UInt32.random(in: 0...30_000, using: &random)
      let turns = Int.random(in: 1...4, using: &random)
      let heard = Atomic(0)
      await process.forEachLine { _ in
        if heard.add(1, ordering: .relaxed).newValue == turns {
          Thread.detachNewThread {
            usleep(pause)
            process.kill()
          }
        }
        return false
      }
      for user in ["ada", "bob"] {
        let store = try rig.provider(user, .setAside())
        try await store.open()
        #expect(try await store.names() == ["changed by \(user)", "order 2"], "kill \(kill)")
        #expect(try await store.pendingUploadCount() == 1, "kill \(kill)")
        try await store.store?.replica.database.checkIntegrity()
        try await store.close()
      }
    }
  }
}
