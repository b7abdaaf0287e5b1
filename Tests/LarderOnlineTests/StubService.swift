import Foundation
import LarderHTTP
import LarderOnline
import LarderService
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig

/// A service in this process: responds by a closure, records its requests, can be unreachable.
final class StubService: HTTPTransport {
  struct Response: Sendable {
    var status = 200
    var fields: HTTPFields = ["Content-Type": "application/json", "OData-Version": "4.0"]
    var body = ""
    var error: HTTPTransportError?

    static func ok(_ body: String, _ fields: HTTPFields = [:]) -> Response {
      var response = Response(body: body)
      for field in fields { response.fields[field.name] = field.value }
      return response
    }
    static func status(_ status: Int, _ body: String = "", _ fields: HTTPFields = [:]) -> Response {
      var response = ok(body, fields)
      response.status = status
      return response
    }
    static func failure(_ error: HTTPTransportError) -> Response { Response(error: error) }
  }

  typealias Handler = @Sendable (HTTPRequest) async -> Response

  static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">\
    <edmx:DataServices><Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">\
    <EntityType Name="P"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>\
    <Property Name="Name" Type="Edm.String"/></EntityType>\
    <EntityContainer Name="C"><EntitySet Name="Products" EntityType="S.P"/></EntityContainer>\
    </Schema></edmx:DataServices></edmx:Edmx>
    """

  private let handler: Mutex<Handler>
  private let heard = Mutex<[HTTPRequest]>([])
  private let away = Atomic(false)

  private let metadata: Mutex<Response>
  let metadataRequested = Tally("requests for metadata")

  init(
    _ handler: @escaping Handler,
    metadata: Response = .ok(StubService.metadata, ["Content-Type": "application/xml", "OData-Version": "4.0"])
  ) {
    self.metadata = Mutex(metadata)
    self.handler = Mutex(handler)
  }

  private let metadataURL = Mutex<String?>(nil)

  /// Redirects requests for the metadata to another URL, whose response is the metadata.
  func redirectMetadata(to url: String) { metadataURL.withLock { $0 = url } }

  func setMetadata(_ document: String) {
    metadata.withLock { $0 = .ok(document, ["Content-Type": "application/xml", "OData-Version": "4.0"]) }
  }

  /// Where set, no request reaches the service.
  var isAway: Bool {
    get { away.load(ordering: .relaxed) }
    set { away.store(newValue, ordering: .relaxed) }
  }

  func respond(_ handler: @escaping Handler) { self.handler.withLock { $0 = handler } }

  /// Requests other than for the metadata.
  var requests: [HTTPRequest] { heard.withLock { $0.filter { !$0.url.path.hasSuffix("$metadata") } } }
  var metadataRequests: Int { heard.withLock { $0.count { $0.url.path.hasSuffix("$metadata") } } }

  /// Follows redirects, as every transport does.
  @concurrent
  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    try await request.followingRedirects { (hop) async throws(HTTPTransportError) in try await respond(to: hop) }
  }

  private func respond(to request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    if isAway { throw .cannotConnect(host: "stub.test", reason: "refused") }
    heard.withLock { $0.append(request) }
    if request.url.path.hasSuffix("$metadata") {
      if let url = metadataURL.withLock({ $0 }), url != request.url.absoluteString {
        return HTTPResponse(status: 302, fields: [.location: url], url: request.url)
      }
      metadataRequested.add()
      let metadata = metadata.withLock { $0 }
      return HTTPResponse(
        status: metadata.status, fields: metadata.fields, url: request.url,
        body: HTTPBodyStream(Array(metadata.body.utf8)))
    }
    let response = await handler.withLock({ $0 })(request)
    if let error = response.error { throw error }
    if Task.isCancelled { throw .cancelled }
    return HTTPResponse(
      status: response.status, fields: response.fields, url: request.url,
      body: HTTPBodyStream(Array(response.body.utf8)))
  }
}

/// Notes every call: its name, the status, and what the response was.
final class CallLog: ODataRequestListener {
  struct Call: Equatable, CustomStringConvertible {
    var name: String
    var status: ODataRequestStatus
    var payload: String?
    var description: String { payload.map { "\(name)(\(status.rawValue))=\($0)" } ?? "\(name)(\(status.rawValue))" }
  }

  private let noted = Mutex<[Call]>([])
  private let ends = Tally("finished requests")
  var calls: [Call] { noted.withLock { $0 } }
  var names: [String] { calls.map(\.description) }

  /// Returns after the last call.
  func finished() async throws { try await ends.wait(for: 1) }

  private func note(_ name: String, _ execution: ODataRequestExecution) {
    let payload = execution.response.map { response in
      switch response {
      case .single(let single): String(decoding: single.payloadBytes, as: UTF8.self)
      case .batch(let batch):
        batch.slots.map { slot in
          switch slot {
          case .response(let single): String(decoding: single.payloadBytes, as: UTF8.self)
          case .changeSet: "set"
          case .failure: "failure"
          case nil: "nil"
          }
        }.joined(separator: "|")
      }
    }
    noted.withLock { $0.append(Call(name: name, status: execution.status, payload: payload)) }
  }

  func requestStarted(_ execution: ODataRequestExecution) { note("started", execution) }
  func requestCacheResponse(_ execution: ODataRequestExecution) { note("cacheResponse", execution) }
  func requestServerResponse(_ execution: ODataRequestExecution) { note("serverResponse", execution) }
  func requestFailed(_ execution: ODataRequestExecution) { note("failed", execution) }
  func requestFinished(_ execution: ODataRequestExecution) {
    note("finished", execution)
    ends.add()
  }
}

/// A store on a ``StubService`` with a cache folder of its own.
final class StoreRig: Sendable {
  let folder: TemporaryFolder
  let service: StubService
  let root: URL
  let diagnostics = DiagnosticLog()
  /// What its caches are encrypted with: nothing, or a key if the environment requests one.
  let key: StorageKey?

  /// `isPlain`: no cache of it is ever encrypted, unless its test gives a key.
  init(isPlain: Bool = false, _ handler: @escaping StubService.Handler = { _ in .ok("{}") }) throws {
    folder = try TemporaryFolder()
    key = isPlain ? nil : try RigKey.fromEnvironment()
    service = StubService(handler)
    root = try #require(URL(string: "http://\(UUID().uuidString.lowercased()).test/service/"))
  }

  func options(_ change: (inout OnlineStoreOptions) -> Void = { _ in }) -> OnlineStoreOptions {
    var options = OnlineStoreOptions(useCache: true, path: folder.path, encryptionKey: key)
    options.conversation.retry = .never
    options.onDiagnostic = { [diagnostics] in diagnostics.add($0) }
    change(&options)
    return options
  }

  func store(
    _ authentication: (any HTTPAuthentication)? = nil, _ change: (inout OnlineStoreOptions) -> Void = { _ in }
  ) throws -> OnlineODataStore {
    try OnlineODataStore(
      serviceRoot: root, transport: service, authentication: authentication, options: options(change))
  }

  func openStore(
    _ authentication: (any HTTPAuthentication)? = nil, _ change: (inout OnlineStoreOptions) -> Void = { _ in }
  ) async throws -> OnlineODataStore {
    let store = try store(authentication, change)
    try await store.open()
    return store
  }

  /// The queries of the requests so far, nil where one has none.
  var queries: [String?] { service.requests.map { (request: HTTPRequest) -> String? in request.url.query() } }

  var cacheFile: TechnicalCacheFile {
    get throws { try #require(try TechnicalCacheFile.files(in: folder.path, key: key).first) }
  }
}

extension OnlineODataStore {
  /// Runs a request to its end and returns the listener's calls.
  @discardableResult
  func calls(_ request: ODataRequest) async -> [String] {
    let log = CallLog()
    let execution = schedule(request, listener: log)
    for await _ in execution.events {}
    // The stream ends just before the listener's last call.
    try? await log.finished()
    return log.names
  }

  /// Reads a path to its end and returns the events' responses: the cache's and the last.
  func read(_ path: String) async throws -> (cached: ODataSingleResponse?, last: ODataSingleResponse?) {
    let execution = schedule(.read(path))
    var cached: ODataSingleResponse?
    var last: ODataSingleResponse?
    for await event in execution.events {
      if case .requestCacheResponse(let snapshot) = event { cached = snapshot.response?.single }
      if case .requestFinished(let snapshot) = event {
        if let error = snapshot.error { throw error }
        last = snapshot.response?.single
      }
    }
    return (cached, last)
  }
}

func text(_ response: ODataSingleResponse?) -> String? {
  response.map { String(decoding: $0.payloadBytes, as: UTF8.self) }
}
