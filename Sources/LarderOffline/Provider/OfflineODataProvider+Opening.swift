import LarderCore
import LarderHTTP
import LarderService
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Opening and closing the store.
extension OfflineODataProvider {
  /// Makes the store usable.
  ///
  /// The first time, the metadata are fetched and the defining queries run; where that is cut, the call fails, and the next
  /// one goes on there. A service that is out of reach then is no reason to stay closed: what has come is opened,
  /// ``hasPendingDownload()`` says that more is wanted, ``download(_:whole:)`` goes on, and questions that only the missing rows
  /// could answer fail with `neverDownloaded`. Later it needs no network. A store that is open already stays as it is.
  ///
  /// A filled store whose file or folder may not be written to, or whose disk is full, is opened to be read: ``isReadOnly``.
  ///
  /// Throws `preconditionFailed` before anything is changed where the file is encrypted with another key than
  /// ``OfflineODataParameters/storeEncryptionKey`` (`wrongEncryptionKey`), or without one (`encryptionKeyMissing`), or is plain
  /// and a key is given (`storeNotEncrypted`).
  public func open() async throws { try await open(resumes: false) }

  func open(resumes: Bool) async throws {
    let task = try state.withLock { state throws(OfflineODataError) -> Task<Void, any Error>? in
      guard resumes ? state.waitingSuspensions == 0 : state.suspension == nil else {
        throw OfflineODataError(.storeSuspended)
      }
      switch state.phase {
      case .open: return nil
      case .opening(let task):
        state.openers += 1
        return task
      case .closed: return beginOpening(&state, after: nil)
      case .closing(let closing): return beginOpening(&state, after: closing)
      case .clearing: return given.environment.task { throw OfflineODataError(.storeInUse) }
      }
    }
    guard let task else { return }
    try await withTaskCancellationHandler {
      try await translated { try await task.value }
    } onCancel: {
      leaveOpening(task)
    }
  }

  private func beginOpening(_ state: inout State, after closing: Task<Void, any Error>?) -> Task<Void, any Error> {
    state.opening += 1
    state.openers = 1
    let opening = state.opening
    let task = given.environment.task { [self] in
      _ = await closing?.result
      try await performOpening(opening)
    }
    state.phase = .opening(task)
    return task
  }

  /// One of those who wait for the opening does so no more; the last one ends it.
  private func leaveOpening(_ task: Task<Void, any Error>) {
    let isLast = state.withLock { state in
      guard case .opening(task) = state.phase else { return false }
      state.openers -= 1
      return state.openers == 0
    }
    if isLast { task.cancel() }
  }

  private func performOpening(_ opening: UInt64) async throws {
    telling.tell(.stateChanged(.opening), of: self)
    // Nil also where the store was suspended while it opened: then it opens as at first.
    let former = state.withLock { $0.suspension }?.resumable
    let resumable = former ?? ResumableStore()
    var replica: Replica?
    do {
      if former != nil { try checkNotRemoved() }
      let opened = try await openFile()
      replica = opened
      let store = try makeStore(opened)
      var taken = try await prepare(store, fills: former == nil)
      while let late = try finishOpening(opening, store, resumable, after: taken) {
        let removed = try await removeNamed(store)
        taken.removeAll { removed.contains($0.name) }
        for query in late { try await store.add(query, replaces: true) }
        taken += late
      }
      // Closing and suspending wait for the end of this task: nothing of it comes after theirs.
      resumable.open(store)
      if !opened.isReadOnly { store.beginSweeping() }
      telling.tell(.stateChanged(.open), of: self)
    } catch {
      try? await replica?.close()
      _ = state.withLock { state -> State.Phase? in
        guard case .opening = state.phase, state.opening == opening else { return nil }
        return exchange(&state.phase, with: .closed)
      }
      telling.tell(.stateChanged(.closed), of: self)
      throw error
    }
  }

  /// Makes the store open, where the queries that were added while it was closed or opening are all taken, and those that
  /// were removed are gone; else gives the others.
  private func finishOpening(
    _ opening: UInt64, _ store: OpenStore, _ resumable: ResumableStore, after taken: [OfflineODataDefiningQuery]
  ) throws -> [OfflineODataDefiningQuery]? {
    try Task.checkCancellation()
    let (late, _) = try state.withLock { state -> ([OfflineODataDefiningQuery]?, State.Phase?) in
      // Closed meanwhile: who closes sets the phase.
      guard case .opening(let task) = state.phase, state.opening == opening else { throw CancellationError() }
      let late = state.added.filter { !taken.contains($0) }
      guard late.isEmpty, state.removed.isEmpty else { return (late, nil) }
      state.added = []
      state.suspension = nil
      state.resumable = resumable
      state.opened = task
      return (nil, exchange(&state.phase, with: .open(store)))
    }
    return late
  }

  private func openFile() async throws -> Replica {
    if let name = given.currentUser {
      return try await UserOpening(given, user: name, root: root.url.absoluteString).open()
    }
    // Nobody puts another user's store into the place meanwhile.
    let mark = try await UserMark.take(of: given.file, isShared: true, makes: false, given.environment)
    defer { mark?.release() }
    let file = DatabaseFile(given.file)
    if !given.createsStore, try file.content() == .absent, !file.hasLostContent {
      throw OfflineODataError(.resourceNotFound, "there is no store \(given.file)")
    }
    try file.makeFolder()
    return try await Replica.open(
      path: given.file, key: given.givenKey.key, protection: given.fileProtection, environment: given.environment)
  }

