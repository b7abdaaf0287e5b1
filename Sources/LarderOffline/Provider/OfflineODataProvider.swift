import LarderCore
public import LarderHTTP
public import LarderOData
public import LarderService
import LarderStorage

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A service used without a network: a relational copy in one file, filled by defining queries, asked by OData URLs.
///
/// ```swift
/// let provider = try OfflineODataProvider(serviceRoot: url, transport: CurlTransport())
/// try await provider.add(OfflineODataDefiningQuery("orders", "Orders?$expand=Items"))
/// try await provider.open()  // the first time: metadata and rows; later: no network
/// let open = try await provider.readEntitySet("Orders?$filter=Status eq 'Open'&$orderby=Date desc&$top=20")
/// try await provider.download()
/// ```
///
/// It answers as the service would; what it cannot answer is `notSupported` with the construct's name. All errors are
/// ``OfflineODataError``.
public final class OfflineODataProvider: ODataStore {
  /// The service.
  public let root: ODataServiceRoot
  /// How the store is kept. Keys are not shown.
  public var parameters: OfflineODataParameters { given.shown }

  /// The parameters with their keys.
  let given: OfflineODataParameters

  let transport: any HTTPTransport
  let authentication: (any Authentication)?
  let telling = EventPublisher()
  let running = RunningRequests()
  let turns = RequestTurns()
  let calls: SerialCalls
  let state = Locked(State())

  struct State {
    enum Phase {
      case closed
      case opening(Task<Void, any Error>)
      case open(OpenStore)
      case closing(Task<Void, any Error>)
      /// The file is being removed.
      case clearing
    }

    var phase = Phase.closed
    /// Counts openings: what belongs to an earlier one finds that it is too late.
    var opening: UInt64 = 0
    /// How many wait for the opening.
    var openers = 0
    /// The opening of an open store; it may still run, to report that the store is open.
    var opened: Task<Void, any Error>?
    /// Defining queries that were added while the store was closed, in their order.
    var added: [OfflineODataDefiningQuery] = []
    /// Names of defining queries that were removed while the store was closed.
    var removed: Set<String> = []
    var download: Task<OfflineODataDownloadReport, any Error>?
    var upload: Task<OfflineODataUploadReport, any Error>?
    /// What live results have of the open store.
    var resumable: ResumableStore?
    /// What a suspended store needs to be resumed; nil where it is not suspended.
    var suspension: Suspension?
    /// Calls of ``suspend()`` whose turn has not come.
    var waitingSuspensions = 0

    /// Why nothing can be asked of a store that is not open.
    var whyNotOpen: OfflineODataErrorName { suspension == nil ? .storeNotOpen : .storeSuspended }

    /// Throws where the store is suspended.
    func checkNotSuspended() throws(OfflineODataError) {
      if suspension != nil { throw OfflineODataError(.storeSuspended) }
    }
  }

  struct Suspension {
    /// What live results have of the store; nil where it was suspended while it opened.
    let resumable: ResumableStore?
  }

  /// Makes a closed store; nothing is sent or written yet.
  ///
  /// Throws `invalidInput` for a root that is no http or https URL, and for parameters outside their range.
  public init(
    serviceRoot: URL, transport: any HTTPTransport, authentication: (any Authentication)? = nil,
    parameters: OfflineODataParameters = OfflineODataParameters()
  ) throws(OfflineODataError) {
    try parameters.check()
    do throws(ODataServiceError) { root = try ODataServiceRoot(serviceRoot) } catch {
      throw OfflineODataError(.invalidServiceRoot, cause: error)
    }
    self.transport = transport
    self.authentication = authentication
    given = parameters.placed(for: root)
    calls = SerialCalls(parameters.environment)
  }

  /// What the service offers, as the store keeps it; nil while the store is closed.
  public var model: EdmModel? { store?.replica.model }

  /// True between a successful ``open()`` and ``close()``.
  public var isOpen: Bool { store != nil }

  /// True while the store is open and its file, or its folder, may not be written to: questions are answered, changes,
  /// downloads and uploads fail with `storeReadOnly`. True, too, where the disk was full when the store was opened: then they fail
  /// with `diskFull`, until it is closed and opened where there is room.
  public var isReadOnly: Bool { store?.replica.isReadOnly ?? false }

