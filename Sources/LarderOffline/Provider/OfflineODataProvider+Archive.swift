public import LarderOData

// Changes that the service refused: sent again, taken back, their conflicts looked into.
//
// The entity sets `ErrorArchive` and `RequestQueue` are read as any other; `delete("ErrorArchive(7)")` takes back.
extension OfflineODataProvider {
  /// The model of the store's own entity sets: `ErrorArchive`, `RequestQueue` and `EventLog`. A set of the service's of one
  /// of these names goes before.
  public static var ownModel: EdmModel { StoreModel.current.model }

  /// Puts a request of the error archive back into the queue, with those that are held for it: the next upload sends it.
  ///
  /// Of a conflict that means mine: it goes under the ETag of the server's version. Of a transaction it is the whole one.
  /// A change that waits still and whose conflict a download has noticed goes so, too.
  /// - Returns: how many requests wait to be sent again.
  /// - Throws: `notFound` for a number that is not in the archive.
  @discardableResult
  public func retry(_ requestID: Int64) async throws(OfflineODataError) -> Int {
    try await openStore().retry(requestID)
  }

  /// Puts a creation that the service has refused because it has an entity of that key (409) back into the queue: as an
  /// update of that entity, or under another key.
  ///
  /// - Returns: how many requests wait to be sent again.
  /// - Throws: `notFound` for a number that is not in the archive; `unsupportedChange` for a request that is no refused
  ///   creation, or that cannot be an update; `entityExists` for a key that another entity of the store has.
  @discardableResult
  public func retry(_ requestID: Int64, as repair: OfflineODataRepair) async throws(OfflineODataError) -> Int {
    try await openStore().retry(requestID, as: repair)
  }

  /// Puts all requests of the error archive back into the queue; answers how many.
  @discardableResult
  public func retryAll() async throws(OfflineODataError) -> Int { try await openStore().retry(nil) }

  /// Takes back a request of the error archive with its transaction and those that depend on it: the entities are what the
  /// service has.
  ///
  /// - Returns: how many requests are gone.
  /// - Throws: `notFound` for a number that is not in the archive.
  @discardableResult
  public func discard(_ requestID: Int64) async throws(OfflineODataError) -> Int {
    try await openStore().discard(requestID)
  }

  /// Takes back all requests of the error archive; answers how many.
  @discardableResult
  public func discardAll() async throws(OfflineODataError) -> Int { try await openStore().discard(nil) }

  /// The three versions of a request whose entity another has changed: of one in the archive, and of one in the queue
  /// where a download has noticed it. Of one that was refused because the service has an entity of its key already (409), or
  /// has it no more (404, 410), what the service has.
  ///
  /// - Returns: nil where the request failed for another reason, or has not failed.
  /// - Throws: `notFound` for a number that is neither in the queue nor in the archive.
  public func conflict(_ requestID: Int64) async throws(OfflineODataError) -> OfflineODataConflict? {
    try await openStore().conflict(requestID)
  }
}

/// What a refused creation becomes.
public enum OfflineODataRepair: Sendable, Hashable {
  /// An update of the entity that the service has under its key: what the creation brings, on top of that.
  case update
  /// A creation under another key, as it stands in parentheses of a path: `7`, `Year=2026,Number='A1'`.
  case key(String)
}
