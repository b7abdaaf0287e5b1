/// How far a queued request has come.
enum RequestState: Int, Codable, Sendable {
  /// Waits to be sent.
  case queued = 0
  /// Was sent, and what became of it is not known.
  case sent = 1
  /// Failed: in the error archive.
  case archived = 2
  /// Held, because one that it depends on is in the archive.
  case held = 3
}

/// A request of the queue with what the queue knows of it.
struct QueueEntry: Hashable, Sendable {
  /// Grows with each request; the order in which they were made.
  var id: Int64
  /// Requests of one transaction, sent as one change set: the first's id.
  var unit: Int64
  var state: RequestState
  var request: QueuedRequest
  /// The journal of the last send, as the upload writes it.
  var attempt: String?
  var failure: ArchivedFailure?
}