  /// A store that was suspended is not made anew: whoever removed its file meant to.
  private func checkNotRemoved() throws {
    let file = DatabaseFile(given.file)
    guard try file.content() == .absent, !file.hasLostContent else { return }
    throw OfflineODataError(
      .resourceNotFound, "\(given.file) was removed while the store was suspended; close() and open() make a new one")
  }

  private func makeStore(_ replica: Replica) throws -> OpenStore {
    let url = root.query.flatMap { URL(string: root.url.absoluteString + "?" + $0) } ?? root.url
    let conversation = try ODataConversation(
      root: url, transport: transport, authentication: authentication, options: given.conversationOptions)
    return OpenStore(replica: replica, conversation: conversation, root: root, parameters: given.shown)
  }

  /// Removes the defining queries that were removed while the store was closed or opening; gives their names.
  @discardableResult
  private func removeNamed(_ store: OpenStore) async throws -> Set<String> {
    let names = state.withLock { $0.removed }
    for name in names { try await store.remove(name) }
    state.withLock { $0.removed.subtract(names) }
    return names
  }

  /// Fills the store where it never was, and `fills` says so. Gives the added queries that it has taken.
  private func prepare(_ store: OpenStore, fills: Bool) async throws -> [OfflineODataDefiningQuery] {
    let replica = store.replica
    let text = root.url.absoluteString
    if try await !replica.isOf(text) { try await replica.set(Replica.rootSetting, to: .text(text)) }
    if !replica.isReadOnly {
      try await store.prepareStreams()
      // A disk without room for it is no reason to stay closed.
      try? await store.removeLeftovers()
      try await store.askIndexes()
    }
    try await removeNamed(store)
    let added = state.withLock { $0.added }
    for query in added { try await store.add(query, replaces: true) }
    if try await store.isFilled() { try await store.useModel() } else { try await fill(store, fills) }
    await store.log(EventLog.Record(type: "Open"), once: true)
    return added
  }

  /// Runs the first download, or what is left of one that was cut. Where there is something to open, it is opened though
  /// the service is out of reach, or another process is about to fill the store.
  private func fill(_ store: OpenStore, _ fills: Bool) async throws {
    let isOpenable = !store.replica.plan.tables.isEmpty
    guard fills, given.fillsOnOpening, !store.replica.isReadOnly else {
      guard isOpenable else { throw OfflineODataError(.neverDownloaded) }
      return try await store.useModel()
    }
    do {
      let download = StoreDownload(store: store, names: nil) { [weak self] event in
        if let self { telling.tell(event, of: self, isOpening: true) }
      }
      _ = try await download.run()
    } catch {
      let told = OfflineODataError(below: error)
      let isPassing = told.category == .communicationError || told.name == .downloadRunning
      guard isOpenable, isPassing, !Task.isCancelled else { throw error }
      try await store.useModel()
    }
  }

  /// Ends the use of the store, a suspended one's too: requests and a download on their way are cancelled, the file is closed.
  /// The next download resumes one that was interrupted. A closed store stays so.
  public func close() async throws { try await end(suspends: false) }

  /// Ends the use of the store. The new state and the task that ends it are set in one step: an opening that ends at the same
  /// time ends before it, or fails.
  func end(suspends: Bool) async throws {
    let (closing, former) = state.withLock { state -> (Task<Void, any Error>?, Suspension?) in
      let former = suspends ? nil : state.suspension.take()
      switch state.phase {
      case .closed, .clearing: return (nil, former)
      case .closing(let task): return (task, former)
      case .opening(let task):
        if suspends, state.suspension == nil { state.suspension = Suspension(resumable: nil) }
        let closing: Task<Void, any Error> = given.environment.task { [self] () async throws in
          task.cancel()
          _ = await task.result
          hasClosed()
        }
        state.phase = .closing(closing)
        return (closing, former)
      case .open(let store):
        let resumable = state.resumable.take()
        if suspends { state.suspension = Suspension(resumable: resumable) }
        let (opened, download, upload) = (state.opened.take(), state.download, state.upload)
        let closing: Task<Void, any Error> = given.environment.task { [self] in
          _ = await opened?.result
          if suspends { resumable?.suspend() } else { resumable?.end() }
          telling.tell(.stateChanged(.closing), of: self)
          download?.cancel()
          upload?.cancel()
          _ = await download?.result
          _ = await upload?.result
          await running.endAll()
          await store.endLookUps()
          await store.endSweeping()
          defer { hasClosed() }
          if suspends { try await store.replica.suspend() } else { try await store.replica.close() }
        }
        state.phase = .closing(closing)
        return (closing, former)
      }
    }
    former?.resumable?.end()
    guard let closing else { return }
    try await translated { try await closing.value }
  }

  private func hasClosed() {
    _ = state.withLock { state -> State.Phase? in
      guard case .closing = state.phase else { return nil }
      return exchange(&state.phase, with: .closed)
    }
    telling.tell(.stateChanged(.closed), of: self)
  }
}

extension Replica {
  /// The name under which the service's root is kept.
  fileprivate static let rootSetting = "service-root"

  /// Whether the store is of the service of a root; false where it is of none yet. Throws `otherService`.
  func isOf(_ root: String) async throws -> Bool {
    guard case .text(let kept)? = try await setting(Self.rootSetting) else { return false }
    guard kept == root else { throw OfflineODataError(.otherService, kept) }
    return true
  }
}
