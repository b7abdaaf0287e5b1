/// Receives the steps of requests. The calls for one execution come one after another, never concurrently.
///
/// Every function has an empty default. During a call, the execution's `status`, `response` and `error` are those of
/// that step, whatever happens elsewhere meanwhile.
///
/// | run | calls (status) |
/// | --- | --- |
/// | active, success | started (initialized), cacheResponse (inProgress), serverResponse (inProgress), finished
/// (completed) |
/// | active, failure | started, cacheResponse, failed (failed), finished (failed) |
/// | passive, success | started, cacheResponse, finished (completed) |
/// | passive, failure; store closed | started, failed (failed), finished (failed) |
/// | cancelled | the steps before the cancellation, finished (cancelled) |
///
/// `cacheResponse` is left out if the request or the store does not use the cache.
public protocol ODataRequestListener: AnyObject, Sendable {
  /// The request was accepted.
  func requestStarted(_ execution: ODataRequestExecution)
  /// The cache was queried; `response` is what it holds, nil for a miss.
  func requestCacheResponse(_ execution: ODataRequestExecution)
  /// The server responded; `response` is its response.
  func requestServerResponse(_ execution: ODataRequestExecution)
  /// The request failed; `error` says why.
  func requestFailed(_ execution: ODataRequestExecution)
  /// The last call, after success, failure or cancellation.
  func requestFinished(_ execution: ODataRequestExecution)
}

extension ODataRequestListener {
  /// Does nothing.
  public func requestStarted(_ execution: ODataRequestExecution) {}
  /// Does nothing.
  public func requestCacheResponse(_ execution: ODataRequestExecution) {}
  /// Does nothing.
  public func requestServerResponse(_ execution: ODataRequestExecution) {}
  /// Does nothing.
  public func requestFailed(_ execution: ODataRequestExecution) {}
  /// Does nothing.
  public func requestFinished(_ execution: ODataRequestExecution) {}
}
