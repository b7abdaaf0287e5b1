// Changes that wait to be sent, taken back and asked for.
extension OfflineODataProvider {
  /// Whether changes wait to be sent, or are in the error archive.
  public func hasPendingChanges() async throws -> Bool {
    await afterScheduledChanges()
    return try await openStore().hasPendingChanges()
  }

  /// Takes back the changes of entities that wait to be sent or were refused. The entities are then as the service has them.
  ///
  /// The other changes of their transactions, and changes that depend on them, are taken back with them.
  /// A change whose response was lost is looked up at the service first.
  ///
  /// - Parameter paths: the entities, such as `Orders(5)`, by the keys that they have here, deleted ones too.
  /// - Returns: how many requests were taken back.
  /// - Throws: `entityNotFound` for an entity that is not in the store; `changesPending` while one of the changes is being
  ///   sent; `changeTookEffect` if one has taken effect at the service; `outcomeUncertain` if that cannot be found out, also
  ///   for what is in the error archive for that reason: ``discard(_:)`` takes it out. Nothing is taken back then.
  @discardableResult
  public func undoPendingChanges(of paths: [String]) async throws -> Int {
    await afterScheduledChanges()
    let store = try openStore()
    return try await translated { try await store.undoPendingChanges(paths) }
  }

  /// Takes back the changes of one entity; see ``undoPendingChanges(of:)-([String])``.
  @discardableResult
  public func undoPendingChanges(of path: String) async throws -> Int { try await undoPendingChanges(of: [path]) }

  /// Takes back all changes that wait to be sent or were refused, as ``undoPendingChanges(of:)-([String])`` does.
  ///
  /// Changes whose outcome nobody can tell stay in the error archive, with those of their transactions:
  /// ``hasPendingChanges()`` is true then.
  @discardableResult
  public func undoAllPendingChanges() async throws -> Int {
    await afterScheduledChanges()
    let store = try openStore()
    return try await translated { try await store.undoPendingChanges(nil) }
  }
}
