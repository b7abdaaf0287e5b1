//! Tests of an application's code on each store, without a server.

import Foundation
import Larder
import LarderTesting
import Observation

/// Takes the place of `#expect` of Swift Testing.
func expect(_ condition: Bool, line: Int = #line) {
  if !condition { print("line \(line): the expectation failed") }
}

// MARK: The service

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

func makeService() throws -> ODataTestService {
  try ODataTestService(metadata: metadata, rows: ["Orders": [["ID": 1, "Note": "tea"], ["ID": 2, "Note": "milk"]]])
}

// MARK: The online store

@MainActor @Observable
final class OrderListModel {
  private(set) var notes: [String] = []
  private(set) var isLoading = false
  private(set) var message: String?
  private let store: any ODataStore

  init(_ store: any ODataStore) { self.store = store }

  func load() async {
    isLoading = true
    defer { isLoading = false }
    do {
      let orders = try await store.readEntitySet("Orders?$orderby=ID")
      notes = orders.entities.compactMap { order in
        if case .string(let note)? = order["Note"] { note } else { nil }
      }
      message = nil
    } catch {
      message = error.localizedDescription
    }
  }
}

@MainActor
func listShowsTheOrders() async throws {
  let service = try makeService()
  let store = try await service.onlineStore()
  let model = OrderListModel(store)
  await model.load()
  expect(model.notes == ["tea", "milk"])
  expect(service.requests.last == "GET Orders?$orderby=ID")
  try await store.close()
}

@MainActor
func listKeepsTheOrdersWithoutANetwork() async throws {
  let service = try makeService()
  let store = try await service.onlineStore()
  let model = OrderListModel(store)
  await model.load()
  service.isOffline = true
  await model.load()
  expect(model.notes == ["tea", "milk"] && model.message != nil)

  service.isOffline = false
  service.fail(next: .status(503))
  await model.load()
  expect(model.message != nil)
  await model.load()
  expect(model.message == nil)
  try await store.close()
}

@MainActor
func listShowsThatItLoads() async throws {
  let service = try makeService()
  let store = try await service.onlineStore()
  let model = OrderListModel(store)
  service.latency = .seconds(2)
  let loading = Task { await model.load() }
  await service.clock.waitForSleepers()
  expect(model.isLoading)

  service.clock.advance(by: .seconds(2))
  await loading.value
  expect(!model.isLoading && model.notes == ["tea", "milk"])
  try await store.close()
}

@MainActor
func requestIsRepeated() async throws {
  let service = try makeService()
  let store = try await service.onlineStore { $0.conversation.retry = HTTPRetryPolicy() }
  let model = OrderListModel(store)
  service.fail(next: .status(503))
  let loading = Task { await model.load() }
  await service.clock.waitForSleepers()
  service.clock.advance(by: .seconds(1))
  await loading.value
  expect(model.notes == ["tea", "milk"])
  try await store.close()
}

/// An order as a screen shows it.
struct OrderRow: Decodable, Sendable {
  var note: String?

  enum CodingKeys: String, CodingKey {
    case note = "Note"
  }
}

@MainActor @Observable
final class CachedOrderListModel {
  private(set) var notes: [String] = []
  private(set) var isFromCache = false
  private(set) var message: String?
  private let store: OnlineODataStore

  init(_ store: OnlineODataStore) { self.store = store }

  func load() async {
    message = nil
    for await event in store.schedule(.read("Orders?$orderby=ID")).events {
      switch event {
      case .requestCacheResponse(let step): if show(step.response) { isFromCache = true }
      case .requestServerResponse(let step): if show(step.response) { isFromCache = false }
      case .requestFailed(let step): message = step.error?.localizedDescription
      case .requestStarted, .requestFinished: break
      }
    }
  }

  /// Returns false if there is no response: the cache has none.
  private func show(_ response: ODataResponse?) -> Bool {
    guard let orders = try? response?.single?.decoded([OrderRow].self) else { return false }
    notes = orders.compactMap(\.note)
    return true
  }
}

@MainActor
func listShowsTheCachedOrdersFirst() async throws {
  let service = try makeService()
  let store = try await service.onlineStore()
  let model = CachedOrderListModel(store)
  await model.load()
  try service.change("Orders(1)", ["Note": "two teas"])

  service.latency = .seconds(2)
  let loading = Task { await model.load() }
  expect(await service.clock.waitUntil { model.isFromCache })
  expect(model.notes == ["tea", "milk"])

  await service.clock.waitForSleepers()
  service.clock.advance(by: .seconds(2))
  await loading.value
  expect(model.notes == ["two teas", "milk"] && !model.isFromCache)
  try await store.close()
}

