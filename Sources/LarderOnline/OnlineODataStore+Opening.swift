@_spi(Stores) import LarderCore
import LarderService
import LarderStorage

// Opens and closes the store.
extension OnlineODataStore {
  /// Opens the store: claims and opens its cache, and reads the service's metadata.
  ///
  /// If the cache holds the metadata, nothing is sent, so a store opens while its server is unreachable. The metadata
  /// is compared with the service's during the first request. Has no effect on a store that is already open.
  ///
  /// Throws `ODataServiceError`: the failure of the request if the service cannot be reached, `storage` if the cache
  /// cannot be opened. If the options have another key than the cache's file, the cause is a `StorageError` of the
  /// category `wrongKey`, `encrypted` or `notEncrypted`, and the file stays as it is.
  public func open() async throws {
    do { try await open(resumes: false) } catch {
      guard !Task.isCancelled, state.withLock({ $0.suspension != nil }) else { throw error }
      throw ODataServiceError(.suspended, operation: "open")
    }
  }

  func open(resumes: Bool) async throws {
    let task = try state.withLock { state -> Task<Void, any Error>? in
      guard resumes ? state.waitingSuspensions == 0 : state.suspension == nil else {
        throw ODataServiceError(.suspended, operation: "open")
      }
      switch state.phase {
      case .open: return nil
      case .opening(let task):
        state.openers += 1
        return task
      case .closing(let closing):
        let opening = state.beginOpening()
        let task = state.environment.task { [self] in
          _ = await closing.result
          try await performOpening(opening)
        }
        state.phase = .opening(task)
        return task
      case .closed:
        let opening = state.beginOpening()
        let task = state.environment.task { [self] in try await performOpening(opening) }
        state.phase = .opening(task)
        return task
      }
    }
    guard let task else { return }
    try await withTaskCancellationHandler {
      do { try await task.value } catch { throw CancellationError.replacing(error) }
    } onCancel: {
      leaveOpening(task)
    }
  }

  /// Removes one caller that waited for the opening. When the last one leaves, the opening is cancelled.
  private func leaveOpening(_ task: Task<Void, any Error>) {
    let isLast = state.withLock { state in
      guard case .opening(task) = state.phase else { return false }
      state.openers -= 1
      return state.openers == 0
    }
    if isLast { task.cancel() }
  }

  /// Opens the store in the background and notifies the listener. If the store is already open, the listener is not
  /// notified.
  public func open(listener: any OnlineODataStoreListener) {
    if isOpen { return }
    conversation.options.environment.task { [self] in
      do {
        try await open()
        listener.onlineStoreOpenFinished(self)
      } catch {
        listener.onlineStoreOpenFailed(self, error: error)
      }
    }
  }

  private func performOpening(_ opening: UInt64) async throws {
    let (options, conversation, isPassive, suspension) = state.withLock { state in
      (state.options, state.conversation, state.isPassive, state.suspension)
    }
    var claim: CacheClaim?
    var cache: TechnicalCache?
    do {
      if options.useCache {
        (claim, cache) = try await openCache(options, conversation, opensFile: suspension?.leavesCacheClosed != true)
      }
      let memory = SessionMemory()
      if options.loadsMetadata {
        // A resumed store has its model: the cache may hold a newer one, and nothing is sent.
        let isKnown = suspension?.wasOpen == true && conversation.knownModel != nil
        do {
          let wasKept =
            if isKnown && cache == nil { false } else {
              try await ServiceMetadata.load(
                into: conversation, cache: cache, isPassive: isPassive || isKnown, report: { report($0) })
            }
          if wasKept { memory.wantsRefresh() }
        } catch { if !isKnown { throw error } }
      }
      try Task.checkCancellation()
      _ = try state.withLock { state in
        // The store was closed meanwhile, and the closing sets the phase.
        guard case .opening = state.phase, state.opening == opening else { throw CancellationError() }
        state.cache = cache
        state.claim = claim
        state.suspension = nil
        return (exchange(&state.phase, with: .open), exchange(&state.memory, with: memory))
      }
    } catch {
      try? await cache?.close()
      claim?.release()
      _ = state.withLock { state -> OnlineODataStore.State.Phase? in
        // A later opening may be running already.
        guard case .opening = state.phase, state.opening == opening else { return nil }
        return exchange(&state.phase, with: .closed)
      }
      throw error
    }
  }

