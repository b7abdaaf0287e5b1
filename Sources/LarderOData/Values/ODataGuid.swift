@_spi(Stores) import LarderCore

/// `Edm.Guid`: 128 bits, printed in lower case with hyphens.
public struct ODataGuid: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The first 16 hexadecimal digits.
  package let high: UInt64
  /// The last 16 hexadecimal digits.
  package let low: UInt64

  /// Creates a GUID from its two halves.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Parses `8-4-4-4-12` hexadecimal digits of either case; nil for anything else.
  public init?(_ text: String) {
    guard let value = ByteCursor.whole(text, { ODataGuid(&$0) }) else { return nil }
    self = value
  }

  init?(_ cursor: inout ByteCursor) {
    var halves: (UInt64, UInt64) = (0, 0)
    var count = 0
    for position in 0..<36 {
      let byte = cursor.peek
      cursor.advance()
      if position == 8 || position == 13 || position == 18 || position == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = Hexadecimal.value(byte) else { return nil }
      if count < 16 { halves.0 = halves.0 << 4 | UInt64(digit) } else { halves.1 = halves.1 << 4 | UInt64(digit) }
      count += 1
    }
    self.init(high: halves.0, low: halves.1)
  }

  /// Appends the text of ``description``.
  package func write(into bytes: inout [UInt8]) {
    for position in 0..<32 {
      if position == 8 || position == 12 || position == 16 || position == 20 { bytes.append(UInt8(ascii: "-")) }
      let half = position < 16 ? high : low
      bytes.append(Hexadecimal.lower(UInt8(truncatingIfNeeded: half >> UInt64(60 - position % 16 * 4)) & 0x0F))
    }
  }

  /// The GUID in lower case, with hyphens.
  public var description: String { String(writing: write) }

  /// Orders by the printed digits.
  public static func < (left: ODataGuid, right: ODataGuid) -> Bool {
    left.high != right.high ? left.high < right.high : left.low < right.low
  }
}
