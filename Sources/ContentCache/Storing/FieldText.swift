/// Pieces of field values.
enum FieldText {
  /// Without white space at either end.
  static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
    var text = text
    while let first = text.first, isBlank(first) { text.removeFirst() }
    while let last = text.last, isBlank(last) { text.removeLast() }
    return text
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// The elements of a comma-separated list, without white space around them, empty ones left out; commas inside quotes
  /// do not separate (RFC 9110 §5.6.1).
  static func elements(_ value: String) -> [Substring] {
    var elements: [Substring] = []
    let bytes = value.utf8
    var start = bytes.startIndex
    var position = start
    var isQuoted = false
    func take(_ end: String.Index) {
      let element = trimmed(value[start..<end].utf8)
      if !element.isEmpty { elements.append(Substring(element)) }
    }
    while position < bytes.endIndex {
      let byte = bytes[position]
      if isQuoted, byte == 0x5C {
        bytes.formIndex(after: &position)
        if position == bytes.endIndex { break }
      } else if byte == 0x22 {
        isQuoted.toggle()
      } else if byte == 0x2C, !isQuoted {
        take(position)
        start = bytes.index(after: position)
      }
      bytes.formIndex(after: &position)
    }
    take(bytes.endIndex)
    return elements
  }
}
