/// The value of a `Content-Range` field in bytes (RFC 9110 §14.4).
package enum ContentRange: Hashable, Sendable {
  /// `bytes first-last/length`; the length is `*` if it is unknown.
  case part(Range<Int>, length: Int?)
  /// `bytes */length`: the response to a range outside the representation.
  case unsatisfied(length: Int)

  /// Parses a field. Nil for another unit, a malformed value, and an invalid one: a last position before the first, or
  /// not before the length.
  package init?(_ text: String) {
    var scanner = DigitScanner(text.utf8)
    scanner.skipBlanks()
    guard scanner.takeBytesUnit(), scanner.take(0x20) else { return nil }
    scanner.skipBlanks()
    var range: Range<Int>?
    if !scanner.take(0x2A) {
      guard let first = scanner.number(), scanner.take(0x2D), let last = scanner.number() else { return nil }
      guard first <= last, last < Int.max else { return nil }
      range = first..<(last + 1)
    }
    guard scanner.take(0x2F) else { return nil }
    var length: Int?
    if !scanner.take(0x2A) {
      guard let number = scanner.number(), number < Int.max else { return nil }
      length = number
    }
    scanner.skipBlanks()
    guard scanner.isAtEnd else { return nil }
    switch (range, length) {
    case (let range?, let length):
      if let length, range.upperBound > length { return nil }
      self = .part(range, length: length)
    case (nil, let length?): self = .unsatisfied(length: length)
    case (nil, nil): return nil
    }
  }

  /// The field's value.
  package var text: String {
    switch self {
    case .part(let range, let length):
      "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length.map { String($0) } ?? "*")"
    case .unsatisfied(let length): "bytes */\(length)"
    }
  }
}
