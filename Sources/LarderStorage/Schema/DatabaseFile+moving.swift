#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// A closed database under another name.
extension DatabaseFile {
  /// What ``move(to:didStep:)`` has done.
  package enum MoveStep: String, Sendable, CaseIterable {
    /// The log has its new name beside the old one.
    case logNamed
    /// The file has its new name.
    case renamed
    /// The log's old name is gone.
    case logDropped
  }

  /// Files beside a database that are its own: they mean nothing without it, and must not meet another in its place.
  private static let companions = ["-wal", "-shm", "-journal", "-rekey", "-rekey-wal", "-rekey-shm", "-rekey-journal"]
  /// Those that have what the file has not.
  private static let logs = ["-wal", "-journal"]

  /// Gives a database that nobody has open another name in its folder, with the log that a crash may have left. It needs
  /// no key.
  ///
  /// Ended at any instant, by a crash of the machine too, the database is whole under one of the two names: a log has both
  /// names while the file has only one. Whoever finds no file under a name calls ``removeCompanions()`` before one is made.
  /// - Parameter didStep: told after each step.
  /// - Throws: `inUse` where anybody has it open; `cannotOpen` where there is none, or one of that name already;
  ///   `notSupported` where a log is left and the file system gives no file two names.
  package func move(to target: String, didStep: (MoveStep) -> Void = { _ in }) throws(StorageError) {
    let from = DatabaseFile(absolutePath)
    let to = DatabaseFile(DatabaseFile(target).absolutePath)
    guard try from.content() != .absent else { throw .cannotOpen(path, "There is no file") }
    guard try to.content() == .absent else { throw .cannotOpen(target, "There is a file of this name already") }
    // What an earlier move left that went no further.
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
        throw .notSupported(path + log, "The log cannot be given a second name (errno \(reason)); open the file once")
      }
    }
    try syncFolder()
    didStep(.logNamed)
    guard unsafe rename(path, to.path) == 0 else {
      let reason = errno
      to.removeCompanions()
      throw StorageError(.inputOutput, message: "The file cannot be renamed (errno \(reason))", file: path)
    }
    try syncFolder()
    didStep(.renamed)
    removeCompanions()
    try syncFolder()
    didStep(.logDropped)
  }

  /// Removes what a database that is not here any more has left beside its place.
  package func removeCompanions() { for suffix in DatabaseFile.companions { _ = unsafe unlink(path + suffix) } }

  /// Removes a database with all that is beside it, the file first: whoever has it open goes on with what nobody finds.
  package func remove() throws(StorageError) {
    guard unsafe unlink(path) == 0 || errno == ENOENT else {
      throw StorageError(.inputOutput, message: "The file cannot be removed (errno \(errno))", file: path)
    }
    removeCompanions()
    try syncFolder()
  }

  /// Writes the list of files in the file's folder to the disk.
  package func syncFolder() throws(StorageError) {
    let path = absolutePath
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    guard FilesInUse.syncFolder(folder.isEmpty ? "/" : folder) else {
      throw StorageError(.inputOutput, message: "The folder cannot be written to the disk (errno \(errno))", file: path)
    }
  }

  /// Looks whether a key opens the file, or none does where it is plain; changes nothing. Throws `wrongKey`, `encrypted`,
  /// `notEncrypted` and their like.
  package func check(_ key: StorageKey?) throws(StorageError) {
    if let key {
      guard try EncryptedFile(path: path).find(key, nil) != nil else { throw .cannotOpen(path, "There is no file") }
    } else if try content() == .encrypted {
      throw .encrypted(path)
    }
  }
}
