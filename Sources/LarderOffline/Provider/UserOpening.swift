import LarderCore
package import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Opens a store for a user: the store in place if it belongs to the user, otherwise the one that
/// ``OfflineODataUserSwitch`` puts there.
///
/// A store that is set aside lies beside its place as `NAME.larder-user-DIGEST`, with the digest of its user. It is
/// moved by renaming, so that it is complete under one of the two names at any time. If no store is at the place after
/// an interruption, the next opening continues the switch.
package struct UserOpening: Sendable {
  /// A completed step of the switch, which tests observe.
  package enum Step: Sendable, Hashable {
    /// The other user's unencrypted store was encrypted with the given key.
    case encrypted
    /// The other user's store is being moved aside.
    case leaving(DatabaseFile.MoveStep)
    /// The other user's store, which had no pending changes, was removed.
    case removed
    /// The place was marked as the user's.
    case marked
    /// The user's own store is being moved back.
    case returning(DatabaseFile.MoveStep)
  }

  private let parameters: OfflineODataParameters
  private let folder: String
  private let user: StoreUser
  private let root: String?
  private let didStep: @Sendable (Step) -> Void

  private var path: String { parameters.file(in: folder) }
  private var place: DatabaseFile { DatabaseFile(path) }
  private var aside: DatabaseFile { user.aside(of: path) }

  /// Creates the opening.
  ///
  /// - Parameters:
  ///   - folder: the folder of the store's files.
  ///   - user: the name of the user.
  ///   - root: the root of the service that a store without an owner must belong to before the user can become its
  ///     owner; nil for any.
  ///   - didStep: called after each step.
  package init(
    _ parameters: OfflineODataParameters, in folder: String, user: String, root: String? = nil,
    didStep: @escaping @Sendable (Step) -> Void = { _ in }
  ) {
    self.parameters = parameters
    self.folder = folder
    self.user = StoreUser(user)
    self.root = root
    self.didStep = didStep
  }

  /// Moves the user's store into its place, and closes it.
  package func change() async throws { try await open().close() }

  /// Opens the user's store. Throws `otherUser` and `setAsideNeedsKey`, the errors of an upload, `notFound` if there is
  /// no store and none may be created, and the errors of ``Replica/open(path:key:synchronous:readers:protection:)``.
  func open() async throws -> Replica {
    // If there is a mark, another process may be about to move a store. Only under the lock is it certain what exists.
    let isMarked = FileManager.default.fileExists(atPath: UserMark.path(of: path))
    guard try parameters.createsStore || isMarked || !isAbsent(place) || !isAbsent(aside) else { throw missing }
    try place.makeFolder()
    // Another process may switch back between the check and the exclusive lock, so the sequence is repeated.
    for _ in 0..<10 {
      if let replica = try await openInPlace() { return replica }
      try await changeUser()
    }
    throw OfflineODataError(.storeInUse, path)
  }

  private func isAbsent(_ file: DatabaseFile) throws(StorageError) -> Bool { try file.content() == .absent }

  private var missing: OfflineODataError { OfflineODataError(.resourceNotFound, "there is no store \(path)") }

  // MARK: The user's own

  /// Opens the store in place, or creates one. Returns nil if it belongs to another user, or the user's own store is
  /// not there yet.
  private func openInPlace() async throws -> Replica? {
    let mark = try await UserMark.take(of: path, isShared: true, makes: !place.isReadOnly, parameters.environment)
    defer { mark?.release() }
    if try isAbsent(place) {
      guard mark?.user == user, try isAbsent(aside) else { return nil }
      guard parameters.createsStore else { throw missing }
    } else if let owner = mark?.user, owner != user {
      guard mark?.isWritable == true, !place.isReadOnly else {
        throw otherUserError(try await readOwnership()?.pendingChanges)
      }
      return nil
    }
    let replica = try await Replica.open(
      path: path, key: parameters.givenKey.key, protection: parameters.fileProtection,
      environment: parameters.environment)
    do {
      if try await isOwn(replica, mark) { return replica }
      guard mark?.isWritable == true, !replica.isReadOnly else {
        throw otherUserError(try await replica.pendingChanges())
      }
    } catch {
      try? await replica.close()
      throw error
    }
    try await replica.close()
    return nil
  }

  /// Whether an open store belongs to the user. A store without an owner becomes the user's. The mark is updated.
  private func isOwn(_ replica: Replica, _ mark: UserMark?) async throws -> Bool {
    var owner = try await replica.user()
    if owner == nil {
      guard try isAbsent(aside) else {
        throw OfflineODataError(.otherUser, "it was opened without a user, and the current user's store is set aside")
      }
      if replica.isReadOnly { return true }
      // A store that cannot be opened keeps no owner.
      if let root { _ = try await replica.isOf(root) }
      owner = try await replica.claim(user)
    }
    if let owner, let mark, mark.isWritable, mark.user != owner { try mark.set(owner) }
    return owner == user
  }

  // MARK: Another's

  /// Moves the user's own store into the place, or empties the place, by the policy. Does nothing if that is done
  /// already.
  private func changeUser() async throws {
    let mark = try await takeExclusively()
    defer { mark.release() }
    guard try !isAbsent(place) else { return try moveIn(mark) }
    guard let owner = mark.user, owner != user else { return }
    var former: OfflineODataProvider?
    if case .uploadFirst(let given, _) = parameters.onUserSwitch { former = given }
    let ownership: StoredOwnership?
    // A store that cannot be read can still be set aside.
    if case .setAside = parameters.onUserSwitch {
      ownership = try? await readOwnership()
    } else {
      ownership = try await readOwnership(former)
    }
    if let storedOwner = ownership?.user, storedOwner != owner { return try mark.set(storedOwner) }
    guard case .reject = parameters.onUserSwitch else {
      try checkReturningStore()
      return try await changeUser(from: owner, ownership?.pendingChanges, mark)
    }
    throw otherUserError(ownership?.pendingChanges)
  }

  private func changeUser(
    from owner: StoreUser, _ pendingChanges: PendingChangeCounts?, _ mark: UserMark
  ) async throws {
    switch parameters.onUserSwitch {
    case .reject: return
    case .setAside(let key): try await setAside(owner, key)
    case .uploadFirst(let former, let options):
      // An open provider is closed first, even if it has nothing to send.
      guard pendingChanges?.isNone == true, former?.isOpen != true else {
        guard let former else { throw otherUserError(pendingChanges) }
        try check(former, owner)
        // Opening the other user's store takes this lock, too.
        mark.release()
        return try await upload(former, options, owner)
      }
      try remove()
    }
    try moveIn(mark)
  }

  private func takeExclusively() async throws -> UserMark {
    if let mark = try await UserMark.take(of: path, isShared: false, parameters.environment) { return mark }
    throw OfflineODataError(.storeInUse, path)
  }

  private func otherUserError(_ pendingChanges: PendingChangeCounts?) -> OfflineODataError {
    OfflineODataError(
      .otherUser, pendingChanges?.text ?? "its number of pending changes cannot be read without its key")
  }

  /// What a store contains about its user.
  struct StoredOwnership: Sendable {
    let user: StoreUser?
    let pendingChanges: PendingChangeCounts
  }

  /// Reads the user and the pending changes of the store in place, with the key that opens it. Nil if no key does.
  func readOwnership(_ former: OfflineODataProvider? = nil) async throws(StorageError) -> StoredOwnership? {
    guard try place.content() == .encrypted else { return try await readOwnership(with: nil) }
    for key in [parameters.givenKey.key, former?.parametersWithKeys.givenKey.key].compactMap(\.self) {
      do throws(StorageError) { return try await readOwnership(with: key) } catch {
        guard error.category == .wrongKey else { throw error }
      }
    }
    return nil
  }

  private func readOwnership(with key: StorageKey?) async throws(StorageError) -> StoredOwnership {
    let replica = try await Replica.open(
      path: path, key: key, readers: 1, protection: parameters.fileProtection, environment: parameters.environment)
    do throws(StorageError) {
      let ownership = StoredOwnership(
        user: try await replica.user(), pendingChanges: try await replica.pendingChanges())
      try await replica.close()
      return ownership
    } catch {
      try? await replica.close()
      throw error
    }
  }

  // MARK: Leaving

  private func setAside(_ owner: StoreUser, _ key: StorageKey?) async throws {
    let target = owner.aside(of: path)
    guard try isAbsent(target) else {
      throw OfflineODataError(.otherUser, "that user already has a store that is set aside")
    }
    if try place.content() != .encrypted {
      guard let key else { throw OfflineODataError(.setAsideNeedsKey, path) }
      try await Replica.rekey(path: path, from: nil, to: key)
      didStep(.encrypted)
    }
    try place.move(to: target.path) { didStep(.leaving($0)) }
  }

  private func check(_ former: OfflineODataProvider, _ owner: StoreUser) throws(OfflineODataError) {
    guard DatabaseFile(former.file).absolutePath == place.absolutePath else {
      throw OfflineODataError(.invalidParameter, "the provider of onUserSwitch uses another file, \(former.file)")
    }
    guard let name = former.parametersWithKeys.currentUser else {
      throw OfflineODataError(.invalidParameter, "the provider of onUserSwitch has no currentUser")
    }
    guard StoreUser(name) == owner else {
      throw OfflineODataError(.otherUser, "its user is not the one of the provider of onUserSwitch")
    }
  }

  /// Uploads the pending changes with the provider of the user who made them, and removes the store if no changes are
  /// left.
  private func upload(
    _ former: OfflineODataProvider, _ options: OfflineODataUploadOptions, _ owner: StoreUser
  ) async throws {
    let wasOpen = former.isOpen
    if !wasOpen { try await former.open() }
    do { try await former.upload(options) } catch {
      if !wasOpen { try? await former.close() }
      throw error
    }
    try await former.close()
    let mark = try await takeExclusively()
    defer { mark.release() }
    // Other processes may have changed the store, so it is checked again.
    guard mark.user == owner, try !isAbsent(place) else { return }
    let pending = try await readOwnership(former)?.pendingChanges
    guard let pending, pending.isNone else { throw otherUserError(pending) }
    try remove()
    try moveIn(mark)
  }

  /// Removes a store that was just closed, and that nobody can open without the lock. Throws `inUse` if it is open.
  func remove() throws {
    // This checks the locks: a log may remain beside a closed file.
    try place.checkUnused()
    try place.remove()
    didStep(.removed)
  }

  // MARK: Arriving

  /// Throws, before anything is changed, if the user's store could not be opened: if the key is not that of the store
  /// set aside, or if there is no store and none may be created.
  private func checkReturningStore() throws {
    guard try isAbsent(aside) else { return try aside.check(parameters.givenKey.key) }
    guard parameters.createsStore else { throw missing }
  }

  /// Marks the empty place as the user's, and moves the user's store back if it is set aside.
  private func moveIn(_ mark: UserMark) throws {
    try checkReturningStore()
    place.removeCompanions()
    try mark.set(user)
    didStep(.marked)
    guard try !isAbsent(aside) else { return }
    try aside.move(to: path) { didStep(.returning($0)) }
  }
}
