import Foundation
import LarderCurl
import LarderHTTP
import LarderOData
import LarderOffline
import LarderService

/// Makes changes in an offline store and uploads them, as fast as it can, and says which changes were acknowledged. Each
/// carries a mark of its own, by which the test that kills this program finds it in the queue or at the service.
enum UploadCrashRig {
  /// A service: what its sets and properties are called.
  enum Service: String, CaseIterable, Sendable {
    /// The tests' own, of orders and items.
    case shop
    /// Sales orders of SAP, V2 and V4.
    case sales2, sales4

    var orders: String {
      switch self {
      case .shop: "Orders"
      case .sales2: "A_SalesOrder"
      case .sales4: "SalesOrder"
      }
    }
    var key: String { self == .shop ? "ID" : "SalesOrder" }
    /// The property that has the mark of the change that made the entity.
    var textProperty: String { self == .shop ? "Name" : "PurchaseOrderByCustomer" }
    /// The property that has the mark of its last update.
    var changed: String { self == .shop ? "Note" : "ReferenceSDDocument" }
    /// Whether there are items, keys of the caller's choice and transactions.
    var isRich: Bool { self == .shop }

    /// What else an order needs.
    var needed: [ODataProperty] {
      guard self != .shop else { return [ODataProperty("Total", .int32(1))] }
      return [
        ODataProperty("SalesOrderType", .string("OR")), ODataProperty("SalesOrganization", .string("1710")),
        ODataProperty("DistributionChannel", .string("10")), ODataProperty("OrganizationDivision", .string("00")),
        ODataProperty("SoldToParty", .string("1000006")),
      ]
    }
  }

  static func provider(_ service: Service, _ folder: String, _ root: URL) async throws -> OfflineODataProvider {
    let provider = try OfflineCrashRig.provider(folder, root)
    try await provider.add(OfflineODataDefiningQuery("orders", service.orders))
    if service.isRich { try await provider.add(OfflineODataDefiningQuery("items", "Items")) }
    return provider
  }

  /// Makes changes and uploads until it is killed; round 0 makes none, uploads all that waits, and ends.
  static func run(_ service: Service, _ folder: String, _ root: URL, seed: UInt64, round: Int) async throws {
    let provider = try await provider(service, folder, root)
    try await provider.open()
    say("open")
    var hand = Hand(service: service, store: provider, random: Sequence(state: seed &+ UInt64(round)), round: round)
    guard round > 0 else { return try await finish(provider) }
    while true {
      for _ in 0..<hand.choose(1...6) { try await change(&hand) }
      let (options, downloads) = (hand.options(), hand.choose(0...3) == 0)
      async let sent: Void = upload(provider, options, downloads)
      for _ in 0..<hand.choose(0...4) { try await change(&hand) }
      _ = await sent
    }
  }

  private static func change(_ hand: inout Hand) async throws {
    do { try await hand.change() } catch {
      say("failed \(error)")
      throw error
    }
  }

  private static func upload(
    _ provider: OfflineODataProvider, _ options: OfflineODataUploadOptions, _ downloads: Bool
  ) async {
    do {
      let report = try await provider.upload(options)
      say("uploaded \(report.sent) \(report.failed) \(report.pending)")
    } catch { say("cut \(error)") }
    guard downloads else { return }
    do {
      try await provider.download()
      say("downloaded")
    } catch { say("cut \(error)") }
  }

  private static func finish(_ provider: OfflineODataProvider) async throws {
    for _ in 0..<20 {
      do {
        let report = try await provider.upload(OfflineODataUploadOptions(splitsTransactions: true, settlingTime: .zero))
        say("uploaded \(report.sent) \(report.failed) \(report.pending)")
        if report.pending == 0 { break }
      } catch { say("cut \(error)") }
    }
    for _ in 0..<20 {
      do {
        try await provider.download()
        break
      } catch { say("cut \(error)") }
    }
    try await provider.close()
    say("closed")
  }

  /// One write a line: the reader never sees half of one.
  fileprivate static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line.replacing("\n", with: " ") + "\n").utf8))
  }

  /// A generator that a number repeats.
  struct Sequence: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      return mixed ^ (mixed >> 31)
    }
  }
}

extension UploadCrashRig {
  /// Makes one change after another, by chance.
  struct Hand {
    let service: Service
    let store: OfflineODataProvider
    var random: Sequence
    let round: Int
    /// Who hears what it does.
    var say: @Sendable (String) -> Void = { UploadCrashRig.say($0) }
    private var number = 0

    init(service: Service, store: OfflineODataProvider, random: Sequence, round: Int) {
      (self.service, self.store, self.random, self.round) = (service, store, random, round)
    }

