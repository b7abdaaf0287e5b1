// Files that may be read and not written to.
extension Database {
  /// Opens a file that is up to date and may not be written to: beside who writes to it, or, where the index of its log
  /// cannot be shared, as one that does not change. Nil for another failure, or a file that is not there.
  static func openToRead(
    _ path: String, _ schema: Schema, _ options: DatabaseOptions, _ cipher: CipherRegistry.Registration?,
    after error: StorageError
  ) throws(StorageError) -> Database? {
    let isBarred = error.category == .readOnly || error.category == .cannotOpen
    guard isBarred else { return nil }
    switch try DatabaseFile(path).content() {
    case .database where cipher == nil, .encrypted where cipher != nil: break
    case .absent, .database, .encrypted, .damaged, .other: return nil
    }
    do throws(StorageError) {
      let connection = try connectToRead(path, .readOnly, schema, options, cipher)
      return Database(path, options: options, writer: connection, cipher: cipher)
    } catch {
      guard error.category == .cannotOpen else { throw error }
    }
    let stamp = FileStamp(path)
    guard !stamp.hasLog else {
      throw .cannotOpen(path, "The file's log was not moved into it; open it once where it may be written to")
    }
    let connection = try connectToRead(path, .immutable, schema, options, cipher)
    return Database(path, options: options, writer: connection, cipher: cipher, stamp: stamp)
  }

  private static func connectToRead(
    _ path: String, _ access: Connection.Access, _ schema: Schema, _ options: DatabaseOptions,
    _ cipher: CipherRegistry.Registration?
  ) throws(StorageError) -> Connection {
    let connection = try Connection(path, access: access, options: options, cipher: cipher)
    do throws(StorageError) {
      let version = try connection.transaction(.deferred) { (connection) throws(StorageError) in
        try schema.version(of: connection)
      }
      guard version == schema.steps.count else {
        throw StorageError.readOnly(
          path, "The file has version \(version) and must be written to be brought up to date")
      }
      return connection
    } catch {
      try? connection.close()
      throw error
    }
  }
}
