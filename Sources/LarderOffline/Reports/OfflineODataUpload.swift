public import LarderHTTP
public import LarderOData

/// Options of an upload.
public struct OfflineODataUploadOptions: Sendable {
  /// The categories of changes to send; nil sends all changes, including those without a category.
  public var categories: Set<String>?
  /// The maximum number of changes in a batch; 0 uses no batches. A transaction counts as one.
  public var changesPerBatch: Int
  /// How many single requests are sent at the same time, if the service does not accept batches: 1 to 16.
  public var lanes: Int
  /// Whether the changes of a transaction are sent one after another if the service does not accept batches. They are
  /// no longer a transaction then: the changes before a rejected one have taken effect.
  public var splitsTransactions: Bool
  /// Whether requests carry an identifier by which the service recognizes a repetition: `Repeatability-Request-ID`,
  /// before V4 `RequestID`.
  public var namesRequests: Bool
  /// The policy for a change whose entity another user has changed since.
  public var conflictPolicy: OfflineODataConflictPolicy
  /// How long the service may still be processing a request whose response was lost. If a created entity with a
  /// service-generated key is not found, the upload looks for it once more after this time before it sends the creation
  /// again.
  public var settlingTime: Duration

  /// Creates options. By default, all changes are sent, a hundred in a batch, and conflicts go to the error archive.
  public init(
    categories: Set<String>? = nil, changesPerBatch: Int = 100, lanes: Int = 4, splitsTransactions: Bool = false,
    namesRequests: Bool = true, conflictPolicy: OfflineODataConflictPolicy = .archive,
    settlingTime: Duration = .seconds(5)
  ) {
    self.categories = categories
    self.changesPerBatch = changesPerBatch
    self.lanes = lanes
    self.splitsTransactions = splitsTransactions
    self.namesRequests = namesRequests
    self.conflictPolicy = conflictPolicy
    self.settlingTime = settlingTime
  }

  func check() throws(OfflineODataError) {
    guard (0...10_000).contains(changesPerBatch) else {
      throw OfflineODataError(.invalidParameter, "changesPerBatch is \(changesPerBatch); it must be 0 to 10000")
    }
    guard (1...16).contains(lanes) else {
      throw OfflineODataError(.invalidParameter, "lanes is \(lanes); it must be 1 to 16")
    }
    guard (.zero ... .seconds(3600)).contains(settlingTime) else {
      throw OfflineODataError(.invalidParameter, "settlingTime is \(settlingTime); it must be 0 to 3600 seconds")
    }
  }
}

/// The report of an upload. Each change that was in the queue is counted in one of the numbers.
public struct OfflineODataUploadReport: Sendable, Hashable {
  /// The number of changes that took effect at the service.
  public var sent = 0
  /// The number of changes that went to the error archive, including those that depend on a rejected one.
  public var failed = 0
  /// The number of changes that are still queued: of other categories, or after the point where the upload was
  /// interrupted.
  public var pending = 0
  /// The number of changes that the conflict policy discarded in favor of the server's version.
  public var discarded = 0
  /// The number of requests sent. A batch counts as one.
  public var requests = 0

  /// Creates an empty report.
  public init() {}
}

/// The progress of an upload.
public struct OfflineODataUploadProgress: Sendable, Hashable {
  /// The number of changes that took effect.
  public var sent: Int
  /// The number of changes that went to the error archive.
  public var failed: Int
  /// The number of changes in this upload.
  public var total: Int
}

/// A request as an upload would send it now.
public struct OfflineODataPlannedRequest: Sendable, Hashable {
  /// The change's number in the queue.
  public var requestID: Int64
  /// The number of the first change of the transaction. All changes that are sent as one transaction have the same
  /// value.
  public var transactionID: Int64
  /// The HTTP method: POST, PATCH …
  public var method: String
  /// The URL, relative to the service's root. `{…}` is a placeholder for a key that the service has not assigned yet.
  public var url: String
  /// The header fields of the request itself, in their order, without those of the session (credentials, tokens).
  public var fields: HTTPFields
  /// The content if it is text; nil if there is none, or if it is binary.
  public var body: String?
  /// The numbers of the changes that must take effect before this one is sent.
  public var dependencies: [Int64]
  /// Whether the request was sent and its response was lost. The upload looks up the outcome, and sends the request
  /// only if it has not taken effect.
  public var isUncertain = false
}

/// The policy for a change whose entity another user has changed since (412).
///
/// A transaction is decided as a whole: if one of its changes is archived, the others are archived too; if one is
/// discarded, all are; if a conflicting one is sent again, all are.
public enum OfflineODataConflictPolicy: Sendable {
  /// The change goes to the error archive with its three versions (base, mine and theirs), to be resolved by a person.
  case archive
  /// The change is sent again on top of the server's version.
  case clientWins
  /// The change is discarded in favor of the server's version, with the later changes of the entity.
  case serverWins
  /// The change is sent again if the two changed different properties; otherwise it is archived.
  case mergeDisjoint
  /// The application decides.
  case resolver(@Sendable (OfflineODataConflict) async -> OfflineODataResolution)
}

/// A change that conflicts with another user's earlier change.
public struct OfflineODataConflict: Sendable {
  /// The change's number in the queue.
  public var requestID: Int64
  /// The entity's path relative to the service's root.
  public var path: String
  /// The custom tag that the caller has set on the change.
  public var customTag: String?
  /// Whether the change deletes the entity.
  public var isDeletion: Bool
  /// The server's version that the change was based on; nil if it is not known.
  public var base: ODataEntity?
  /// The version on this device; nil if the change deletes the entity.
  public var mine: ODataEntity?
  /// The server's current version; nil if the entity was deleted there, or if the version is not known.
  public var theirs: ODataEntity?
  /// Whether the server's version is known. False if the server could not be reached; the next download or upload reads
  /// it.
  public var isTheirsKnown = true
  /// Whether the response to the change was lost and the change may have taken effect before the other user's: that
  /// user then saw it and changed the entity on top of it. `clientWins` and `mergeDisjoint` archive such a change.
  public var mayHaveTakenEffect = false
}

/// The resolution of a conflict.
public enum OfflineODataResolution: Sendable {
  /// The change goes to the error archive.
  case archive
  /// The change is sent on top of the server's version.
  case useMine
  /// The change is discarded.
  case useTheirs
  /// These properties are sent on top of the server's version.
  case use([ODataProperty])
}
