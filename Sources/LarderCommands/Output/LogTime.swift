#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A timestamp as it appears in logs: `2026-01-15T10:00:00.000Z`.
struct LogTime {
  let text: String

  static func now() -> LogTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return LogTime(seconds: Int(time.tv_sec), milliseconds: Int(time.tv_nsec) / 1_000_000)
  }

  /// Creates a timestamp from seconds since 1970 and additional milliseconds.
  init(seconds: Int, milliseconds: Int) {
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    text =
      LogTime.digits(Int(parts.tm_year) + 1900, 4) + "-" + LogTime.digits(Int(parts.tm_mon) + 1, 2) + "-"
      + LogTime.digits(Int(parts.tm_mday), 2) + "T" + LogTime.digits(Int(parts.tm_hour), 2) + ":"
      + LogTime.digits(Int(parts.tm_min), 2) + ":" + LogTime.digits(Int(parts.tm_sec), 2) + "."
      + LogTime.digits(milliseconds, 3) + "Z"
  }

  private static func digits(_ number: Int, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
  }
}
