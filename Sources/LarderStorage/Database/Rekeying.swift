import CLarderSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Changes a file's key, encrypts a plain file, or decrypts one: a copy beside the file replaces it in one step.
///
/// No other connection may have the file open meanwhile. If the work is interrupted, the file is as before, and the
/// leftovers beside it are removed when the file is next opened. The last step is the exception: if the folder cannot
/// be flushed to the disk, the copy has already replaced the file, and the error says that the new key opens it.
struct Rekeying {
  let path: String
  let old: StorageKey?
  let new: StorageKey?
  /// What the file must be; nil accepts any database.
  let schema: Schema?
  let options: DatabaseOptions
  /// Flushes a folder's list of files to the disk; returns false if that fails.
  var syncFolder: @Sendable (String) -> Bool = { FilesInUse.syncFolder($0) }

  private static let suffix = "-rekey"

  /// Changes the key, blocking.
  func run() throws(StorageError) {
    let full = try CipherVFS.fullPath(path)
    let source = try CipherRegistry.add(full, try content(full))
    let connection = try Connection(full, access: .readWrite, options: options, cipher: source)
    defer { try? connection.close() }
    try claim(connection)
    if let schema {
      _ = try connection.transaction(.deferred) { (connection) throws(StorageError) in
        try schema.version(of: connection)
      }
    }
    let target = full + Rekeying.suffix
    do throws(StorageError) {
      try Rekeying.make(target)
      try copy(connection, source, to: target)
      try replace(full, by: target, connection)
    } catch {
      Rekeying.remove(target)
      throw error
    }
  }

  private func content(_ full: String) throws(StorageError) -> CipherRegistry.Content {
    if let old {
      guard let keys = try EncryptedFile(path: full).find(old, nil) else { throw missing }
      return .encrypted(keys)
    }
    switch try DatabaseFile(full).encryption() {
    case .plain: return .plain
    case .absent: throw missing
    case .encrypted, .unknown: throw .encrypted(path)
    case .damaged: throw .damaged(path, "The file's header is damaged")
    case .other: throw StorageError(.notADatabase, message: "The file is not a database", path: path)
    }
  }

  private var missing: StorageError { .cannotOpen(path, "The file does not exist") }

  /// Locks the file for this connection alone, and moves everything that was committed into its main part.
  private func claim(_ connection: Connection) throws(StorageError) {
    do throws(StorageError) {
      try connection.run("PRAGMA locking_mode = EXCLUSIVE")
      try connection.run("BEGIN EXCLUSIVE")
      try connection.run("COMMIT")
      let isBusy = try connection.first("PRAGMA wal_checkpoint(TRUNCATE)") { (row) throws(StorageError) in
        try row.int64(0) != 0
      }
      guard isBusy == false, connection.isInPlace else { throw StorageError.inUse(path) }
    } catch {
      throw error.category == .busy ? .inUse(path) : error
    }
  }

  // MARK: Copying

  private func copy(
    _ connection: Connection, _ source: CipherRegistry.Registration, to target: String
  ) throws(StorageError) {
    let keys: FileKeys?
    if let new { keys = try FileKeys.new(new) } else { keys = nil }
    switch (source.keys, keys) {
    case (nil, nil): throw StorageError(.misuse, message: "Neither an old nor a new key was given", path: path)
    case (nil, let keys?): try encrypt(connection, keys, to: target)
    case (let old?, let keys):
      let copy = try PageCopy(target, old, keys)
      try copy.copyPages(of: connection)
    }
  }

  /// Encrypts through the engine, which reserves room in the pages for nonce and tag.
  private func encrypt(_ connection: Connection, _ keys: FileKeys, to target: String) throws(StorageError) {
    let registration = try CipherRegistry.add(target, .new(keys))
    do {
      defer { withExtendedLifetime(registration) {} }
      // The order matters: the first would undo the second.
      try connection.run("PRAGMA page_size = \(FileContent.pageLength)")
      guard connection.setReserve(Int32(FileContent.reservedLength)) else {
        throw StorageError(.other, message: "SQLite cannot reserve bytes in pages", path: path)
      }
      try connection.run("VACUUM INTO ?", .text(target))
    }
    try PageCopy(target, keys, keys).setLogMode()
  }

  // MARK: Replacing

  private func replace(_ full: String, by target: String, _ connection: Connection) throws(StorageError) {
    var status = stat()
    if unsafe stat(full, &status) == 0 { _ = unsafe chmod(target, status.st_mode & 0o777) }
    // The log is empty, and must not be removed at the end: the name belongs to the new file then.
    connection.leavesLog()
    for suffix in ["-wal", "-journal"] { _ = unsafe unlink(full + suffix) }
    guard unsafe rename(target, full) == 0 else {
      throw StorageError(.inputOutput, message: "The copy cannot replace the file (errno \(errno))", path: path)
    }
    let folder = full.lastIndex(of: "/").map { String(full[..<$0]) } ?? ""
    // Only after that does the new key open the file after a power failure, too.
    guard syncFolder(folder.isEmpty ? "/" : folder) else {
      let reason = errno
      let state =
        new == nil ? "The file is now decrypted and opens without a key" : "The file now opens with the new key"
      throw StorageError(
        .inputOutput,
        message: "\(state), but the folder cannot be flushed to the disk (errno \(reason)): a power failure may "
          + "restore the previous file. Keep the old key, if there was one, until the disk works again.", path: path)
    }
  }

  /// Removes what a crash has left. Only a caller that has the file open may do so, because then no other process is
  /// rekeying it.
  static func removeLeftovers(of path: String) { remove(path + suffix) }

  /// Creates an empty file for its owner alone, not following a link, in place of what a crash has left.
  private static func make(_ target: String) throws(StorageError) {
    remove(target)
    let descriptor = unsafe open(target, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(0o600))
    guard descriptor >= 0 else { throw StorageError(errno: errno, "The copy cannot be created", path: target) }
    _ = close(descriptor)
  }

  private static func remove(_ target: String) {
    for suffix in ["", "-journal", "-wal", "-shm"] { _ = unsafe unlink(target + suffix) }
  }
}

extension Database {
  /// Changes the key of a closed file (`from` and `to`), encrypts a plain one (`to`), or decrypts one (`from`).
  ///
  /// The new key opens the file when this returns; after a crash at any time either the old key or the new one does. If
  /// this throws, the old key opens the file, except after an `inputOutput` error whose message says that the new one
  /// does: then the last step, flushing the folder to the disk, has failed. Rekeying needs as much free space on the
  /// disk as the file has. The old file's bytes are not overwritten: the disk may keep them.
  /// - Parameters:
  ///   - schema: what the file must be: a file of another application, or of a later version, is left as it is; nil
  ///     accepts any.
  ///   - options: the options that the file is opened with, because its indexes may need their functions.
  /// - Throws: `inUse` if any connection has it open, `wrongKey`, `encrypted`, `notEncrypted`, `foreignFile`,
  ///   `newerSchema`, `corrupt`, `cannotOpen`, `full`.
  package static func rekey(
    _ path: String, from old: StorageKey?, to new: StorageKey?, schema: Schema? = nil,
    options: DatabaseOptions = .init()
  ) async throws(StorageError) {
    let path = DatabaseFile(path).absolutePath
    let rekeying = Rekeying(path: path, old: old, new: new, schema: schema, options: options)
    try await result(on: openingQueue()) { () throws(StorageError) in try rekeying.run() }
  }
}
