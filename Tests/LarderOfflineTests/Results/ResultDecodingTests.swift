import Foundation
import LarderOData
import LarderStorage
import Testing

@testable import LarderOffline

@Suite("Results: values of Decodable types", .timeLimit(.minutes(1)))
struct ResultDecodingTests {
  struct Order: Decodable, Sendable, Equatable {
    enum State: String, Decodable, Sendable { case new = "New", both = "New,Paid" }
    struct Address: Decodable, Sendable, Equatable {
      enum CodingKeys: String, CodingKey { case city = "City", zip = "Zip" }
      var city: String?
      var zip: Int?
    }
    struct Item: Decodable, Sendable, Equatable {
      enum CodingKeys: String, CodingKey { case line = "Line", part = "Part" }
      var line: Int
      var part: String
    }
    struct Customer: Decodable, Sendable, Equatable {
      enum CodingKeys: String, CodingKey { case rank = "Rank" }
      var rank: Int8
    }
    enum CodingKeys: String, CodingKey {
      case id = "ID", title = "Title", total = "Total", digits = "Big", ratio = "Ratio", open = "Open", at = "At"
      case day = "Day", took = "Took", token = "Token", seal = "Seal", state = "State", ship = "Ship", tags = "Tags"
      case prices = "Prices", stops = "Stops", extra = "Extra", buyer = "Buyer", items = "Items", etag = "@odata.etag"
      case entity = "@odata.id", type = "@odata.type", count = "Items@odata.count"
    }
    var id: Int32
    var title: String?
    var total: Decimal?
    var digits: Int64?
    var ratio: Double?
    var open: Bool?
    var at: Date?
    var day: Date?
    var took: Duration?
    var token: UUID?
    var seal: Data?
    var state: State?
    var ship: Address?
    var tags: [String]?
    var prices: [Decimal]?
    var stops: [Address]?
    var extra: Int?
    var buyer: Customer?
    var items: [Item]
    var etag: String?
    var entity: String
    var type: String
    var count: Int
  }

  private static func bench(_ rig: ResultRig) throws -> PlanBench {
    var bench = try rig.bench("Orders")
    var buyer = try rig.bench("Customers")
    buyer.isSingle = true
    buyer.condition = "\"Name\" = ?"
    buyer.parameters = [.outer(bench.column("BuyerID"))]
    var items = try rig.bench("Orders/Items")
    items.condition = "\"@parent\" = ?"
    items.parameters = [.outer(0)]
    items.count = ReadCount(
      sql: "SELECT count(*) FROM t\(items.table.number) WHERE \"@parent\" = ?", parameters: [.outer(0)])
    bench.expands = [
      ReadExpand(path: ["Buyer"], isCollection: false, content: .entities, plan: buyer.readPlan),
      ReadExpand(path: ["Items"], isCollection: true, content: .entities, plan: items.readPlan),
    ]
    return bench
  }

  @Test("Every kind of member, from rows")
  func all() async throws {
    let rig = try await ResultShapeTests.rig()
    let run = try rig.result(try ResultDecodingTests.bench(rig).readPlan, "Orders", ResultForm(version: .v4))
    let orders = try #require(try await rig.read { try run.read([Order].self, $0) })
    try #require(orders.count == 3)
    let first = orders[0]
    #expect(first.title == "a \"b\"\n\u{1}ü" && first.total == Decimal(string: "12.5"))
    #expect(first.digits == 9_007_199_254_740_993 && first.ratio == 0.5 && first.open == true)
    #expect(first.at == Date(timeIntervalSince1970: 1_768_464_000.5))
    #expect(first.day == Date(timeIntervalSince1970: 1_768_435_200) && first.took == .seconds(3600))
    #expect(first.token == UUID(uuidString: "11111111-2222-3333-4444-555555555555"))
    #expect(first.seal == Data([0xFB, 0xFF]) && first.state == .both)
    #expect(first.ship == .init(city: "Rome", zip: 7) && first.tags == ["x", "y"])
    #expect(first.prices == [Decimal(11) / 10, 2] && first.stops == [.init(city: "A", zip: 1)])
    #expect(first.extra == 5 && first.buyer == .init(rank: 1) && first.count == 3)
    #expect(first.items == (1...3).map { .init(line: $0, part: "p/\($0)") })
    #expect(first.etag == "W/\"1\"" && first.entity == "Orders(1)" && first.type == "#Shop.Order")
    #expect(orders[1].type == "#Shop.Rush" && orders[1].items.isEmpty && orders[1].buyer == nil)
    #expect(orders[2].ratio?.isNaN == true && orders[2].title == nil && orders[2].tags == nil)
  }

  private struct OtherCollections: Decodable, Sendable {
    struct Item: Decodable, Sendable {
      enum CodingKeys: String, CodingKey { case line = "Line", part = "Part" }
      var line: Int
      var part: String
    }
    enum CodingKeys: String, CodingKey { case items = "Items" }
    var items: ContiguousArray<Item>
  }
  private struct TextForNumber: Decodable, Sendable {
    struct Item: Decodable, Sendable {
      enum CodingKeys: String, CodingKey { case part = "Part" }
      var part: Int
    }
    enum CodingKeys: String, CodingKey { case items = "Items" }
    var items: ContiguousArray<Item>
  }

