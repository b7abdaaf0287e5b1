#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// Moves, removes and checks closed databases.
extension DatabaseFile {
  /// The steps of ``move(to:didStep:)`` that have been completed.
  package enum MoveStep: String, Sendable, CaseIterable {
    /// The log has its new name in addition to the old one.
    case logNamed
    /// The file has its new name.
    case renamed
    /// The log's old name is removed.
    case logDropped
  }

  /// Files beside a database that belong to it: they mean nothing without it, and must not be used with another
  /// database.
  private static let companions = ["-wal", "-shm", "-journal", "-rekey", "-rekey-wal", "-rekey-shm", "-rekey-journal"]
  /// The files that hold content that the database file does not have.
  private static let logs = ["-wal", "-journal"]

  /// Renames a database that is not open in its folder, with the log that a crash may have left. It needs no key.
  ///
  /// If the move is interrupted at any time, even by a crash of the machine, the database is intact under one of the
  /// two names: a log has both names while the file has only one. Code that finds no file under a name must call
  /// ``removeCompanions()`` before it creates one.
  /// - Parameter didStep: called after each step.
  /// - Throws: `inUse` if any connection has it open; `cannotOpen` if there is none, or if the new name exists already;
  ///   `notSupported` if there is a log and the file system cannot give a file two names.
  package func move(to target: String, didStep: (MoveStep) -> Void = { _ in }) throws(StorageError) {
    let from = DatabaseFile(absolutePath)
    let to = DatabaseFile(DatabaseFile(target).absolutePath)
    guard try from.content() != .absent else { throw .cannotOpen(path, "The file does not exist") }
    guard try to.content() == .absent else { throw .cannotOpen(target, "A file of this name already exists") }
    // Removes what an earlier move left that was interrupted.
    to.removeCompanions()
    do throws(StorageError) {
      try EncryptedFile(path: from.path).alone(.readWrite) { (_) throws(StorageError) in
        try from.moveAlone(to, didStep)
      }
    } catch { throw error.category == .busy ? .inUse(path) : error }
  }

  private func moveAlone(_ to: DatabaseFile, _ didStep: (MoveStep) -> Void) throws(StorageError) {
    for log in DatabaseFile.logs where DatabaseFile(path + log).byteCount > 0 {
      guard unsafe link(path + log, to.path + log) == 0 else {
        let reason = errno
        to.removeCompanions()
        throw .notSupported(
          path + log,
          "The write-ahead log cannot be hard-linked (errno \(reason)); open and close the database, then try again")
      }
    }
    try syncFolder()
    didStep(.logNamed)
    guard unsafe rename(path, to.path) == 0 else {
      let reason = errno
      to.removeCompanions()
      throw StorageError(.inputOutput, message: "The file cannot be renamed (errno \(reason))", path: path)
    }
    try syncFolder()
    didStep(.renamed)
    removeCompanions()
    try syncFolder()
    didStep(.logDropped)
  }

  /// Removes the files that a database has left here which no longer exists.
  package func removeCompanions() { for suffix in DatabaseFile.companions { _ = unsafe unlink(path + suffix) } }

  /// Removes a database with all that is beside it, the file first. Connections that have it open continue with the
  /// unlinked file.
  package func remove() throws(StorageError) {
    guard unsafe unlink(path) == 0 || errno == ENOENT else {
      throw StorageError(.inputOutput, message: "The file cannot be removed (errno \(errno))", path: path)
    }
    removeCompanions()
    try syncFolder()
  }

  /// Flushes the list of files in the file's folder to the disk.
  package func syncFolder() throws(StorageError) {
    let path = absolutePath
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    guard FilesInUse.syncFolder(folder.isEmpty ? "/" : folder) else {
      throw StorageError(.inputOutput, message: "The folder cannot be flushed to the disk (errno \(errno))", path: path)
    }
  }

  /// Checks whether a key opens the file, or whether the file is plain if the key is nil. Changes nothing. Throws
  /// `wrongKey`, `encrypted`, `notEncrypted` and similar errors.
  package func check(_ key: StorageKey?) throws(StorageError) {
    if let key {
      guard try EncryptedFile(path: path).find(key, nil) != nil else {
        throw .cannotOpen(path, "The file does not exist")
      }
    } else if try content() == .encrypted {
      throw .encrypted(path)
    }
  }
}
