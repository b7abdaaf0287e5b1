import HTTPCore

/// What is sent to the network for an inquiry, and what its answer may confirm.
struct Errand: Sendable {
  let inquiry: Inquiry
  /// The request as it goes to the network, with the cache's own preconditions where it has some.
  var request: HTTPRequest
  /// The stored response that fits the request and that a 304 may confirm, with its key.
  let stored: CacheEntry?
  let storedKey: String
  /// The URL's other variants, of which a 304 may name one by its entity tag.
  let variants: [CacheVariant]
  /// True where the URL had an index of variants.
  let hadVariants: Bool
  let reason: ForwardReason
  /// True where the preconditions are the cache's own: a 304 then is not for the caller.
  private(set) var isValidation: Bool

  /// How many variants' entity tags one request carries.
  private static let tagLimit = 16

  /// Makes the request for what was found: the entry is validated where there is one.
  init(_ inquiry: Inquiry, _ found: Found, _ reason: ForwardReason) {
    self.inquiry = inquiry
    self.reason = reason
    request = inquiry.request
    stored = found.entry
    storedKey = found.key
    hadVariants = !found.variants.isEmpty
    let tagged = inquiry.rules.isConditional ? [] : found.variants.suffix(Errand.tagLimit).filter { $0.etag != nil }
    variants = found.entry == nil ? Array(tagged) : []
    isValidation = stored != nil || !variants.isEmpty
    if isValidation {
      request.fields = Validation.fields(
        request.fields, selected: stored?.rules, tags: variants.compactMap(\.etag))
    }
  }

  /// The same without preconditions of the cache.
  var unconditional: Errand {
    var errand = self
    errand.request = inquiry.request
    errand.isValidation = false
    return errand
  }

  /// What others who want the same find the transfer by.
  static func shareKey(_ inquiry: Inquiry, _ found: Found) -> String? {
    guard inquiry.mayShare else { return nil }
    let names = inquiry.varyNames.isEmpty ? found.variants.last?.names ?? [] : inquiry.varyNames
    if names.isEmpty { return inquiry.key }
    let selecting = Vary.selecting(names, inquiry.request.fields)
    return VariantIndex.key(under: inquiry.key, names: names, selecting: selecting)
  }
}

/// An answer's head as it arrived.
struct Arrival: Sendable {
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
}
