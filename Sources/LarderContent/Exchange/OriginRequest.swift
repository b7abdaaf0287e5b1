import LarderHTTP

/// What is sent to the network for an inquiry, and what its answer may confirm or complete.
struct OriginRequest: Sendable {
  let inquiry: CacheRequest
  /// The request as it goes to the network, with the cache's own preconditions where it has some.
  private(set) var request: HTTPRequest
  /// What lies under ``storedKey``: validated, completed, or replaced by what comes.
  let stored: CacheEntry?
  let storedKey: String
  /// The URL's other variants, of which a 304 may name one by its entity tag.
  private(set) var variants: [CacheVariant] = []
  /// True where the URL had an index of variants.
  let hadVariants: Bool
  /// The keys of records that said that a later response hides them.
  let hiddenKeys: [String]
  let reason: ForwardReason
  /// What the request asks beyond the caller's own question.
  private(set) var purpose = Purpose.plain
  /// The caller's entity tags beside the cache's, where both are sent.
  private(set) var conditions: ForwardedConditions?

  /// What an answer is for.
  enum Purpose: Sendable {
    /// For the caller alone: its own request.
    case plain
    /// The preconditions are the cache's: a 304 is for the cache.
    case validation
    /// The range is the cache's: a 206 completes what is stored.
    case completion
  }

  /// How many variants' entity tags one request carries.
  private static let tagLimit = 16

  /// Makes the request for what was found.
  ///
  /// - Parameter validates: asks whether the entry that was found is still right.
  init(_ inquiry: CacheRequest, _ found: Found, _ reason: ForwardReason, validates: Bool = false) {
    self.inquiry = inquiry
    self.reason = reason
    request = inquiry.request
    stored = found.entry
    storedKey = found.key
    hadVariants = !found.variants.isEmpty
    hiddenKeys = found.hiddenKeys
    if reason == .partial, case .fetch(let fetch) = found.range {
      // RFC 9110 §13.2.2: the server evaluates conditions before it looks at ranges, and so has to see both.
      if inquiry.rules.hasRange, ForwardedConditions.areThere(inquiry.request.fields) { return }
      purpose = .completion
      request.fields = fetch.fields
    } else if validates, let stored {
      validate(stored)
    } else if stored == nil, inquiry.rules.method == .get, !inquiry.rules.isConditional, !inquiry.ignoresStored {
      offer(found.variants)
    }
  }

  private mutating func validate(_ stored: CacheEntry) {
    let fields = Validation.fields(request.fields, selected: stored.rules)
    guard inquiry.rules.isConditional else {
      purpose = .validation
      return request.fields = fields
    }
    let conditions = ForwardedConditions(request.fields, validation: fields, stored: stored.rules)
    // An answer of ranges is right only where the caller's conditions have been evaluated (RFC 9110 §13.2.2). Where the
    // cache's own would take their place, the caller's go alone.
    if inquiry.rules.hasRange, !conditions.areComplete { return }
    purpose = .validation
    request.fields = conditions.fields
    self.conditions = conditions
  }

  /// No variant fits; the server may still name one whose content is right for this request too (RFC 9111 §4.3.1).
  ///
  /// Strong tags alone: a weak one may be that of the same content in a coding that this request does not accept
  /// (RFC 9110 §8.8.3.3).
  private mutating func offer(_ known: [CacheVariant]) {
    variants = known.filter { $0.etag.map { !EntityTag.isWeak($0) } ?? false }.suffix(OriginRequest.tagLimit)
    guard !variants.isEmpty else { return }
    purpose = .validation
    request.fields = Validation.fields(request.fields, selected: nil, tags: variants.compactMap(\.etag))
  }

  /// True where it is sent for the caller alone.
  var isPlain: Bool { if case .plain = purpose { true } else { false } }

  /// The caller's own request, without preconditions and ranges of the cache.
  var plain: OriginRequest {
    var errand = self
    errand.request = inquiry.request
    errand.purpose = .plain
    errand.conditions = nil
    return errand
  }

  /// What others who want the same find the transfer by.
  static func shareKey(_ inquiry: CacheRequest, _ found: Found) -> String? {
    guard inquiry.mayShare else { return nil }
    let names = inquiry.varyNames.isEmpty ? found.variants.last?.names ?? [] : inquiry.varyNames
    if names.isEmpty { return inquiry.key }
    let selecting = Vary.selecting(names, inquiry.request.fields)
    return VariantIndex.key(under: inquiry.key, names: names, selecting: selecting)
  }
}

/// An answer's head as it arrived.
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

  /// As it would be stored, but for what becomes of its content.
  func metadata(_ inquiry: CacheRequest, groups: [CacheGroup] = []) -> CacheMetadata {
    CacheMetadata(
      url: inquiry.resource, request: inquiry.request.fields, response: rules, fields: fields,
      requestTime: requestTime, groups: groups)
  }
}
