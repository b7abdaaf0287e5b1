public import LarderOData
public import LarderService

// The entity sets that every store has besides those of its service.
extension OfflineODataProvider {
  /// The changes that the service rejected: the entity set `ErrorArchive`, which every store has.
  ///
  /// ```swift
  /// for rejected in try await provider.errorArchive.filter { !$0.isHeld }.orderBy(\.time).all() { show(rejected.message) }
  /// ```
  public var errorArchive: ODataEntitySet<OfflineODataArchivedRequest> {
    ODataEntitySet(self, ODataQuery<OfflineODataArchivedRequest>(StoreSet.archive.rawValue))
  }

  /// The last 100 operations: the entity set `EventLog`, which every store has.
  public var eventLog: ODataEntitySet<OfflineODataLoggedOperation> {
    ODataEntitySet(self, ODataQuery<OfflineODataLoggedOperation>(StoreSet.log.rawValue))
  }

  /// The changes that have not been uploaded: the entity set `RequestQueue`, which every store has.
  public var requestQueue: ODataEntitySet<OfflineODataPendingRequest> {
    ODataEntitySet(self, ODataQuery<OfflineODataPendingRequest>(StoreSet.queue.rawValue))
  }
}

extension ODataEntityReference<OfflineODataArchivedRequest> {
  /// The entity that the request creates or changes.
  public func affectedEntity<Affected: ODataDescribed & Decodable & Sendable>(
    as type: Affected.Type
  ) -> ODataEntityReference<Affected> { related(StoreModel.affected) }
}

extension ODataEntityReference<OfflineODataPendingRequest> {
  /// The entity that the request creates or changes.
  public func affectedEntity<Affected: ODataDescribed & Decodable & Sendable>(
    as type: Affected.Type
  ) -> ODataEntityReference<Affected> { related(StoreModel.affected) }
}

extension ODataEntityReference {
  fileprivate func related<Related: ODataDescribed & Decodable & Sendable>(
    _ name: String
  ) -> ODataEntityReference<Related> {
    ODataEntityReference<Related>(store, ODataQuery(path: query.path.appending(name)))
  }
}
