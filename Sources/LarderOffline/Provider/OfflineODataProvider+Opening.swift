@_spi(Stores) import LarderCore
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
  /// Opens the store.
  ///
  /// The first call downloads the metadata and the rows of the defining queries. If it is interrupted, it fails, and
  /// the next call resumes there. If the service cannot be reached by then, the store opens with the rows it has so
  /// far: ``hasPendingDownload()`` is true, ``download(_:whole:)`` resumes the download, and queries that need missing
  /// rows fail with `neverDownloaded`. Later calls need no network. If the store is open already, nothing happens. With
  /// ``OfflineODataParameters/downloadsOnOpening`` set to false, no call needs the network: until
  /// ``download(_:whole:)``, reads and changes fail with `neverDownloaded`.
  ///
  /// A filled store opens read-only if its file or folder is not writable, or if the disk is full: ``isReadOnly``.
  ///
  /// Throws `preconditionFailed`, before anything is changed, if the file is encrypted with a key other than
  /// ``OfflineODataParameters/encryptionKey`` (`wrongEncryptionKey`), if it is encrypted and no key is given
  /// (`encryptionKeyMissing`), or if it is not encrypted and a key is given (`storeNotEncrypted`).
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
      case .clearing: return parametersWithKeys.environment.task { throw OfflineODataError(.storeInUse) }
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
    let task = parametersWithKeys.environment.task { [self] in
      _ = await closing?.result
      try await performOpening(opening)
    }
    state.phase = .opening(task)
    return task
  }

  /// Called when a caller stops waiting for the opening. The opening is cancelled if no other caller waits for it.
  private func leaveOpening(_ task: Task<Void, any Error>) {
    let isLast = state.withLock { state in
      guard case .opening(task) = state.phase else { return false }
      state.openers -= 1
      return state.openers == 0
    }
    if isLast { task.cancel() }
  }

  private func performOpening(_ opening: UInt64) async throws {
    eventPublisher.publish(.stateChanged(.opening), of: self)
    // Also nil if the store was suspended during its first opening: then it opens as for the first time.
    let former = state.withLock { $0.suspension }?.resumable
    let resumable = former ?? ResumableStore()
    var replica: Replica?
    do {
      if former != nil { try checkNotRemoved() }
      let opened = try await openFile()
      replica = opened
      let store = try makeStore(opened)
      reportLimits(of: store)
      var taken = try await prepare(store, fills: former == nil)
      while let late = try finishOpening(opening, store, resumable, after: taken) {
        let removed = try await removeNamed(store)
        taken.removeAll { removed.contains($0.name) }
        for query in late { try await store.add(query, replaces: true) }
        taken += late
      }
      // Closing and suspending wait for the end of this task, so none of its events comes after theirs.
      resumable.open(store)
      if !opened.isReadOnly { store.beginSweeping() }
      eventPublisher.publish(.stateChanged(.open), of: self)
    } catch {
      try? await replica?.close()
      _ = state.withLock { state -> State.Phase? in
        guard case .opening = state.phase, state.opening == opening else { return nil }
        return exchange(&state.phase, with: .closed)
      }
      eventPublisher.publish(.stateChanged(.closed), of: self)
      throw error
    }
  }

  /// Sets the state to open, if all queries that were added while the store was closed or opening have been taken, and
  /// those that were removed are gone. Otherwise it returns the queries still to be taken.
  private func finishOpening(
    _ opening: UInt64, _ store: OpenStore, _ resumable: ResumableStore, after taken: [OfflineODataDefiningQuery]
  ) throws -> [OfflineODataDefiningQuery]? {
    try Task.checkCancellation()
    let (late, _) = try state.withLock { state -> ([OfflineODataDefiningQuery]?, State.Phase?) in
      // The store was closed meanwhile; `end(suspends:)` sets the phase.
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
    try parametersWithKeys.checkKey()
    if let name = parametersWithKeys.currentUser {
      return try await UserOpening(parametersWithKeys, in: folder, user: name, root: root.url.absoluteString).open()
    }
    // The shared lock prevents other processes from moving another user's store into the place meanwhile.
    let path = file
    let mark = try await UserMark.take(of: path, isShared: true, makes: false, parametersWithKeys.environment)
    defer { mark?.release() }
    let file = DatabaseFile(path)
    if !parametersWithKeys.createsStore, try file.content() == .absent, !file.hasLostContent {
      throw OfflineODataError(.resourceNotFound, "there is no store \(path)")
    }
    try file.makeFolder()
    return try await Replica.open(
      path: path, key: parametersWithKeys.givenKey.key, protection: parametersWithKeys.fileProtection,
      environment: parametersWithKeys.environment)
  }

  /// A suspended store is not created again: its file was removed deliberately.
  private func checkNotRemoved() throws {
    let database = DatabaseFile(file)
    guard try database.content() == .absent, !database.hasLostContent else { return }
    throw OfflineODataError(
      .resourceNotFound,
      "\(file) was removed while the store was suspended; call close() and open() to create a new one")
  }

  private func makeStore(_ replica: Replica) throws -> OpenStore {
    let url = root.query.flatMap { URL(string: root.url.absoluteString + "?" + $0) } ?? root.url
    let conversation = try ODataConversation(
      root: url, transport: transport, authentication: authentication, options: parametersWithKeys.conversationOptions)
    return OpenStore(
      replica: replica, conversation: conversation, root: root, settings: parametersWithKeys.openStoreSettings)
  }

  /// Reports what the file's disk or file system does not allow.
  private func reportLimits(of store: OpenStore) {
    if store.replica.isReadOnly {
      store.report(.storeReadOnly(path: file))
    } else if !store.replica.changes.isShared {
      store.report(.changesNotShared(path: file))
    }
  }

  /// Removes the defining queries that were removed while the store was closed or opening. Returns their names.
  @discardableResult
  private func removeNamed(_ store: OpenStore) async throws -> Set<String> {
    let names = state.withLock { $0.removed }
    for name in names { try await store.remove(name) }
    state.withLock { $0.removed.subtract(names) }
    return names
  }

  /// Prepares the open store, and fills it if it is not filled yet and `fills` is true. Returns the added queries that
  /// it has taken.
  private func prepare(_ store: OpenStore, fills: Bool) async throws -> [OfflineODataDefiningQuery] {
    let replica = store.replica
    let text = root.url.absoluteString
    if try await !replica.isOf(text) { try await replica.set(Replica.rootSetting, to: .text(text)) }
    if !replica.isReadOnly {
      try await store.prepareStreams()
      // If there is no disk space to remove the leftovers, the store opens anyway.
      await store.reportingLeftovers { try await store.removeLeftovers() }
      try await store.requestIndexes()
    }
    try await removeNamed(store)
    let added = state.withLock { $0.added }
    for query in added { try await store.add(query, replaces: true) }
    if try await store.isFilled() { try await store.useModel() } else { try await fill(store, fills) }
    await store.log(EventLog.Record(type: "Open"), mergesRepeats: true)
    return added
  }

  /// Runs the first download, or resumes an interrupted one, unless the application calls `download()` itself. If the
  /// store already has tables, it opens even if the service cannot be reached, or another process is filling the store.
  private func fill(_ store: OpenStore, _ fills: Bool) async throws {
    let isOpenable = !store.replica.plan.tables.isEmpty
    guard fills, parametersWithKeys.downloadsOnOpening, !store.replica.isReadOnly else {
      if isOpenable { try await store.useModel() }
      return
    }
    do {
      let download = StoreDownload(store: store, names: nil) { [weak self] event in
        if let self { eventPublisher.publish(event, of: self, isOpening: true) }
      }
      _ = try await download.run()
    } catch {
      let openingError = OfflineODataError(below: error)
      let isPassing = openingError.category == .communicationError || openingError.name == .downloadRunning
      guard isOpenable, isPassing, !Task.isCancelled else { throw error }
      store.report(.openedWithoutDownload(path: file, openingError))
      try await store.useModel()
    }
  }

  /// Closes the store, also a suspended one. Running requests and a running download are cancelled, and the file is
  /// closed. The next download resumes an interrupted one. A closed store stays closed.
  public func close() async throws { try await end(suspends: false) }

  /// Closes or suspends the store. The new phase and its task are set in one step: an opening that finishes at the same
  /// time finishes before it, or fails.
  func end(suspends: Bool) async throws {
    let (closing, former) = state.withLock { state -> (Task<Void, any Error>?, Suspension?) in
      let former = suspends ? nil : state.suspension.take()
      switch state.phase {
      case .closed, .clearing: return (nil, former)
      case .closing(let task): return (task, former)
      case .opening(let task):
        if suspends, state.suspension == nil { state.suspension = Suspension(resumable: nil) }
        let closing: Task<Void, any Error> = parametersWithKeys.environment.task { [self] () async throws in
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
        let closing: Task<Void, any Error> = parametersWithKeys.environment.task { [self] in
          _ = await opened?.result
          if suspends { resumable?.suspend() } else { resumable?.end() }
          eventPublisher.publish(.stateChanged(.closing), of: self)
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
    eventPublisher.publish(.stateChanged(.closed), of: self)
  }
}

extension Replica {
  /// The name of the setting that stores the service's root.
  fileprivate static let rootSetting = "service-root"

  /// Whether the store belongs to the service with the root; false if it does not belong to a service yet. Throws
  /// `otherService` if it belongs to another one: it has downloaded something from there.
  func isOf(_ root: String) async throws -> Bool {
    guard case .text(let storedRoot)? = try await setting(Self.rootSetting) else { return false }
    if storedRoot == root { return true }
    guard try await metadata() == nil else { throw OfflineODataError(.otherService, storedRoot) }
    return false
  }
}
