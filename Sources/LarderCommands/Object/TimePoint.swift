internal import LarderOData

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Parses a point in time on the command line: a duration before or after now (`15m`), a day (`2026-12-31`, from its
/// start in UTC) or a day and a time with an offset (`2026-12-31T18:00Z`).
enum TimePoint {
  /// The direction of a time span.
  enum Direction { case earlier, later }

  static func parse(
    _ text: String, of option: OptionSyntax, _ direction: Direction, in arguments: ParsedArguments
  ) throws(UsageError) -> Date {
    guard let date = parse(text, direction, now: Date()) else {
      throw arguments.usage(
        "\(option.name) must be a duration such as 90, 15m, 12h or 7d, or a date such as 2026-12-31 or "
          + "2026-12-31T18:00Z, not '\(text)'")
    }
    return date
  }

  /// Returns nil for any other text, and for years outside of 1 to 9999.
  static func parse(_ text: String, _ direction: Direction, now: Date) -> Date? {
    if let span = TimeSpan.parse(text) {
      let seconds = Double(span.components.seconds)
      return now.addingTimeInterval(direction == .later ? seconds : -seconds)
    }
    if let day = ODataDate(text) { return years.contains(day.year) ? Date(utc: day) : nil }
    guard let timestamp = ODataDateTimeOffset(text), years.contains(timestamp.date.year) else { return nil }
    return Date(timestamp)
  }

  private static let years = 1...9999
}
