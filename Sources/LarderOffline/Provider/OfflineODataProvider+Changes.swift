// Pending changes: checking for them and undoing them.
extension OfflineODataProvider {
  /// Whether there are pending changes, or requests in the error archive.
  public func hasPendingChanges() async throws -> Bool {
    await afterScheduledChanges()
    return try await openStore().hasPendingChanges()
  }

  /// Undoes the changes of entities that are pending or were rejected. The entities return to the service's version.
  ///
  /// The other changes of their transactions, and changes that depend on them, are undone with them. A change whose
  /// response was lost is looked up at the service first.
  ///
  /// - Parameter paths: the entities, such as `Orders(5)`, by the keys that they have here, including deleted ones.
  /// - Returns: the number of requests that were undone.
  /// - Throws: `entityNotFound` for an entity that is not in the store; `changesPending` while one of the changes is
  ///   being sent; `changeTookEffect` if one has taken effect at the service; `outcomeUncertain` if that cannot be
  ///   determined, and also for a request that is in the error archive for that reason: ``discard(_:)`` removes it. In
  ///   these cases nothing is undone.
  @discardableResult
  public func undoPendingChanges(of paths: [String]) async throws -> Int {
    await afterScheduledChanges()
    let store = try openStore()
    return try await translated { try await store.undoPendingChanges(paths) }
  }

  /// Undoes the changes of one entity; see ``undoPendingChanges(of:)-([String])``.
  @discardableResult
  public func undoPendingChanges(of path: String) async throws -> Int { try await undoPendingChanges(of: [path]) }

  /// Undoes all changes that are pending or were rejected, as ``undoPendingChanges(of:)-([String])`` does.
  ///
  /// Changes whose outcome cannot be determined stay in the error archive, with those of their transactions:
  /// ``hasPendingChanges()`` is true then.
  @discardableResult
  public func undoAllPendingChanges() async throws -> Int {
    await afterScheduledChanges()
    let store = try openStore()
    return try await translated { try await store.undoPendingChanges(nil) }
  }
}
