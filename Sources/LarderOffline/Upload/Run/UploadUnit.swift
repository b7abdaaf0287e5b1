/// Requests that are sent as one: one request, or those of a transaction. What the upload's course is decided by.
struct UploadUnit: Sendable, Hashable {
  /// The id of its first request. Ids grow in the order in which changes were made.
  let id: Int64
  /// The number of its requests.
  var size = 1
  /// It was sent, and what became of it is not known.
  var isInDoubt = false
  /// It cannot be a part of a batch: it carries a stream of bytes.
  var isAlone = false
  /// Ids of the units that must have taken effect before it is sent. One that is not in the queue blocks it.
  var after: [Int64] = []
}

/// How an upload sends, as far as its course depends on it.
struct UploadRules: Sendable, Hashable {
  /// The most units of a batch; 0 sends none.
  var unitsPerBatch = 100
  /// The most single requests on their way at once.
  var lanes = 4
  /// Whether the requests of a transaction are sent one after another where the service takes no batches.
  var splitsTransactions = false
}

/// What has become of a unit that was sent or looked up.
enum UnitOutcome: Sendable, Hashable {
  /// It took effect, once.
  case done
  /// The service refused it for good; what depends on it is held.
  case archived
  /// It was changed after a conflict, and is sent anew.
  case again
  /// It certainly did not reach the service.
  case notSent
  /// The service took nothing of it as a change set; its requests are sent one after another.
  case apart
  /// It was sent, and what became of it is not known.
  case inDoubt
  /// It is in the queue no more: it was taken back.
  case gone
  /// It waits for others that were made since.
  case deferred(after: [Int64])
}

/// How a batch failed as a whole.
enum BatchRejection: Sendable, Hashable {
  /// The service takes no batches.
  case unsupported
  /// The service did nothing of it: it is too large, or something in it is not accepted.
  case rejected
  /// Whether anything of it was done is not known.
  case unclear
  /// The same, for its answer is none of a batch.
  case unreadable
}
