import LarderHTTP
import LarderOData
import LarderService

/// The kind of request that is sent to the server, given what the cache holds.
enum RevalidationRequest: Sendable {
  /// Requests the complete response.
  case plain
  /// Requests the complete response unless it equals the cached one. Holds one element for each part; nil if the part
  /// has no validators.
  case conditional([Validators?])
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
    let validators = zip(cached, keys).map { entry, key -> Validators? in
      guard let entry, let key, !Expansion.hidesChanges(key.url, model: model) else { return nil }
      return Validators(entry.fields)
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

/// The validators of a response, which identify its version (RFC 9110 §8.8).
struct Validators: Hashable, Sendable {
  var etag: String?
  var lastModified: String?

  /// The validators among a stored response's fields; nil if there are none.
  init?(_ fields: HTTPFields) {
    etag = fields[.etag].flatMap { $0.isEmpty ? nil : $0 }
    lastModified = fields[.lastModified].flatMap { $0.isEmpty ? nil : $0 }
    if etag == nil && lastModified == nil { return nil }
  }

  /// Makes a request conditional (RFC 9110 §13.1.2, §13.1.3).
  func apply(to request: inout ODataSingleRequest) {
    if let etag { request.fields[.ifNoneMatch] = etag }
    if let lastModified { request.fields[.ifModifiedSince] = lastModified }
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
