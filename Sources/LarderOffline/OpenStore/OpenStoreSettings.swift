import LarderCore

/// What an open store needs to know of the parameters that it was opened with.
struct OpenStoreSettings: Sendable {
  /// The size of the pages that downloads request.
  var pageSize: Int?
  /// The maximum number of rows in a result.
  var resultPageSize: Int?
  /// Whether pending changes of one entity are merged.
  var combinesChanges: Bool
  /// Indexes in addition to those on keys and foreign keys.
  var indexes: [OfflineODataIndex]
  /// How many defining queries are downloaded at the same time.
  var parallelQueries: Int
  /// The maximum number of requests with which one query follows links that the service does not expand.
  var linkRequestLimit: Int
  /// How long the staged rows of an interrupted download can be resumed.
  var stagingAgeLimit: Duration
  /// Called with what no call can throw.
  var onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)?
}
