public import OData

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
  /// - Returns: how many requests wait to be sent again.
  /// - Throws: `notFound` for a number that is not in the archive.
  @discardableResult
  public func retry(_ requestID: Int64) async throws(OfflineODataError) -> Int {
    try await openStore().retry(requestID)
  }

  /// Puts all requests of the error archive back into the queue; answers how many.
  @discardableResult
  public func retryAll() async throws(OfflineODataError) -> Int { try await openStore().retry(nil) }

  /// Takes back a request of the error archive with those that depend on it: the entities are what the service has.
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
  /// where a download has noticed it.
  ///
  /// - Returns: nil where the request failed for another reason, or has not failed.
  /// - Throws: `notFound` for a number that is neither in the queue nor in the archive.
  public func conflict(_ requestID: Int64) async throws(OfflineODataError) -> OfflineODataConflict? {
    try await openStore().conflict(requestID)
  }
}
