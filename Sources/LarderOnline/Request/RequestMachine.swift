import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

/// The run of one request through the store as a pure state machine: events go in, actions come out.
///
/// | state | leaves by |
/// | --- | --- |
/// | `new` | `start` to `lookingUp`, `asking` or `ended` |
/// | `lookingUp` | `found`, `cacheGone`, `cacheFailed` to `asking` or `ended` |
/// | `asking` | `answered`, `failed` to `writing`, `asking` (a complete read after a delta) or `ended` |
/// | `writing` | `written` to `ended` or `asking` |
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
    var batchesTakeConditions = true
  }

  /// An event that is reported to the listener.
  enum Step: Sendable {
    case started
    case cacheResponse(ODataResponse?)
    case serverResponse(ODataResponse)
    case finished
    case failed(any Error, ODataResponse?)
    /// Reported to the store's own log, not to the listener.
    case diagnostic(OnlineStoreDiagnostic)
  }

  /// Asynchronous work, whose result comes back as an ``Input``.
  enum Work: Sendable {
    case lookUp([CacheKey?])
    case ask(Question)
    case write([CacheChange])
  }

  enum Action: Sendable {
    case report(Step)
    case perform(Work)
  }

  enum Input: Sendable {
    case start
    /// What the cache holds, one element for each key.
    case found([CacheEntry?])
    /// The cache was closed before the lookup.
    case cacheGone
    case cacheFailed(StorageError)
    case answered(ODataResponse)
    case failed(any Error)
    case written(StorageError?)
    case cancel
  }

  private enum State: Sendable {
    case new
    case lookingUp
    case asking(Question)
    case writing(then: [Action], asking: Question?)
    case ended
  }

  let request: ODataRequest
  let root: ODataServiceRoot
  let circumstances: RequestConditions
  /// One key for each part; nil if the part does not use the cache.
  let keys: [CacheKey?]
  /// Why the request cannot be sent at all.
  let refusal: (any Error)?
  /// The service's version as far as it is known, for responses that do not state it.
  var version: ODataVersion?

  private var state = State.new
  private var cached: [CacheEntry?] = []

  init(
    _ request: ODataRequest, root: ODataServiceRoot, circumstances: RequestConditions, keys: [CacheKey?],
    refusal: (any Error)? = nil
  ) {
    self.request = request
    self.root = root
    self.circumstances = circumstances
    self.keys = keys
    self.refusal = refusal
  }

  private var isBatch: Bool { if case .batch = request { true } else { false } }
  private var usesCache: Bool { request.takesPartInCache && circumstances.cache == .open }

  /// The actions that follow from `input`, in order. An input that does not fit the state leads to no action.
  mutating func take(_ input: Input) -> [Action] {
    switch (state, input) {
    case (.ended, _): return []
    case (_, .cancel):
      state = .ended
      return []
    case (.new, .start): return [.report(.started)] + begin()
    case (.lookingUp, .found(let entries)): return lookedUp(entries)
    case (.lookingUp, .cacheGone):
      return circumstances.isPassive ? fail(OnlineStoreError.cacheClosed) : ask(.plain)
    case (.lookingUp, .cacheFailed(let error)): return lookUpFailed(error)
    case (.asking(let question), .answered(let response)): return answered(response, question)
    case (.asking(let question), .failed(let error)): return failed(error, question)
    case (.writing(let actions, let question), .written(let error)): return written(error, actions, question)
    default: return []
    }
  }

  // MARK: The two tables of the technical cache

  private mutating func begin() -> [Action] {
    let operation = request.operationName
    if !circumstances.isOpen {
      return fail(ODataServiceError(circumstances.isSuspended ? .suspended : .notOpen, operation: operation))
    }
    if let refusal { return fail(refusal) }
    if usesCache {
      state = .lookingUp
      return [.perform(.lookUp(keys))]
    }
    guard circumstances.isPassive else { return ask(.plain) }
    if request.takesPartInCache, circumstances.cache == .closed { return fail(OnlineStoreError.cacheClosed) }
    return fail(ODataServiceError(.passive, operation: operation))
  }

  private mutating func lookedUp(_ entries: [CacheEntry?]) -> [Action] {
    cached = entries
    let response = Action.report(.cacheResponse(cacheResponse(entries)))
    if circumstances.isPassive {
      state = .ended
      return [response, .report(.finished)]
    }
    let question = Question(
      cached: entries, isBatch: isBatch, root: root, batchesTakeConditions: circumstances.batchesTakeConditions)
    return [response] + ask(question)
  }

  /// While the store can use the server, a cache that cannot be read counts as a miss.
  private mutating func lookUpFailed(_ error: StorageError) -> [Action] {
    if circumstances.isPassive { return fail(OnlineStoreError.storage(error)) }
    cached = keys.map { _ in nil }
    let notice = Action.report(.diagnostic(.cacheReadFailed(urls: keys.compactMap { $0?.url }, error)))
    return [notice, .report(.cacheResponse(cacheResponse(cached)))] + ask(.plain)
  }

  private func cacheResponse(_ entries: [CacheEntry?]) -> ODataResponse? {
    func single(_ index: Int) -> ODataSingleResponse? {
      guard index < keys.count, let key = keys[index], index < entries.count else { return nil }
      return entries[index]?.response(url: key.url, version: version)
    }
    guard isBatch else { return single(0).map { .single($0) } }
    return .batch(ODataBatchResponse(slots: keys.indices.map { single($0).map { .response($0) } }))
  }

  // MARK: The server's responses

  private mutating func ask(_ question: Question) -> [Action] {
    state = .asking(question)
    return [.perform(.ask(question))]
  }

  private mutating func answered(_ response: ODataResponse, _ question: Question) -> [Action] {
    if case .changes = question { return answeredChanges(response) }
    do throws(ODataServiceError) {
      let settled = try CacheOutcome(response, keys: usesCache ? keys : [], cached: cached, version: version)
      return finish(settled)
    } catch {
      return fail(error, error.response.map { .single($0) })
    }
  }

  private mutating func answeredChanges(_ response: ODataResponse) -> [Action] {
    guard case .single(let single) = response, let key = keys.first ?? nil, let entry = cached.first ?? nil,
      case .unchanged(let link) = DeltaVerdict(single)
    else { return ask(.plain) }
    return finish(CacheOutcome(unchanged: entry, key: key, deltaLink: link, version: version))
  }

  private mutating func finish(_ settled: CacheOutcome) -> [Action] {
    let ending: [Action] = [.report(.serverResponse(settled.response)), .report(.finished)]
    guard !settled.changes.isEmpty else {
      state = .ended
      return ending
    }
    state = .writing(then: ending, asking: nil)
    return [.perform(.write(settled.changes))]
  }

  private mutating func failed(_ error: any Error, _ question: Question) -> [Action] {
    let failure = error as? ODataServiceError
    // The service sent a 304 to a request without a condition: nothing changed since the link.
    if case .changes = question, failure?.httpStatus == 304, let key = keys.first ?? nil,
      let entry = cached.first ?? nil
    {
      return finish(CacheOutcome(unchanged: entry, key: key, deltaLink: nil, version: version))
    }
    if case .changes = question, let failure, DeltaVerdict(failure) == .expired, let key = keys.first ?? nil,
      var entry = cached.first ?? nil
    {
      entry.deltaLink = nil
      state = .writing(then: [], asking: .plain)
      return [.perform(.write([.refresh(key, entry)]))]
    }
    let ending: [Action] = [.report(.failed(error, failure?.response.map { .single($0) }))]
    if !isBatch, usesCache, let failure, CacheOutcome.meansGone(failure), let key = keys.first ?? nil {
      state = .writing(then: ending, asking: nil)
      return [.perform(.write([.remove(key)]))]
    }
    state = .ended
    return ending
  }

  /// Continues after a write. If the cache could not be written, the caller still receives the response.
  private mutating func written(_ error: StorageError?, _ actions: [Action], _ question: Question?) -> [Action] {
    var result: [Action] = []
    if let error, error.category != .closed, error.category != .suspended {
      result.append(.report(.diagnostic(.cacheWriteFailed(urls: keys.compactMap { $0?.url }, error))))
    }
    guard let question else {
      state = .ended
      return result + actions
    }
    return result + actions + ask(question)
  }

  private mutating func fail(_ error: any Error, _ response: ODataResponse? = nil) -> [Action] {
    state = .ended
    return [.report(.failed(error, response))]
  }
}

extension ODataRequest {
  /// True if at least one read in the request uses the cache.
  var takesPartInCache: Bool {
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
