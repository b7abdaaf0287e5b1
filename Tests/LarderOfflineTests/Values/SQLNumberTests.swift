import LarderOData
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("SQL functions: numbers", .timeLimit(.minutes(1)))
struct SQLNumberTests {
  @Test("operators (URL Conventions 4.01 §5.1.1.2) and rounding (§5.1.1.9)")
  func table() async throws {
    let rig = try await SQLRig()
    let table: [(String, SQLValue)] = [
      ("larder_add(1,2)", .integer(3)), ("larder_add('0.1','0.2')", .text("0.3")),
      ("larder_add('1.50',1)", .text("2.50")),
      ("larder_add(0.5,1)", .real(1.5)), ("larder_add('0.5',0.25)", .real(0.75)), ("larder_add(NULL,1)", .null),
      ("larder_add('2.55','2.45')", .text("5.00")), ("larder_sub('2.55','0.55')", .text("2.00")),
      ("larder_add('x',1)", .null), ("larder_add('1e20','1')", .text("100000000000000000001")),
      ("larder_mul('2.55','2.0')", .text("5.100")), ("larder_mul(3,-4)", .integer(-12)),
      ("larder_mul('99999999999999999999','99999999999999999999')", .text("9999999999999999999800000000000000000001")),
      ("larder_div(7,2)", .integer(3)), ("larder_div(-7,2)", .integer(-3)), ("larder_div('7',2)", .text("3.5")),
      ("larder_div(1.0,0)", .real(.infinity)), ("larder_div(-1.0,0)", .real(-.infinity)),
      ("larder_div(0.0,0)", .text("NaN")),
      ("larder_div('1','3')", .text("0.3333333333333333333333333333")),
      ("larder_div('2','3')", .text("0.6666666666666666666666666667")),
      ("larder_div('10','2')", .text("5")), ("larder_div('1','8')", .text("0.125")),
      ("larder_div('1.00','2')", .text("0.50")),
      ("larder_div('0','3')", .text("0")), ("larder_div('5.10','2.55')", .text("2")),
      ("larder_divby(5,2)", .text("2.5")),
      ("larder_divby(1,0)", .text("INF")), ("larder_divby(-1,0)", .text("-INF")), ("larder_divby(0,0)", .text("NaN")),
      ("larder_mod(7,3)", .integer(1)), ("larder_mod(-7,3)", .integer(-1)), ("larder_mod('5.5','2')", .text("1.5")),
      ("larder_mod('-5.5',2)", .text("-1.5")), ("larder_mod(5.5,2)", .real(1.5)),
      ("larder_mod(-9223372036854775807 - 1,-1)", .integer(0)), ("larder_neg(5)", .integer(-5)),
      ("larder_neg('-1.50')", .text("1.50")), ("larder_neg('INF')", .text("-INF")), ("larder_neg(2.5)", .real(-2.5)),
      ("larder_add('INF','-INF')", .text("NaN")), ("larder_mul('INF',0)", .text("NaN")),
      ("larder_add('INF',1)", .text("INF")),
      ("larder_round('0.5')", .text("1")), ("larder_round('-0.5')", .text("-1")), ("larder_round('0.49')", .text("0")),
      ("larder_round(2.5)", .real(3)), ("larder_round(-2.5)", .real(-3)), ("larder_round(7)", .integer(7)),
      ("larder_round('12345678901234567890.5')", .text("12345678901234567891")), ("larder_round('99.5')", .text("100")),
      ("larder_round('0.05')", .text("0")), ("larder_floor('-0.5')", .text("-1")),
      ("larder_floor('32.9')", .text("32")),
      ("larder_floor('0.01')", .text("0")), ("larder_floor('-0.01')", .text("-1")),
      ("larder_ceiling('31.1')", .text("32")),
      ("larder_ceiling('-0.9')", .text("0")), ("larder_ceiling('0.001')", .text("1")),
      ("larder_ceiling(1.5)", .real(2)),
      ("larder_to_real('0.1')", .real(0.1)), ("larder_to_real('INF')", .real(.infinity)),
      ("larder_to_real('NaN')", .text("NaN")),
      ("larder_to_real(3)", .real(3)), ("larder_to_decimal(3)", .text("3")), ("larder_to_decimal(0.1)", .text("0.1")),
      ("larder_compare('1.0',1)", .integer(0)), ("larder_compare('0.1',0.1)", .integer(-1)),
      ("larder_compare(0.5,'0.5')", .integer(0)),
      ("larder_compare(9007199254740993,9007199254740992.0)", .integer(1)), ("larder_compare('NaN',1)", .null),
      ("larder_compare('INF',1e308)", .integer(1)), ("larder_compare(5e-324,'0')", .integer(1)),
      ("larder_compare(NULL,1)", .null),
      ("'1.0' = '1' COLLATE larder_decimal", .integer(1)), ("'9' < '10' COLLATE larder_decimal", .integer(1)),
    ]
    for (sql, expected) in table {
      let value = try await rig.value(sql)
      #expect(value == expected, "\(sql): \(value)")
    }
    try await rig.database.close()
  }

