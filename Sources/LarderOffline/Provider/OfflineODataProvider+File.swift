import LarderCore
public import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The file of a closed store as a whole: removed, or given another key.
extension OfflineODataProvider {
  /// Removes the store's file with all that is in it, an encrypted one also where its key is lost. Only while the store is
  /// closed: throws `preconditionFailed` else, and where another process has it open.
  ///
  /// With ``OfflineODataParameters/currentUser`` that user's store is removed, in its place or set aside, and no other's.
  public func clear() async throws { try await calls.run { [self] in try await performClearing() } }

  private func performClearing() async throws {
    try state.withLock { state throws(OfflineODataError) in
      try state.checkNotSuspended()
      guard case .closed = state.phase else { throw OfflineODataError(.storeOpen) }
      state.phase = .clearing
    }
    defer { state.withLock { $0.phase = .closed } }
    try await translated {
      let path = given.file
      let user = given.currentUser.map { StoreUser($0) }
      let aside = user?.aside(of: path)
      // Where nothing is, no lock is made; what there is only the lock tells, for another may move it until then.
      let makes = try user != nil && (isThere(DatabaseFile(path)) || isThere(aside))
      let mark = try await UserMark.take(of: path, isShared: false, makes: makes, given.environment)
      defer { mark?.release() }
      let isAside = try isThere(aside)
      // A store is opened in its place alone.
      if isAside { try aside?.remove() }
      if try isThere(DatabaseFile(path)), try await isOwn(isAside, mark) { try await clearPlace() }
    }
  }

  private func isThere(_ file: DatabaseFile?) throws(StorageError) -> Bool {
    guard let file else { return false }
    return try file.content() != .absent || file.hasLostContent
  }

  /// Whether the store in place is the user's, or nobody's while the user has no other; without a user any is.
  private func isOwn(_ hasOther: Bool, _ mark: UserMark?) async throws -> Bool {
    guard let name = given.currentUser else { return true }
    let found = try? await UserOpening(given, user: name).look()
    guard let owner = found?.user ?? mark?.user else { return !hasOther }
    return owner == StoreUser(name)
  }

  private func clearPlace() async throws {
    let path = given.file
    let lock = try FileLock(path + "-download")
    defer { lock.release() }
    try await checkRemovable(path)
    try DatabaseFile(path).remove()
    for suffix in ["-changes", "-download", "-upload", "-user"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
    guard !FileManager.default.fileExists(atPath: path) else { throw OfflineODataError(.fileFailed, path) }
  }

  /// Looks whose file it is, and who has it open, before anything is removed. A damaged store may go, one on a full disk,
  /// and one that this key does not open: by its name it is a store's.
  private func checkRemovable(_ path: String) async throws {
    let isEncrypted = try DatabaseFile(path).content() == .encrypted
    do throws(StorageError) {
      let replica = try await Replica.open(
        path: path, key: isEncrypted ? given.givenKey.key : nil, protection: given.fileProtection,
        environment: given.environment)
      try await replica.close()
      // A header that forbids writing (SQLite file format §1.3.2) is damage where the system allows it; who only reads
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
    // Without a log nobody has it open; beside a closed file one may be left.
    if FileManager.default.fileExists(atPath: path + "-wal") { try DatabaseFile(path).checkUnused() }
  }

  /// Gives the file of a closed store another key, encrypts a plain one, or makes an encrypted one plain.
  ///
  /// When it returns the new key opens the file; after a crash at any instant the old one does, or the new one. It needs as
  /// much room on the disk as the file has, whose old bytes are not overwritten: a disk may keep them. Nothing that is
  /// in the store is lost, changes that wait to be sent least of all.
  ///
  /// ```swift
  /// try await provider.close()
  /// try await OfflineODataProvider.changeKey(of: parameters, to: new)
  /// parameters.storeEncryptionKey = new
  /// ```
  ///
  /// - Parameters:
  ///   - parameters: where the store is, and its key now; nil for a plain file.
  ///   - key: the new key; nil makes the file plain.
  /// - Throws: `notFound` where there is no store; `preconditionFailed` (`storeInUse`) where anybody has it open, and for a
  ///   key that is not the store's, as ``open()`` does, and for another user's store (`otherUser`); `invalidInput` where
  ///   there is neither an old nor a new key.
  public static func changeKey(
    of parameters: OfflineODataParameters, to key: StorageKey?
  ) async throws(OfflineODataError) {
    try parameters.check()
    guard parameters.storePath != nil else {
      throw OfflineODataError(.invalidParameter, "storePath is nil; take that of the provider's parameters")
    }
    let (path, old) = (parameters.file, parameters.givenKey.key)
    guard old != nil || key != nil else {
      throw OfflineODataError(.invalidParameter, "there is neither an old nor a new key")
    }
    do {
      // Nobody puts another user's store into the place meanwhile.
      let mark = try await UserMark.take(of: path, isShared: true, makes: false)
      defer { mark?.release() }
      guard try DatabaseFile(path).content() != .absent else {
        throw OfflineODataError(.resourceNotFound, "there is no store \(path)")
      }
      if let name = parameters.currentUser {
        // What the store says decides; the mark only where the key does not open it, or it is nobody's.
        let found = try await UserOpening(parameters, user: name).look()
        if let owner = found?.user ?? mark?.user, owner != StoreUser(name) {
          throw OfflineODataError(.otherUser, path)
        }
      }
      try await Replica.rekey(path: path, from: old, to: key)
    } catch { throw OfflineODataError(below: error) }
  }
}

extension StorageError.Category {
  /// What removing the file is the cure of.
  fileprivate var isDamage: Bool {
    switch self {
    case .corrupt, .notADatabase, .inputOutput, .full, .misuse, .unexpectedValue, .tooLarge, .constraint, .other: true
    case .busy, .foreignFile, .newerSchema, .inUse, .readOnly, .cannotOpen, .closed, .suspended, .notSupported,
      .interrupted,
      .wrongKey, .encrypted, .notEncrypted:
      false
    }
  }

  /// A key that is not the file's, or none.
  fileprivate var isOfKey: Bool { self == .wrongKey || self == .encrypted }
}
