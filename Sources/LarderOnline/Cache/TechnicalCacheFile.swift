public import LarderHTTP
public import LarderService
public import LarderStorage

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A technical cache's file looked at from outside, for tools: listed, shown, reset. A store may have it open meanwhile.
public struct TechnicalCacheFile: Sendable {
  /// The file's path.
  public let path: String
  private let key: StorageKey?

  /// Names a file and the key that it is encrypted with; nothing is read yet.
  public init(path: String, key: StorageKey? = nil) {
    self.path = path
    self.key = key
  }

  /// The cache files in a folder, by name, all of one key; none where the folder does not exist.
  ///
  /// Throws ``OnlineStoreError/storage(_:)`` for a folder that cannot be read.
  public static func files(
    in folder: String, key: StorageKey? = nil
  ) throws(OnlineStoreError) -> [TechnicalCacheFile] {
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix("." + CachePlace.fileExtension) }.sorted()
        .map { TechnicalCacheFile(path: folder + (folder.hasSuffix("/") ? "" : "/") + $0, key: key) }
    } catch { throw .storage(FolderFailure.error(folder, "The folder cannot be read", error)) }
  }

  /// One kept answer, without its content.
  public struct Entry: Sendable, Hashable {
    /// The literal request URL.
    public let url: String
    /// The status code.
    public let httpStatus: Int
    /// The content's length in bytes.
    public let payloadBytes: Int
    /// When the answer was stored.
    public let stored: Date
    /// When it was last stored, confirmed or read, as far as that has been written.
    public let lastUsed: Date
    /// The kept fields.
    public let fields: HTTPFields
    /// Where the service says what changed since; nil where it gives no such link.
    public let deltaLink: String?
  }

  /// The root of the service that the file is of.
  public func serviceRoot() async throws(OnlineStoreError) -> String? {
    try await read { (connection) throws(StorageError) in
      try connection.first("SELECT value FROM property WHERE name = 'root'") { (row) throws(StorageError) in
        String(decoding: try row.bytes(0), as: UTF8.self)
      }
    }
  }

  /// All kept answers, by URL.
  public func entries() async throws(OnlineStoreError) -> [Entry] {
    try await read { (connection) throws(StorageError) in
      try connection.rows(
        "SELECT url, status, length(payload), stored, used, fields, delta_link FROM entry ORDER BY url, id"
      ) { (row) throws(StorageError) in
        Entry(
          url: try row.text(0), httpStatus: Int(clamping: try row.int64(1)),
          payloadBytes: Int(clamping: try row.int64(2)), stored: TechnicalCacheFile.date(try row.int64(3)),
          lastUsed: TechnicalCacheFile.date(try row.int64(4)), fields: CacheFields.fields(try row.text(5)),
          deltaLink: try row.textOrNil(6))
      }
    }
  }

  /// The kept answers to a URL, the last used first: several where callers or representations differ.
  public func responses(to url: String) async throws(OnlineStoreError) -> [ODataSingleResponse] {
    try await read { (connection) throws(StorageError) in
      try connection.rows(
        "SELECT status, fields, payload FROM entry WHERE url = ? ORDER BY used DESC", .text(url)
      ) { (row) throws(StorageError) in
        ODataSingleResponse(
          httpStatus: Int(clamping: try row.int64(0)), fields: CacheFields.fields(try row.text(1)),
          payloadBytes: try row.bytes(2), url: url)
      }
    }
  }

  /// Deletes the file, which needs no key; throws ``OnlineStoreError/cacheInUse(path:)`` while a store has it open.
  ///
  /// A file that is no cache's stays, with ``OnlineStoreError/storage(_:)`` (`foreignFile`). Where that cannot be seen in it,
  /// as in an encrypted one, its name tells: a cache's ends with `.larder-cache`.
  public func reset() async throws(OnlineStoreError) {
    do throws(StorageError) {
      let lock = try FileLock(path + ".lock")
      defer { lock.release() }
      try CachePlace.removeDatabase(path)
    } catch { throw OnlineStoreError(error, path: path) }
  }

  private func read<Value: Sendable>(
    _ body: @escaping @Sendable (Connection) throws(StorageError) -> Value
  ) async throws(OnlineStoreError) -> Value {
    do throws(StorageError) {
      switch try DatabaseFile(path).content() {
      case .database, .encrypted: break
      case .absent where DatabaseFile(path).isBlank: throw StorageError.damaged(path, "The file is empty")
      case .damaged: throw StorageError.damaged(path, "The file's header is damaged")
      case .absent, .other: throw StorageError.foreign(path)
      }
      let database = try await Database.open(path, key: key, schema: CacheSchema.schema)
      do throws(StorageError) {
        let value = try await database.read(body)
        try await database.close()
        return value
      } catch {
        try? await database.close()
        throw error
      }
    } catch { throw OnlineStoreError(error, path: path) }
  }

  private static func date(_ microseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }
}
