// The online store: OData requests with the last answer at once and the server's answer after it.
//
// The way of one read:
// 1. Store/         ``OnlineODataStore/schedule(_:listener:)`` notes mode, store and cache as they are: the request keeps to
//                   them. RequestKeys says under which keys its answers are kept.
//                   A change takes its place behind those of the same resources (Request/ChangedResources).
// 2. Request/       ``RequestMachine`` decides every step, for the two tables of the technical cache and the order of the
//                   listener's calls; ``RequestRun`` carries them out.
// 3. Cache/         ``TechnicalCache`` is asked first, before anything waits for a network: one row a response, by URL,
//                   caller and representation.
// 4. Revalidation/  the server is asked with what the cache knows (``Question``); its answer is settled with the cached one
//                   (``CacheOutcome``): 304 gives the known content, 404 and 410 remove it.
// 5. Delta/         where only a delta link is known, ``DeltaVerdict`` says whether an answer proves that nothing changed.
// 6. Cache/         what changed is durable before the listener hears of the server's response.
//
// Opening (Store/OnlineODataStore+Opening) claims the cache, opens or replaces its file, and loads the metadata, from the
// cache where it is kept.

import LarderCore
public import LarderHTTP
public import LarderOData
// Those who import this module use these modules without another import.
@_exported public import LarderService
@_exported public import LarderStorage

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An OData service used online, with the technical cache where the options enable it.
///
/// ```swift
/// let store = try OnlineODataStore(serviceRoot: url, transport: CurlTransport(), options: .init(useCache: true))
/// try await store.open()
/// let execution = store.schedule(.read("Articles('myuserid')?$top=30&$orderby=Date"), listener: listener)
/// ```
///
/// A read calls `requestCacheResponse` with the last answer at once (nil: never read, or removed), then
/// `requestServerResponse`. A passive store answers from its cache alone.
public final class OnlineODataStore: ODataStore {
  /// The service.
  public let root: ODataServiceRoot

  let transport: any HTTPTransport
  let authentication: (any Authentication)?
  let state: Locked<State>
  let running = RunningRequests()
  let turns = RequestTurns()
  let calls: SerialCalls

  struct State {
    enum Phase {
      case closed
      case opening(Task<Void, any Error>)
      case open
      case closing(Task<Void, any Error>)
    }

    var phase = Phase.closed
    var options: OnlineStoreOptions
    var conversation: ODataConversation
    var environment: LarderEnvironment { options.conversation.environment }
    var isPassive = false
    var cache: TechnicalCache?
    var claim: CacheClaim?
    var memory = SessionMemory()
    /// Counts openings: what belongs to an earlier one finds that it is too late.
    var opening: UInt64 = 0
    /// How many wait for the opening.
    var openers = 0
    /// True while the cache is being closed, opened or reset.
    var cacheIsBusy = false
    /// What a suspended store needs to be resumed; nil where it is not suspended.
    var suspension: Suspension?
    /// Calls of ``suspend()`` whose turn has not come.
    var waitingSuspensions = 0

    var isOpen: Bool { if case .open = phase { true } else { false } }

    /// Why a request cannot be made of a store that is not open.
    var whyNotOpen: ODataServiceError.Category { suspension == nil ? .notOpen : .suspended }

    mutating func beginOpening() -> UInt64 {
      opening += 1
      openers = 1
      return opening
    }
  }

  struct Suspension {
    /// False where it was suspended while it opened.
    var wasOpen = false
    /// True where the cache had been closed apart from the store.
    var leavesCacheClosed = false
  }

  /// Makes a closed store; nothing is sent or written yet.
  ///
  /// Throws `ODataServiceError` (`invalidRequest`) for a root that is no http or https URL.
  public init(
    serviceRoot: URL, transport: any HTTPTransport, authentication: (any Authentication)? = nil,
    options: OnlineStoreOptions = OnlineStoreOptions()
  ) throws(ODataServiceError) {
    let conversation = try ODataConversation(
      root: serviceRoot, transport: transport, authentication: authentication, options: options.conversation)
    root = conversation.root
    self.transport = transport
    self.authentication = authentication
    state = Locked(State(options: options, conversation: conversation))
    calls = SerialCalls(options.conversation.environment)
  }

  /// How the store works. The key of its cache is not shown.
  public var options: OnlineStoreOptions { state.withLock { $0.options.shown } }

  /// Gives a closed store other options, those of ``options`` with the key that it has; throws ``OnlineStoreError/alreadyOpen`` for one that is open, opening or closing.
  public func initialize(_ options: OnlineStoreOptions) throws {
    let conversation = try ODataConversation(
      root: serviceRoot, transport: transport, authentication: authentication, options: options.conversation)
    _ = try state.withLock { state in
      guard case .closed = state.phase, state.suspension == nil, !state.cacheIsBusy else {
        throw OnlineStoreError.alreadyOpen
      }
      if !options.useCache { state.isPassive = false }
      var given = options
      given.givenKey = options.givenKey.replacing(state.options.givenKey)
      return (exchange(&state.options, with: given), exchange(&state.conversation, with: conversation))
    }
  }

  private var serviceRoot: URL {
    guard let query = root.query else { return root.url }
    return URL(string: root.url.absoluteString + "?" + query) ?? root.url
  }

  /// The conversation below: metadata, sessions, and whatever the store does not offer itself.
  public var conversation: ODataConversation { state.withLock { $0.conversation } }

  /// What the service offers; nil before it was read.
  public var model: EdmModel? { conversation.knownModel }

  /// True between a successful ``open()`` and ``close()``.
  public var isOpen: Bool { state.withLock { $0.isOpen } }

  // MARK: Passive and active

  /// True where the store sends nothing and answers from its cache alone.
  public var isPassive: Bool { state.withLock { $0.isPassive } }

  /// Switches between active and passive at any time, before opening too. Requests on their way keep their mode.
  ///
  /// Throws ``OnlineStoreError/cacheNotEnabled`` where there is no cache to be passive with.
  public func setPassive(_ passive: Bool) throws {
    try state.withLock { state in
      if passive, !state.options.useCache { throw OnlineStoreError.cacheNotEnabled }
      state.isPassive = passive
    }
  }

  func report(_ diagnostic: OnlineStoreDiagnostic) { options.onDiagnostic?(diagnostic) }
}
