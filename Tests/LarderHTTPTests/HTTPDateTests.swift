import Testing

@testable import LarderHTTP

@Suite("Dates of fields (RFC 9110 §5.6.7)", .timeLimit(.minutes(5)))
struct HTTPDateTests {
  /// 2026-01-15T00:00:00Z, the current time for two-digit years.
  static let now: Int64 = 1_768_435_200

  @Test(
    "the three forms, in any case (RFC 9111 §4.2)",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
      ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      ("Sun Nov  6 08:49:37 1994", 784_111_777),
      ("SUN, 06 NOV 1994 08:49:37 gmt", 784_111_777),
      ("sUNDAY, 06-nov-94 08:49:37 GMt", 784_111_777),
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
      ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
      ("Tue, 19 Jan 2038 14:14:08 GMT", 2_147_523_248),
      ("Sun, 21 Nov 2286 04:46:39 GMT", 10_000_039_599),
      ("Thu Aug 18 02:01:18 2050", 2_544_400_878),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
      // A leap second counts as the second before it.
      ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_799),
      // The day's name is not compared with the date.
      ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
    ])
  func reads(text: String, seconds: Int64) {
    #expect(HTTPDate.strictUnixTime(text, now: Self.now) == seconds)
  }

  @Test(
    "anything else is not a date",
    arguments: [
      "", "0", "-1", "now", "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 2050 02:01:18 AEST",
      "Thu, 18 Aug 2050 02:01:18", "Thu, 18 Aug 50 02:01:18 GMT", "Thu 18 Aug 2050 02:01:18 GMT",
      "Thu, 18  Aug  2050 02:01:18 GMT", "Thu, 18-Aug-2050 02:01:18 GMT", "Thu, 18 Aug 2050 02.01.18 GMT",
      "Thu, 18 Aug 2050 2:01:18 GMT", "Thu, 8 Aug 2050 02:01:18 GMT", "Thu, 00 Aug 2050 02:01:18 GMT",
      "Thu, 30 Feb 2050 02:01:18 GMT", "Tue, 29 Feb 2100 00:00:00 GMT", "Thu, 18 Aug 2050 24:00:00 GMT",
      "Thu, 18 Aug 2050 02:60:18 GMT", "Thu, 18 Aug 2050 02:01:61 GMT", "Xyz, 18 Aug 2050 02:01:18 GMT",
      "Thu, 18 Xyz 2050 02:01:18 GMT", "Thu, 18 Aug 2050 02:01:18 GMT ", " Thu, 18 Aug 2050 02:01:18 GMT",
      "Thu, 18 Aug 205\u{0} 02:01:18 GMT", "Thu, 1é Aug 2050 02:01:18 GM", "Thurs, 18-Aug-50 02:01:18 GMT",
      "Thursday, 18-Aug-50 02:01:18 CET", "Thu Aug 8 02:01:18 2050", "Thu Aug  8 02:01:18 205a",
      ", 18-Aug-50 02:01:18 GMT", "2050-08-18T02:01:18Z", "1994",
    ])
  func rejects(text: String) {
    #expect(HTTPDate.strictUnixTime(text, now: Self.now) == nil)
  }

  @Test(
    "a two-digit year more than 50 years in the future is read as a past year",
    arguments: [("50", 2050), ("76", 2076), ("77", 1977), ("99", 1999), ("00", 2000), ("26", 2026)])
  func twoDigits(short: String, year: Int) throws {
    let seconds = try #require(HTTPDate.strictUnixTime("Monday, 01-Jun-\(short) 00:00:00 GMT", now: Self.now))
    #expect(HTTPDate.text(seconds).contains(" Jun \(year) "))
  }

  @Test(
    "formatted dates are parsed as the same dates, over 8,000 years", arguments: [1, 86_399, 1_234_567, 31_556_952])
  func roundTrip(step: Int64) {
    for index in Int64(-1000)..<8000 {
      let seconds = index &* step
      let text = HTTPDate.text(seconds)
      #expect(text.utf8.count == 29)
      #expect(HTTPDate.strictUnixTime(text, now: 0) == seconds)
      // The lenient parser accepts years from 1601 on, and returns the same times.
      if seconds > -11_000_000_000 { #expect(HTTPDate.unixTime(text) == seconds) }
    }
  }

  @Test(
    "the format that is sent",
    arguments: [
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"), (Int64.min, "Sat, 01 Jan 0000 00:00:00 GMT"),
    ])
  func writes(seconds: Int64, text: String) {
    #expect(HTTPDate.text(seconds) == text)
  }

  @Test("two-digit years do not trap at any current time", arguments: [Int64.min / 2000, -1, 0, Int64.max / 2000])
  func anyClock(now: Int64) {
    _ = HTTPDate.strictUnixTime("Sunday, 06-Nov-94 08:49:37 GMT", now: now)
  }
}
