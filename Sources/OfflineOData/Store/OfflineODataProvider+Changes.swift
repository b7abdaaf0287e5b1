// Changes that wait to be sent, taken back and asked for.
extension OfflineODataProvider {
  /// Whether changes wait to be sent, or are in the error archive.
  public func hasPendingChanges() async throws -> Bool {
    await afterScheduledChanges()
    return try await openStore().hasPendingChanges()
  }

  /// Takes back the changes of entities that were not sent yet, with the whole transactions that these are of and all changes
  /// that depend on them; the entities are what the service has. One that was sent and whose answer was lost is not sent again; what came of it at the service,
  /// the next download tells.
  ///
  /// - Parameter paths: the entities, such as `Orders(5)`, by the keys that they have here, deleted ones too.
  /// - Returns: how many requests were taken back.
  /// - Throws: `notFound` for an entity that is not in the store, `preconditionFailed` while one of them is being sent.
  @discardableResult
  public func undoPendingChanges(of paths: [String]) async throws -> Int {
    await afterScheduledChanges()
    return try await openStore().undoPendingChanges(paths)
  }

  /// Takes back the changes of one entity; see ``undoPendingChanges(of:)``.
  @discardableResult
  public func undoPendingChanges(of path: String) async throws -> Int { try await undoPendingChanges(of: [path]) }

  /// Takes back all changes that were not sent yet.
  @discardableResult
  public func undoAllPendingChanges() async throws -> Int {
    await afterScheduledChanges()
    return try await openStore().undoPendingChanges(nil)
  }
}