  @Test(
    "calls that fail the query",
    arguments: [
      ("larder_div(1,0)", "division by zero"), ("larder_div('1','0.00')", "division by zero"),
      ("larder_mod(1,0)", "division by zero"),
      ("larder_mod(1.5,0)", "division by zero"), ("larder_add(9223372036854775807,1)", "integer overflow"),
      ("larder_mul(4611686018427387904,2)", "integer overflow"),
      ("larder_neg(-9223372036854775807 - 1)", "integer overflow"),
      ("larder_div(-9223372036854775807 - 1,-1)", "integer overflow"),
      ("larder_add('1e900000000','1')", "too many digits"),
      ("larder_mul('1e900000000','1e900000000')", "too many digits"),
    ])
  func failures(_ sql: String, _ message: String) async throws {
    let rig = try await SQLRig()
    let value = await rig.failure(sql)
    #expect(value?.contains(message) == true, "\(sql): \(value ?? "no failure")")
    try await rig.database.close()
  }

  /// Remainders are checked against 128-bit arithmetic, quotients against the product.
  @Test("decimal arithmetic agrees with 128-bit integers")
  func arithmetic() throws {
    var seed = PrintedSeed(for: "decimal arithmetic")
    for _ in 0..<4000 {
      let limit = Int128(Int64.max) * 1_000_000_000
      let one =
        Int128.random(in: -limit...limit, using: &seed) / RandomValues.pick([1, 1000, 1_000_000_000_000], &seed)
      let two = Int128.random(in: -limit...limit, using: &seed) / RandomValues.pick([1, 1_000_000, limit / 50], &seed)
      let power = Int32.random(in: -5...5, using: &seed)
      let (a, b) = (ODataDecimal(one, exponent: power), ODataDecimal(two, exponent: power))
      #expect(try a.adding(b) == ODataDecimal(one + two, exponent: power))
      #expect(try a.subtracting(b) == ODataDecimal(one - two, exponent: power))
      #expect(a.negated == ODataDecimal(-one, exponent: power))
      if two != 0 {
        #expect(try a.remainder(dividingBy: b) == ODataDecimal(one % two, exponent: power), "\(one) \(two)")
        let quotient = try a.divided(by: b)
        #expect(quotient.digitCount <= 28)
        // |q·b − a| is at most half of the last digit of q, times b.
        let rest = try quotient.multiplied(by: b).subtracting(a)
        let unit = try #require(ODataDecimal(significand: 1, exponent: -quotient.scale))
        let error = try (rest < 0 ? rest.negated : rest).multiplied(by: 2)
        #expect(error <= (try unit.multiplied(by: b < 0 ? b.negated : b)), "\(one) \(two)")
      }
      let (small, other) = (Int64(truncatingIfNeeded: one) >> 1, Int64(truncatingIfNeeded: two) >> 1)
      #expect(
        try ODataDecimal(small).multiplied(by: ODataDecimal(other))
          == ODataDecimal(Int128(small) * Int128(other), exponent: 0))
    }
  }

  @Test("products and quotients of long numbers are inverse")
  func long() throws {
    var seed = PrintedSeed(for: "long numbers")
    func number(_ count: Int) -> ODataDecimal {
      let digits = (0..<count).map { _ in RandomValues.pick(["0", "9", "1", "5", "7"], &seed) }.joined()
      return ODataDecimal("1" + digits) ?? 0
    }
    for _ in 0..<300 {
      let one = number(Int.random(in: 0...200, using: &seed))
      let two = number(Int.random(in: 0...200, using: &seed))
      let rest = number(Int.random(in: 0...max(0, two.digitCount - 2), using: &seed))
      guard rest < two else { continue }
      let product = try one.multiplied(by: two)
      #expect(try product.remainder(dividingBy: two) == 0)
      #expect(try product.adding(rest).remainder(dividingBy: two) == rest)
      if one.digitCount <= 28 { #expect(try product.divided(by: two) == one) }
    }
  }

  @Test("sums and averages are exact")
  func aggregates() async throws {
    let rig = try await SQLRig()
    let table: [(String, SQLValue)] = [
      ("larder_sum(column1) FROM (VALUES('0.1'),('0.2'),(NULL),('0.3'))", .text("0.6")),
      ("larder_sum(column1) FROM (VALUES(1),(2),(NULL))", .integer(3)),
      ("larder_sum(column1) FROM (VALUES(NULL))", .null),
      ("larder_sum(column1) FROM (VALUES(1),('0.5'))", .text("1.5")),
      ("larder_sum(column1) FROM (VALUES(1),(0.5))", .real(1.5)),
      ("larder_sum(column1) FROM (VALUES(1e16),(1.0),(-1e16))", .real(1)),
      ("larder_sum(column1) FROM (VALUES('NaN'),(1.0))", .text("NaN")),
      ("larder_average(column1) FROM (VALUES(1),(2))", .text("1.5")),
      ("larder_average(column1) FROM (VALUES('0.1'),('0.2'))", .text("0.15")),
      ("larder_average(column1) FROM (VALUES(1.0),(2.0))", .real(1.5)),
      ("larder_average(column1) FROM (VALUES(NULL))", .null),
      ("larder_duration_sum(column1) FROM (VALUES('PT1H'),('-PT30M'),(NULL))", .text("PT30M")),
      ("larder_duration_average(column1) FROM (VALUES('PT1H'),('PT2H'))", .text("PT1H30M")),
    ]
    for (sql, expected) in table {
      let value = try await rig.value(sql)
      #expect(value == expected, "\(sql): \(value)")
    }
    let overflow = await rig.failure("larder_sum(column1) FROM (VALUES(9223372036854775807),(1))")
    #expect(overflow?.contains("overflow") == true)
    try await rig.database.close()
  }
}
