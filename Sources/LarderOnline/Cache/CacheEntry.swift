import LarderHTTP
import LarderOData
import LarderService

/// One whole response as it is kept.
struct CacheEntry: Sendable {
  /// The status code, 2xx.
  var status: Int
  /// The fields that may be kept; see ``CacheFields``.
  var fields: HTTPFields
  /// The content.
  var payload: [UInt8]
  /// Where the service says what changed since; nil where it gives none.
  var deltaLink: String?
  /// The row in the file; 0 before it is there.
  var row: Int64 = 0

  /// The entry as an answer from the cache.
  func response(url: String, version: ODataVersion?) -> ODataSingleResponse {
    ODataSingleResponse(
      httpStatus: status, fields: fields, payloadBytes: payload, url: url, serviceVersion: version)
  }

  /// What the row costs on disk, in bytes: content that does not fit a page takes whole pages.
  func cost(url: String) -> Int64 {
    let row = payload.count + CacheFields.byteCount(fields) + 2 * url.utf8.count + (deltaLink?.utf8.count ?? 0) + 128
    guard row > 3000 else { return Int64(row) }
    return Int64((row + 4095) / 4096 * 4096)
  }
}

/// A change of what the cache holds; several are made together or not at all.
enum CacheChange: Sendable {
  /// The last successful answer takes the place of an earlier one.
  case store(CacheKey, CacheEntry)
  /// The answer was confirmed: its fields, and where to ask next time.
  case refresh(CacheKey, CacheEntry)
  /// The resource is not there any more (404, 410): no representation of it stays.
  case remove(CacheKey)

  var key: CacheKey {
    switch self {
    case .store(let key, _), .refresh(let key, _), .remove(let key): key
    }
  }
}
