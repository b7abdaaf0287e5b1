import LarderOData
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Results: written payloads are read back", .timeLimit(.minutes(1)))
struct ResultRoundTripTests {
  /// Values of every primitive type, edges among them.
  struct Values {
    var seed: PrintedSeed
    let isV2: Bool

    mutating func value(_ type: EdmPrimitiveType) -> ODataValue {
      if seed.next() % 6 == 0 { return .null }
      let bits = seed.next()
      switch type {
      case .boolean: return .boolean(bits % 2 == 0)
      case .int16: return .int16(Int16(truncatingIfNeeded: bits))
      case .int32: return .int32([Int32.min, .max, 0, Int32(truncatingIfNeeded: bits)][Int(bits >> 33 % 4)])
      case .int64: return .int64([Int64.min, .max, 0, Int64(bitPattern: bits)][Int(bits >> 33 % 4)])
      case .double:
        let odd = Double(Int64(bitPattern: bits)) / 7
        let edges: [Double] = [0, -1.5, 1e300, .leastNonzeroMagnitude, .infinity, -.infinity, odd]
        return .double(edges[Int(bits % 7)])
      case .single: return .single(Float(Int32(truncatingIfNeeded: bits)) / 3)
      case .decimal:
        let texts = ["0", "-0.10", "12345678901234567890.123456789", "1E+20", "\(Int64(bitPattern: bits)).5"]
        return .decimal(ODataDecimal(texts[Int(bits % 5)]) ?? 0)
      case .guid: return .guid(ODataGuid(high: bits, low: seed.next()))
      case .binary: return .binary((0..<Int(bits % 9)).map { UInt8(truncatingIfNeeded: bits >> UInt64($0 * 7)) })
      case .date: return ODataDate(daysSince1970: Int64(bits % 40_000)).map { .date($0) } ?? .null
      case .timeOfDay:
        return ODataTimeOfDay(hour: Int(bits % 24), minute: 5, second: 7, picosecond: bits % 2 * 500_000_000_000)
          .map { .timeOfDay($0) } ?? .null
      case .dateTimeOffset:
        let offset = isV2 ? 60 : Int(bits % 7) * 60 - 180
        return ODataDateTimeOffset(
          secondsSince1970: Int64(bits % 4_000_000_000), picosecond: bits % 1000 * 1_000_000_000, offsetMinutes: offset
        ).map { .dateTimeOffset($0) } ?? .null
      case .dateTime:
        return ODataDateTime(millisecondsSince1970: Int64(bits % 4_000_000_000_000)).map { .dateTime($0) } ?? .null
      case .duration, .time: return ODataDuration(seconds: Int64(bits % 86_400)).map { .duration($0) } ?? .null
      default: return .string(text(bits))
      }
    }

    private mutating func text(_ bits: UInt64) -> String {
      let pieces = ["plain", "\"", "\\", "\n", "\u{0}", "\u{1F}", "ü", "日本", "🙂", "/", "</script>", "\u{2028}", "'"]
      return (0..<Int(bits % 12)).map { _ in pieces[Int(seed.next() % UInt64(pieces.count))] }.joined()
    }
  }

  /// Random rows as they were inserted, and their rig.
  private static func filled(
    _ csdl: String, _ random: PrintedSeed, isV2: Bool, rows: Int
  ) async throws -> (rig: ResultRig, rows: [[String: ODataValue]]) {
    let rig = try await ResultRig(csdl)
    let table = try rig.table("Orders")
    var values = Values(seed: random, isV2: isV2)
    var all: [[String: ODataValue]] = []
    for number in 0..<rows {
      var row: [String: ODataValue] = [:]
      var cells: [String: SQLValue] = ["@id": .integer(Int64(number + 1))]
      for column in table.columns where column.path.count == 1 && column.declaringType.name == "Shop.Order" {
        guard case .primitive(let type) = column.type, type != .stream, !type.rawValue.hasPrefix("Geo") else {
          continue
        }
        let key: ODataValue = isV2 ? .int64(Int64(number)) : .int32(Int32(number))
        let value = column.name == "ID" ? key : values.value(type)
        row[column.name] = value
        cells[column.name] = try column.storage.sqlValue(of: value, type: column.type, model: rig.model)
      }
      try await rig.insert("Orders", cells)
      all.append(row)
    }
    return (rig, all)
  }

