@_spi(Stores) import LarderCore
public import LarderHTTP
public import LarderOData
import LarderODataXML
public import LarderOffline
public import LarderOnline

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An OData service in memory, created from a model and rows.
///
/// ```swift
/// let service = try ODataTestService(
///   metadata: metadata, rows: ["Orders": [["ID": 1, "Note": "tea"], ["ID": 2, "Note": "milk"]]])
/// let store = try await service.onlineStore()
/// service.isOffline = true
/// ```
///
/// The service evaluates queries as an offline store does: `$filter`, `$orderby`, `$expand`, `$select`, `$apply`, `$search`,
/// `$count` and the rest. It carries out POST (also with related entities), PATCH, PUT, DELETE, links and batches; it
/// checks values against the model, and ETags. It sets properties with the annotation `Core.Computed` or
/// `Core.ComputedDefaultValue` that are never null and that a creation leaves out: a time is that of ``clock``, numbers are 0.
/// It returns pages and delta links.
///
/// A request that it does not support gets the status 501, with a message that names the feature: calls of actions and
/// functions, media, changes of one property alone, query options of changes, upserts. Add a route to ``transport`` for
/// these. Models of OData V2 and V3 are not supported.
public final class ODataTestService: HTTPTransport {
  /// The network between the stores and the service: routes, latency, failures, the requests that were sent.
  public let transport: ScriptedTransport
  /// The clock of the service and of its stores.
  public var clock: LarderTestClock { transport.clock }
  /// The root of the service.
  public var root: URL { transport.root }
  /// The model of the service.
  public var model: EdmModel { responder.model.model }

  private let responder: TestResponder

  /// Creates a service.
  ///
  /// - Parameters:
  ///   - metadata: the metadata document (`$metadata`) of the service: XML or JSON, of V4.
  ///   - rows: the entities of each set and singleton by its name. Rows may lack properties that can be null or are
  ///     computed, integer keys, GUID keys and computed keys of text. A row can contain related rows, and `Name@odata.bind` leads to rows by
  ///     their paths.
  ///   - root: the root of the service.
  ///   - clock: the clock of the service and of its stores.
  /// - Throws: ``ODataTestServiceError`` for rows that do not fit the model, `MetadataError`.
  public convenience init(
    metadata: String, rows: [String: [ODataTestRow]] = [:], root: URL = ScriptedTransport.defaultRoot,
    clock: LarderTestClock = LarderTestClock()
  ) throws {
    try self.init(metadata: Array(metadata.utf8), rows: rows, root: root, clock: clock)
  }

  /// Creates a service from the bytes of a metadata document, such as a resource of the test target.
  public init(
    metadata: [UInt8], rows: [String: [ODataTestRow]] = [:], root: URL = ScriptedTransport.defaultRoot,
    clock: LarderTestClock = LarderTestClock()
  ) throws {
    let model = try EdmModel.read(metadata)
    guard model.version >= .v4 else {
      throw ODataTestServiceError(ServiceFault(501, "ODataTestService does not support models of OData V2 and V3."))
    }
    transport = ScriptedTransport(root: root, clock: clock)
    let data = try ODataTestService.rows(rows, TestModel(model, root: transport.root.absoluteString), clock)
    responder = TestResponder(
      data, metadata: metadata,
      queries: try TestQueries(root: transport.root, metadata: metadata, clock: clock, rows: data))
    transport.setFallback { [responder, weak transport] request in
      try await responder.respond(to: request, transport)
    }
  }

  private static func rows(_ rows: [String: [ODataTestRow]], _ model: TestModel, _ clock: LarderTestClock) throws
    -> TestRows
  {
    var data = TestRows(model, clock: clock)
    var all: [(place: RowCollection, row: ODataTestRow)] = []
    for (name, entities) in rows.sorted(by: { $0.key < $1.key }) {
      guard let place = model.place(name) else {
        throw ODataTestServiceError(ServiceFault(404, "The model has no entity set or singleton '\(name)'."))
      }
      all += entities.map { (place, $0) }
    }
    do throws(ServiceFault) { data.sort(try insert(all, &data)) } catch { throw ODataTestServiceError(error) }
    return data
  }

  /// Adds rows, and returns their paths. A row with links comes after the rows that they lead to; if rows lead to each other,
  /// their links are added at the end.
  private static func insert(
    _ all: [(place: RowCollection, row: ODataTestRow)], _ data: inout TestRows
  ) throws(ServiceFault) -> [String] {
    var paths = all.map { _ in "" }
    var pending = all.indices.map { (index: $0, references: JSONNode(all[$0].row).references) }
    while !pending.isEmpty {
      var later: [(index: Int, references: [String])] = []
      for (index, references) in pending {
        if references.allSatisfy({ (try? data.path(ofReference: $0)) != nil }) {
          paths[index] = try data.insert(JSONNode(all[index].row), into: all[index].place)
        } else {
          later.append((index, references))
        }
      }
      if later.count == pending.count { break }
      pending = later
    }
    for (index, _) in pending {
      let row = all[index].row.filter { !JSONNode.isBinding($0.key) }
      paths[index] = try data.insert(JSONNode(row), into: all[index].place)
    }
    for (index, _) in pending {
      let links = all[index].row.filter { JSONNode.isBinding($0.key) }
      try data.update(paths[index], JSONNode(links), replaces: false)
    }
    return paths
  }