    mutating func choose(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func options() -> OfflineODataUploadOptions {
      OfflineODataUploadOptions(
        changesPerBatch: [0, 1, 3, 100][choose(0...3)], lanes: choose(1...4), settlingTime: .zero)
    }

    /// At most ten characters.
    private mutating func mark(_ kind: String) -> String {
      number += 1
      return "\(kind)\(round)-\(number)"
    }

    mutating func change() async throws {
      switch choose(0...(service.isRich ? 9 : 4)) {
      case 0, 1: try await create()
      case 2, 3, 4: try await update()
      case 5: try await delete()
      case 6: try await createWithKey()
      case 7: try await createItem()
      case 8: try await transact()
      default: try await createDeep()
      }
    }

    private func order(_ mark: String, key: Int? = nil) -> ODataEntity {
      var properties = service.needed + [ODataProperty(service.textProperty, .string(mark))]
      if let key { properties.append(ODataProperty(service.key, .int32(Int32(key)))) }
      return ODataEntity(properties: properties)
    }

    private func update(_ mark: String) -> ODataEntity {
      ODataEntity(properties: [ODataProperty(service.changed, .string(mark))])
    }

    /// Says a change before it is made and after it is acknowledged; `place` is what it is of.
    private func report(_ marks: [String], _ place: String, _ make: () async throws -> Void) async throws {
      say("making \(marks.joined(separator: " ")) \(place)")
      try await make()
      say("made \(marks.joined(separator: " ")) \(place)")
    }

    /// The path of an order by chance; nil if there is none.
    private mutating func some() async throws -> String? { try await someOrder()?.path }

    /// The path of an order by chance, and the mark of the change that made it; nil if there is none.
    private mutating func someOrder() async throws -> (path: String, mark: String)? {
      let all = try await store.readEntitySet(
        "\(service.orders)?$select=\(service.key),\(service.textProperty)&$orderby=\(service.key)"
      ).entities
      guard !all.isEmpty else { return nil }
      // Of a service with many, a few are enough.
      let entity = all[choose(0...min(all.count - 1, 40))]
      var mark = ""
      if case .string(let text)? = entity[service.textProperty] { mark = text }
      switch entity[service.key] {
      case .string(let text)?: return ("\(service.orders)('\(text)')", mark)
      case .int32(let number)?: return ("\(service.orders)(\(number))", mark)
      default: return nil
      }
    }

    private mutating func create() async throws {
      let mark = mark("c")
      try await report([mark], "-") { try await store.create(order(mark), in: service.orders) }
    }

    private mutating func createWithKey() async throws {
      let (mark, key) = (mark("c"), 100_000 + round * 1000 + number)
      try await report([mark], "-") { try await store.create(order(mark, key: key), in: service.orders) }
    }

    private mutating func update() async throws {
      guard let path = try await some() else { return }
      let mark = mark("u")
      try await changing([mark], path) { try await store.update(path, to: update(mark)) }
    }

    private mutating func delete() async throws {
      guard choose(0...1) == 0, let (path, made) = try await someOrder() else { return }
      let mark = mark("d")
      say("removing \(made)")
      try await changing([mark], path) { try await store.delete(path) }
    }

    private mutating func createItem() async throws {
      guard let path = try await some() else { return }
      let mark = mark("i")
      var item = ODataEntity(properties: [ODataProperty("Text", .string(mark))])
      var link = ODataNavigationLink(name: "Order")
      link.bindings = [path]
      item.navigationLinks = [link]
      try await changing([mark], path) { [item] in try await store.create(item, in: "Items") }
    }

    /// A new order and a change of another, all or none.
    private mutating func transact() async throws {
      guard let path = try await some() else { return }
      let (textProperty, changed) = (mark("c"), mark("u"))
      try await changing([textProperty, changed], path) {
        let response = try await store.execute(
          batch: ODataBatchRequest([
            .changeSet([.create(order(textProperty), in: service.orders), .update(path, to: update(changed))])
          ]))
        if case .failure(let error)?? = response.slots.first { throw error.cause ?? error }
      }
    }

    private mutating func createDeep() async throws {
      let (mark, first, second) = (mark("c"), mark("i"), mark("i"))
      var deep = order(mark)
      let items = [first, second].map { ODataEntity(properties: [ODataProperty("Text", .string($0))]) }
      deep.navigationLinks = [
        ODataNavigationLink(name: "Items", content: .collection(ODataEntityCollection(entities: items)))
      ]
      try await report([mark, first, second], "-") { [deep] in try await store.create(deep, in: service.orders) }
    }

    /// A change of an entity that a running upload may be giving another key, or a download removing.
    private func changing(_ marks: [String], _ path: String, _ make: () async throws -> Void) async throws {
      do { try await report(marks, path, make) } catch OfflineODataError.notFound { say("missed \(path)") }
    }
  }
}
