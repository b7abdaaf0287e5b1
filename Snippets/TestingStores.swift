//! Tests of an application's code on each store, without a network.

import Foundation
import Larder
import Synchronization

// MARK: A network in memory

/// Responds from a table instead of a network, and records the requests.
final class ScriptedTransport: HTTPTransport {
  struct Reply: Sendable {
    var status = 200
    var contentType = "application/json"
    var body = ""
  }

  private struct State {
    /// The reply to each resource, by the last part of its path.
    var replies: [String: Reply] = [:]
    var requests: [String] = []
    var isOffline = false
  }

  private let state = Mutex(State())

  /// "GET Orders", "POST $batch" and so on, in the order in which they were sent.
  var requests: [String] { state.withLock { $0.requests } }

  func setReply(_ reply: Reply, to resource: String) {
    state.withLock { $0.replies[resource] = reply }
  }

  func setOffline(_ isOffline: Bool) {
    state.withLock { $0.isOffline = isOffline }
  }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    let resource = request.url.lastPathComponent
    let reply: Reply? = state.withLock { state in
      guard !state.isOffline else { return nil }
      state.requests.append("\(request.method) \(resource)")
      return state.replies[resource] ?? Reply(status: 404, body: "{}")
    }
    guard let reply else { throw .cannotConnect(host: "service.test", reason: "offline") }
    return HTTPResponse(
      status: reply.status, fields: ["Content-Type": reply.contentType, "OData-Version": "4.0"], url: request.url,
      body: HTTPBodyStream(Array(reply.body.utf8)))
  }
}

/// The model of the service, as small as the tests need it.
let metadata = """
  <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
  <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
  <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
  <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
  <Property Name="Note" Type="Edm.String"/></EntityType>
  <EntityContainer Name="Container"><EntitySet Name="Orders" EntityType="Shop.Order"/></EntityContainer>
  </Schema></edmx:DataServices></edmx:Edmx>
  """

