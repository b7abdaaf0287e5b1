import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Opens a cache's file after checking it, and replaces a damaged one by a new file.
struct SQLiteOpening: Sendable {
  let path: String
  let key: StorageKey?
  let options: DatabaseOptions

  /// An open file.
  struct Opened: Sendable {
    let database: Database
    let claim: FileClaim
    /// Why a damaged file was replaced by a new one; nil if it was not.
    let replaced: String?
  }

  /// Files up to this size are checked for damage each time, larger ones after damage was found.
  private static let checkedBytes = 64 << 20

  func open() async throws(CacheError) -> Opened {
    try makeFolder()
    let claim = try await FileClaim.make(path + ".lock")
    do throws(StorageError) {
      let opened = try await open(claim)
      claim.unmark()
      claim.share()
      return opened
    } catch {
      claim.release()
      throw CacheError(error, path: path)
    }
  }

  private func open(_ claim: FileClaim) async throws(StorageError) -> Opened {
    let content = try DatabaseFile(path).content()
    switch content {
    case .absent: try DatabaseFile(path).make()
    case .database(SQLiteCacheSchema.applicationID): break
    case .encrypted: break  // The check of its key decides; without a key, opening reports it.
    case .database(0): break  // Truncated before its first transaction, or another program's file: the schema decides.
    case .damaged: return try await replaced(claim, because: "its header is damaged", isOfCache: false)
    case .database, .other: throw StorageError.foreign(path)
    }
    // If the header does not identify the file, the schema does once the file is open.
    var isOfCache = content == .database(applicationID: SQLiteCacheSchema.applicationID)
    do throws(StorageError) {
      let database = try await connect()
      isOfCache = true
      do throws(StorageError) {
        if claim.isAlone, claim.isMarked || DatabaseFile(path).byteCount <= SQLiteOpening.checkedBytes {
          try await database.checkIntegrity()
        }
        return Opened(database: database, claim: claim, replaced: nil)
      } catch {
        try? await database.close()
        throw error
      }
    } catch {
      guard error.category == .corrupt || error.category == .notADatabase else { throw error }
      return try await replaced(claim, because: error.message, isOfCache: isOfCache)
    }
  }

  private func connect() async throws(StorageError) -> Database {
    try await Database.open(path, key: key, schema: SQLiteCacheSchema.schema, options: options)
  }

  /// Replaces a damaged file. A file that may not be a cache's is kept under another name, unless it is open; a cache's
  /// own content is downloaded again.
  private func replaced(_ claim: FileClaim, because reason: String, isOfCache: Bool) async throws(StorageError)
    -> Opened
  {
    guard claim.isAlone else {
      throw StorageError.damaged(path, "\(reason); it will be replaced when no other process has it open")
    }
    // Other programs do not know the claim.
    if !isOfCache { try DatabaseFile(path).checkUnused() }
    let aside = try DatabaseFile(path).setAside()
    if isOfCache { for suffix in ["", "-wal"] { try? FileManager.default.removeItem(atPath: aside + suffix) } }
    try DatabaseFile(path).make()
    return Opened(database: try await connect(), claim: claim, replaced: reason)
  }

  private func makeFolder() throws(CacheError) {
    do throws(StorageError) { try DatabaseFile(path).makeFolder() } catch {
      throw .failed(path: error.file ?? path, reason: error.message)
    }
  }
}
