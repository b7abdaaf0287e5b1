/// Parses a number of bytes on the command line: `65536`, `64k`, `512M`, `2G`, in powers of 1024.
enum ByteCountArgument {
  /// The number; nil for any other text, and for a number that is too large.
  static func parse(_ text: String) -> Int? {
    var digits = Substring(text)
    var shift = 0
    switch digits.last {
    case "k", "K": shift = 10
    case "m", "M": shift = 20
    case "g", "G": shift = 30
    default: break
    }
    if shift > 0 { digits.removeLast() }
    guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int(digits) else {
      return nil
    }
    let (bytes, overflows) = number.multipliedReportingOverflow(by: 1 << shift)
    return overflows ? nil : bytes
  }
}
