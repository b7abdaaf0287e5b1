package import LarderOData

// Changes that the service rejected: retry, discard, and details of conflicts.
//
// The entity sets `ErrorArchive` and `RequestQueue` are read like any other; `delete("ErrorArchive(7)")` discards a
// request.
extension OfflineODataProvider {
  /// The model of the store's own entity sets: `ErrorArchive`, `RequestQueue` and `EventLog`. If the service has an
  /// entity set with one of these names, the service's takes precedence.
  package static var ownModel: EdmModel { StoreModel.v4.model }

  /// Puts a request of the error archive back into the queue, with the requests that are held because of it. The next
  /// upload sends them.
  ///
  /// For a conflict, this keeps the local version: the request is sent with the ETag of the server's version. For a
  /// request of a transaction, the whole transaction is retried. A pending change whose conflict a download has found
  /// is also sent this way.
  /// - Returns: the number of requests that are pending again.
  /// - Throws: `notFound` for a number that is not in the archive.
  @discardableResult
  public func retry(_ requestID: Int64) async throws(OfflineODataError) -> Int {
    try await openStore().retry(requestID)
  }

  /// Puts a creation that the service rejected because the key exists there (409) back into the queue, as an update of
  /// the existing entity or with another key.
  ///
  /// - Returns: the number of requests that are pending again.
  /// - Throws: `notFound` for a number that is not in the archive; `unsupportedChange` for a request that is not a
  ///   rejected creation, or that cannot become an update; `entityExists` for a key that another entity of the store
  ///   has.
  @discardableResult
  public func retry(_ requestID: Int64, as repair: OfflineODataRepair) async throws(OfflineODataError) -> Int {
    try await openStore().retry(requestID, as: repair)
  }

  /// Puts all requests of the error archive back into the queue. Returns their number.
  @discardableResult
  public func retryAll() async throws(OfflineODataError) -> Int { try await openStore().retry(nil) }

  /// Discards a request of the error archive, with its transaction and the requests that depend on it. The entities
  /// return to the service's version.
  ///
  /// - Returns: the number of requests that were discarded.
  /// - Throws: `notFound` for a number that is not in the archive; `changeTookEffect` or `outcomeUncertain` if a request
  ///   that depends on it was sent and took effect, or may have; `CancellationError`.
  @discardableResult
  public func discard(_ requestID: Int64) async throws -> Int {
    let store = try openStore()
    return try await translated { try await store.discard(requestID) }
  }

  /// Discards all requests of the error archive, like ``discard(_:)``. Returns their number.
  @discardableResult
  public func discardAll() async throws -> Int {
    let store = try openStore()
    return try await translated { try await store.discard(nil) }
  }

  /// The three versions of an entity that another user has changed, for a request in the archive, or for a queued
  /// request whose conflict a download has found. For a request that was rejected because the service already has an
  /// entity with its key (409), or no longer has it (404, 410), the conflict contains the service's version.
  ///
  /// - Returns: nil if the request failed for another reason, or has not failed.
  /// - Throws: `notFound` for a number that is neither in the queue nor in the archive.
  public func conflict(_ requestID: Int64) async throws(OfflineODataError) -> OfflineODataConflict? {
    try await openStore().conflict(requestID)
  }
}
