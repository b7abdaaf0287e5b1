import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

@Suite("Uploads of entities that others contain", .timeLimit(.minutes(1)))
struct UploadContainedTests {
  /// A service of orders that contain items, numbered from 10 in each order, which loses a response when it is set to.
  final class Orders: HTTPTransport {
    struct State {
      var orders: [String: (total: Int, items: [Int: String])] = [:]
      var heard: [String] = []
      var losesNext = false
    }

    let identity = "orders"
    let state = Mutex(State())
    var heard: [String] { state.withLock { $0.heard } }
    func order(_ id: String) -> [Int: String]? { state.withLock { $0.orders[id]?.items } }

    static let first = "00000000-0000-0000-0000-000000000001"
    static let second = "00000000-0000-0000-0000-000000000002"
    static let third = "00000000-0000-0000-0000-000000000003"

    init() { state.withLock { $0.orders = [Self.first: (5, [:]), Self.second: (6, [10: "of the second"])] } }

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
      let path = (request.url.absoluteString.components(separatedBy: "/s/").last ?? "").removingPercentEncoding ?? ""
      var bytes: [UInt8] = []
      if case .bytes(let content) = request.body { bytes = content }
      if path == "$metadata" { return response(request, 200, "application/xml", ChangeModels.shop) }
      let isChange = request.method != .get && request.method != .head
      let (status, body, isLost) = state.withLock { state -> (Int, String, Bool) in
        guard isChange else { return (200, Self.read(path, state), false) }
        defer { state.losesNext = false }
        state.heard.append("\(request.method) \(path)")
        return (201, Self.create(path, bytes, &state), state.losesNext)
      }
      if isLost { throw .connectionLost(reason: "lost") }
      return response(request, status, "application/json", body)
    }

