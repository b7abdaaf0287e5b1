import LarderOData
import LarderTestSupport
import Testing

@Suite("Dates, times, timestamps and durations", .timeLimit(.minutes(5)))
struct TemporalTests {
  @Test(
    "A date prints as it was read (ABNF dateValue)",
    arguments: [
      "2012-09-03", "0000-01-01", "-0001-12-31", "-10000-04-01", "2000-02-29", "2024-02-29", "0000-02-29", "9999-12-31",
      "10000-01-01", "999999999-12-31", "-999999999-01-01",
    ])
  func date(_ text: String) throws {
    let date = try #require(ODataDate(text))
    #expect(date.description == text)
    #expect(ODataDate(daysSince1970: date.daysSince1970) == date)
  }

  @Test(
    "Invalid dates are rejected",
    arguments: [
      "", "2012-9-3", "2012-13-01", "2012-00-01", "2012-01-00", "2012-01-32", "2023-02-29", "1900-02-29", "2012-04-31",
      "12-01-01", "02012-01-01", "+2012-01-01", "2012/09/03", "2012-09-03 ", "1000000000-01-01",
      "99999999999999999999-01-01",
      "INF", "2012-09-03T00:00",
    ])
  func noDate(_ text: String) { #expect(ODataDate(text) == nil) }

  @Test("Days count from 1970, in both directions")
  func days() throws {
    #expect(ODataDate("1970-01-01")?.daysSince1970 == 0)
    #expect(ODataDate("1969-12-31")?.daysSince1970 == -1)
    #expect(ODataDate("2000-03-01")?.daysSince1970 == 11_017)
    #expect(ODataDate("0001-01-01")?.daysSince1970 == -719_162)
    #expect(ODataDate(daysSince1970: .max) == nil)
    #expect(ODataDate(daysSince1970: .min) == nil)
    var previous = try #require(ODataDate(daysSince1970: -800_000))
    for day in Int64(-799_999)...(-600_000) {
      let date = try #require(ODataDate(daysSince1970: day))
      #expect(previous < date && date.daysSince1970 == day)
      previous = date
    }
  }

  @Test(
    "A time of day keeps 12 fractional digits and a leap second",
    arguments: [
      ("11:22", "11:22:00"), ("00:00:00", "00:00:00"), ("23:59:59.999999999999", "23:59:59.999999999999"),
      ("23:59:60", "23:59:60"), ("12:00:00.100", "12:00:00.1"), ("12:00:00.000000000001", "12:00:00.000000000001"),
      ("12:00:00.1000000000000000", "12:00:00.1"),
    ])
  func time(_ text: String, _ printed: String) throws {
    #expect(try #require(ODataTimeOfDay(text)).description == printed)
  }

  @Test(
    "Invalid times of day are rejected",
    arguments: [
      "", "24:00", "24:00:00", "12:60", "12:00:61", "1:00", "12", "12:00:", "12:00:00.", "12:00:00.0000000000001",
      "12:00:00Z",
      "-1:00:00",
    ])
  func noTime(_ text: String) { #expect(ODataTimeOfDay(text) == nil) }

  @Test(
    "A timestamp keeps its local time and offset",
    arguments: [
      ("2012-09-03T13:52Z", "2012-09-03T13:52:00Z"), ("1972-06-30T23:59:60Z", "1972-06-30T23:59:60Z"),
      ("2012-08-31T18:19:22.1Z", "2012-08-31T18:19:22.1Z"), ("-10000-04-01T00:00Z", "-10000-04-01T00:00:00Z"),
      ("2012-09-03T14:53+02:00", "2012-09-03T14:53:00+02:00"),
      ("2012-09-03T14:53:01-14:00", "2012-09-03T14:53:01-14:00"),
      ("2012-09-03T14:53:01+14:00", "2012-09-03T14:53:01+14:00"),
      ("2012-09-03T14:53:01-00:30", "2012-09-03T14:53:01-00:30"),
      ("2012-09-03T14:53:01.123456789012+05:45", "2012-09-03T14:53:01.123456789012+05:45"),
      ("2012-09-03T14:53:01+0000", "2012-09-03T14:53:01Z"),
    ])
  func timestamp(_ text: String, _ printed: String) throws {
    #expect(try #require(ODataDateTimeOffset(text)).description == printed)
  }

  @Test(
    "Invalid timestamps are rejected",
    arguments: [
      "", "INF", "-INF", "2011-12-31T24:00:00Z", "2012-09-03T24:00-03:00", "2012-09-03", "2012-09-03T10:00:00",
      "2012-09-03 10:00:00Z", "2012-09-03T10:00:00+24:00", "2012-09-03T10:00:00+01:60", "2012-09-03T10:00:00+1",
      "2012-02-30T10:00:00Z", "2012-09-03T10:00:00ZZ",
    ])
  func noTimestamp(_ text: String) { #expect(ODataDateTimeOffset(text) == nil) }

  @Test("Timestamps compare by instant; a leap second is between its neighbours")
  func instants() throws {
    let noon = try #require(ODataDateTimeOffset("2012-09-03T12:00:00Z"))
    let same = try #require(ODataDateTimeOffset("2012-09-03T14:00:00+02:00"))
    #expect(noon == same && noon.hashValue == same.hashValue && !noon.isIdentical(to: same))
    #expect(noon.with(offsetMinutes: 120)?.isIdentical(to: same) == true)
    let ascending = [
      "1972-06-30T23:59:59Z", "1972-06-30T23:59:59.999999999999Z", "1972-06-30T23:59:60Z", "1972-06-30T23:59:60.5Z",
      "1972-07-01T00:00:00Z", "1972-07-01T00:00:00.4Z",
    ].compactMap(ODataDateTimeOffset.init)
    for (left, right) in zip(ascending, ascending.dropFirst()) { #expect(left < right, "\(left) < \(right)") }
    #expect(ODataDateTimeOffset("1972-07-01T01:59:60+02:00") == ascending[2])
    #expect(noon.secondsSince1970 == 1_346_673_600)
    #expect(ODataDateTimeOffset(secondsSince1970: .max) == nil)
    #expect(ODataDateTimeOffset(secondsSince1970: .min, offsetMinutes: -1439) == nil)
    #expect(noon.with(offsetMinutes: .max) == nil)
  }

  @Test("A V2 date-time has its milliseconds and its ticks")
  func dateTime() throws {
    let value = try #require(ODataDateTime("1969-12-31T23:59:59.999"))
    #expect(value.millisecondsSince1970 == -1)
    #expect(ODataDateTime(millisecondsSince1970: -1) == value)
    #expect(ODataDateTime("0001-01-01T00:00:00")?.ticks == 0)
    #expect(ODataDateTime("9999-12-31T23:59:59.9999999")?.ticks == 3_155_378_975_999_999_999)
    #expect(ODataDateTime("2012-09-03T10:00:00.00000001")?.ticks == nil)
    #expect(ODataDateTime("2012-09-03T10:00:00.0001")?.millisecondsSince1970 == nil)
    #expect(ODataDateTime("2012-09-03T10:00:00Z") == nil)
    #expect(ODataDateTime(millisecondsSince1970: .min) != nil)
    #expect(ODataDateTime(millisecondsSince1970: .max)?.date.year == 292_278_994)
  }

  @Test(
    "A duration prints in its shortest form (XML Schema 1.1 §3.4.27)",
    arguments: [
      ("PT0S", "PT0S"), ("-PT0S", "PT0S"), ("P1D", "P1D"), ("P0D", "PT0S"),
      ("-P6DT23H59M59.9999S", "-P6DT23H59M59.9999S"),
      ("PT13H20M", "PT13H20M"), ("PT11H00M00S", "PT11H"), ("PT90M", "PT1H30M"), ("PT36H", "P1DT12H"),
      ("PT0.000000000001S", "PT0.000000000001S"), ("-PT0.5S", "-PT0.5S"), ("P0Y0M0DT1H0M0.000S", "PT1H"),
      ("P106751991167300DT15H30M7S", "P106751991167300DT15H30M7S"),
    ])
  func duration(_ text: String, _ printed: String) throws {
    #expect(try #require(ODataDuration(text)).description == printed)
  }

  @Test(
    "Invalid durations are rejected",
    arguments: [
      "", "P", "-P", "PT", "P1DT", "1D", "P1H", "PT1D", "PT1S1M", "P1.5D", "PT1.S", "PT.5S", "P1W", "+P1D", "P-1D",
      "P1Y",
      "P106751991167301D", "P99999999999999999999D", "PT1H1H",
    ])
  func noDuration(_ text: String) { #expect(ODataDuration(text) == nil) }

  @Test("Digits after the twelfth are kept, compared and printed")
  func furtherDigits() throws {
    for text in ["PT1.1234567890123S", "-PT0.0000000000001S", "P1DT0.0000000000000000000000000000012S"] {
      #expect(try #require(ODataDuration(text)).description == text)
      #expect(try ODataValue(text: text, type: .duration).text() == text)
    }
    #expect(ODataDuration("PT1.5000000000000000S") == ODataDuration("PT1.5S"))
    let ascending = [
      "-PT1.0000000000001S", "-PT1S", "-PT0.00000000000012S", "-PT0.0000000000001S", "PT0S", "PT0.0000000000001S",
      "PT0.00000000000012S", "PT0.000000000001S", "PT1.0000000000001S",
    ].compactMap(ODataDuration.init)
    #expect(ascending.count == 9 && ascending == ascending.shuffled().sorted())
    let clock = try #require(ODataDateTime("2026-01-02T03:04:05.12345678901239"))
    #expect(clock.description == "2026-01-02T03:04:05.12345678901239" && clock.isFinerThanPicoseconds)
    #expect(clock > (try #require(ODataDateTime("2026-01-02T03:04:05.1234567890123"))))
    #expect(clock.millisecondsSince1970 == nil && clock.ticks == nil)
    // The grammar has no more than 12 digits for these.
    #expect(
      ODataDateTimeOffset("2026-01-02T03:04:05.1234567890123Z") == nil
        && ODataTimeOfDay("03:04:05.1234567890123") == nil)
  }

  @Test("Years and months are rejected by name")
  func calendarDuration() throws {
    let error = #expect(throws: ODataValueError.self) {
      try ODataValue(text: "P1Y6DT23H59M59.9999S", type: .duration)
    }
    #expect(error?.problem == .calendarDuration)
    #expect(error?.description.contains("years or months") == true)
    #expect(throws: ODataValueError.self) { try ODataValue(literal: "time'P2M'", type: .time, dialect: .v2) }
  }

  @Test("Durations are ordered by sign and length")
  func durationOrder() {
    let ascending = ["-P1D", "-PT1.5S", "-PT1.2S", "-PT0.5S", "PT0S", "PT0.000000000001S", "PT1S", "P1D"]
      .compactMap(ODataDuration.init)
    #expect(ascending.count == 8 && ascending == ascending.shuffled().sorted())
    #expect(ODataDuration(seconds: 1, picoseconds: -1) == nil)
    #expect(ODataDuration(seconds: .min) == nil)
  }

  @Test("Random timestamps survive conversion to text")
  func roundTrips() throws {
    var random = PrintedSeed(for: "TemporalTests.roundTrips")
    for _ in 0..<5_000 {
      let timestamp = try #require(
        ODataDateTimeOffset(
          secondsSince1970: .random(in: -1_000_000_000_000...1_000_000_000_000, using: &random),
          picosecond: .random(in: 0..<1_000_000_000_000, using: &random),
          offsetMinutes: .random(in: -1439...1439, using: &random)))
      let again = try #require(ODataDateTimeOffset(timestamp.description))
      #expect(again.isIdentical(to: timestamp))
      let duration = try #require(
        ODataDuration(
          seconds: .random(in: -(1 << 40)...(-1), using: &random),
          picoseconds: -.random(in: 0..<1_000_000_000_000, using: &random)))
      #expect(ODataDuration(duration.description) == duration)
    }
  }
}
