import Foundation
import LarderCurl
import LarderOffline
import LarderService

/// Copies a service into an offline store, and says how far it is.
enum OfflineCrashRig {
  /// What is copied: by delta links, by whole reads, with entities in line, with media.
  static let queries = [
    OfflineODataDefiningQuery("rows", "Rows"), OfflineODataDefiningQuery("whole", "Whole"),
    OfflineODataDefiningQuery("orders", "Orders?$expand=Items"),
    OfflineODataDefiningQuery("photos", "Photos", automaticallyRetrievesStreams: true),
  ]

  static func provider(_ folder: String, _ root: URL) throws -> OfflineODataProvider {
    var parameters = OfflineODataParameters(path: folder, encryptionKey: try RigKey.fromEnvironment())
    parameters.conversation.retry = .never
    return try OfflineODataProvider(serviceRoot: root, transport: try CurlTransport(), parameters: parameters)
  }

  /// Opens the store, which fills it the first time, and downloads so many times; says the name of what fails.
  static func run(_ folder: String, _ root: URL, downloads: Int) async throws {
    do { try await copy(folder, root, downloads: downloads) } catch {
      say("failed \(OfflineODataError(below: error).name.map { "\($0)" } ?? "?")")
      throw error
    }
  }

  private static func copy(_ folder: String, _ root: URL, downloads: Int) async throws {
    let provider = try provider(folder, root)
    for query in queries { try await provider.add(query) }
    say("opening")
    try await provider.open()
    say("open")
    for number in stride(from: 1, through: downloads, by: 1) {
      try await provider.download()
      say("done \(number)")
    }
    try await provider.close()
    say("closed")
  }

  /// One write a line: the reader never sees half of one.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
