import Foundation
import LarderOData
import Testing

@Suite("Bridges to Foundation", .timeLimit(.minutes(5)))
struct FoundationBridgeTests {
  @Test("Dates are converted to the microsecond and back")
  func dates() throws {
    let timestamp = try #require(ODataDateTimeOffset("2012-09-03T14:53:01.123456+02:00"))
    let date = Date(timestamp)
    #expect(abs(date.timeIntervalSince1970 - 1_346_676_781.123456) < 1e-6)
    #expect(ODataDateTimeOffset(date, offsetMinutes: 120)?.isIdentical(to: timestamp) == true)
    #expect(ODataDateTime(utc: Date(timeIntervalSince1970: -0.25))?.description == "1969-12-31T23:59:59.75")
    #expect(ODataDateTimeOffset(Date(timeIntervalSince1970: .infinity)) == nil)
    #expect(ODataDateTimeOffset(Date(timeIntervalSince1970: .nan)) == nil)
    #expect(ODataDateTimeOffset(Date(timeIntervalSince1970: 1e300)) == nil)
    #expect(Date(utc: try #require(ODataDate("1970-01-02"))).timeIntervalSince1970 == 86_400)
  }

  @Test("A GUID is a UUID")
  func uuids() throws {
    let guid = try #require(ODataGuid("01234567-89AB-cdef-0123-456789abcdef"))
    #expect(UUID(guid).uuidString == "01234567-89AB-CDEF-0123-456789ABCDEF")
    #expect(ODataGuid(UUID(guid)) == guid)
    #expect(guid.description == "01234567-89ab-cdef-0123-456789abcdef")
    for text in [
      "", "0123456789abcdef0123456789abcdef", "{01234567-89ab-cdef-0123-456789abcdef}",
      "g1234567-89ab-cdef-0123-456789abcdef",
    ] {
      #expect(ODataGuid(text) == nil)
    }
  }

  @Test(
    "A decimal of at most 38 digits is a Decimal, exactly",
    arguments: [
      "0", "1.50", "-12345678901234567890123456789012345678", "99999999999999999999999999999999999999",
      "0.00000000000000000001", "1e100", "-9223372036854775808",
    ])
  func decimals(_ text: String) throws {
    let number = try #require(ODataDecimal(text))
    let decimal = try #require(Decimal(exactly: number))
    #expect(ODataDecimal(decimal) == number)
  }

  @Test("A value that a Decimal cannot hold is nil")
  func wideDecimals() throws {
    for text in ["123456789012345678901234567890123456789", "1e200", "1e-200", "INF"] {
      #expect(Decimal(exactly: try #require(ODataDecimal(text))) == nil, "\(text)")
    }
    #expect(Decimal(exactly: .nan)?.isNaN == true)
  }

  @Test("Durations and bytes are converted in both directions")
  func durations() throws {
    let duration = try #require(ODataDuration("-PT1.5S"))
    #expect(Duration(duration) == .milliseconds(-1500))
    #expect(ODataDuration(Duration.milliseconds(-1500)) == duration)
    #expect(ODataDuration(Duration(secondsComponent: 0, attosecondsComponent: 1)) == nil)
    #expect(ODataValue.binary(Data([1, 2])).data == Data([1, 2]))
    #expect(ODataValue.null.data == nil)
  }
}
