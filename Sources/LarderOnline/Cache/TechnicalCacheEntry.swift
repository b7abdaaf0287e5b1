import LarderHTTP
import LarderOData
import LarderService

/// One complete response as the cache stores it.
struct TechnicalCacheEntry: Sendable {
  /// The status code, 2xx.
  var status: Int
  /// The fields that may be stored; see ``CacheFields``.
  var fields: HTTPFields
  /// The content.
  var payload: [UInt8]
  /// The service's link for later changes (a delta link); nil if the service gives none.
  var deltaLink: String?
  /// The URL that sent the response after redirects; nil if it is that of the request.
  var sender: String?
  /// The entry's row in the file; 0 before it is written.
  var row: Int64 = 0

  /// The entry as a response from the cache.
  func response(url: String, version: ODataVersion?) -> ODataSingleResponse {
    ODataSingleResponse(
      httpStatus: status, fields: fields, payloadBytes: payload, url: url, serviceVersion: version)
  }

  /// What the row costs on disk, in bytes: content that does not fit into a page takes whole pages.
  func cost(url: String) -> Int64 {
    let row =
      payload.count + CacheFields.byteCount(fields) + 2 * url.utf8.count + (deltaLink?.utf8.count ?? 0)
      + (sender?.utf8.count ?? 0) + 128
    guard row > 3000 else { return Int64(row) }
    return Int64((row + 4095) / 4096 * 4096)
  }
}

/// A change of the cache's content. Several changes are applied together or not at all.
enum CacheChange: Sendable {
  /// Stores the last successful response in place of an earlier one.
  case store(CacheKey, TechnicalCacheEntry)
  /// The server confirmed the response: updates its fields and the link for the next request.
  case refresh(CacheKey, TechnicalCacheEntry)
  /// The resource no longer exists (404, 410): removes every representation of it.
  case remove(CacheKey)

  var key: CacheKey {
    switch self {
    case .store(let key, _), .refresh(let key, _), .remove(let key): key
    }
  }
}
