@_spi(Stores) import LarderCore
import LarderStorage

// Undoes pending changes. An uncertain change may have taken effect at the service, so it is looked up first.
extension OpenStore {
  /// Undoes requests, with all that depend on them. Returns their number.
  ///
  /// Throws `outcomeUncertain` if the outcome of one of them cannot be determined now, and `changeTookEffect` if one
  /// has taken effect. In these cases nothing is undone.
  ///
  /// - Parameter choose: selects the requests.
  func takeBack(
    _ choose: @escaping @Sendable (LocalRows) throws -> Set<Int64>
  ) async throws(OfflineODataError) -> Int {
    let uncertain = try await read { snapshot in
      let rows = LocalRows(snapshot)
      return try rows.queue.withDependents(choose(rows)).compactMap { id in
        try rows.queue.entry(id).flatMap { $0.state == .sent ? $0 : nil }
      }
    }
    if !uncertain.isEmpty { try await resolve(uncertain) }
    return try await changeRows { rows in
      let ids = try choose(rows)
      for id in try rows.queue.withDependents(ids) where try rows.queue.entry(id)?.state == .sent {
        throw OfflineODataError(.changesPending, "request \(id) is being sent")
      }
      let undone = try rows.undo(ids)
      try rows.release()
      return undone.count
    }
  }

  /// Looks up uncertain requests. Returns if none of them took effect.
  private func resolve(_ entries: [QueueEntry]) async throws(OfflineODataError) {
    let task = lookUps.withLock { lookUps -> Task<Void, any Error>? in
      guard lookUps != nil else { return nil }
      let task = environment.task { [self] in try await performLookUp(entries) }
      lookUps?.insert(task)
      return task
    }
    guard let task else { throw OfflineODataError(.cancelled) }
    defer { _ = lookUps.withLock { $0?.remove(task) } }
    do {
      try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    } catch { throw OfflineODataError(below: error) }
  }

  /// Cancels the running look-ups and releases their lock. No new ones start.
  func endLookUps() async {
    let tasks = lookUps.withLock { exchange(&$0, with: nil) } ?? []
    for task in tasks { task.cancel() }
    for task in tasks { _ = await task.result }
  }

  private func performLookUp(_ entries: [QueueEntry]) async throws(OfflineODataError) {
    let lock: FileLock
    do throws(StorageError) { lock = try FileLock(replica.database.path + "-upload") } catch {
      throw error.category == .inUse
        ? OfflineODataError(.changesPending, "request \(entries[0].id) is being sent") : OfflineODataError(error)
    }
    defer { lock.release() }
    do { try await useModel() } catch { throw OfflineODataError(below: error) }
    forgetLastUpload()
    let uploadRun = UploadRun(journal: UploadJournal(store: self, options: OfflineODataUploadOptions()))
    for unit in Set(entries.map(\.unit)).sorted() {
      let step = await uploadRun.perform(.resolve(unit), batchError: nil)
      if let stop = step.stop?.error {
        if stop.isCancelled { throw stop }
        throw OfflineODataError(
          .outcomeUncertain, "request \(unit) cannot be looked up now: \(stop.errorMessage)", cause: stop)
      }
    }
    let ids = entries.map(\.id)
    let states = try await read { snapshot in
      let queue = ChangeQueue(snapshot.connection)
      return try ids.map { id in (id, try queue.entry(id)?.state) }
    }
    for (id, state) in states {
      switch state {
      case nil: throw OfflineODataError(.changeTookEffect, "request \(id)")
      case .sent: throw OfflineODataError(.outcomeUncertain, "request \(id)")
      case .archived, .held: throw .unclear(id)
      case .queued: break
      }
    }
  }
}

extension OfflineODataError {
  /// The error for undoing a request whose outcome cannot be determined.
  static func unclear(_ id: Int64) -> OfflineODataError {
    OfflineODataError(
      .outcomeUncertain,
      "request \(id) is in the error archive: check the service, then discard the request there")
  }
}
