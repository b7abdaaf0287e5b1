import LarderHTTP
import LarderOData
import LarderService

/// The kind of request that is sent to the server, given what the cache holds.
enum RevalidationRequest: Sendable {
  /// Requests the complete response.
  case plain
  /// Requests the complete response unless it equals the cached one. Holds one element for each part; nil if the part
  /// has no validators.
  case conditional([HTTPValidators?])
  /// Requests the changes since the cached response, with its delta link.
  case changes(since: String)

  /// Uses validators if the cached response has them and no expansion hides changes from them, else its delta link,
  /// else neither.
  ///
  /// - Parameter keys: one key for each part.
  init(
    cached: [TechnicalCacheEntry?], keys: [CacheKey?], isBatch: Bool, root: ODataServiceRoot, model: EdmModel?,
    batchesSupportConditions: Bool
  ) {
    let validators = zip(cached, keys).map { entry, key -> HTTPValidators? in
      guard let entry, let key, !Expansion.hidesChanges(key.url, model: model) else { return nil }
      return HTTPValidators(entry)
    }
    if validators.contains(where: { $0 != nil }), !isBatch || batchesSupportConditions {
      self = .conditional(validators)
    } else if !isBatch, let link = cached.first??.deltaLink, let url = try? root.resolve(link), root.isSameOrigin(url) {
      self = .changes(since: link)
    } else {
      self = .plain
    }
  }
}

extension HTTPValidators {
  /// The validators of a stored response, which identify its version (RFC 9110 §8.8); nil if there are none.
  init?(_ entry: TechnicalCacheEntry) {
    let etag = entry.fields[.etag].flatMap { $0.isEmpty ? nil : $0 }
    let lastModified = entry.fields[.lastModified].flatMap { $0.isEmpty ? nil : $0 }
    if etag == nil && lastModified == nil { return nil }
    self.init(etag: etag, lastModified: lastModified, sender: entry.sender)
  }
}

extension ODataSingleRequest {
  /// True if the caller sets conditions or requests a part of the content: such a response is not cached.
  var hasCallerConditions: Bool {
    ifMatch != nil
      || fields.contains {
        switch $0.name.canonicalName {
        case "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range": true
        default: false
        }
      }
  }

  /// Whether this request uses the technical cache.
  var isCacheable: Bool { usesCache && !hasCallerConditions }
}
