import LarderHTTP
import LarderOData
import LarderService

/// How the server is asked, given what the cache holds.
enum Question: Sendable {
  /// For the whole answer.
  case plain
  /// For the whole answer unless it is the one known: one entry of validators a part, nil where there are none.
  case conditional([Validators?])
  /// For what changed since the cached answer, by its delta link.
  case changes(since: String)

  /// Validators where the answer has them, else its delta link, else nothing.
  init(cached: [CacheEntry?], isBatch: Bool, root: ODataServiceRoot, batchesTakeConditions: Bool) {
    let validators = cached.map { $0.flatMap { Validators($0.fields) } }
    if validators.contains(where: { $0 != nil }), !isBatch || batchesTakeConditions {
      self = .conditional(validators)
    } else if !isBatch, let link = cached.first??.deltaLink, let url = try? root.resolve(link), root.isSameOrigin(url) {
      self = .changes(since: link)
    } else {
      self = .plain
    }
  }
}

/// What identifies a version of a response (RFC 9110 §8.8).
struct Validators: Hashable, Sendable {
  var etag: String?
  var lastModified: String?

  /// The validators among a kept response's fields; nil where there are none.
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
  /// True where the caller makes conditions or asks for a part: the answer is then the caller's alone.
  var hasConditionsOfItsOwn: Bool {
    ifMatch != nil
      || fields.contains {
        switch $0.name.canonicalName {
        case "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range": true
        default: false
        }
      }
  }

  /// True where the technical cache takes part in this request.
  var isCacheable: Bool { usesCache && !hasConditionsOfItsOwn }
}