    private static func create(_ path: String, _ bytes: [UInt8], _ state: inout State) -> String {
      let body = (try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]) ?? [:]
      if let id = key(path) {
        let itemKey = path.components(separatedBy: "/Items(").dropFirst().first.flatMap { Int($0.dropLast()) }
        let number = itemKey ?? add(body, to: id, &state)
        if let itemKey { state.orders[id]?.items[itemKey] = body["Text"] as? String ?? "" }
        return "{\(item(number, state.orders[id]?.items[number] ?? ""))}"
      }
      state.orders[third] = (body["Total"] as? Int ?? 0, [:])
      for case let inner as [String: Any] in body["Items"] as? [Any] ?? [] { _ = add(inner, to: third, &state) }
      return "{\(order(third, state, expands: true))}"
    }

    private static func add(_ body: [String: Any], to id: String, _ state: inout State) -> Int {
      let number = body["No"] as? Int ?? max(9, state.orders[id]?.items.keys.max() ?? 9) + 1
      state.orders[id]?.items[number] = body["Text"] as? String ?? ""
      return number
    }

    private static func key(_ path: String) -> String? {
      guard path.hasPrefix("Orders(") else { return nil }
      return String(path.dropFirst(7).prefix { $0 != ")" })
    }

    private static func read(_ path: String, _ state: State) -> String {
      if let id = key(path) {
        if path.contains("/Items") {
          let items = (state.orders[id]?.items ?? [:]).sorted { $0.key < $1.key }
          return "{\"value\":[\(items.map { "{\(item($0.key, $0.value))}" }.joined(separator: ","))]}"
        }
        return "{\(order(id, state, expands: path.contains("$expand")))}"
      }
      guard path.hasPrefix("Orders") else { return "{\"value\":[]}" }
      let all = state.orders.keys.sorted().map { "{\(order($0, state, expands: path.contains("$expand")))}" }
      return "{\"value\":[\(all.joined(separator: ","))]}"
    }

    private static func order(_ id: String, _ state: State, expands: Bool) -> String {
      let items = (state.orders[id]?.items ?? [:]).sorted { $0.key < $1.key }
      let line = expands ? ",\"Items\":[\(items.map { "{\(item($0.key, $0.value))}" }.joined(separator: ","))]" : ""
      return "\"ID\":\"\(id)\",\"Total\":\(state.orders[id]?.total ?? 0)\(line)"
    }

    private static func item(_ number: Int, _ text: String) -> String { "\"No\":\(number),\"Text\":\"\(text)\"" }

    private func response(_ request: HTTPRequest, _ status: Int, _ type: String, _ body: String) -> HTTPResponse {
      HTTPResponse(
        status: status, fields: ["Content-Type": type, "OData-Version": "4.0"], url: request.url,
        body: HTTPBodyStream(Array(body.utf8)))
    }
  }

  private func open(_ service: Orders, _ folder: TemporaryFolder) async throws -> OfflineODataProvider {
    let store = try UploadRig.provider(folder, service)
    try await store.add(OfflineODataDefiningQuery("orders", "Orders?$expand=Items"))
    try await store.open()
    return store
  }

  private let alone = OfflineODataUploadOptions(changesPerBatch: 0, lanes: 1)

  private func lose(_ service: Orders, _ store: OfflineODataProvider) async throws {
    service.state.withLock { $0.losesNext = true }
    await #expect(throws: OfflineODataError.self) { try await store.upload(alone) }
  }

  private func items(_ store: OfflineODataProvider) async throws -> String {
    var options = OfflineODataResultOptions()
    options.metadata = .none
    let path = "Orders?$select=Total&$orderby=Total&$expand=Items($select=No,Text;$orderby=No)"
    return String(decoding: try await store.readJSON(path, options: options).bytes, as: UTF8.self)
  }

  @Test("The service gives an item the number that one of another order has: it is found, and not created twice")
  func numbers() async throws {
    let (service, folder) = (Orders(), try TemporaryFolder())
    let store = try await open(service, folder)
    let item = ODataEntity(properties: [ODataProperty("Text", .string("new"))])
    try await store.create(item, in: "Orders(\(Orders.first))/Items")
    try await lose(service, store)
    let report = try await store.upload(alone)
    #expect(report.sent == 1 && report.failed == 0, "\(report) \(service.heard)")
    #expect(service.heard == ["POST Orders(\(Orders.first))/Items"])
    #expect(service.order(Orders.first) == [10: "new"])
    #expect(
      try await items(store)
        == #"{"value":[{"Total":5,"Items":[{"No":10,"Text":"new"}]},{"Total":6,"Items":[{"No":10,"Text":"of the second"}]}]}"#
    )
    #expect(try await store.hasPendingChanges() == false)
    try await store.close()
  }

  @Test(
    "An order created with its items, its response lost, and downloaded: one order, and each item once",
    arguments: [[10, 20], [nil, nil], [10, nil]] as [[Int32?]])
  func twins(numbers: [Int32?]) async throws {
    let (service, folder) = (Orders(), try TemporaryFolder())
    let store = try await open(service, folder)
    var order = ODataEntity(properties: [ODataProperty("Total", .decimal(7))])
    var link = ODataNavigationLink(name: "Items")
    let entities = numbers.enumerated().map { place, number in
      ODataEntity(
        properties: [ODataProperty("Text", .string("t\(place)"))]
          + (number.map { [ODataProperty("No", .int32($0))] } ?? []))
    }
    link.content = .collection(ODataEntityCollection(entities: entities))
    order.navigationLinks = [link]
    try await store.create(order, in: "Orders")
    try await lose(service, store)
    try await store.download()
    // One that the download brought is changed before it is known to be the same.
    let path = "Orders(\(Orders.third))/Items(10)"
    try await store.update(path, to: ODataEntity(properties: [ODataProperty("Text", .string("changed"))]))
    let report = try await store.upload(alone)
    #expect(report.failed == 0 && report.pending == 0, "\(report) \(service.heard)")
    #expect(service.heard.filter { $0 == "POST Orders" }.count == 1)
    let second = numbers[1] ?? 11
    let shown = try await items(store)
    let wanted = #"{"Total":7,"Items":[{"No":10,"Text":"changed"},{"No":\#(second),"Text":"t1"}]}]}"#
    #expect(shown.hasSuffix(wanted), "\(shown)")
    #expect(try await store.hasPendingChanges() == false)
    try await store.download()
    try await store.close()
  }
}
