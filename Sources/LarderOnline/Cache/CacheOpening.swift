import LarderStorage

/// Looks at the cache's file before it is trusted, opens it, and puts a new one in the place of a damaged one.
struct CacheOpening: Sendable {
  let place: CachePlace
  let key: StorageKey?
  let options: DatabaseOptions
  let report: @Sendable (OnlineStoreDiagnostic) -> Void

  /// Files up to this size are looked through for damage each time; larger ones show it when it is met.
  private static let checkedBytes = 64 << 20

  func open() async throws(StorageError) -> Database {
    try place.makeFolder()
    let content = try DatabaseFile(place.file).content()
    switch content {
    // Only a crash in the midst of its making leaves one without content that was not damaged.
    case .absent where DatabaseFile(place.file).isBlank, .damaged where DatabaseFile(place.file).isBlank:
      return try await replaced(because: "it is empty", isOurs: false)
    case .absent: try DatabaseFile(place.file).make()
    case .database(CacheSchema.applicationID): break
    case .encrypted: break  // Its key tells.
    case .database(0): break  // Cut off before its first transaction, or another's: the schema tells.
    case .damaged where key != nil: break  // Its key tells whether it is a damaged header's.
    case .damaged: return try await replaced(because: "its header is damaged", isOurs: false)
    case .database, .other:
      throw StorageError.foreign(place.file)
    }
    // What the header does not say the schema has told once the file is open.
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
    // Another program's file is not taken from under it: it knows nothing of this cache's lock.
    if !isOurs { try DatabaseFile(place.file).checkUnused() }
    let aside = try DatabaseFile(place.file).setAside()
    report(.cacheReplaced(path: place.file, setAside: aside, reason: reason))
    // Answers of a service are their reader's alone: the file, and so its log, can be read by nobody else.
    try DatabaseFile(place.file).make()
    return try await opened()
  }

  private var isSmall: Bool { DatabaseFile(place.file).byteCount <= CacheOpening.checkedBytes }
}
