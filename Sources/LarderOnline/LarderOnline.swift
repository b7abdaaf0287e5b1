// The online store: a read returns the cached response at once, then the server's response.
//
// The stages of one read:
// 1. The store      ``OnlineODataStore/schedule(_:listener:)`` records mode, store and cache as they are: the request
//                   keeps to them. RequestKeys computes the keys under which its responses are cached.
//                   A change queues behind earlier changes of the same resources (Request/ChangedResources).
// 2. Request/       ``RequestMachine`` decides every step, by the two tables of the technical cache and the order of
//                   the listener's calls; ``RequestRun`` carries them out.
// 3. Cache/         ``TechnicalCache`` is read first, before anything waits for the network: one row for each response,
//                   by URL, client and representation.
// 4. Revalidation/  the request to the server uses what the cache knows (``RevalidationRequest``); the response is reconciled
//                   with the cached one (``CacheOutcome``): 304 gives the known content, 404 and 410 remove it.
// 5. Delta/         if only a delta link is known, ``DeltaVerdict`` says whether a response proves that nothing
//                   changed.
// 6. Cache/         changes are durable before the listener receives the server's response.
//
// Opening (OnlineODataStore+Opening) claims the cache, opens or replaces its file, and loads the metadata, from
// the cache if it is stored there.

@_spi(Stores) import LarderCore
public import LarderHTTP
public import LarderOData
// An import of this module also imports these modules.
@_exported public import LarderService
@_exported public import LarderStorage

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Sends requests to an OData service, with the technical cache if the options enable it.
///
/// ```swift
/// let store = try OnlineODataStore(serviceRoot: url, transport: CurlTransport(), options: .init(useCache: true))
/// try await store.open()
/// let execution = store.schedule(.read("Articles('myuserid')?$top=30&$orderby=Date"), listener: listener)
/// ```
///
/// A read calls `requestCacheResponse` with the cached response at once (nil: never read, or removed), then
/// `requestServerResponse`. A passive store returns responses from its cache alone.
public final class OnlineODataStore: ODataStore {
  package let root: ODataServiceRoot

  let transport: any HTTPTransport
  let authentication: (any HTTPAuthentication)?
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
    /// Counts openings, so that work of an earlier opening can detect that it is obsolete.
    var opening: UInt64 = 0
    /// The number of callers waiting for the opening.
    var openers = 0
    /// True while the cache is being closed, opened or cleared.
    var cacheIsBusy = false
    /// What is needed to resume a suspended store; nil if the store is not suspended.
    var suspension: Suspension?
    /// Calls of ``suspend()`` that have not begun yet.
    var waitingSuspensions = 0

    var isOpen: Bool { if case .open = phase { true } else { false } }

    /// What a request uses of the store from its start to its end.
    var session: OpenSession {
      OpenSession(
        conversation: conversation, cache: cache, tracksChanges: options.tracksChanges, memory: memory,
        report: { [hook = options.onDiagnostic] in $0.report(to: hook) })
    }

    /// Why no request can be sent through a store that is not open.
    var whyNotOpen: ODataServiceError.Category { suspension == nil ? .notOpen : .suspended }

    mutating func beginOpening() -> UInt64 {
      opening += 1
      openers = 1
      return opening
    }
  }

  struct Suspension {
    /// False if the store was suspended while it opened.
    var wasOpen = false
    /// True if the cache had been closed separately from the store.
    var leavesCacheClosed = false
  }

  /// Creates a closed store. Nothing is sent or written yet.
  ///
  /// Throws `ODataServiceError` (`invalidRequest`) for a root that is not an http or https URL.
  public init(
    serviceRoot: URL, transport: any HTTPTransport, authentication: (any HTTPAuthentication)? = nil,
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

  /// The store's options, without the key of its cache.
  public var options: OnlineStoreOptions { state.withLock { $0.options.withoutKey } }

  /// Sets other options for a closed store. Options that were read from ``options`` use the store's present key. Throws
  /// `ODataServiceError` (`alreadyOpen`) for a store that is open, opening or closing.
  public func initialize(_ options: OnlineStoreOptions) throws {
    let conversation = try ODataConversation(
      root: serviceRoot, transport: transport, authentication: authentication, options: options.conversation)
    _ = try state.withLock { state in
      guard case .closed = state.phase, state.suspension == nil, !state.cacheIsBusy else {
        throw ODataServiceError(.alreadyOpen, operation: "initialize")
      }
      if !options.useCache { state.isPassive = false }
      var newOptions = options
      newOptions.givenKey = options.givenKey.replacing(state.options.givenKey)
      return (exchange(&state.options, with: newOptions), exchange(&state.conversation, with: conversation))
    }
  }

  /// The root of the service, with the query options that it was given.
  public var serviceRoot: URL { root.givenURL }

  /// The conversation that the store uses: for metadata, sessions, and whatever the store does not offer itself.
  public var conversation: ODataConversation { state.withLock { $0.conversation } }

  /// The service's model; nil before it was read.
  public var model: EdmModel? { conversation.knownModel }

  /// True between a successful ``open()`` and ``close()``.
  public var isOpen: Bool { state.withLock { $0.isOpen } }

  // MARK: Passive and active

  /// Whether the store sends nothing and returns responses from its cache alone.
  public var isPassive: Bool { state.withLock { $0.isPassive } }

  /// Switches between active and passive mode at any time, even before opening. Running requests keep their mode.
  ///
  /// Throws `ODataServiceError` (`cacheNotEnabled`) if the store has no cache.
  public func setPassive(_ passive: Bool) throws {
    try state.withLock { state in
      if passive, !state.options.useCache {
        throw ODataServiceError(.cacheNotEnabled, operation: "setPassive")
      }
      state.isPassive = passive
    }
  }

  func report(_ diagnostic: LarderDiagnostic) { diagnostic.report(to: options.onDiagnostic) }
}
