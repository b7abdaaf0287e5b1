// Opens files for reading that cannot be written.
extension Database {
  /// Opens a file that is up to date and not writable, or is on a full disk. It is opened beside a writer or, if the
  /// index of its log cannot be shared, as a file that does not change. Returns nil for another failure, or if there is
  /// no file.
  static func openToRead(
    _ path: String, schema: Schema, options: DatabaseOptions, cipher: CipherRegistry.Registration?,
    after error: StorageError
  ) throws(StorageError) -> Database? {
    let isFull = error.category == .full
    let isBarred = error.category == .readOnly || error.category == .cannotOpen
    guard isFull || isBarred && options.allowsReadOnly else { return nil }
    switch try DatabaseFile(path).content() {
    case .database where cipher == nil, .encrypted where cipher != nil: break
    case .absent, .database, .encrypted, .damaged, .other: return nil
    }
    do throws(StorageError) {
      return try openAsItIs(path, schema: schema, options: options, cipher: cipher, isFull: isFull)
    } catch {
      // The reason why the file cannot be read either would hide the original problem.
      if isFull { return nil }
      throw error
    }
  }

  private static func openAsItIs(
    _ path: String, schema: Schema, options: DatabaseOptions, cipher: CipherRegistry.Registration?, isFull: Bool
  ) throws(StorageError) -> Database {
    do throws(StorageError) {
      let connection = try connectToRead(path, access: .readOnly, schema: schema, options: options, cipher: cipher)
      return Database(path, options: options, writer: connection, cipher: cipher, isFull: isFull)
    } catch {
      // The index of the log cannot be created: there may be no space, or the folder may not be writable.
      let isOfIndex = error.category == .cannotOpen || error.category == .full || error.isOfFolder
      guard isOfIndex else { throw error }
    }
    if isFull, FileStamp(path).hasLog { try moveLogAlone(path, options, cipher) }
    let stamp = FileStamp(path)
    guard !stamp.hasLog else {
      throw .cannotOpen(
        path, "The write-ahead log has not been moved into the file; open the file once with write permission")
    }
    let connection = try connectToRead(path, access: .immutable, schema: schema, options: options, cipher: cipher)
    return Database(path, options: options, writer: connection, cipher: cipher, stamp: stamp, isFull: isFull)
  }

  /// Moves the log into the file if there is no space for the log's index: if the file is locked for this connection
  /// alone, SQLite keeps the index in its own memory. That takes no space unless the file has to grow.
  private static func moveLogAlone(
    _ path: String, _ options: DatabaseOptions, _ cipher: CipherRegistry.Registration?
  ) throws(StorageError) {
    let connection = try Connection(path, access: .readWrite, options: options, cipher: cipher)
    do throws(StorageError) {
      try connection.run("PRAGMA locking_mode = EXCLUSIVE")
      try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
    } catch {
      try? connection.close()
      throw error
    }
    try connection.close()
  }

  private static func connectToRead(
    _ path: String, access: Connection.Access, schema: Schema, options: DatabaseOptions,
    cipher: CipherRegistry.Registration?
  ) throws(StorageError) -> Connection {
    let connection = try Connection(path, access: access, options: options, cipher: cipher)
    do throws(StorageError) {
      let version = try connection.transaction(.deferred) { (connection) throws(StorageError) in
        try schema.version(of: connection)
      }
      guard version == schema.steps.count else {
        throw StorageError.readOnly(
          path, "The file has schema version \(version); open it once with write permission to migrate it")
      }
      return connection
    } catch {
      try? connection.close()
      throw error
    }
  }
}
