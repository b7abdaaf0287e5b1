import LarderCore
import LarderStorage

/// Checks the cache's file before it is used, opens it, and replaces a damaged one with a new one.
struct CacheOpening: Sendable {
  let place: CachePlace
  let key: StorageKey?
  let options: DatabaseOptions
  let report: @Sendable (LarderDiagnostic) -> Void
  /// False if another store uses the file: then a missing or damaged file is left to that store.
  var mayReplace = true

  /// Files up to this size are checked for damage at each opening. Damage in a larger file is found when it is read.
  private static let checkedBytes = 64 << 20

  func open() async throws(StorageError) -> Database {
    try place.makeFolder()
    let content = try DatabaseFile(place.file).content()
    switch content {
    // A blank file that is not damaged exists only after a crash during its creation.
    case .absent where DatabaseFile(place.file).isBlank, .damaged where DatabaseFile(place.file).isBlank:
      return try await replaced(because: "it is empty", isOurs: false)
    case .absent:
      guard mayReplace else { throw StorageError.inUse(place.file) }
      try DatabaseFile(place.file).make()
    case .database(CacheSchema.applicationID): break
    case .encrypted: break  // The key tells whose file it is.
    case .database(0): break  // Its first transaction is missing, or it is another program's: the schema tells.
    case .damaged where key != nil: break  // The key tells whether this is a damaged header of the cache's own.
    case .damaged: return try await replaced(because: "its header is damaged", isOurs: false)
    case .database, .other:
      throw StorageError.foreign(place.file)
    }
    // If the header does not say it, the schema does, once the file is open.
    var isOurs = content == .database(applicationID: CacheSchema.applicationID)
    do throws(StorageError) {
      let database = try await opened()
      isOurs = true
      do throws(StorageError) {
        if isSmall { try await database.checkIntegrity() }
        return database
      } catch {
        try? await database.close()
        throw error
      }
    } catch {
      guard error.category == .corrupt || error.category == .notADatabase else { throw error }
      return try await replaced(because: error.message, isOurs: isOurs)
    }
  }

  private func opened() async throws(StorageError) -> Database {
    try await Database.open(place.file, key: key, schema: CacheSchema.schema, options: options)
  }

  private func replaced(because reason: String, isOurs: Bool) async throws(StorageError) -> Database {
    guard mayReplace else { throw StorageError.inUse(place.file) }
    // Another program's file is not replaced while that program uses it: it does not know this cache's lock.
    if !isOurs { try DatabaseFile(place.file).checkUnused() }
    let aside = try DatabaseFile(place.file).setAside()
    report(.cacheReplaced(path: place.file, movedTo: aside, reason: reason))
    // A service's responses belong to one user: nobody else can read the file, nor therefore its log.
    try DatabaseFile(place.file).make()
    return try await opened()
  }

  private var isSmall: Bool { DatabaseFile(place.file).byteCount <= CacheOpening.checkedBytes }
}