  @Test(
    "Expanded entities in collections other than arrays, for each protocol version", arguments: [ODataVersion.v2, .v4])
  func otherCollections(_ version: ODataVersion) async throws {
    let rig = try await ResultShapeTests.rig()
    let bench = try ResultDecodingTests.bench(rig)
    let form = ResultForm(version: version)
    let run = ResultRun(plan: bench.readPlan, url: try rig.bind("Orders"), form: form, model: rig.model)
    let orders = try #require(try await rig.read { try run.read([OtherCollections].self, $0) })
    #expect(orders[0].items.map(\.part) == ["p/1", "p/2", "p/3"] && orders[1].items.isEmpty)
    await #expect(throws: DecodingError.self) { try await rig.read { try run.read([TextForNumber].self, $0)?.count } }
  }

  @Test("A missing member, a null, a value out of range: errors with the path")
  func errors() async throws {
    struct Missing: Decodable {
      enum CodingKeys: String, CodingKey { case value = "Nothing" }
      var value: Int
    }
    struct Null: Decodable {
      enum CodingKeys: String, CodingKey { case value = "Title" }
      var value: String
    }
    struct Small: Decodable {
      enum CodingKeys: String, CodingKey { case value = "Big" }
      var value: Int8
    }
    struct Wrong: Decodable {
      enum CodingKeys: String, CodingKey { case value = "Title" }
      var value: [Int]
    }
    let rig = try await ResultShapeTests.rig()
    var bench = try rig.bench("Orders")
    bench.condition = "\"ID\" = 2"
    var run = try rig.result(bench.readPlan, "Orders", ResultForm(version: .v4))
    func failure<Value: Decodable & Sendable>(_ type: Value.Type) async -> String {
      let run = run
      do {
        _ = try await rig.read { try run.read([Value].self, $0)?.count }
        return "none"
      } catch let error as DecodingError {
        return switch error {
        case .keyNotFound(let key, _): "missing \(key.stringValue)"
        case .valueNotFound(_, let context): "null \(context.codingPath.map(\.stringValue))"
        case .typeMismatch(_, let context): "type \(context.codingPath.map(\.stringValue))"
        default: "\(error)"
        }
      } catch { return "\(error)" }
    }
    #expect(await failure(Missing.self) == "missing Nothing")
    #expect(await failure(Null.self) == #"null ["Title"]"#)
    bench.condition = "\"ID\" = 1"
    run = try rig.result(bench.readPlan, "Orders", ResultForm(version: .v4))
    #expect(await failure(Small.self) == #"type ["Big"]"#)
    #expect(await failure(Wrong.self) == #"type ["Title"]"#)
  }

  @Test("One entity, one value, a number")
  func single() async throws {
    struct Title: Decodable, Sendable {
      enum CodingKeys: String, CodingKey { case title = "Title" }
      var title: String?
    }
    let rig = try await ResultShapeTests.rig()
    var bench = try rig.bench("Orders")
    bench.isSingle = true
    let one = try rig.result(bench.readPlan, "Orders(1)", ResultForm(version: .v4))
    #expect(try await rig.read { try one.read(Title.self, $0)?.title }?.count == 8)
    let member = try #require(bench.members([]).first { $0.name == "Total" })
    let value = try rig.result(
      ReadPlan(sql: bench.sql, parameters: [], content: .value(member, isRaw: false), isSingle: true),
      "Orders(1)/Total",
      ResultForm(version: .v4))
    #expect(try await rig.read { try value.read(Decimal.self, $0) } == Decimal(string: "12.5"))
    #expect(try await rig.read { try value.read(String.self, $0) } == "12.50")
    bench.condition = "0"
    let none = try rig.result(bench.readPlan, "Orders(9)", ResultForm(version: .v4))
    #expect(try await rig.read { try none.read(Title.self, $0) } == nil)
  }

  /// Decodes with keys of two types, and keeps the containers.
  private struct Keeping: Decodable {
    struct Name: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
    enum Only: String, CodingKey { case id = "ID" }

    let decoder: any Decoder
    let names: KeyedDecodingContainer<Name>
    let numbers: [Int]

    init(from decoder: any Decoder) throws {
      self.decoder = decoder
      names = try decoder.container(keyedBy: Name.self)
      let only = try decoder.container(keyedBy: Only.self)
      let again = try decoder.container(keyedBy: Name.self)
      numbers = [
        try names.decode(Int.self, forKey: Name(stringValue: "ID")), try only.decode(Int.self, forKey: .id),
        try again.decodeIfPresent(Int.self, forKey: Name(stringValue: "ID")) ?? 0,
        try again.decodeIfPresent(Int.self, forKey: Name(stringValue: "Nothing")) ?? 0,
      ]
    }
  }

  @Test("Keys of any type; kept containers have no row after its end, and nothing retains decoders")
  func preserved() async throws {
    let rig = try await ResultShapeTests.rig()
    let run = try rig.result(try rig.bench("Orders").readPlan, "Orders", ResultForm(version: .v4))
    let rows = try await rig.read { connection in
      weak var decoder: RowDecoder?
      var numbers: [[Int]] = []
      var isGone = false
      do {
        let all = try run.read([Keeping].self, connection) ?? []
        numbers = all.map(\.numbers)
        decoder = all.first?.decoder as? RowDecoder
        _ = try all.first?.decoder.container(keyedBy: Keeping.Only.self)
        do { _ = try all.first?.names.decode(Int.self, forKey: .init(stringValue: "ID")) } catch {
          if case DecodingError.dataCorrupted = error { isGone = decoder != nil }
        }
      }
      return (numbers, isGone, decoder == nil)
    }
    #expect(rows.0 == (1...3).map { [$0, $0, $0, 0] })
    #expect(rows.1 && rows.2)
  }
}
