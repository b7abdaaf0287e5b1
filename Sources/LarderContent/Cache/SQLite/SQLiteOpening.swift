import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Looks at a cache's file before it is trusted, opens it, and puts a new one in the place of a damaged one.
struct SQLiteOpening: Sendable {
  let path: String
  let key: StorageKey?
  let options: DatabaseOptions

  /// An open file.
  struct Opened: Sendable {
    let database: Database
    let claim: FileClaim
    /// Why a new file was made in the place of a damaged one; nil where none was.
    let replaced: String?
  }

  /// Files up to this size are looked through for damage each time; larger ones after some was met.
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
    case .encrypted: break  // Whose it is, its key tells; without one, opening says so.
    case .database(0): break  // Cut off before its first transaction, or another's: the schema tells.
    case .damaged: return try await replaced(claim, because: "its header is damaged", isOurs: false)
    case .database, .other: throw StorageError.foreign(path)
    }
    // What the header does not say the schema has told once the file is open.
    var isOurs = content == .database(applicationID: SQLiteCacheSchema.applicationID)
    do throws(StorageError) {
      let database = try await connect()
      isOurs = true
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
      return try await replaced(claim, because: error.message, isOurs: isOurs)
    }
  }

  private func connect() async throws(StorageError) -> Database {
    try await Database.open(path, key: key, schema: SQLiteCacheSchema.schema, options: options)
  }

  /// What cannot be told from another's file is kept under another name, unless it is open; a cache's own content is
  /// fetched again.
  private func replaced(_ claim: FileClaim, because reason: String, isOurs: Bool) async throws(StorageError) -> Opened {
    guard claim.isAlone else {
      throw StorageError.damaged(path, "\(reason); it is replaced when nothing else has it open")
    }
    // Others know nothing of the claim.
    if !isOurs { try DatabaseFile(path).checkUnused() }
    let aside = try DatabaseFile(path).setAside()
    if isOurs { for suffix in ["", "-wal"] { try? FileManager.default.removeItem(atPath: aside + suffix) } }
    try DatabaseFile(path).make()
    return Opened(database: try await connect(), claim: claim, replaced: reason)
  }

  private func makeFolder() throws(CacheError) {
    do throws(StorageError) { try DatabaseFile(path).makeFolder() } catch {
      throw .failed(path: error.file ?? path, reason: error.message)
    }
  }
}
