/// Hears what becomes of requests. The calls for one execution come one after another, never at the same time.
///
/// Every call has an empty default. While a call runs, the execution's `status`, `response` and `error` are those of
/// that moment, whatever happens elsewhere meanwhile.
///
/// | course | calls (status) |
/// | --- | --- |
/// | active, success | started (initialized), cacheResponse (inProgress), serverResponse (inProgress), finished (completed) |
/// | active, failure | started, cacheResponse, failed (failed), finished (failed) |
/// | passive, success | started, cacheResponse, finished (completed) |
/// | passive, failure; store closed | started, failed (failed), finished (failed) |
/// | cancelled | what came before, finished (canceled) |
///
/// `cacheResponse` is left out where the request or the store does not use the cache.
public protocol ODataRequestListener: AnyObject, Sendable {
  /// The request was accepted.
  func requestStarted(_ execution: ODataRequestExecution)
  /// The cache was asked; `response` is what it holds, nil for a miss.
  func requestCacheResponse(_ execution: ODataRequestExecution)
  /// The server answered; `response` is its answer.
  func requestServerResponse(_ execution: ODataRequestExecution)
  /// The request failed; `error` says why.
  func requestFailed(_ execution: ODataRequestExecution)
  /// The last call, after success, failure and cancellation alike.
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
