@_spi(Stores) import LarderCore
public import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Operations on the file of a closed store as a whole: removing it, and changing its key.
extension OfflineODataProvider {
  /// Removes the store's file with all its content. An encrypted file can be removed even if its key is lost. The store
  /// must be closed: throws `preconditionFailed` otherwise, and if another process has it open.
  ///
  /// With ``OfflineODataParameters/currentUser``, only that user's store is removed, whether it is in place or set
  /// aside.
  public func clear() async throws { try await calls.run { [self] in try await performClearing() } }

  private func performClearing() async throws {
    try state.withLock { state throws(OfflineODataError) in
      try state.checkNotSuspended()
      guard case .closed = state.phase else { throw OfflineODataError(.storeOpen) }
      state.phase = .clearing
    }
    defer { state.withLock { $0.phase = .closed } }
    try await translated {
      let path = file
      let user = parametersWithKeys.currentUser.map { StoreUser($0) }
      let aside = user?.aside(of: path)
      // If there is no store, no lock file is created. What exists is known only under the lock, because another
      // process may move it until then.
      let makes = try user != nil && (isThere(DatabaseFile(path)) || isThere(aside))
      let mark = try await UserMark.take(of: path, isShared: false, makes: makes, parametersWithKeys.environment)
      defer { mark?.release() }
      let isAside = try isThere(aside)
      // Only a store in its place can be open, so no check is needed here.
      if isAside { try aside?.remove() }
      if try isThere(DatabaseFile(path)), try await isOwn(isAside, mark) { try await clearPlace() }
    }
  }

  private func isThere(_ file: DatabaseFile?) throws(StorageError) -> Bool {
    guard let file else { return false }
    return try file.content() != .absent || file.hasLostContent
  }

  /// Whether the store in place is the user's, or has no owner while the user has no other store. Without a current
  /// user, any store is.
  private func isOwn(_ hasOther: Bool, _ mark: UserMark?) async throws -> Bool {
    guard let name = parametersWithKeys.currentUser else { return true }
    let ownership = try? await UserOpening(parametersWithKeys, in: folder, user: name).readOwnership()
    guard let owner = ownership?.user ?? mark?.user else { return !hasOther }
    return owner == StoreUser(name)
  }

  private func clearPlace() async throws {
    let path = file
    let lock = try FileLock(path + "-download")
    defer { lock.release() }
    try await checkRemovable(path)
    try DatabaseFile(path).remove()
    for suffix in ["-changes", "-download", "-upload", "-user"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
    guard !FileManager.default.fileExists(atPath: path) else { throw OfflineODataError(.fileFailed, path) }
  }

  /// Checks that the file is a store's and that no process has it open, before anything is removed. A damaged store can
  /// be removed, and so can a store on a full disk, or one that this key does not open: its name is that of a store.
  private func checkRemovable(_ path: String) async throws {
    let isEncrypted = try DatabaseFile(path).content() == .encrypted
    do throws(StorageError) {
      let replica = try await Replica.open(
        path: path, key: isEncrypted ? parametersWithKeys.givenKey.key : nil,
        protection: parametersWithKeys.fileProtection,
        environment: parametersWithKeys.environment)
      try await replica.close()
      // A header that forbids writing (SQLite file format §1.3.2) is damage if the system allows writing. A reader
      // leaves the log where it is.
      if replica.isReadOnly, FileManager.default.isWritableFile(atPath: path) { return }
    } catch {
      let content = try DatabaseFile(path).content()
      if content == .encrypted, error.category.isDamage || error.category.isOfKey {
        return try DatabaseFile(path).checkUnused()
      }
      let isOurs =
        [.damaged, .absent].contains(content) || content == .database(applicationID: ReplicaSchema.applicationID)
      guard isOurs, error.category.isDamage else { throw error }
      return
    }
    // Without a log, no process has the file open; a closed file may still have one beside it.
    if FileManager.default.fileExists(atPath: path + "-wal") { try DatabaseFile(path).checkUnused() }
  }

  /// Changes the encryption key of a closed store's file, encrypts an unencrypted file, or decrypts an encrypted one.
  ///
  /// When this returns, the new key opens the file. After a crash at any time, either the old key or the new key opens
  /// it. The operation needs as much free disk space as the file has bytes. The old bytes are not overwritten: a disk
  /// may keep them. Nothing in the store is lost, including pending changes.
  ///
  /// ```swift
  /// try await provider.close()
  /// try await OfflineODataProvider.changeEncryptionKey(of: parameters, to: new)
  /// parameters.encryptionKey = new
  /// ```
  ///
  /// - Parameters:
  ///   - parameters: the location of the store and its current key; nil for an unencrypted file.
  ///   - key: the new key; nil decrypts the file.
  /// - Throws: `notFound` if there is no store; `preconditionFailed` (`storeInUse`) if any process has it open, and
  ///   also for a key that is not the store's, as ``open()`` does, and for another user's store (`otherUser`);
  ///   `invalidInput` if neither an old nor a new key is given.
  public static func changeEncryptionKey(
    of parameters: OfflineODataParameters, to key: StorageKey?
  ) async throws(OfflineODataError) {
    try parameters.check()
    try parameters.checkKey()
    guard let folder = parameters.path else {
      throw OfflineODataError(.invalidParameter, "path is nil; use the parameters of the provider")
    }
    let (path, old) = (parameters.file(in: folder), parameters.givenKey.key)
    guard old != nil || key != nil else {
      throw OfflineODataError(.invalidParameter, "neither an old nor a new key was given")
    }
    do {
      // The shared lock prevents other processes from moving another user's store into the place meanwhile.
      let mark = try await UserMark.take(of: path, isShared: true, makes: false)
      defer { mark?.release() }
      guard try DatabaseFile(path).content() != .absent else {
        throw OfflineODataError(.resourceNotFound, "there is no store \(path)")
      }
      if let name = parameters.currentUser {
        // The user recorded in the store is authoritative. The mark is used only if the key does not open the store, or
        // the store has no owner.
        let ownership = try await UserOpening(parameters, in: folder, user: name).readOwnership()
        if let owner = ownership?.user ?? mark?.user, owner != StoreUser(name) {
          throw OfflineODataError(.otherUser, path)
        }
      }
      try await Replica.rekey(path: path, from: old, to: key)
    } catch { throw OfflineODataError(below: error) }
  }
}

extension StorageError.Category {
  /// Errors after which removing the file is the remedy.
  fileprivate var isDamage: Bool {
    switch self {
    case .corrupt, .notADatabase, .inputOutput, .full, .misuse, .unexpectedValue, .tooLarge, .constraint, .other: true
    case .busy, .changed, .foreignFile, .newerSchema, .inUse, .readOnly, .cannotOpen, .closed, .suspended,
      .noDefaultLocation,
      .notSupported,
      .interrupted,
      .wrongKey, .encrypted, .notEncrypted:
      false
    }
  }

  /// Errors of a missing key or a key that is not the file's.
  fileprivate var isOfKey: Bool { self == .wrongKey || self == .encrypted }
}
