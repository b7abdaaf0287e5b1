import Foundation
import LarderObjects
import LarderOffline
import LarderOnline
import LarderTesting
import Testing

/// What stores and services leave behind.
@Suite("Files of stores for tests", .timeLimit(.minutes(2)))
struct ReleaseTests {
  @Test("The folder of a store is removed with the store, closed or not")
  func stores() async throws {
    for closes in [true, false] {
      var files: [String] = []
      do {
        let service = try Shop.service()
        let offline = try await service.offlineStore("Tags")
        let online = try await service.onlineStore { files.append($0.path ?? "") }
        files.append(offline.file)
        #expect(files.count == 2 && files.allSatisfy { FileManager.default.fileExists(atPath: $0) })
        if closes {
          try await offline.close()
          try await online.close()
        }
      }
      #expect(await areGone(files), "closed: \(closes)")
    }
  }

  @Test("The file of an object store is removed when it is closed and released")
  func objects() async throws {
    let clock = LarderTestClock()
    var files: [String] = []
    do {
      let store = try await ObjectStore.forTests(clock: clock)
      files.append(store.path)
      try await store.put("x", forKey: "k")
      // The request is counted, and its count would be written two seconds later.
      #expect(try await store.value(String.self, forKey: "k") == "x")
      try await store.close()
    }
    #expect(await areGone(files))
  }

  @Test("A folder is removed with its content")
  func folder() throws {
    let folder = try LarderTestFolder()
    try Data("x".utf8).write(to: URL(filePath: folder.file("a")))
    let path = folder.path
    #expect(FileManager.default.fileExists(atPath: path))
    _ = consume folder
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("A service that responded to queries is released with its test")
  func service() async throws {
    weak var released: ODataTestService?
    do {
      let service = try Shop.service()
      released = service
      #expect(try await service.get("Orders").status == 200)
    }
    #expect(released == nil)
  }

  /// Waits until the files have been removed. A task of the released store may still be using them.
  private func areGone(_ files: [String]) async -> Bool {
    for _ in 0..<100_000 {
      if !files.contains(where: { FileManager.default.fileExists(atPath: $0) }) { return true }
      await Task.yield()
    }
    return false
  }
}
