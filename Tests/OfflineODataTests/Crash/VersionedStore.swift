import Foundation
import TestSupport

@testable import CrashRig
@testable import OfflineOData

/// The service of numbered states behind a socket, and an open store of it in a folder of its own.
final class VersionedStore: Sendable {
  let service = VersionedService()
  let server: ScriptedServer
  let folder: TemporaryFolder
  let store: OfflineODataProvider

  init() async throws {
    server = try service.serve()
    folder = try TemporaryFolder()
    store = try OfflineCrashRig.provider(folder.path, server.url("/s/"))
    for query in OfflineCrashRig.queries { try await store.add(query) }
    try await store.open()
  }

  var root: URL { server.url("/s/") }

  deinit { server.stop() }
}