  /// Responds to a request.
  public func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    try await transport.send(request)
  }

  // MARK: Stores

  /// Opens an online store on this service: with a cache, the clock of the service, and without repetitions of requests.
  /// Close it at the end of the test; its folder is removed with it. `configure` changes its options.
  public func onlineStore(
    configure: (inout OnlineStoreOptions) -> Void = { _ in }
  ) async throws -> OnlineODataStore {
    try await OnlineODataStore.forTests(serviceRoot: root, transport: self, clock: clock, configure: configure)
  }

  /// Opens an offline store on this service, and downloads the rows of its defining queries: `Orders`,
  /// `Items?$filter=Price gt 10`. Without queries, it has all sets with their links, so that it answers every query of
  /// them. Close it at the end of the test; its folder is removed with it. `configure` changes its parameters.
  public func offlineStore(
    _ queries: String..., configure: (inout OfflineODataParameters) -> Void = { _ in }
  ) async throws -> OfflineODataProvider {
    let rows = responder.current
    let all = rows.model.places.filter(\.isCollection).map {
      OfflineODataDefiningQuery($0.path, rows.definingQuery($0))
    }
    return try await OfflineODataProvider.forTests(
      serviceRoot: root, transport: self,
      definingQueries: queries.isEmpty ? all : queries.map(OfflineODataProvider.definingQuery), clock: clock,
      configure: configure)
  }

  // MARK: Network

  /// Whether there is no network: ``ScriptedTransport/isOffline``.
  public var isOffline: Bool {
    get { transport.isOffline }
    set { transport.isOffline = newValue }
  }

  /// The time that each request waits on ``clock``: ``ScriptedTransport/latency``.
  public var latency: Duration {
    get { transport.latency }
    set { transport.latency = newValue }
  }

  /// The requests that were sent: `GET Orders?$top=1`, `POST $batch`. The requests in a batch follow it.
  public var requests: [String] { transport.requests }

  /// Lets the next requests fail: ``ScriptedTransport/fail(next:times:on:)``.
  public func fail(next fault: HTTPTestFault, times: Int = 1, on pattern: String? = nil) {
    transport.fail(next: fault, times: times, on: pattern)
  }

  // MARK: Rows

  /// The entity at a path, such as `Orders(1)`, with all its properties; nil if it does not exist.
  public subscript(path: String) -> ODataTestRow? {
    let rows = responder.current
    guard case .row(let path)? = try? rows.target(TestModel.encoded(path)), let row = rows.rows[path]
    else {
      return nil
    }
    return row.values.mapValues { ODataTestValue($0) }
  }

  /// The entities of a set, in the order of their creation.
  public func rows(_ entitySet: String) -> [ODataTestRow] {
    responder.current.rows(in: entitySet).map { row in row.values.mapValues { ODataTestValue($0) } }
  }

  /// Adds an entity for another client, and returns its path. Throws ``ODataTestServiceError``.
  @discardableResult
  public func insert(_ entitySet: String, _ row: ODataTestRow) throws -> String {
    try changing { rows throws(ServiceFault) in
      guard let place = rows.model.place(entitySet) else {
        throw ServiceFault(404, "The model has no entity set '\(entitySet)'.")
      }
      return try rows.insert(JSONNode(row), into: place)
    }
  }

  /// Changes properties of an entity for another client. The entity gets a new ETag, so a client with the old one gets
  /// 412 for its next change. Throws ``ODataTestServiceError``.
  public func change(_ path: String, _ properties: ODataTestRow = [:]) throws {
    try changing { rows throws(ServiceFault) in
      try rows.update(try ODataTestService.path(path, rows), JSONNode(properties), replaces: false)
    }
  }

  /// Deletes an entity for another client. Throws ``ODataTestServiceError``.
  public func delete(_ path: String) throws {
    try changing { rows throws(ServiceFault) in try rows.delete(try ODataTestService.path(path, rows)) }
  }

  private static func path(_ path: String, _ rows: TestRows) throws(ServiceFault) -> String {
    guard case .row(let path) = try rows.target(TestModel.encoded(path)) else {
      throw ServiceFault(404, "'\(path)' is not an entity.")
    }
    return path
  }

  private func changing<Result: Sendable>(
    _ body: (inout TestRows) throws(ServiceFault) -> Result
  ) throws -> Result {
    do throws(ServiceFault) { return try responder.change(body) } catch { throw ODataTestServiceError(error) }
  }

  // MARK: Behaviour

  /// Whether PATCH, PUT and DELETE need `If-Match`; without it, they get 428. False at first.
  public var requiresETags: Bool {
    get { responder.options.withLock { $0.requiresETags } }
    set { responder.options.withLock { $0.requiresETags = newValue } }
  }

  /// The most entities of a page; nil, as at first, for no limit but that of the client.
  public var pageSize: Int? {
    get { responder.options.withLock { $0.pageSize } }
    set { responder.options.withLock { $0.pageSize = newValue } }
  }

  /// Whether clients that ask for it (`Prefer: odata.track-changes`) get delta links. True at first.
  public var tracksChanges: Bool {
    get { responder.options.withLock { $0.tracksChanges } }
    set { responder.options.withLock { $0.tracksChanges = newValue } }
  }

  /// Lets all delta links expire: their use gets 410, and clients download everything.
  public func expireDeltaLinks() { responder.continuations.withLock { $0.expireDeltas() } }
}

/// The error of rows that do not fit the model of a ``ODataTestService``.
public struct ODataTestServiceError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The HTTP status that a client would get.
  public let status: Int
  /// What is wrong with the row.
  public let description: String

  init(_ fault: ServiceFault) {
    status = fault.status
    description = fault.message
  }
}

extension ODataTestServiceError: LarderError {
  /// The number is the HTTP status.
  public var errorIdentity: ErrorIdentity {
    ErrorIdentity(status, "rejectedRow", status == 404 ? .notFound : status == 501 ? .notSupported : .invalidInput)
  }

  /// What is wrong with the row, and what to do about it.
  public var explanation: ErrorExplanation {
    ErrorExplanation(description, cure: "Correct the row, or the metadata of the test.")
  }
}
