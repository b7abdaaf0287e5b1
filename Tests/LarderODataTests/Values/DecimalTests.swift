import LarderOData
import LarderTestSupport
import Testing

@Suite("Edm.Decimal", .timeLimit(.minutes(5)))
struct DecimalTests {
  /// CSDL 4.01 §3.3, ABNF `decimalValue`: text, and how it is printed.
  static let printed: [(String, String)] = [
    ("0", "0"), ("-0", "0"), ("+42", "42"), ("007", "7"), ("1.00", "1.00"), ("-12.50", "-12.50"), ("0.00", "0.00"),
    (".5", "0.5"), ("1e3", "1000"), ("-1.234567e3", "-1234.567"), ("1E-7", "0.0000001"), ("0e9", "0"),
    ("9223372036854775807", "9223372036854775807"), ("-9223372036854775808", "-9223372036854775808"),
    ("9223372036854775808", "9223372036854775808"), ("-9223372036854775809", "-9223372036854775809"),
    ("1234567890123456789012345678901234.5678", "1234567890123456789012345678901234.5678"),
    ("-0.00000000000000000000000000000000000000000001", "-0.00000000000000000000000000000000000000000001"),
    ("1e999999999", "1E+999999999"), ("-12.5e-999999", "-1.25E-999998"), ("INF", "INF"), ("-INF", "-INF"),
    ("NaN", "NaN"), ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
  ]

  @Test("A decimal prints with its scale", arguments: printed)
  func prints(_ text: String, _ expected: String) throws {
    #expect(try #require(ODataDecimal(text)).description == expected)
  }

