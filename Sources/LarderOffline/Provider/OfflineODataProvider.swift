@_spi(Stores) import LarderCore
public import LarderHTTP
public import LarderOData
public import LarderService
import LarderStorage

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A local copy of an OData service in one file, which can be queried and changed without a network. Defining queries
/// determine what it contains.
///
/// ```swift
/// let provider = try OfflineODataProvider(serviceRoot: url, transport: CurlTransport())
/// try await provider.add(OfflineODataDefiningQuery("orders", "Orders?$expand=Items"))
/// try await provider.open()  // the first time: metadata and rows; later: no network
/// let open = try await provider.readEntitySet("Orders?$filter=Status eq 'Open'&$orderby=Date desc&$top=20")
/// try await provider.download()
/// ```
///
/// Reads use OData URLs and return what the service would return. A read that uses an unsupported feature fails with
/// `notSupported` and the name of the feature. All errors are ``OfflineODataError``.
public final class OfflineODataProvider: ODataStore {
  package let root: ODataServiceRoot
  /// The root of the service, with the query options that it was given.
  public var serviceRoot: URL { root.givenURL }
  /// The store's parameters, without keys.
  public var parameters: OfflineODataParameters { parametersWithKeys.withoutKeys }

  /// The path of the store's file.
  public var file: String { parametersWithKeys.file(in: folder) }

  /// The parameters with their keys.
  let parametersWithKeys: OfflineODataParameters
  /// The folder of the store's files.
  let folder: String

  let transport: any HTTPTransport
  let authentication: (any HTTPAuthentication)?
  let eventPublisher = EventPublisher()
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
    /// The number of openings. A task of an earlier opening compares it to detect that it is outdated.
    var opening: UInt64 = 0
    /// The number of callers waiting for the opening.
    var openers = 0
    /// The task that opened the store. It may still run, to report that the store is open.
    var opened: Task<Void, any Error>?
    /// Defining queries that were added while the store was closed, in their order.
    var added: [OfflineODataDefiningQuery] = []
    /// Names of defining queries that were removed while the store was closed.
    var removed: Set<String> = []
    var download: Task<OfflineODataDownloadReport, any Error>?
    var upload: Task<OfflineODataUploadReport, any Error>?
    /// The reference to the open store that live results use.
    var resumable: ResumableStore?
    /// What a suspended store needs to be resumed; nil if the store is not suspended.
    var suspension: Suspension?
    /// Calls of ``suspend()`` that have not started yet.
    var waitingSuspensions = 0

    /// The error of a call on a store that is not open.
    var whyNotOpen: OfflineODataErrorName { suspension == nil ? .storeNotOpen : .storeSuspended }

    /// Throws if the store is suspended.
    func checkNotSuspended() throws(OfflineODataError) {
      if suspension != nil { throw OfflineODataError(.storeSuspended) }
    }
  }

  struct Suspension {
    /// The reference to the store that live results use; nil if the store was suspended while it opened.
    let resumable: ResumableStore?
  }

  /// Creates a closed store. Nothing is sent or written yet.
  ///
  /// Throws `invalidInput` for a root that is not an http or https URL, for parameters outside their range, and
  /// (`noDefaultLocation`) for parameters without a path if the platform's folder for data is unknown.
  public init(
    serviceRoot: URL, transport: any HTTPTransport, authentication: (any HTTPAuthentication)? = nil,
    parameters: OfflineODataParameters = OfflineODataParameters()
  ) throws(OfflineODataError) {
    try parameters.check()
    do throws(ODataServiceError) { root = try ODataServiceRoot(serviceRoot) } catch {
      throw OfflineODataError(.invalidServiceRoot, cause: error)
    }
    self.transport = transport
    self.authentication = authentication
    folder = try parameters.folder(for: root)
    var placed = parameters
    placed.path = folder
    parametersWithKeys = placed
    calls = SerialCalls(parameters.environment)
  }

  /// The metadata of the service, as the store has them; nil while the store is closed.
  public var model: EdmModel? { store?.replica.model }

  /// True between a successful ``open()`` and ``close()``.
  public var isOpen: Bool { store != nil }

  /// True while the store is open and its file, or its folder, is not writable: reads work; changes, downloads and
  /// uploads fail with `storeReadOnly`. Also true if the disk was full when the store was opened: then these calls fail
  /// with `diskFull` until the store is closed, and opened when there is space.
  public var isReadOnly: Bool { store?.replica.isReadOnly ?? false }

  /// False: an offline store has no passive mode.
  public var isPassive: Bool { false }

  /// Throws `preconditionFailed`: an offline store has no passive mode.
  public func setPassive(_ passive: Bool) throws { throw OfflineODataError(.neverPassive) }

  /// The events of the store from now on. Each access returns a new stream.
  public var events: AsyncStream<OfflineODataEvent> { eventPublisher.stream() }

  /// The listener, which is notified of the events. It is held weakly.
  public var listener: (any OfflineODataListener)? {
    get { eventPublisher.listener }
    set { eventPublisher.listener = newValue }
  }

  var store: OpenStore? { state.withLock { if case .open(let store) = $0.phase { store } else { nil } } }

  /// No caller can resume a suspended store after this, so its live results end.
  deinit { state.withLock { $0.suspension }?.resumable?.end() }

  /// The open store. Throws `preconditionFailed` if the store is not open.
  func openStore() throws(OfflineODataError) -> OpenStore {
    try state.withLock { state throws(OfflineODataError) in
      guard case .open(let store) = state.phase else { throw OfflineODataError(state.whyNotOpen) }
      return store
    }
  }

  // MARK: Defining queries

  /// Adds a defining query, before opening or later; ``download(_:whole:)`` downloads its rows.
  ///
  /// Throws `invalidInput` for a name that is taken, and for a query that does not return entities. Before the store is
  /// open, a query with an existing name and the same text is accepted; with another text, it replaces the old query
  /// when the store opens.
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

  /// The query with its text relative to the service's root. An absolute URL below the root is also accepted.
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

  /// Removes a defining query and the rows that no other query includes.
  ///
  /// Throws `notFound` for an unknown name. Before the store is open, the query is removed when the store opens, before
  /// anything is downloaded, and an unknown name is not an error. This is how to repair a first download that fails
  /// because of a query.
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

  /// The defining queries with their status. For a closed store, those that were added since.
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

  /// Runs `body` and converts its errors to the store's errors. An operation that was cancelled fails with
  /// `CancellationError`; one that a suspension has ended, with `storeSuspended`.
  func translated<Value>(_ body: () async throws -> Value) async throws -> Value {
    do { return try await body() } catch {
      let error = OfflineODataError(below: error)
      guard error.isCancelled else { throw error }
      if !Task.isCancelled, state.withLock({ $0.suspension != nil }) { throw OfflineODataError(.storeSuspended) }
      throw CancellationError()
    }
  }
}