  private func openCache(
    _ options: OnlineStoreOptions, _ conversation: ODataConversation, opensFile: Bool
  ) async throws(ODataServiceError) -> (CacheClaim?, TechnicalCache?) {
    let place = try cachePlace(options, "open")
    do throws(StorageError) {
      try place.makeFolder()
      let claim = try claim(place, options)
      do throws(StorageError) {
        return (claim, opensFile ? try await openCacheFile(place, options, mayReplace: claim != nil) : nil)
      } catch {
        claim?.release()
        throw error
      }
    } catch {
      throw ODataServiceError(error, path: place.file, operation: "open")
    }
  }

  /// Claims the cache. Nil if another store uses it, and the options allow a passive store to read it too.
  private func claim(_ place: CachePlace, _ options: OnlineStoreOptions) throws(StorageError) -> CacheClaim? {
    do throws(StorageError) { return try CacheClaim(place) } catch {
      guard options.readsUnclaimedCache, isPassive, error.category == .inUse else { throw error }
      return nil
    }
  }

  func cachePlace(_ options: OnlineStoreOptions, _ operation: String) throws(ODataServiceError) -> CachePlace {
    do throws(StorageError) { return try options.place(root) } catch {
      throw ODataServiceError(error, operation: operation)
    }
  }

  /// - Parameter mayReplace: whether a missing or damaged file is replaced; false if another store uses it.
  func openCacheFile(
    _ place: CachePlace, _ options: OnlineStoreOptions, mayReplace: Bool = true
  ) async throws(StorageError) -> TechnicalCache {
    // The options of a store with an encrypted cache do not have its key: another cache would be plain.
    if options.givenKey.isMissing { throw .encrypted(place.file) }
    let report: @Sendable (LarderDiagnostic) -> Void = { [weak self] in self?.report($0) }
    return try await TechnicalCache.open(
      place, key: options.givenKey.key, limits: options.limits, common: options.conversation.fields,
      environment: options.conversation.environment, credentials: options.credentialFields,
      protection: options.fileProtection, pages: options.maximumPageCount, mayReplace: mayReplace,
      report: report)
  }

  /// Closes the store, even if it is suspended. Running requests are cancelled, and the cache's file is closed. Has no
  /// effect on a closed store.
  ///
  /// Throws `ODataServiceError` (`storage`) if the file could not be closed properly. The store is closed
  /// nevertheless.
  public func close() async throws { try await end(suspends: false) }

  /// Closes or suspends the store. The new state and the task that ends it are set in one step: an opening that
  /// finishes at the same time finishes before it, or fails.
  func end(suspends: Bool) async throws {
    let task = state.withLock { state -> Task<Void, any Error>? in
      if !suspends { state.suspension = nil }
      switch state.phase {
      case .closed: return nil
      case .closing(let task): return task
      case .opening(let opening):
        if suspends, state.suspension == nil { state.suspension = Suspension() }
        let task = state.environment.task { [self] in
          opening.cancel()
          _ = await opening.result
          try await performClosing()
        }
        state.phase = .closing(task)
        return task
      case .open:
        if suspends {
          state.suspension = Suspension(
            wasOpen: true, leavesCacheClosed: state.options.useCache && state.cache == nil)
        }
        let task = state.environment.task { [self] in try await performClosing() }
        state.phase = .closing(task)
        return task
      }
    }
    try await task?.value
  }

  private func performClosing() async throws {
    await running.endAll()
    let (cache, claim, memory) = state.withLock { state in
      (state.cache.take(), state.claim.take(), state.memory)
    }
    await memory.end()
    defer {
      claim?.release()
      _ = state.withLock { state -> OnlineODataStore.State.Phase? in
        guard case .closing = state.phase else { return nil }
        return exchange(&state.phase, with: .closed)
      }
    }
    do throws(StorageError) { try await cache?.close() } catch { throw ODataServiceError(error, operation: "close") }
  }
}
