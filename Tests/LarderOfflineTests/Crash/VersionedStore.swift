import Foundation
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

/// The service of numbered states behind a socket, and a folder where processes fill a store of it. Who has it stops the server.
final class VersionedFolder: Sendable {
  let service = VersionedService()
  let server: ScriptedServer
  let folder: TemporaryFolder
  /// The states that the sets had at the last look.
  private let versions = Mutex<[String: Int]>([:])

  init() throws {
    server = try service.serve()
    folder = try TemporaryFolder()
  }

  var root: URL { server.url("/s/") }

  /// Starts a process that opens the store, which fills it the first time, and downloads so many times.
  func process(downloads: Int, fileLimit: Int? = nil) throws -> CrashRigProcess {
    try CrashRigProcess(["offline", folder.path, root.absoluteString, String(downloads)], fileLimit: fileLimit)
  }

  /// Looks at what an ended process has left, where it came so far: each set shows one state, and none goes back.
  func check(_ note: String) async throws {
    let file = folder.file("store.larder")
    guard FileManager.default.fileExists(atPath: file) else { return }
    let store = try await KilledStore(file)
    let now = try await store.check(note)
    let before = versions.withLock { versions in
      defer { versions = now }
      return versions
    }
    for (set, version) in now { #expect(version >= before[set] ?? 0, "\(note): \(set) went back") }
    try await store.close()
  }

  /// Lets a process come to its end while the service rests: all is there then, and nothing else.
  func finish() async throws {
    service.moves = false
    let last = try await process(downloads: 2).lines()
    #expect(last.last == "closed", "\(last)")
    let store = try await KilledStore(folder.file("store.larder"))
    let version = service.version
    #expect(
      try await store.check("the end") == ["Rows": version, "Whole": version, "Orders": version, "Photos": version])
    #expect(try await store.rubbish().isEmpty)
    try await store.close()
  }
}

/// An open store of such a folder.
struct VersionedStore {
  let place: VersionedFolder
  let store: OfflineODataProvider

  init() async throws {
    place = try VersionedFolder()
    store = try OfflineCrashRig.provider(place.folder.path, place.root)
    for query in OfflineCrashRig.queries { try await store.add(query) }
    try await store.open()
  }
}
