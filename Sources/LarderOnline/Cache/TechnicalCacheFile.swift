package import LarderHTTP
package import LarderService
package import LarderStorage

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A technical cache's file as tools see it, to list, show or clear it. A store may have the file open at the same
/// time.
package struct TechnicalCacheFile: Sendable {
  /// The file's path.
  package let path: String
  private let key: StorageKey?

  /// Names a file and the key that it is encrypted with. Nothing is read yet.
  package init(path: String, key: StorageKey? = nil) {
    self.path = path
    self.key = key
  }

  /// The cache files in a folder, sorted by name, all with the same key; none if the folder does not exist.
  ///
  /// Throws `storage` for a folder that cannot be read.
  package static func files(
    in folder: String, key: StorageKey? = nil
  ) throws(ODataServiceError) -> [TechnicalCacheFile] {
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix("." + CachePlace.fileExtension) }.sorted()
        .map { TechnicalCacheFile(path: folder + (folder.hasSuffix("/") ? "" : "/") + $0, key: key) }
    } catch {
      throw ODataServiceError(FolderFailure.error(folder, "The folder cannot be read", error), operation: "files")
    }
  }

  /// One stored response, without its content.
  package struct Entry: Sendable, Hashable {
    /// The URL of the request, with scheme and host in lower case.
    package let url: String
    /// The status code.
    package let httpStatus: Int
    /// The content's length in bytes.
    package let payloadBytes: Int
    /// When the response was stored.
    package let stored: Date
    /// When the response was last stored, confirmed or read, as far as that has been written to the file.
    package let lastUsed: Date
    /// The stored header fields.
    package let fields: HTTPFields
    /// The service's link for later changes; nil if it gives none.
    package let deltaLink: String?
  }

  /// The root of the service that the file belongs to.
  package func serviceRoot() async throws(ODataServiceError) -> String? {
    try await read { (connection) throws(StorageError) in
      try connection.first("SELECT value FROM property WHERE name = 'root'") { (row) throws(StorageError) in
        String(decoding: try row.bytes(0), as: UTF8.self)
      }
    }
  }

  /// All stored responses, sorted by URL.
  package func entries() async throws(ODataServiceError) -> [Entry] {
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

  /// The stored responses for a URL, the most recently used first. There are several if clients or representations
  /// differ.
  package func responses(to url: String) async throws(ODataServiceError) -> [ODataSingleResponse] {
    try await read { (connection) throws(StorageError) in
      try connection.rows(
        "SELECT status, fields, payload FROM entry WHERE url IN (?, ?) ORDER BY used DESC",
        .text(CacheKey.normalised(url)), .text(url)
      ) { (row) throws(StorageError) in
        ODataSingleResponse(
          httpStatus: Int(clamping: try row.int64(0)), fields: CacheFields.fields(try row.text(1)),
          payloadBytes: try row.bytes(2), url: url)
      }
    }
  }

  /// Deletes the file, which needs no key. Throws `cacheInUse` while a store has it open.
  ///
  /// A file that is not a cache stays, and `storage` (`foreignFile`) is thrown. If the file itself
  /// does not show whether it is a cache, for example because it is encrypted, its name decides: a cache's name
  /// ends with `.larder-cache`.
  package func clear() async throws(ODataServiceError) {
    do throws(StorageError) {
      let lock = try FileLock(path + ".lock")
      defer { lock.release() }
      try CachePlace.removeDatabase(path)
    } catch { throw ODataServiceError(error, path: path, operation: "clear") }
  }

  private func read<Value: Sendable>(
    _ body: @escaping @Sendable (Connection) throws(StorageError) -> Value
  ) async throws(ODataServiceError) -> Value {
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
    } catch { throw ODataServiceError(error, path: path, operation: "read") }
  }

  private static func date(_ microseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }
}
