public import LarderOData

/// How an upload sends.
public struct OfflineODataUploadOptions: Sendable {
  /// The categories of changes to send; nil sends all, those without one too.
  public var categories: Set<String>?
  /// The most changes of a batch; 0 sends none in batches. A transaction counts as one.
  public var changesPerBatch: Int
  /// How many single requests are on their way at once, where the service takes no batches: 1 to 16.
  public var lanes: Int
  /// Whether the changes of a transaction are sent one after another where the service takes no batches. They are then no
  /// transaction any more: those before a refused one have taken effect.
  public var splitsTransactions: Bool
  /// Whether requests carry a name by which the service recognises a repetition: `Repeatability-Request-ID`, before V4
  /// `RequestID`.
  public var namesRequests: Bool
  /// What becomes of a change whose entity another has changed since.
  public var conflictPolicy: OfflineODataConflictPolicy
  /// How long after a send whose answer was lost the service may still be at it: an entity that it gives the key and that
  /// is not found is looked for once more then, before it is sent again.
  public var settlingTime: Duration

  /// The defaults: everything, a hundred changes a batch, conflicts go to the error archive.
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

/// What became of an upload: each change that was in the queue is in one of the numbers.
public struct OfflineODataUploadReport: Sendable, Hashable {
  /// Changes that took effect at the service.
  public var sent = 0
  /// Changes that went to the error archive, those that wait for a refused one among them.
  public var failed = 0
  /// Changes that are still queued: of other categories, behind the end of an upload that was cut.
  public var left = 0
  /// Changes that a conflict's policy gave up for the server's version.
  public var discarded = 0
  /// Requests that were sent for it, batches counted as one.
  public var requests = 0

  /// Nothing yet.
  public init() {}
}

/// How far an upload is.
public struct OfflineODataUploadProgress: Sendable, Hashable {
  /// Changes that took effect.
  public var sent: Int
  /// Changes that went to the error archive.
  public var failed: Int
  /// Changes that this upload is about.
  public var total: Int
}

/// A request as an upload would send it now.
public struct OfflineODataPlannedRequest: Sendable, Hashable {
  /// The change's number in the queue.
  public var id: Int64
  /// The changes that go as one have the same: the number of the first of them.
  public var transaction: Int64
  /// POST, PATCH …
  public var method: String
  /// Relative to the service's root; `{…}` stands for the key of an entity that the service has not given one yet.
  public var url: String
  /// The header fields of the request itself, in their order; those of the session (credentials, tokens) are not in it.
  public var headers: [Header]
  /// The content, as text where it is text; nil for none and for bytes.
  public var body: String?
  /// The numbers of the changes that it waits for.
  public var waitsFor: [Int64]
  /// It was sent, and its response was lost: the upload looks up what became of it, and sends it only if it was not done.
  public var isUncertain = false

  /// A header field.
  public struct Header: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// Its value.
    public var value: String
  }
}

/// What becomes of a change whose entity another has changed since (412).
///
/// A transaction is decided as one: one of its changes that goes to the archive takes the others there, one that is given up
/// takes all with it, and where what is in conflict is sent again, all are.
public enum OfflineODataConflictPolicy: Sendable {
  /// It goes to the error archive with base, mine and theirs, and waits for a person.
  case archive
  /// It is sent again on top of the server's version.
  case clientWins
  /// It is given up for the server's version, with the changes behind it.
  case serverWins
  /// It is sent again where the two changed different properties; else archived.
  case mergeDisjoint
  /// The application decides.
  case resolver(@Sendable (OfflineODataConflict) async -> OfflineODataResolution)
}

/// A change, and another's that came before it.
public struct OfflineODataConflict: Sendable {
  /// The change's number in the queue.
  public var id: Int64
  /// The entity's path relative to the service's root.
  public var path: String
  /// The caller's own mark on the change.
  public var customTag: String?
  /// True for a change that deletes the entity.
  public var isDeletion: Bool
  /// The server's version that the change was based on; nil where it is not known.
  public var base: ODataEntity?
  /// What this device made of it; nil where it deleted it.
  public var mine: ODataEntity?
  /// What the server has now; nil where it has it no more, and where that is not known.
  public var theirs: ODataEntity?
  /// False where the server could not be asked: the next download or upload tells.
  public var isTheirsKnown = true
  /// True where the response to the change was lost and it may have taken effect before the other: another client then made
  /// its version with mine before its eyes. `clientWins` and `mergeDisjoint` send such a change to the archive.
  public var mayHaveTakenEffect = false
}

/// What shall become of a conflict.
public enum OfflineODataResolution: Sendable {
  /// It goes to the error archive.
  case archive
  /// Mine is sent on top of theirs.
  case useMine
  /// Mine is given up.
  case useTheirs
  /// These properties are sent on top of theirs.
  case use([ODataProperty])
}
