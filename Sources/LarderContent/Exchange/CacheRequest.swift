import LarderHTTP

/// The state of one request while the cache handles it.
struct CacheRequest: Sendable {
  /// The caller's request, without following redirects. With the policy ``ContentPolicy/reload``, it does not accept
  /// responses of caches on the network path.
  var request: HTTPRequest
  let rules: RequestRules
  private(set) var policy: ContentPolicy
  /// The policy that decides whether a stale response is used after a failure.
  private(set) var failurePolicy: ContentPolicy
  let override: FreshnessOverride
  /// The normalised URL.
  let resource: String
  /// The key of the resource for this caller.
  let key: String
  /// True after the stored response could not be read: it must not be used.
  var ignoresStoredResponse = false
  /// True if the server's `stale-if-error` limits the policy `staleWhenUnreachable`.
  var limitsStaleness = false
  /// True if a parser must accept the content before it replaces what is stored.
  var isParsed = false
  /// Whether the request may use a transfer that another request started.
  var canShareTransfer = true
  /// How often the request was looked up in the cache.
  var lookups = Lookups.none
  /// Called with the reason when the request is forwarded to the network.
  var onForward: (@Sendable (ForwardReason) -> Void)?
  /// The field names of the resource's `Vary` in its last response.
  var varyNames: [String] = []

  /// The number of lookups of a request. A lookup is repeated once if a transfer ends in the meantime.
  enum Lookups: Sendable {
    case none
    /// The first lookup: `endedTransfers` had ended before it.
    case first(endedTransfers: Int)
    case repeated

    /// The number of transfers that had ended before the first lookup; nil if the lookup need not be repeated.
    var endedTransfers: Int? {
      if case .first(let count) = self { count } else { nil }
    }

    /// Counts a lookup.
    mutating func count(endedTransfers: Int) {
      if case .none = self { self = .first(endedTransfers: endedTransfers) } else { self = .repeated }
    }
  }

  init(
    _ request: HTTPRequest, _ rules: RequestRules, policy: ContentPolicy, override: FreshnessOverride, resource: String,
    key: String
  ) {
    self.request = request
    self.request.followsRedirects = false
    self.policy = policy
    failurePolicy = policy
    self.override = override
    self.resource = resource
    self.key = key
    self.rules = rules
    if policy == .reload, rules.method == .get || rules.method == .head {
      self.request.fields = Validation.endToEnd(request.fields)
    }
    let control = rules.cacheControl
    canShareTransfer =
      rules.method == .get && !rules.hasRange && !rules.isConditional && policy != .reload
      && !control.contains(.noCache) && control.maxAge != 0
  }

  /// True if the request has a condition that only the origin server may evaluate, and may be sent there.
  var isForOrigin: Bool {
    rules.isConditional && !isForCacheOnly && ConditionalOutcome.isForOrigin(request.fields)
  }

  /// True if the network must not be used, whatever the method (RFC 9111 §5.2.1.7).
  var isForCacheOnly: Bool { policy == .cacheOnly || rules.cacheControl.contains(.onlyIfCached) }

  /// The part of a key that identifies the caller; empty if the request does not identify its caller.
  var caller: String { String(key.dropFirst(resource.count)) }

  /// This request for a revalidation by the server. It can share the transfer of other requests that want one too.
  ///
  /// - Parameter orStale: whether the request's policy decides about stale content after a failure; otherwise the failure
  ///   is returned.
  func revalidating(orStale: Bool = false) -> CacheRequest {
    var cacheRequest = self
    cacheRequest.policy = .reload
    if !orStale { cacheRequest.failurePolicy = .reload }
    cacheRequest.canShareTransfer = rules.method == .get && !rules.hasRange && !rules.isConditional
    return cacheRequest
  }

  /// The input of a lookup's rules besides the request and the response.
  func context(now: Int64, lookup: CacheLookup) -> LookupContext {
    var context = LookupContext(
      now: now, policy: policy, override: override, miss: lookup.miss, covers: lookup.covers,
      groupsAreValid: lookup.groupsAreValid, isHidden: lookup.hiddenBy != nil)
    context.limitsStaleness = limitsStaleness
    return context
  }
}

/// The result of looking up a request in the cache.
struct CacheLookup: Sendable {
  /// The response that matches the request.
  var entry: CacheEntry?
  /// The key that the response is stored under.
  var key: String
  /// The variants of the URL, if it has any.
  var variants: [CacheVariant] = []
  /// The coding of a stored response that matches the request otherwise, but cannot be decoded for it.
  var unknownCoding: String?
  /// Why there is no entry.
  var miss = ForwardReason.uriMiss
  /// What the entry provides for a request of ranges, or as a response stored in ranges.
  var range = RangeOutcome.whole
  /// False if the entry consists of ranges, and does not contain the requested ones.
  var covers: Bool {
    switch range {
    case .whole, .respond: true
    case .fetch, .forward: false
    }
  }
  /// False if one of the entry's groups has been invalidated.
  var groupsAreValid = true
  /// The status of a later response that hides the entry, or all variants of the URL: a 404, 410 or redirect.
  var hiddenBy: Int?
  /// That later response, if the cache still has it.
  var hiding: Hiding?
  /// The keys of the records that are marked as hidden.
  var hiddenKeys: [String] = []

  /// A response that hides a success, with the key that it is stored under.
  struct Hiding: Sendable {
    let entry: CacheEntry
    let key: String
    var groupsAreValid = true
  }

  /// The response to use: a response that hides the entry, otherwise the entry. Offline queries get the hidden entry.
  func shown(offline: Bool) -> CacheLookup {
    guard let hiding, entry == nil || !offline else { return self }
    var shown = CacheLookup(entry: hiding.entry, key: hiding.key)
    shown.groupsAreValid = hiding.groupsAreValid
    return shown
  }
}

extension ContentPolicy {
  /// True if stored content is used without a request to the server, whatever later responses said.
  var isOffline: Bool { self == .cacheOnly || self == .cacheElseNetwork }
}

extension RequestRules {
  /// True for a GET or HEAD without ranges and preconditions, for which a stored response is used as it is.
  var isPlain: Bool { (method == .get || method == .head) && !hasRange && !isConditional }
}
