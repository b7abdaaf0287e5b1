import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

/// The run of one request through the store as a pure state machine: events go in, actions come out.
///
/// | state | leaves by |
/// | --- | --- |
/// | `new` | `start` to `lookingUp`, `sending` or `ended` |
/// | `lookingUp` | `entries`, `cacheUnavailable`, `cacheFailed` to `sending` or `ended` |
/// | `sending` | `response`, `failed` to `writing`, `sending` (a complete read after a delta) or `ended` |
/// | `writing` | `written` to `ended` or `sending` |
/// | `ended` | never |
///
/// `cancel` leads from every state to `ended`. A list of actions holds at most one piece of ``Work``, as its last
/// element.
struct RequestMachine: Sendable {
  /// The state of the technical cache for a request.
  enum CacheState: Sendable, Hashable, CaseIterable { case open, closed, disabled }

  /// The store's conditions when a request starts. The request keeps to them even if the store changes meanwhile.
  struct RequestConditions: Sendable {
    var isOpen: Bool
    var isPassive: Bool
    var cache: CacheState
    /// Whether the store is not open because it is suspended.
    var isSuspended = false
    /// Whether batches may carry conditions: false once the service has rejected one.
    var batchesSupportConditions = true
  }

  /// An event that is reported to the listener.
  enum Step: Sendable {
    case started
    case cacheResponse(ODataResponse?)
    case serverResponse(ODataResponse)
    case finished
    case failed(any Error, ODataResponse?)
    /// Reported to the store's hook for diagnostics, not to the listener.
    case diagnostic(LarderDiagnostic)
  }

  /// Asynchronous work, whose result comes back as an ``Input``.
  enum Work: Sendable {
    case lookUp([CacheKey?])
    case send(RevalidationRequest)
    case write([CacheChange])
  }

  enum Action: Sendable {
    case report(Step)
    case perform(Work)
  }

  enum Input: Sendable {
    case start
    /// What the cache holds, one element for each key.
    case entries([TechnicalCacheEntry?])
    /// The cache was closed before the lookup.
    case cacheUnavailable
    case cacheFailed(StorageError)
    case response(ODataResponse)
    case failed(any Error)
    case written(StorageError?)
    case cancel
  }

  private enum State: Sendable {
    case new
    case lookingUp
    case sending(RevalidationRequest)
    case writing(then: [Action], sending: RevalidationRequest?)
    case ended
  }

  let request: ODataRequest
  let root: ODataServiceRoot
  let conditions: RequestConditions
  /// One key for each part; nil if the part does not use the cache.
  let keys: [CacheKey?]
  /// Why the request cannot be sent at all.
  let requestError: (any Error)?
  /// The service's version as far as it is known, for responses that do not state it.
  var version: ODataVersion?
  /// The service's model as far as it is known.
  var model: EdmModel?

  private var state = State.new
  private var cached: [TechnicalCacheEntry?] = []

  init(
    _ request: ODataRequest, root: ODataServiceRoot, conditions: RequestConditions, keys: [CacheKey?],
    requestError: (any Error)? = nil
  ) {
    self.request = request
    self.root = root
    self.conditions = conditions
    self.keys = keys
    self.requestError = requestError
  }

  /// Whether a look-up must find out if an error comes from the service, before it removes an entry of the cache or
  /// counts as a missing resource. A response without content is taken for the service's.
  func isDoubtful(_ error: ODataServiceError) -> Bool {
    guard usesCache, !isBatch, let statement = AbsenceStatement(error) else { return false }
    return statement == .foreign || statement == .path && cached.first ?? nil != nil
  }

  private var isBatch: Bool { if case .batch = request { true } else { false } }
  private var usesCache: Bool { request.usesTechnicalCache && conditions.cache == .open }
  private var cacheClosed: ODataServiceError { ODataServiceError(.cacheClosed, operation: request.operationName) }

  /// The actions that follow from `input`, in order. An input that does not fit the state leads to no action.
  mutating func take(_ input: Input) -> [Action] {
    switch (state, input) {
    case (.ended, _): return []
    case (_, .cancel):
      state = .ended
      return []
    case (.new, .start): return [.report(.started)] + begin()
    case (.lookingUp, .entries(let entries)): return lookedUp(entries)
    case (.lookingUp, .cacheUnavailable):
      return conditions.isPassive ? fail(cacheClosed) : send(.plain)
    case (.lookingUp, .cacheFailed(let error)): return lookUpFailed(error)
    case (.sending(let revalidation), .response(let response)): return receive(response, revalidation)
    case (.sending(let revalidation), .failed(let error)): return failed(error, revalidation)
    case (.writing(let actions, let revalidation), .written(let error)): return written(error, actions, revalidation)
    default: return []
    }
  }

  // MARK: The two tables of the technical cache

  private mutating func begin() -> [Action] {
    let operation = request.operationName
    if !conditions.isOpen {
      return fail(ODataServiceError(conditions.isSuspended ? .suspended : .notOpen, operation: operation))
    }
    if let requestError { return fail(requestError) }
    if usesCache {
      state = .lookingUp
      return [.perform(.lookUp(keys))]
    }
    guard conditions.isPassive else { return send(.plain) }
    if request.usesTechnicalCache, conditions.cache == .closed { return fail(cacheClosed) }
    return fail(ODataServiceError(.passive, operation: operation))
  }

