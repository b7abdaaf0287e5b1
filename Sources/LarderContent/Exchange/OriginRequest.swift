import LarderHTTP

/// The request that is sent to the network for a caller's request, and the stored response that it may confirm or
/// complete.
struct OriginRequest: Sendable {
  let cacheRequest: CacheRequest
  /// The request that is sent, with the cache's own preconditions if it has any.
  private(set) var request: HTTPRequest
  /// The entry under ``storedKey``: it is validated, completed, or replaced by the response.
  let stored: CacheEntry?
  let storedKey: String
  /// The URL's other variants; a 304 may name one of them by its entity tag.
  private(set) var variants: [CacheVariant] = []
  /// True if the URL had an index of variants.
  let hadVariants: Bool
  /// The keys of records that are marked as hidden by a later response.
  let hiddenKeys: [String]
  let reason: ForwardReason
  /// The purpose of the request beyond the caller's.
  private(set) var purpose = Purpose.plain
  /// The caller's entity tags in addition to the cache's, if both are sent.
  private(set) var conditions: ForwardedConditions?

  /// The purpose of a response.
  enum Purpose: Sendable {
    /// For the caller alone: the caller's own request.
    case plain
    /// The preconditions are the cache's: a 304 is for the cache.
    case validation
    /// The range is the cache's: a 206 completes the stored response.
    case completion
  }

  /// The maximum number of variants whose entity tags one request contains.
  private static let tagLimit = 16

  /// Creates the request for the result of a lookup.
  ///
  /// - Parameter validates: asks whether the stored entry is still valid.
  init(_ cacheRequest: CacheRequest, _ lookup: CacheLookup, _ reason: ForwardReason, validates: Bool = false) {
    self.cacheRequest = cacheRequest
    self.reason = reason
    request = cacheRequest.request
    stored = lookup.entry
    storedKey = lookup.key
    hadVariants = !lookup.variants.isEmpty
    hiddenKeys = lookup.hiddenKeys
    if reason == .partial, case .fetch(let fetch) = lookup.range {
      // RFC 9110 §13.2.2: the server evaluates conditions before ranges, and so must get both.
      if cacheRequest.rules.hasRange, ForwardedConditions.areThere(cacheRequest.request.fields) { return }
      purpose = .completion
      request.fields = fetch.fields
    } else if validates, let stored {
      validate(stored)
    } else if stored == nil, cacheRequest.rules.method == .get, !cacheRequest.rules.isConditional,
      !cacheRequest.ignoresStoredResponse
    {
      offer(lookup.variants)
    }
  }

  private mutating func validate(_ stored: CacheEntry) {
    let fields = Validation.fields(request.fields, selected: stored.rules)
    guard cacheRequest.rules.isConditional else {
      purpose = .validation
      return request.fields = fields
    }
    let conditions = ForwardedConditions(request.fields, validation: fields, stored: stored.rules)
    // A response of ranges is correct only if the caller's conditions have been evaluated (RFC 9110 §13.2.2). If the
    // cache's own would replace them, only the caller's are sent.
    if cacheRequest.rules.hasRange, !conditions.areComplete { return }
    purpose = .validation
    request.fields = conditions.fields
    self.conditions = conditions
  }

  /// Offers the entity tags of variants when no variant matches: the server may name one whose content is valid for
  /// this request too (RFC 9111 §4.3.1).
  ///
  /// Only strong tags are sent: a weak one may belong to this content in a coding that the request does not accept (RFC
  /// 9110 §8.8.3.3).
  private mutating func offer(_ known: [CacheVariant]) {
    variants = known.filter { $0.etag.map { !EntityTag.isWeak($0) } ?? false }.suffix(OriginRequest.tagLimit)
    guard !variants.isEmpty else { return }
    purpose = .validation
    request.fields = Validation.fields(request.fields, selected: nil, tags: variants.compactMap(\.etag))
  }

  /// True if the request is sent for the caller alone.
  var isPlain: Bool { if case .plain = purpose { true } else { false } }

  /// The caller's own request, without preconditions and ranges of the cache.
  var plain: OriginRequest {
    var originRequest = self
    originRequest.request = cacheRequest.request
    originRequest.purpose = .plain
    originRequest.conditions = nil
    return originRequest
  }

  /// The key by which requests for the same response find a shared transfer.
  static func shareKey(_ cacheRequest: CacheRequest, _ lookup: CacheLookup) -> String? {
    guard cacheRequest.canShareTransfer else { return nil }
    let names = cacheRequest.varyNames.isEmpty ? lookup.variants.last?.names ?? [] : cacheRequest.varyNames
    if names.isEmpty { return cacheRequest.key }
    let selecting = Vary.selecting(names, cacheRequest.request.fields)
    return VariantIndex.key(under: cacheRequest.key, names: names, selecting: selecting)
  }
}

/// A response's head as it arrived.
struct OriginResponse: Sendable {
  let status: Int
  let fields: HTTPFields
  let rules: StoredRules
  let requestTime: Int64
  let responseTime: Int64

  init(_ response: HTTPResponse, requestTime: Int64, responseTime: Int64) {
    status = response.status
    fields = response.fields
    self.requestTime = requestTime
    self.responseTime = responseTime
    rules = StoredRules(
      status: response.status, fields: response.fields, requestTime: requestTime, responseTime: responseTime)
  }

  /// The metadata to store, except for changes that depend on the content.
  func metadata(_ cacheRequest: CacheRequest, groups: [CacheGroup] = []) -> CacheMetadata {
    CacheMetadata(
      url: ResourceKey.url(of: cacheRequest.resource), request: cacheRequest.request.fields, response: rules,
      fields: fields,
      requestTime: requestTime, groups: groups)
  }
}
