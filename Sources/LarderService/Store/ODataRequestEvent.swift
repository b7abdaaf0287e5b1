/// The status of a request.
public enum ODataRequestStatus: String, Sendable, Hashable {
  /// Accepted; no work has begun.
  case initialized
  /// The cache or the server is being queried.
  case inProgress
  /// Ended successfully.
  case completed
  /// Ended with an error.
  case failed
  /// Cancelled by its caller.
  case cancelled
}

/// One step in the run of a request, with the state at that step.
public enum ODataRequestEvent: Sendable {
  /// The request was accepted.
  case requestStarted(Snapshot)
  /// The cache was queried.
  case requestCacheResponse(Snapshot)
  /// The server responded.
  case requestServerResponse(Snapshot)
  /// The request failed.
  case requestFailed(Snapshot)
  /// The request has ended.
  case requestFinished(Snapshot)

  /// The state of an execution at one step.
  public struct Snapshot: Sendable {
    /// The status of the request.
    public let status: ODataRequestStatus
    /// The response at that step: the cache's, the server's, or nil.
    public let response: ODataResponse?
    /// Why the request failed; nil in all other states.
    public let error: (any Error)?

    init(status: ODataRequestStatus, response: ODataResponse? = nil, error: (any Error)? = nil) {
      self.status = status
      self.response = response
      self.error = error
    }
  }

  /// The name of the listener's function for this step, such as `requestCacheResponse`.
  public var name: String {
    switch self {
    case .requestStarted: "requestStarted"
    case .requestCacheResponse: "requestCacheResponse"
    case .requestServerResponse: "requestServerResponse"
    case .requestFailed: "requestFailed"
    case .requestFinished: "requestFinished"
    }
  }

  /// The state at this step.
  public var snapshot: Snapshot {
    switch self {
    case .requestStarted(let snapshot), .requestCacheResponse(let snapshot), .requestServerResponse(let snapshot),
      .requestFailed(let snapshot), .requestFinished(let snapshot):
      snapshot
    }
  }
}
