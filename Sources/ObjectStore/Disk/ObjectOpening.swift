import Storage

/// Looks at a store's file before it is trusted, and opens it.
struct ObjectOpening: Sendable {
  let path: String
  let key: StorageKey?
  let options: ObjectStoreOptions
  let now: @Sendable () -> Int64
  let diagnose: @Sendable (ObjectStoreError) -> Void

  func open() async throws(StorageError) -> (Database, Memory) {
    do throws(StorageError) { return try await openWhole() } catch {
      // SQLite and the system name it in many ways, by what they first could not make.
      guard error.category == .cannotOpen, DatabaseFile(path).isReadOnly else { throw error }
      throw .readOnly(path, "The file or its folder can only be read: \(error.message)")
    }
  }

  private func openWhole() async throws(StorageError) -> (Database, Memory) {
    let file = DatabaseFile(path)
    guard !file.hasLostContent else { throw .damaged(path, "The file is empty, and was not") }
    switch try file.content() {
    case .absent:
      try file.makeFolder()
      try file.make()
    case .database(ObjectSchema.applicationID): break
    case .encrypted: break  // Its key tells.
    case .database(0): break  // Cut off before its first transaction, or another's: the schema tells.
    case .damaged where key == nil: throw .damaged(path, "The file's header is damaged")
    case .damaged: break  // Or nothing but zeros, where the machine crashed while it was made: opening tells.
    case .database, .other: throw .foreign(path)
    }
    let settings = DatabaseOptions(
      synchronous: .full, readers: 4, busyTimeoutMilliseconds: ObjectWriter.lockMilliseconds,
      writerCacheKibibytes: 16 << 10)
    let database = try await Database.open(path, key: key, schema: ObjectSchema.schema, options: settings)
    do throws(StorageError) {
      let last = try await database.read { (connection) throws(StorageError) in
        try connection.first("SELECT last FROM request ORDER BY last DESC LIMIT 1") { (row) throws(StorageError) in
          try row.int64(0)
        }
      }
      let memory = try await waiting(on: database) { () throws(StorageError) in
        let memory = Memory(
          limit: options.memory, evicts: options.disk != nil, counter: try counter(), lastRequest: last ?? 0, now: now)
        try memory.repair()
        return memory
      }
      return (database, memory)
    } catch {
      try? await database.close()
      throw error
    }
  }

  /// Nil where the file system has no shared memory, for no process then.
  ///
  /// Every other failure is one of opening: a process that changed the file without it would go unnoticed by the others.
  private func counter() throws(StorageError) -> SharedCounter? {
    do throws(StorageError) { return try SharedCounter(path + "-changes", like: path) } catch {
      guard error.category == .notSupported else { throw error }
      diagnose(ObjectStoreError(.open, error))
      return nil
    }
  }

  /// On a thread that may wait for another process.
  private func waiting<Value: Sendable>(
    on database: Database, _ body: @escaping @Sendable () throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Value, StorageError>, Never>) in
      database.whereWriting { _ in done.resume(returning: Result { () throws(StorageError) in try body() }) }
    }
    return try result.get()
  }
}

extension ObjectStore {
  /// Brings the file within its limits, some values a transaction.
  func trim() async throws(ObjectStoreError) {
    guard options.disk != nil, !database.isReadOnly else { return }
    try await change(.open) { table in try table.rowsForAll() }
    while try await change(.open, { table in try table.trim(256) }) {}
  }

  /// Takes the values most often asked for into memory.
  func warmUp() async throws(ObjectStoreError) {
    let limit = options.memory
    let count = min(options.warmUpCount, limit.count)
    guard count > 0, memory.fits(0) else { return }
    let token = memory.token
    let found: [(key: ObjectKey, object: StoredObject)]
    do throws(StorageError) {
      found = try await database.read { [now = memory.now()] (connection) throws(StorageError) in
        var found: [(key: ObjectKey, object: StoredObject)] = []
        var room = limit.bytes
        try connection.forEachRow(
          """
          SELECT object.key, \(StoredObject.columns) FROM request CROSS JOIN object ON object.id = request.object
          WHERE times > 0 AND size <= ? AND (expires IS NULL OR expires > ?) ORDER BY times DESC, last DESC LIMIT ?
          """, [.integer(Int64(limit.bytes / 4)), .integer(now), .integer(Int64(count))]
        ) { (row) throws(StorageError) in
          // A damaged row is met, and named, by who asks for it.
          guard let key = (try? row.text(0)).map(ObjectKey.init(stored:)),
            let object = try? StoredObject(row, key: key.text, from: 1)
          else { return true }
          room -= Memory.cost(key, object.encoded)
          guard room >= 0 else { return false }
          if !object.isDamaged { found.append((key, object)) }
          return true
        }
        return found
      }
    } catch { throw ObjectStoreError(.open, error) }
    // The most requested comes in last: it is the last to go.
    for (key, object) in found.reversed() {
      let cost = Memory.cost(key, object.encoded)
      memory.warm(
        key, Held(id: object.id, expires: object.expires, cost: cost, content: .encoded(object)), token: token)
    }
  }
}
