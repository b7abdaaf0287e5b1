/// Where a request stands.
public enum ODataRequestStatus: String, Sendable, Hashable {
  /// Accepted, nothing done yet.
  case initialized
  /// The cache or the server has been asked.
  case inProgress
  /// Ended well.
  case completed
  /// Ended with an error.
  case failed
  /// Ended by its caller.
  case canceled
}

/// One step in the course of a request, with the state of that moment.
public enum ODataRequestEvent: Sendable {
  /// The request was accepted.
  case requestStarted(Snapshot)
  /// The cache was asked.
  case requestCacheResponse(Snapshot)
  /// The server answered.
  case requestServerResponse(Snapshot)
  /// The request failed.
  case requestFailed(Snapshot)
  /// The request is over.
  case requestFinished(Snapshot)

  /// The state of an execution at one step.
  public struct Snapshot: Sendable {
    /// Where the request stood.
    public let status: ODataRequestStatus
    /// The answer at that step: the cache's, the server's, or nil.
    public let response: ODataResponse?
    /// Why it failed; nil in all other states.
    public let error: (any Error)?

    init(status: ODataRequestStatus, response: ODataResponse? = nil, error: (any Error)? = nil) {
      self.status = status
      self.response = response
      self.error = error
    }
  }

  /// The name of the listener's call for this step, such as `requestCacheResponse`.
  public var name: String {
    switch self {
    case .requestStarted: "requestStarted"
    case .requestCacheResponse: "requestCacheResponse"
    case .requestServerResponse: "requestServerResponse"
    case .requestFailed: "requestFailed"
    case .requestFinished: "requestFinished"
    }
  }

  /// The state of that moment.
  public var snapshot: Snapshot {
    switch self {
    case .requestStarted(let snapshot), .requestCacheResponse(let snapshot), .requestServerResponse(let snapshot),
      .requestFailed(let snapshot), .requestFinished(let snapshot):
      snapshot
    }
  }
}
