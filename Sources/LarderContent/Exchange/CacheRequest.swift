import LarderHTTP

/// A request on its way through the cache: what was asked, and what was found for it.
struct CacheRequest: Sendable {
  /// The request as the caller made it, without following redirects; with the policy ``ContentPolicy/reload`` one that
  /// caches on the way do not answer.
  var request: HTTPRequest
  let rules: RequestRules
  private(set) var policy: ContentPolicy
  let override: FreshnessOverride
  /// The normalised URL.
  let resource: String
  /// The key of the resource for this caller.
  let key: String
  /// True where what is stored must not be used, because it could not be read.
  var ignoresStored = false
  /// False where the request asks the network by itself, whoever else is asking for the same.
  var mayShare = true
  /// How many transfers had ended when the cache was asked first; -1 from the second time on.
  var seen: Int?
  /// Called with the reason when the request is forwarded to the network.
  var onForward: (@Sendable (ForwardReason) -> Void)?
  /// Names that the resource's `Vary` held when last seen on the way.
  var varyNames: [String] = []

  init(
    _ request: HTTPRequest, _ rules: RequestRules, policy: ContentPolicy, override: FreshnessOverride, resource: String,
    key: String
  ) {
    self.request = request
    self.request.followsRedirects = false
    self.policy = policy
    self.override = override
    self.resource = resource
    self.key = key
    self.rules = rules
    if policy == .reload, rules.method == .get || rules.method == .head {
      self.request.fields = Validation.endToEnd(request.fields)
    }
    let control = rules.cacheControl
    mayShare =
      rules.method == .get && !rules.hasRange && !rules.isConditional && policy != .reload
      && !control.contains(.noCache) && control.maxAge != 0
  }

  /// True where the request has a condition that only the origin server may evaluate, and may be sent there.
  var isForOrigin: Bool {
    rules.isConditional && !isForCacheOnly && ConditionalOutcome.isForOrigin(request.fields)
  }

  /// True where the network must not be asked, whatever the method (RFC 9111 §5.2.1.7).
  var isForCacheOnly: Bool { policy == .cacheOnly || rules.cacheControl.contains(.onlyIfCached) }

  /// What tells the caller apart in keys; empty where the request says nothing of it.
  var caller: String { String(key.dropFirst(resource.count)) }

  /// The same request, to be answered by the server: together with others who want that too.
  var revalidating: CacheRequest {
    var inquiry = self
    inquiry.policy = .reload
    inquiry.mayShare = rules.method == .get && !rules.hasRange && !rules.isConditional
    return inquiry
  }

  /// What the rules of a lookup need besides the request and the response.
  func context(now: Int64, found: Found) -> LookupContext {
    LookupContext(
      now: now, policy: policy, override: override, miss: found.miss, covers: found.covers,
      groupsAreValid: found.groupsAreValid, isHidden: found.hiddenBy != nil)
  }
}

/// What the cache has for a request.
struct Found: Sendable {
  /// The response that fits the request.
  var entry: CacheEntry?
  /// The key that it lies under.
  var key: String
  /// The variants of the URL, where it has some.
  var variants: [CacheVariant] = []
  /// Why there is no entry.
  var miss = ForwardReason.uriMiss
  /// What the entry can do for a request of ranges, or as a response stored in ranges.
  var range = RangeOutcome.whole
  /// False where the entry is some ranges, and not those that are asked for.
  var covers: Bool {
    switch range {
    case .whole, .answer: true
    case .fetch, .forward: false
    }
  }
  /// False where one of the entry's groups has been invalidated.
  var groupsAreValid = true
  /// The status of a later response that hides the entry, or all variants of the URL: a 404, 410 or redirect.
  var hiddenBy: Int?
  /// That response, where the cache still has it.
  var hiding: Hiding?
  /// The keys of the records that say that they are hidden.
  var hiddenKeys: [String] = []

  /// A response that hides a success, with the key that it lies under.
  struct Hiding: Sendable {
    let entry: CacheEntry
    let key: String
    var groupsAreValid = true
  }

  /// What is used of all this: a response that hides the entry, else the entry. Offline queries get what is hidden.
  func shown(offline: Bool) -> Found {
    guard let hiding, entry == nil || !offline else { return self }
    var shown = Found(entry: hiding.entry, key: hiding.key)
    shown.groupsAreValid = hiding.groupsAreValid
    return shown
  }
}

extension ContentPolicy {
  /// True where stored content is used without asking the server, whatever the server has said since.
  var isOffline: Bool { self == .cacheOnly || self == .cacheElseNetwork }
}

extension RequestRules {
  /// True for a GET or HEAD without ranges and preconditions: what a stored response answers as it is.
  var isPlain: Bool { (method == .get || method == .head) && !hasRange && !isConditional }
}