@MainActor
func passiveListSendsNothing() async throws {
  let service = try makeService()
  let store = try await service.onlineStore()
  let model = CachedOrderListModel(store)
  await model.load()
  let count = service.requests.count
  try store.setPassive(true)
  await model.load()
  expect(model.isFromCache && model.message == nil)
  expect(service.requests.count == count)
  try await store.close()
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

  func upload() async {
    do {
      let report = try await provider.upload()
      message = report.failed == 0 ? "uploaded" : "rejected"
    } catch {
      message = error.localizedDescription
    }
  }
}

@MainActor
func noteIsUploaded() async throws {
  let service = try makeService()
  let store = try await service.offlineStore("Orders")
  let model = NoteModel(store)
  service.isOffline = true
  await model.setNote("two teas", ofOrder: 1)
  expect(model.message == "saved")
  await model.setNote("bread", ofOrder: 9)
  expect(model.message == "this order was deleted")

  service.isOffline = false
  await model.upload()
  expect(model.message == "uploaded")
  expect(service["Orders(1)"]?["Note"] == "two teas")
  try await store.close()
}

@MainActor
func noteOfAnotherClientWins() async throws {
  let service = try makeService()
  let store = try await service.offlineStore("Orders")
  let model = NoteModel(store)
  await model.setNote("mine", ofOrder: 1)
  try service.change("Orders(1)", ["Note": "theirs"])
  await model.upload()
  expect(model.message == "rejected")
  expect(service["Orders(1)"]?["Note"] == "theirs")
  try await store.close()
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
  let transport = ScriptedTransport()
  let manager = ContentManager.forTests(transport: transport, clock: transport.clock)
  let model = HeadlineModel(manager, url: transport.root.appending(path: "headline"))
  transport.route("GET headline", "Rain")
  await model.load()

  transport.route("GET headline", "Sun")
  transport.clock.advance(by: .seconds(59))
  await model.load()
  expect(model.headline == "Rain")

  transport.clock.advance(by: .seconds(2))
  await model.load()
  expect(model.headline == "Sun" && transport.requests.count == 2)
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
  let clock = LarderTestClock()
  let store = try await ObjectStore.forTests(clock: clock)
  try await ProfileModel(store) { "Ada" }.load()

  let offline = ProfileModel(store) { throw URLError(.notConnectedToInternet) }
  try await offline.load()
  expect(offline.name == "Ada")

  clock.advance(by: .seconds(2 * 86_400))
  let later = ProfileModel(store) { throw URLError(.notConnectedToInternet) }
  try? await later.load()
  expect(later.name.isEmpty)
  try await store.close()
}

// MARK: Recorded responses

func makeTransport(replaying file: URL) throws -> ScriptedTransport {
  let recording = try RecordedExchanges(encoded: [UInt8](Data(contentsOf: file)))
  return ScriptedTransport(replaying: recording)
}

@MainActor
func listShowsTheRecordedOrders() async throws {
  let file = URL(filePath: "orders.json")
  let root = URL(string: "https://services.example.com/shop/") ?? file
  let store = try await OnlineODataStore.forTests(serviceRoot: root, transport: try makeTransport(replaying: file))
  let model = OrderListModel(store)
  await model.load()
  expect(model.message == nil)
  try await store.close()
}

// MARK: Previews

#if canImport(SwiftUI)
  import SwiftUI

  struct OrderList: View {
    @State var model: OrderListModel

    var body: some View {
      List(model.notes, id: \.self) { note in Text(note) }
        .overlay { if let message = model.message { Text(message) } }
        .task { await model.load() }
    }
  }

  /// A view on a store of the service in memory.
  struct WithTestStore<Content: View>: View {
    @State private var store: OnlineODataStore?
    private let content: (OnlineODataStore) -> Content

    init(@ViewBuilder content: @escaping (OnlineODataStore) -> Content) { self.content = content }

    var body: some View {
      if let store {
        content(store)
      } else {
        ProgressView().task { store = try? await makeService().onlineStore() }
      }
    }
  }

  struct OrderListPreviews: PreviewProvider {
    static var previews: some View {
      WithTestStore { store in OrderList(model: OrderListModel(store)) }
    }
  }
#endif

try await listShowsTheOrders()
try await listKeepsTheOrdersWithoutANetwork()
try await listShowsThatItLoads()
try await requestIsRepeated()
try await listShowsTheCachedOrdersFirst()
try await passiveListSendsNothing()
try await noteIsUploaded()
try await noteOfAnotherClientWins()
try await headlineIsRequestedAgainAfterAMinute()
try await profileExpiresAfterADay()
if FileManager.default.fileExists(atPath: "orders.json") { try await listShowsTheRecordedOrders() }
print("done")