  /// False: an offline store has no passive mode.
  public var isPassive: Bool { false }

  /// Throws `preconditionFailed`: an offline store has no passive mode.
  public func setPassive(_ passive: Bool) throws { throw OfflineODataError(.neverPassive) }

  /// What happens in the store from now on. May be taken any number of times.
  public var events: AsyncStream<OfflineODataEvent> { telling.stream() }

  /// Hears what happens; held weakly.
  public var delegate: (any OfflineODataDelegate)? {
    get { telling.delegate }
    set { telling.delegate = newValue }
  }

  var store: OpenStore? { state.withLock { if case .open(let store) = $0.phase { store } else { nil } } }

  /// Nobody can resume it any more: live results end.
  deinit { state.withLock { $0.suspension }?.resumable?.end() }

  /// The open store; throws `preconditionFailed` where it is not open.
  func openStore() throws(OfflineODataError) -> OpenStore {
    try state.withLock { state throws(OfflineODataError) in
      guard case .open(let store) = state.phase else { throw OfflineODataError(state.whyNotOpen) }
      return store
    }
  }

  // MARK: Defining queries

  /// Adds a defining query: before opening, or at any time after; ``download(_:whole:)`` brings its rows.
  ///
  /// Throws `invalidInput` for a name that is taken, and for a query that brings no entities. Before the store is open, a
  /// query of the same name and text is no error, and one of another text takes the old one's place when the store opens.
  public func add(_ query: OfflineODataDefiningQuery) async throws {
    try query.check()
    let query = try relative(query)
    let store = try state.withLock { state throws(OfflineODataError) -> OpenStore? in
      if case .open(let store) = state.phase { return store }
      try state.checkNotSuspended()
      guard !state.added.contains(where: { $0.name == query.name }) else {
        throw OfflineODataError(.duplicateDefiningQuery, "'\(query.name)'")
      }
      state.added.append(query)
      return nil
    }
    guard let store else { return }
    try await translated { try await store.add(query, replaces: false) }
  }

  /// The query with its text relative to the service's root: an absolute URL below that is taken too.
  private func relative(_ query: OfflineODataDefiningQuery) throws(OfflineODataError) -> OfflineODataDefiningQuery {
    guard ["http://", "https://"].contains(where: { query.query.lowercased().hasPrefix($0) }) else { return query }
    guard let absolute = try? root.absoluteText(query.query), let text = root.relative(absolute) else {
      throw OfflineODataError(
        .invalidDefiningQuery, "'\(query.query)' is not below the service's root \(root.url.absoluteString)")
    }
    var query = query
    query.query = text
    return query
  }

  /// Removes a defining query and the rows that no other one brings.
  ///
  /// Throws `notFound` for a name that there is not. Before the store is open, the query goes when it opens, before
  /// anything is downloaded, and a name that there is not is no error: so a first download that fails for a query is mended.
  public func removeDefiningQuery(_ name: String) async throws {
    let store = try state.withLock { state throws(OfflineODataError) -> OpenStore? in
      if case .open(let store) = state.phase { return store }
      try state.checkNotSuspended()
      state.added.removeAll { $0.name == name }
      state.removed.insert(name)
      return nil
    }
    guard let store else { return }
    try await translated {
      guard try await store.remove(name) else { throw OfflineODataError(.definingQueryNotFound, "'\(name)'") }
    }
  }

  /// The defining queries and what became of them; of a closed store, those added since.
  public func definingQueries() async throws -> [OfflineODataDefiningQueryStatus] {
    guard let store else {
      let added = try state.withLock { state throws(OfflineODataError) in
        try state.checkNotSuspended()
        return state.added
      }
      return added.map { query in
        OfflineODataDefiningQueryStatus(
          definingQuery: query, rows: 0, hasDeltaLink: false, hasPendingDownload: true)
      }
    }
    return try await translated { try await store.status() }
  }

  /// Runs `body`; its errors become the store's. What a suspension has ended fails with `storeSuspended`.
  func translated<Value>(_ body: () async throws -> Value) async throws(OfflineODataError) -> Value {
    do { return try await body() } catch {
      let error = OfflineODataError(below: error)
      guard error.isCancelled, !Task.isCancelled, state.withLock({ $0.suspension != nil }) else { throw error }
      throw OfflineODataError(.storeSuspended)
    }
  }
}