  private mutating func lookedUp(_ entries: [TechnicalCacheEntry?]) -> [Action] {
    cached = entries
    let response = Action.report(.cacheResponse(cacheResponse(entries)))
    if conditions.isPassive {
      state = .ended
      return [response, .report(.finished)]
    }
    let revalidation = RevalidationRequest(
      cached: entries, keys: keys, isBatch: isBatch, root: root, model: model,
      batchesSupportConditions: conditions.batchesSupportConditions)
    return [response] + send(revalidation)
  }

  /// While the store can use the server, a cache that cannot be read counts as a miss.
  private mutating func lookUpFailed(_ error: StorageError) -> [Action] {
    if conditions.isPassive { return fail(ODataServiceError(error, operation: request.operationName)) }
    cached = keys.map { _ in nil }
    let notice = Action.report(.diagnostic(.cacheReadFailed(urls: keys.compactMap { $0?.url }, error)))
    return [notice, .report(.cacheResponse(cacheResponse(cached)))] + send(.plain)
  }

  private func cacheResponse(_ entries: [TechnicalCacheEntry?]) -> ODataResponse? {
    func single(_ index: Int) -> ODataSingleResponse? {
      guard index < keys.count, let key = keys[index], index < entries.count else { return nil }
      return entries[index]?.response(url: key.url, version: version)
    }
    guard isBatch else { return single(0).map { .single($0) } }
    return .batch(ODataBatchResponse(slots: keys.indices.map { single($0).map { .response($0) } }))
  }

  // MARK: The server's responses

  private mutating func send(_ revalidation: RevalidationRequest) -> [Action] {
    state = .sending(revalidation)
    return [.perform(.send(revalidation))]
  }

  private mutating func receive(_ response: ODataResponse, _ revalidation: RevalidationRequest) -> [Action] {
    if case .changes = revalidation { return receiveChanges(response) }
    do throws(ODataServiceError) {
      let outcome = try CacheOutcome(response, keys: usesCache ? keys : [], cached: cached, version: version)
      return finish(outcome)
    } catch {
      return fail(error, error.response.map { .single($0) })
    }
  }

  private mutating func receiveChanges(_ response: ODataResponse) -> [Action] {
    guard case .single(let single) = response, let key = keys.first ?? nil, let entry = cached.first ?? nil,
      case .unchanged(let link) = DeltaVerdict(single)
    else { return send(.plain) }
    return finish(CacheOutcome(unchanged: entry, key: key, deltaLink: link, version: version))
  }

  private mutating func finish(_ outcome: CacheOutcome) -> [Action] {
    let ending: [Action] = [.report(.serverResponse(outcome.response)), .report(.finished)]
    guard !outcome.changes.isEmpty else {
      state = .ended
      return ending
    }
    state = .writing(then: ending, sending: nil)
    return [.perform(.write(outcome.changes))]
  }

  private mutating func failed(_ error: any Error, _ revalidation: RevalidationRequest) -> [Action] {
    let failure = error as? ODataServiceError
    if case .changes = revalidation, let key = keys.first ?? nil, var entry = cached.first ?? nil,
      let verdict = failure.flatMap({ DeltaVerdict($0) })
    {
      switch verdict {
      // The service sent a 304 to a request without a condition: nothing changed since the link.
      case .unchanged(let link):
        return finish(CacheOutcome(unchanged: entry, key: key, deltaLink: link, version: version))
      case .readAgain: return send(.plain)
      case .expired:
        entry.deltaLink = nil
        state = .writing(then: [], sending: .plain)
        return [.perform(.write([.refresh(key, entry)]))]
      }
    }
    let ending: [Action] = [.report(.failed(error, failure?.response.map { .single($0) }))]
    if !isBatch, usesCache, let failure, CacheOutcome.meansGone(failure), let key = keys.first ?? nil {
      state = .writing(then: ending, sending: nil)
      return [.perform(.write([.remove(key)]))]
    }
    state = .ended
    return ending
  }

  /// Continues after a write. If the cache could not be written, the caller still receives the response.
  private mutating func written(_ error: StorageError?, _ actions: [Action], _ revalidation: RevalidationRequest?)
    -> [Action]
  {
    var result: [Action] = []
    if let error, error.category != .closed, error.category != .suspended {
      result.append(.report(.diagnostic(.cacheWriteFailed(urls: keys.compactMap { $0?.url }, error))))
    }
    guard let revalidation else {
      state = .ended
      return result + actions
    }
    return result + actions + send(revalidation)
  }

  private mutating func fail(_ error: any Error, _ response: ODataResponse? = nil) -> [Action] {
    state = .ended
    return [.report(.failed(error, response))]
  }
}

extension ODataRequest {
  /// True if at least one read in the request uses the cache.
  var usesTechnicalCache: Bool {
    switch self {
    case .single(let request): request.isCacheable
    case .batch(let batch):
      batch.items.contains { if case .single(let request) = $0 { request.isCacheable } else { false } }
    }
  }

  /// The operation's name for messages, such as `read` or `batch`.
  var operationName: String {
    switch self {
    case .single(let request): request.operationName
    case .batch: "batch"
    }
  }
}