func makeService() -> ScriptedTransport {
  let service = ScriptedTransport()
  service.setReply(.init(contentType: "application/xml", body: metadata), to: "$metadata")
  service.setReply(.init(body: #"{"value":[{"ID":1,"Note":"tea"},{"ID":2,"Note":"milk"}]}"#), to: "Orders")
  return service
}

// MARK: Time and files

/// A clock that a test sets.
final class TestClock: Sendable {
  private let date = Mutex(Date(timeIntervalSince1970: 1_800_000_000))

  func advance(_ seconds: TimeInterval) { date.withLock { $0 += seconds } }

  var environment: LarderEnvironment {
    var environment = LarderEnvironment.system
    environment.now = { self.date.withLock { $0 } }
    return environment
  }
}

/// Runs a test in a folder of its own.
@MainActor
func withTemporaryFolder(_ test: (String) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try await test(folder.path(percentEncoded: false))
}

/// Takes the place of `#expect` of Swift Testing.
func expect(_ condition: Bool, line: Int = #line) {
  if !condition { print("line \(line): the expectation failed") }
}

let root = URL(string: "https://service.test/shop/") ?? URL(filePath: "/")

// MARK: The online store

@MainActor
final class OrderListModel {
  private(set) var notes: [String] = []
  private(set) var isCurrent = false
  private let store: any ODataStore

  init(_ store: any ODataStore) { self.store = store }

  func load() async {
    isCurrent = false
    for await event in store.schedule(.read("Orders?$orderby=ID")).events {
      switch event {
      case .requestCacheResponse(let step): show(step.response)
      case .requestServerResponse(let step):
        show(step.response)
        isCurrent = true
      case .requestStarted, .requestFailed, .requestFinished: break
      }
    }
  }

  private func show(_ response: ODataResponse?) {
    guard case .collection(let orders)? = try? response?.single?.payload() else { return }
    notes = orders.entities.compactMap { order in
      if case .string(let note)? = order["Note"] { note } else { nil }
    }
  }
}

@MainActor
func listShowsTheCachedOrdersWithoutANetwork() async throws {
  try await withTemporaryFolder { folder in
    let service = makeService()
    var options = OnlineStoreOptions(useCache: true, path: folder)
    // A test does not wait for repetitions.
    options.conversation.retry = .never
    let store = try OnlineODataStore(serviceRoot: root, transport: service, options: options)
    try await store.open()
    let model = OrderListModel(store)

    await model.load()
    expect(model.notes == ["tea", "milk"] && model.isCurrent)

    service.setOffline(true)
    await model.load()
    expect(model.notes == ["tea", "milk"] && !model.isCurrent)
    try await store.close()
  }
}

// MARK: The offline store

@MainActor
final class NoteModel {
  private(set) var message = ""
  private let provider: OfflineODataProvider

  init(_ provider: OfflineODataProvider) { self.provider = provider }

  func setNote(_ note: String, ofOrder id: Int) async {
    do {
      try await provider.update(
        "Orders(\(id))", to: ODataEntity(properties: [ODataProperty("Note", .string(note))]))
      message = "saved"
    } catch let error as OfflineODataError where error.name == .entityNotFound {
      message = "this order was deleted"
    } catch {
      message = error.localizedDescription
    }
  }
}

@MainActor
func noteIsSavedAndQueued() async throws {
  try await withTemporaryFolder { folder in
    let service = makeService()
    var parameters = OfflineODataParameters(path: folder)
    parameters.conversation.retry = .never
    let provider = try OfflineODataProvider(serviceRoot: root, transport: service, parameters: parameters)
    try await provider.add(OfflineODataDefiningQuery("orders", "Orders"))
    try await provider.open()
    service.setOffline(true)

    let model = NoteModel(provider)
    await model.setNote("two teas", ofOrder: 1)
    expect(model.message == "saved")
    let pending = try await provider.plan()
    expect(pending.map(\.method) == ["PATCH"])

    await model.setNote("bread", ofOrder: 9)
    expect(model.message == "this order was deleted")
    try await provider.close()
  }
}

// MARK: The content cache

@MainActor
final class HeadlineModel {
  private(set) var headline = ""
  private let manager: ContentManager
  private let url: URL

  init(_ manager: ContentManager, url: URL) {
    self.manager = manager
    self.url = url
  }

  func load() async {
    var query = ContentQuery<String>(url)
    query.ttl = .seconds(60)
    if let response = try? await manager.content(of: query) { headline = response.value }
  }
}

@MainActor
func headlineIsRequestedAgainAfterAMinute() async throws {
  let service = ScriptedTransport()
  service.setReply(.init(contentType: "text/plain", body: "Rain"), to: "headline")
  let clock = TestClock()
  var options = HTTPCacheOptions()
  options.environment = clock.environment
  let manager = ContentManager(cache: MemoryCache(), transport: service, options: options)
  let model = HeadlineModel(manager, url: root.appending(path: "headline"))

  await model.load()
  service.setReply(.init(contentType: "text/plain", body: "Sun"), to: "headline")
  clock.advance(59)
  await model.load()
  expect(model.headline == "Rain")

  clock.advance(2)
  await model.load()
  expect(model.headline == "Sun" && service.requests.count == 2)
  await manager.close()
}

// MARK: The object store

@MainActor
final class ProfileModel {
  private(set) var name = ""
  private let store: ObjectStore
  private let fetch: @Sendable () async throws -> String

  init(_ store: ObjectStore, fetch: @escaping @Sendable () async throws -> String) {
    self.store = store
    self.fetch = fetch
  }

  func load() async throws {
    let day = Duration.seconds(86_400)
    for try await step in store.stream(String.self, forKey: "name", ttl: day, from: fetch) {
      switch step {
      case .cached(let name), .fetched(let name): self.name = name
      case .fetchFailed: break
      }
    }
  }
}

@MainActor
func profileExpiresAfterADay() async throws {
  try await withTemporaryFolder { folder in
    let clock = TestClock()
    let store = try await ObjectStore(path: folder + "/profile.store", environment: clock.environment)
    try await ProfileModel(store) { "Ada" }.load()

    let offline = ProfileModel(store) { throw URLError(.notConnectedToInternet) }
    try await offline.load()
    expect(offline.name == "Ada")

    clock.advance(2 * 86_400)
    let later = ProfileModel(store) { throw URLError(.notConnectedToInternet) }
    do {
      try await later.load()
      expect(false)
    } catch let error as ObjectStoreError {
      if case .absent = error.reason {} else { expect(false) }
    }
    try await store.close()
  }
}

try await listShowsTheCachedOrdersWithoutANetwork()
try await noteIsSavedAndQueued()
try await headlineIsRequestedAgainAfterAMinute()
try await profileExpiresAfterADay()
print("done")
