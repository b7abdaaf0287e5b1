import Foundation
import LarderCore
import LarderTestSupport
import Testing

@testable import LarderContent

@Suite("Caches without a path", .timeLimit(.minutes(1)))
struct DefaultLocationTests {
  @Test("They are in the folder for caches, under the application's name")
  func location() async throws {
    let home = try TemporaryFolder()
    let folders = ApplicationFolders(application: "app", variables: ["XDG_CACHE_HOME": home.path])
    let files = try fileCache(folders)
    #expect(files.path == home.file("app/content"))
    try await files.store(sampleEntry(1), forKey: "a")
    #expect(try await files.entry(forKey: "a") != nil)
    await files.close()
  }

  @Test("Without a home folder, opening throws and says what to do")
  func noHome() async throws {
    let folders = ApplicationFolders(application: "app", variables: [:])
    let error = await cacheError { await (try fileCache(folders)).close() }
    #expect(error?.errorName == "noDefaultLocation")
    #expect(error?.explanation.cure == "Set HOME to the user's home folder, or give the cache a path.")
  }

  private func fileCache(_ folders: ApplicationFolders) throws(CacheError) -> FileCache {
    var environment = LarderEnvironment.system
    environment.folders = folders
    return try FileCache(path: nil, byteLimit: 1 << 20, environment: environment, faults: nil)
  }
}