  @Test(
    "Invalid decimals are rejected",
    arguments: [
      "", "-", "+", ".", "42.", "1e", "1e+", "--1", "1,5", "0x10", " 1", "1 ", "inf", "nan", "-NaN", "+INF",
      "1e1000000000",
      "1e-9999999999999999999999", "١", "1_000",
    ])
  func rejects(_ text: String) { #expect(ODataDecimal(text) == nil) }

  @Test("Equality is numeric, and equal numbers hash alike")
  func equality() throws {
    let groups = [
      ["1", "1.0", "1.00", "1.0000000000000000000000000000", "0.1e1", "10e-1"],
      ["0", "-0", "0.000", "0e50"], ["123456789012345678901234567890", "123456789012345678901234567890.000"],
      ["1e30", "1000000000000000000000000000000"], ["NaN"], ["INF"], ["-INF"],
    ].map { $0.compactMap(ODataDecimal.init) }
    for (index, group) in groups.enumerated() {
      for left in group {
        for (other, rights) in groups.enumerated() {
          for right in rights {
            #expect((left == right) == (index == other), "\(left) and \(right)")
            if index == other { #expect(left.hashValue == right.hashValue && left.sortKey == right.sortKey) }
          }
        }
      }
    }
  }

  @Test("Order is numeric, and the order of sort keys is the same")
  func order() throws {
    let ascending = [
      "-INF", "-1e999999999", "-123456789012345678901234567890", "-1e19", "-9223372036854775808", "-10", "-9.99",
      "-1.01",
      "-1", "-0.5", "-1e-400", "0", "1e-999999", "1e-400", "0.1", "0.11", "0.2", "1",
      "1.000000000000000000000000000001",
      "1.1", "2", "9", "10", "10.5", "99", "100", "9223372036854775807", "9223372036854775808", "1e20", "1e400", "INF",
      "NaN",
    ].compactMap(ODataDecimal.init)
    #expect(ascending.count == 32)
    for left in ascending.indices {
      for right in ascending.indices {
        #expect((ascending[left] < ascending[right]) == (left < right), "\(ascending[left]) < \(ascending[right])")
        let keys = ascending[left].sortKey.lexicographicallyPrecedes(ascending[right].sortKey)
        #expect(keys == (left < right), "keys of \(ascending[left]) and \(ascending[right])")
      }
    }
  }

  @Test("Conversion to Int64 is exact or nil")
  func int64() throws {
    #expect(Int64(exactly: try #require(ODataDecimal("5.000"))) == 5)
    #expect(Int64(exactly: try #require(ODataDecimal("1e18"))) == 1_000_000_000_000_000_000)
    #expect(Int64(exactly: try #require(ODataDecimal("-9223372036854775808"))) == .min)
    for text in ["5.5", "1e19", "9223372036854775808", "1e999999999", "INF", "NaN", "1.00000000000000000000000001"] {
      #expect(Int64(exactly: try #require(ODataDecimal(text))) == nil, "\(text)")
    }
  }

  @Test(
    "Conversion to Double is correctly rounded",
    arguments: [
      ("0.1", 0.1), ("1e23", 1e23), ("9007199254740993", 9007199254740992),
      ("1.7976931348623157e308", .greatestFiniteMagnitude),
      ("5e-324", .leastNonzeroMagnitude), ("2.4703282292062328e-324", .leastNonzeroMagnitude), ("1e400", .infinity),
      ("1e-400", 0),
      ("-INF", -.infinity),
      ("0.1000000000000000055511151231257827021181583404541015625", 0.1),
    ] as [(String, Double)])
  func double(_ text: String, _ expected: Double) throws {
    #expect(Double(try #require(ODataDecimal(text))) == expected)
  }

  @Test("A decimal from a Double has its shortest digits")
  func fromDouble() {
    #expect(ODataDecimal(0.1).description == "0.1")
    #expect(ODataDecimal(-1.5e300).exponentDescription == "-1.5E+300")
    #expect(ODataDecimal(Double.nan).isNaN)
    #expect(ODataDecimal(-Double.infinity) == .negativeInfinity)
    #expect(ODataDecimal(UInt64.max).description == "18446744073709551615")
    #expect(ODataDecimal(significand: 5, exponent: 2_000_000_000) == nil)
  }

  @Test("Random decimals survive conversion to text, and agree with Int64 arithmetic on order")
  func roundTrips() throws {
    var random = PrintedSeed(for: "DecimalTests.roundTrips")
    for _ in 0..<5_000 {
      let digits = (0..<Int.random(in: 1...45, using: &random)).map { _ in Int.random(in: 0...9, using: &random) }
      var text = (Bool.random(using: &random) ? "-" : "") + "1" + digits.map(String.init).joined()
      if Bool.random(using: &random) { text += "." + String(UInt32.random(in: 0 ... .max, using: &random)) }
      let value = try #require(ODataDecimal(text))
      #expect(value.description == text)
      #expect(ODataDecimal(value.exponentDescription) == value)
      let (left, right) = (
        Int64.random(in: .min ... .max, using: &random), Int64.random(in: .min ... .max, using: &random)
      )
      let shift = Int.random(in: 0...3, using: &random)
      let (first, second) = (
        try #require(ODataDecimal(significand: left >> 8, exponent: shift)),
        try #require(ODataDecimal(significand: right >> 8, exponent: 0))
      )
      let scaled = (left >> 8).multipliedFullWidth(by: [1, 10, 100, 1000][shift])
      let other = (right >> 8).multipliedFullWidth(by: 1)
      #expect((first < second) == ((scaled.high, scaled.low) < (other.high, other.low)))
      #expect(first.sortKey.lexicographicallyPrecedes(second.sortKey) == (first < second))
    }
  }

  @Test("Hostile sizes are cheap or rejected")
  func hostile() throws {
    let huge = try #require(ODataDecimal("1e999999999"))
    #expect(huge > ODataDecimal(Int64.max))
    #expect(huge.sortKey.count < 10)
    #expect(ODataDecimal(String(repeating: "9", count: ODataDecimal.digitLimit + 1)) == nil)
    #expect(
      ODataDecimal(String(repeating: "9", count: ODataDecimal.digitLimit))?.digitCount == ODataDecimal.digitLimit)
    #expect(MemoryLayout<ODataDecimal>.size <= 16)
    #expect(MemoryLayout<ODataValue>.stride <= 24)
  }
}
