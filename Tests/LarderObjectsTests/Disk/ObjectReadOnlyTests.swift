import Foundation
import LarderObjects
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig

@Suite("Objects: read-only files", .timeLimit(.minutes(5)))
struct ObjectReadOnlyTests {
  private func open(_ path: String) async throws -> ObjectStore {
    try await ObjectStore(
      path: path, encryptionKey: try RigKey.fromEnvironment(),
      options: ObjectStoreOptions(memory: .none, warmUpCount: 0))
  }

  /// When this returns, the store is released and its files are closed.
  private func make(_ path: String) async throws {
    let store = try await open(path)
    try await store.put(1, forKey: "a", labels: ["x"])
    try await store.close()
  }

  @Test(
    "A properly closed store does not open in a read-only folder, reports why, and opens unchanged afterwards")
  func closed() async throws {
    guard let folder = try SealedFolder() else {
      print("skipped: nothing can be mounted here, and root can write to read-only folders")
      return
    }
    let path = folder.file("objects")
    try await make(path)
    try #require(folder.seal())
    let before = try Data(contentsOf: URL(filePath: path))
    for _ in 0..<2 {
      let error = await reason { _ = try await open(path) }
      guard case .storage(let cause)? = error?.category else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(cause.category == .readOnly)
      #expect("\(cause)".contains(path))
    }
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
    try #require(folder.unseal())
    let last = try await open(path)
    #expect(try await last.keys(.label("x")) == ["a"])
    #expect(try await last.value(Int.self, forKey: "a") == 1)
    try await last.close()
  }

  @Test("Opening a new store in a read-only folder fails as read-only, and leaves no file")
  func new() async throws {
    guard let folder = try SealedFolder() else {
      print("skipped: nothing can be mounted here, and root can write to read-only folders")
      return
    }
    try #require(folder.seal())
    let error = await reason { _ = try await open(folder.file("objects")) }
    guard case .storage(let cause)? = error?.category else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.category == .readOnly)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }
}
