/// Parses a duration on the command line: `90`, `90s`, `15m`, `12h`, `7d`.
enum TimeSpan {
  /// The limit is a hundred years, which fits wherever seconds or milliseconds are counted.
  private static let limit = 36_525 * 86_400

  /// Returns nil for any other text, and for more than a hundred years.
  static func parse(_ text: String) -> Duration? {
    var digits = Substring(text)
    var unit = 1
    switch digits.last {
    case "s": break
    case "m": unit = 60
    case "h": unit = 3600
    case "d": unit = 86_400
    default: digits.append("s")
    }
    digits.removeLast()
    guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int(digits),
      number <= limit / unit
    else { return nil }
    return .seconds(number * unit)
  }
}
