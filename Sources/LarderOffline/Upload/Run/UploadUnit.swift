/// Requests that are sent together: a single request, or those of a transaction. ``UploadMachine`` decides by these
/// values.
struct UploadUnit: Sendable, Hashable {
  /// The id of its first request. Ids increase in the order in which the changes were made.
  let id: Int64
  /// The number of its requests.
  var size = 1
  /// Whether it was sent and its outcome is not known.
  var isInDoubt = false
  /// Whether it cannot be part of a batch, because it carries a stream of bytes.
  var isAlone = false
  /// The ids of the units that must have taken effect before it is sent. An id that is not in the queue blocks it.
  var after: [Int64] = []
}

/// The options of an upload that ``UploadMachine`` decides by.
struct UploadRules: Sendable, Hashable {
  /// The maximum number of units in a batch; 0 uses no batches.
  var unitsPerBatch = 100
  /// The maximum number of single requests at the same time.
  var lanes = 4
  /// Whether the requests of a transaction are sent one after another if the service does not accept batches.
  var splitsTransactions = false
}

/// The outcome of a unit that was sent or looked up.
enum UnitOutcome: Sendable, Hashable {
  /// It took effect, once.
  case done
  /// The service rejected it permanently. Units that depend on it are held.
  case archived
  /// It was changed after a conflict, and is sent again.
  case again
  /// It certainly did not reach the service.
  case notSent
  /// The service executed nothing of it as a change set. Its requests are sent one after another.
  case apart
  /// It was sent, and its outcome is not known.
  case inDoubt
  /// The service has accepted it, and may execute it later. The next upload looks it up.
  case accepted
  /// It is no longer in the queue, because it was undone.
  case gone
  /// It depends on units that were created since.
  case deferred(after: [Int64])
}

/// How a batch failed as a whole.
enum BatchRejection: Sendable, Hashable {
  /// The service does not accept batches.
  case unsupported
  /// The service executed nothing of it: it is too large, or something in it is not accepted.
  case rejected
  /// It is not known whether the service executed any of it.
  case unclear
  /// It is not known whether the service executed any of it, because the response is not a batch response.
  case unreadable
}
