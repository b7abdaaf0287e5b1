import LarderTestSupport
import Testing

@testable import LarderOData

@Suite("Garbage never crashes the reader of a value", .timeLimit(.minutes(5)))
struct ValueGarbageTests {
  static let seeds = [
    "2012-09-03T13:52:00.123456789012+02:00", "-P6DT23H59M59.9999S", "/Date(-1395752399000+0330)/",
    "01234567-89ab-cdef-0123-456789abcdef",
    "-1234567890.12345678901234567890e-12", "SRID=4326;MultiPolygon(((1 1,2 2,1 1)),((3 3,4 4 5 6,3 3)))",
    "geography'SRID=0;Point(142.1 64.1)'",
    "datetime'2012-09-03T10:00:00.1234567'", "X'00FF'", "T0RhdGE=", "Ns.Color'Red,Blue'", "'it''s'", "INF",
    "9223372036854775807L",
  ]

  @Test("Every reader reads or rejects mutated texts, and values that were read survive writing")
  func mutations() throws {
    var random = PrintedSeed(for: "ValueGarbageTests.mutations")
    var accepted = 0
    for _ in 0..<500 {
      var bytes = Array((ValueGarbageTests.seeds.randomElement(using: &random) ?? "").utf8)
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        switch Int.random(in: 0...3, using: &random) {
        case 0: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
        case 1 where place < bytes.count: bytes.remove(at: place)
        case 2 where place < bytes.count: bytes[place] = UInt8.random(in: 0x20...0x7E, using: &random)
        default: bytes.removeSubrange(place...)
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      for type in EdmPrimitiveType.allCases {
        for dialect in [ODataDialect.v2, .v4] {
          bytes.withUnsafeBufferPointer {
            _ = try? ODataValue(json: JSONScalar.string($0), type: type, dialect: dialect)
            _ = try? ODataValue(json: JSONScalar.number($0), type: type, dialect: dialect)
          }
          if let value = try? ODataValue(literal: text, type: type, dialect: dialect), value != .null {
            accepted += 1
            guard let literal = try? value.literal(dialect: dialect) else { continue }
            let again = try ODataValue(literal: literal, type: type, dialect: dialect)
            #expect(again == value || "\(value)".contains("nan"), "\(text) -> \(literal)")
          }
        }
        if let value = try? ODataValue(text: text, type: type) {
          #expect(try ODataValue(text: value.text(), type: type) == value || "\(value)".contains("nan"), "\(text)")
        }
      }
      _ = try? ODataValue(literal: text, dialect: .v2)
      _ = try? ODataValue(literal: text, dialect: .v4)
    }
    #expect(accepted > 150)
  }
}
