/// The state of a queued request.
enum RequestState: Int, Codable, Sendable {
  /// It is pending.
  case queued = 0
  /// It was sent, and its outcome is not known.
  case sent = 1
  /// It failed, and is in the error archive.
  case archived = 2
  /// Held, because one that it depends on is in the archive.
  case held = 3
}

/// A request of the queue with its state.
struct QueueEntry: Hashable, Sendable {
  /// The id, which increases with each request, in the order in which they were created.
  var id: Int64
  /// The id of the first request of its transaction. Requests of one transaction are sent as one change set.
  var unit: Int64
  var state: RequestState
  var request: QueuedRequest
  /// The journal entry of the last send, written by the upload.
  var attempt: String?
  var failure: ArchivedFailure?

  /// Whether a retry of the request in the archive makes it uncertain again, so that it is looked up before it is sent. An
  /// action, and an entity created from bytes, cannot be looked up.
  var isLookedUpAgain: Bool {
    guard state == .archived, attempt != nil, failure?.isOfService == true else { return false }
    return request.operation != .action && request.operation != .createMedia
  }
}
