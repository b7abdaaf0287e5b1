/// Splits field values into ranges of their bytes.
enum FieldText {
  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// The bytes of a value, with A to Z in lower case.
  static func lowercased(_ value: String) -> [UInt8] {
    var bytes = Array(value.utf8)
    for index in bytes.indices where bytes[index] >= 0x41 && bytes[index] <= 0x5A { bytes[index] |= 0x20 }
    return bytes
  }

  /// A range of bytes without white space at either end.
  static func trimmed(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
    var start = range.lowerBound
    var end = range.upperBound
    while start < end, isBlank(bytes[start]) { start += 1 }
    while end > start, isBlank(bytes[end - 1]) { end -= 1 }
    return start..<end
  }

  /// The elements of a comma-separated list, without white space around them and without empty ones (RFC 9110 §5.6.1).
  ///
  /// - Parameter quotes: whether commas in quoted strings belong to their element (§5.6.4).
  static func ranges(_ bytes: [UInt8], quotes: Bool) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var start = 0
    var position = 0
    var isQuoted = false
    func take() {
      let element = trimmed(bytes, start..<position)
      if !element.isEmpty { ranges.append(element) }
    }
    while position < bytes.count {
      let byte = bytes[position]
      if isQuoted, byte == 0x5C {
        position += 1
      } else if quotes, byte == 0x22 {
        isQuoted.toggle()
      } else if byte == 0x2C, !isQuoted {
        take()
        start = position + 1
      }
      position += 1
    }
    position = bytes.count
    if start < position { take() }
    return ranges
  }

  /// The elements of a comma-separated list as texts; commas inside quotes do not separate.
  static func elements(_ value: String) -> [String] {
    let bytes = Array(value.utf8)
    return ranges(bytes, quotes: true).map { String(decoding: bytes[$0], as: UTF8.self) }
  }
}
