import OData

/// Makes the plan of a question: SQL from a bound URL.
///
/// A value of one transaction: the names of physical tables are those of its ``ReplicaState``. All literals become
/// parameters.
struct QueryWriter: Sendable {
  let plan: ReplicaPlan
  let state: ReplicaState
  let options: Options

  /// What is not said by the URL.
  struct Options: Sendable, Hashable {
    /// The most rows of a page; nil answers all at once.
    var pageSize: Int?
    /// Whether media entities' bytes and named streams are kept in the store, so that `/$value` can be answered.
    var hasStreams = true

    init(pageSize: Int? = nil, hasStreams: Bool = true) {
      self.pageSize = pageSize
      self.hasStreams = hasStreams
    }
  }

  init(plan: ReplicaPlan, state: ReplicaState, options: Options = Options()) {
    self.plan = plan
    self.state = state
    self.options = options
  }

  /// The plan that answers a URL.
  ///
  /// - Throws: ``OfflineODataError`` `notSupported` with the name of the construct that has no meaning on stored data, and
  ///   `invalidInput` for a `$skiptoken` that is none of this store's.
  func plan(_ url: ODataBoundURL) throws -> ReadPlan {
    throw QueryNotWritten()
  }

  private struct QueryNotWritten: Error {}
}
