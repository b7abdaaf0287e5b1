import Foundation
import LarderContent
import LarderCore
import LarderHTTP
import LarderStorage
import LarderTestSupport
import Synchronization

@testable import LarderCrashRig

/// A cache in a folder of its own.
struct FileCacheRig {
  let folder: TemporaryFolder
  let path: String
  /// What caches are opened with.
  var key: StorageKey?
  let diagnostics = DiagnosticLog()

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("cache")
    key = try RigKey.fromEnvironment()
  }

  /// A cache's folder that is there already.
  init(folder: TemporaryFolder, path: String) throws {
    self.folder = folder
    self.path = path
    key = try RigKey.fromEnvironment()
  }

  func open(
    limit: Int = 1 << 30, environment: LarderEnvironment = .system, synchronizes: Bool = false,
    faults: DiskFaults? = nil
  ) throws(CacheError) -> FileCache {
    try FileCache(
      path: path, byteLimit: limit, synchronizes: synchronizes, environment: environment, faults: faults,
      encryptionKey: key,
      onDiagnostic: { [diagnostics] in diagnostics.add($0) })
  }

  static func metadata(_ url: String = "https://example.com/a", _ note: String = "") -> CacheMetadata {
    CacheMetadata(
      url: url, status: 200, fields: ["Content-Type": "text/plain", "ETag": "\"\(note)\"", "X-Own": note],
      requestTime: 1_700_000_000_000, responseTime: 1_700_000_000_100)
  }

  /// Bytes without pattern, others for each seed.
  static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var bytes = Array(noise[Int(seed % 1000)..<Int(seed % 1000) + count])
    if !bytes.isEmpty { bytes[count / 2] = UInt8(truncatingIfNeeded: seed) }
    return bytes
  }

  private static let noise: [UInt8] = {
    var random = PrintedSeed(seed: 1)
    let words = (0..<131_072).map { _ in random.next() }
    return words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) } }
  }()

  static func entry(_ count: Int, seed: UInt64 = 1, note: String = "") -> CacheEntry {
    CacheEntry(metadata: metadata("https://example.com/a", note), bytes: bytes(count, seed: seed))
  }

  /// Every regular file below one of the cache's own folders, with its length.
  func files(below name: String = "larder.entries") -> [String: Int] {
    var counts: [String: Int] = [:]
    let root = path + "/" + name
    guard let walker = FileManager.default.enumerator(atPath: root) else { return [:] }
    while let item = walker.nextObject() as? String {
      let attributes = try? FileManager.default.attributesOfItem(atPath: root + "/" + item)
      if attributes?[.type] as? FileAttributeType == .typeRegular {
        counts[name + "/" + item] = (attributes?[.size] as? NSNumber)?.intValue ?? -1
      }
    }
    return counts
  }

  /// The entries' own files; those with a dot are contents.
  var entryFiles: [String] { files().keys.filter { !($0.split(separator: "/").last ?? "").contains(".") }.sorted() }
  var blobFiles: [String] { files().keys.filter { ($0.split(separator: "/").last ?? "").contains(".") }.sorted() }
  var bytesOnDisk: Int { files().values.reduce(0, +) }

  /// True where an entry's file is there; unlike a look-up this is no use of it.
  func holds(_ cache: FileCache, _ key: String) throws -> Bool {
    FileManager.default.fileExists(atPath: path + "/" + (try cache.filePath(of: key)))
  }

  func read(_ file: String) throws -> [UInt8] { try [UInt8](Data(contentsOf: URL(filePath: path + "/" + file))) }

  /// Puts a file where there may be none.
  func put(_ bytes: [UInt8], at file: String) throws { try Data(bytes).write(to: URL(filePath: path + "/" + file)) }

  /// Changes a file in place.
  func write(_ bytes: [UInt8], to file: String) throws {
    let handle = try FileHandle(forWritingTo: URL(filePath: path + "/" + file))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: Data(bytes))
    try handle.close()
  }
}

extension FileCache {
  /// All of what is under a key: metadata and content.
  func whole(_ key: String) async throws(CacheError) -> (metadata: CacheMetadata, bytes: [UInt8])? {
    guard let entry = try await entry(forKey: key) else { return nil }
    return (entry.metadata, try await entry.read(0..<entry.length))
  }
}