  @Test(
    "Random rows: the payload reader gives the values that were stored",
    arguments: [
      ResultForm(version: .v4), ResultForm(version: .v401, metadata: .full, serviceRoot: "http://host/s"),
      ResultForm(version: .v4, isIEEE754Compatible: true), ResultForm(version: .v2, serviceRoot: "http://host/s"),
    ])
  func random(_ form: ResultForm) async throws {
    let seed = PrintedSeed(for: "answers round trip \(form.mediaType)")
    let (rig, rows) = try await ResultRoundTripTests.filled(
      form.isVerbose ? ResultModels.v2 : ResultModels.v4, seed, isV2: form.isVerbose, rows: 150)
    let run = try rig.result(try rig.bench("Orders").readPlan, "Orders", form)
    let payload = try #require(try await rig.read { try run.payload($0).payload })
    let entities = try #require(payload.entities)
    try #require(entities.count == rows.count)
    for (entity, row) in zip(entities, rows) {
      for (name, value) in row {
        let decoded = entity[name]
        if case .double(let number) = value, number.isNaN { continue }
        #expect(decoded == value, "\(name)")
      }
    }
  }

  @Test("The values of a payload: entities, links, references, properties, counts")
  func shapes() async throws {
    let rig = try await ResultShapeTests.rig()
    var bench = try rig.bench("Orders")
    var buyer = try rig.bench("Customers")
    buyer.isSingle = true
    buyer.condition = "\"Name\" = ?"
    buyer.parameters = [.outer(bench.column("BuyerID"))]
    bench.expands = [ReadExpand(path: ["Buyer"], isCollection: false, content: .entities, plan: buyer.readPlan)]
    let form = ResultForm(version: .v4, serviceRoot: "http://host/service")
    let run = try rig.result(bench.readPlan, "Orders?$expand=Buyer", form)
    let entities = try #require(try await rig.read { try run.payload($0).payload }?.entities)
    #expect(entities.map { $0.navigationLink("Buyer")?.entity?["Name"] } == [.string("O'Neil & Co"), nil, nil])
    #expect(entities[1].navigationLink("Buyer")?.content == .null)
    #expect(entities[0].etag == "W/\"1\"" && entities[1].typeName == "Shop.Rush")
    #expect(entities[0]["Extra"] == .untypedNumber(5) && entities[0]["Long"] == .int64(7))
    #expect(entities[0]["State"] == .enumeration("New,Paid"))
    #expect(entities[0].streams.first?.link.contentType == "image/png")
    let member = try #require(bench.members([]).first { $0.name == "Total" })
    let value = try rig.result(
      ReadPlan(sql: bench.sql, parameters: [], content: .value(member, isRaw: true), isSingle: true),
      "Orders(1)/Total/$value", form)
    guard case .property(let property)? = try await rig.read({ try value.payload($0).payload }) else {
      Issue.record("no property")
      return
    }
    #expect(property.value == .decimal(ODataDecimal("12.50") ?? 0) && property.name == "Total")
    let count = try rig.result(
      ReadPlan(sql: "SELECT count(*) FROM t0", parameters: [], content: .count, isSingle: true), "Orders/$count", form)
    #expect(try await rig.read { try count.payload($0).payload } == .count(3))
    bench.isReferences = true
    let references = try rig.result(bench.readPlan, "Orders/$ref", form)
    guard case .references(let links)? = try await rig.read({ try references.payload($0).payload }) else {
      Issue.record("no references")
      return
    }
    #expect(links.references.map(\.id) == ["Orders(1)", "Orders(2)", "Orders(3)"])
  }
}
