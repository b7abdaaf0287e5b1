import LarderCore
package import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Opens a store for a user: the one in place where it is the user's, else what ``OfflineODataUserSwitch`` puts there.
///
/// A store that is set aside lies beside its place as `NAME.larder-user-DIGEST`, of the digest of its user. It comes and
/// goes by renaming, so that it is whole under one of its two names at any instant, and while it has neither its place nor
/// anybody else's store has, the next opening goes on.
package struct UserOpening: Sendable {
  /// What has been done to files.
  package enum Step: Sendable, Hashable {
    /// The other's plain store has the key that was given for it.
    case encrypted
    /// The other's store is moved aside.
    case leaving(DatabaseFile.MoveStep)
    /// The other's store, in which nothing waits, is removed.
    case removed
    /// The place is said to be the user's.
    case marked
    /// The user's own store is moved back.
    case returning(DatabaseFile.MoveStep)
  }

  private let parameters: OfflineODataParameters
  private let user: StoreUser
  private let root: String?
  private let didStep: @Sendable (Step) -> Void

  private var path: String { parameters.file }
  private var place: DatabaseFile { DatabaseFile(path) }
  private var aside: DatabaseFile { user.aside(of: path) }

  /// `user`: the name; `root`: that of the service that a store of nobody must be of to become the user's, nil for any;
  /// `didStep`: told after each step.
  package init(
    _ parameters: OfflineODataParameters, user: String, root: String? = nil,
    didStep: @escaping @Sendable (Step) -> Void = { _ in }
  ) {
    self.parameters = parameters
    self.user = StoreUser(user)
    self.root = root
    self.didStep = didStep
  }

  /// Brings the user's store into its place, and closes it.
  package func change() async throws { try await open().close() }

  /// Opens the user's store; throws `otherUser` and `setAsideNeedsKey`, what an upload throws, `notFound` where there is
  /// none and none is to be made, and what ``Replica/open(path:key:synchronous:readers:protection:)`` throws.
  func open() async throws -> Replica {
    // Where there is a mark, another may be about to move a store: only under the lock it is told what is there.
    let isMarked = FileManager.default.fileExists(atPath: UserMark.path(of: path))
    guard try parameters.createsStore || isMarked || !isAbsent(place) || !isAbsent(aside) else { throw missing }
    try place.makeFolder()
    // Who looks and then takes the lock alone may come too late, when another has switched back.
    for _ in 0..<10 {
      if let replica = try await openPlace() { return replica }
      try await changeUser()
    }
    throw OfflineODataError(.storeInUse, path)
  }

  private func isAbsent(_ file: DatabaseFile) throws(StorageError) -> Bool { try file.content() == .absent }

  private var missing: OfflineODataError { OfflineODataError(.resourceNotFound, "there is no store \(path)") }

  // MARK: The user's own

  /// Opens the store in place, or makes one; nil where it is another's, or the user's own is not there yet.
  private func openPlace() async throws -> Replica? {
    let mark = try await UserMark.take(of: path, isShared: true, makes: !place.isReadOnly, parameters.environment)
    defer { mark?.release() }
    if try isAbsent(place) {
      guard mark?.user == user, try isAbsent(aside) else { return nil }
      guard parameters.createsStore else { throw missing }
    } else if let owner = mark?.user, owner != user {
      guard mark?.isWritable == true, !place.isReadOnly else { throw other(try await look()?.waiting) }
      return nil
    }
    let replica = try await Replica.open(
      path: path, key: parameters.givenKey.key, protection: parameters.fileProtection,
      environment: parameters.environment)
    do {
      if try await isOwn(replica, mark) { return replica }
      guard mark?.isWritable == true, !replica.isReadOnly else { throw other(try await replica.waiting()) }
    } catch {
      try? await replica.close()
      throw error
    }
    try await replica.close()
    return nil
  }

  /// Whether an open store is the user's, which one of nobody's becomes; the mark says so afterwards.
  private func isOwn(_ replica: Replica, _ mark: UserMark?) async throws -> Bool {
    var owner = try await replica.user()
    if owner == nil {
      guard try isAbsent(aside) else {
        throw OfflineODataError(.otherUser, "it was opened without a user, and the current user's own is set aside")
      }
      if replica.isReadOnly { return true }
      // What cannot be opened stays nobody's.
      if let root { _ = try await replica.isOf(root) }
      owner = try await replica.claim(user)
    }
    if let owner, let mark, mark.isWritable, mark.user != owner { try mark.set(owner) }
    return owner == user
  }

  // MARK: Another's

  /// Brings the user's own store into the place, or empties it, by the policy; or finds that this is done already.
  private func changeUser() async throws {
    let mark = try await takeAlone()
    defer { mark.release() }
    guard try !isAbsent(place) else { return try arrive(mark) }
    guard let owner = mark.user, owner != user else { return }
    var former: OfflineODataProvider?
    if case .uploadFirst(let given, _) = parameters.onUserSwitch { former = given }
    let found: Found?
    // A store that cannot be read can be set aside all the same.
    if case .setAside = parameters.onUserSwitch { found = try? await look() } else { found = try await look(former) }
    if let said = found?.user, said != owner { return try mark.set(said) }
    guard case .refuse = parameters.onUserSwitch else {
      try checkArrival()
      return try await changeUser(from: owner, found?.waiting, mark)
    }
    throw other(found?.waiting)
  }

  private func changeUser(from owner: StoreUser, _ waiting: WaitingChanges?, _ mark: UserMark) async throws {
    switch parameters.onUserSwitch {
    case .refuse: return
    case .setAside(let key): try await setAside(owner, key)
    case .uploadFirst(let former, let options):
      // One that is open is closed first, though it has nothing to send.
      guard waiting?.isNone == true, former?.isOpen != true else {
        guard let former else { throw other(waiting) }
        try check(former, owner)
        // Opening the other's store takes it, too.
        mark.release()
        return try await upload(former, options, owner)
      }
      try remove()
    }
    try arrive(mark)
  }

  private func takeAlone() async throws -> UserMark {
    if let mark = try await UserMark.take(of: path, isShared: false, parameters.environment) { return mark }
    throw OfflineODataError(.storeInUse, path)
  }

  private func other(_ waiting: WaitingChanges?) -> OfflineODataError {
    OfflineODataError(.otherUser, waiting?.text ?? "how many changes wait to be sent only its key tells")
  }

  /// What a store says of itself.
  struct Found: Sendable {
    let user: StoreUser?
    let waiting: WaitingChanges
  }

  /// What the store in place says, by the key that opens it; nil where none does.
  func look(_ former: OfflineODataProvider? = nil) async throws(StorageError) -> Found? {
    guard try place.content() == .encrypted else { return try await look(with: nil) }
    for key in [parameters.givenKey.key, former?.given.givenKey.key].compactMap(\.self) {
      do throws(StorageError) { return try await look(with: key) } catch {
        guard error.category == .wrongKey else { throw error }
      }
    }
    return nil
  }

  private func look(with key: StorageKey?) async throws(StorageError) -> Found {
    let replica = try await Replica.open(
      path: path, key: key, readers: 1, protection: parameters.fileProtection, environment: parameters.environment)
    do throws(StorageError) {
      let found = Found(user: try await replica.user(), waiting: try await replica.waiting())
      try await replica.close()
      return found
    } catch {
      try? await replica.close()
      throw error
    }
  }

  // MARK: Leaving

  private func setAside(_ owner: StoreUser, _ key: StorageKey?) async throws {
    let target = owner.aside(of: path)
    guard try isAbsent(target) else {
      throw OfflineODataError(.otherUser, "a store of that user is set aside already")
    }
    if try place.content() != .encrypted {
      guard let key else { throw OfflineODataError(.setAsideNeedsKey, path) }
      try await Replica.rekey(path: path, from: nil, to: key)
      didStep(.encrypted)
    }
    try place.move(to: target.path) { didStep(.leaving($0)) }
  }

  private func check(_ former: OfflineODataProvider, _ owner: StoreUser) throws(OfflineODataError) {
    guard DatabaseFile(former.given.file).absolutePath == place.absolutePath else {
      throw OfflineODataError(.invalidParameter, "onUserSwitch uploads from another file, \(former.given.file)")
    }
    guard let name = former.given.currentUser else {
      throw OfflineODataError(.invalidParameter, "onUserSwitch uploads with a provider that has no currentUser")
    }
    guard StoreUser(name) == owner else {
      throw OfflineODataError(.otherUser, "it is not that of the user whose changes onUserSwitch would upload")
    }
  }

  /// Sends what waits as the user who made it, and removes the store where nothing is left.
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
    let mark = try await takeAlone()
    defer { mark.release() }
    // Looked at once more: others may have been at it.
    guard mark.user == owner, try !isAbsent(place) else { return }
    let left = try await look(former)?.waiting
    guard let left, left.isNone else { throw other(left) }
    try remove()
    try arrive(mark)
  }

  /// Removes a store that was closed just now, and that nobody opens without the lock; throws `inUse` where it is open.
  func remove() throws {
    // By the locks: a log may be left beside a closed file.
    try place.checkUnused()
    try place.remove()
    didStep(.removed)
  }

  // MARK: Arriving

  /// Throws, before anything is changed, where the user could not come: with a key that is not that of the store set aside,
  /// or where there is none and none is to be made.
  private func checkArrival() throws {
    guard try isAbsent(aside) else { return try aside.check(parameters.givenKey.key) }
    guard parameters.createsStore else { throw missing }
  }

  /// Makes the empty place the user's, and brings the user's store back where it is set aside.
  private func arrive(_ mark: UserMark) throws {
    try checkArrival()
    place.removeCompanions()
    try mark.set(user)
    didStep(.marked)
    guard try !isAbsent(aside) else { return }
    try aside.move(to: path) { didStep(.returning($0)) }
  }
}
