extension SecretScan {
  /// The text of the XML element whose name begins at a position, if its local name is secret, and it has only text.
  func secretElement(at start: Int) -> Range<Int>? {
    var position = start
    var localName = start
    while position < bytes.count, position - start < 2 * SecretScan.nameLimit {
      if bytes[position] == UInt8(ascii: ":") {
        localName = position + 1
      } else if !SecretScan.isOfName(bytes[position]) {
        break
      }
      position += 1
    }
    let name = start..<position
    guard localName < position, SecretNames.isSecretMember(bytes[localName..<position]),
      let begin = endOfTag(at: position)
    else { return nil }
    position = begin
    var isBlank = true
    while position < bytes.count {
      let unit = unit(at: position)
      if unit.byte == UInt8(ascii: "<"), !unit.isPercent { break }
      if unit.byte > 0x20 { isBlank = false }
      position += unit.length
    }
    guard position < bytes.count else { return nil }
    let inside = position + unit(at: position).length
    if isBlank, bytes[inside...].starts(with: "![CDATA[".utf8) { return begin..<endOfCharacters(at: inside) }
    guard !isBlank, inside < bytes.count, unit(at: inside).byte == UInt8(ascii: "/") else { return nil }
    let closing = inside + unit(at: inside).length
    return bytes[closing...].starts(with: bytes[name]) ? begin..<position : nil
  }

  /// Where the text begins after the rest of a start tag; nil if there is no text.
  private func endOfTag(at start: Int) -> Int? {
    var position = start
    var last = UInt8(ascii: " ")
    while position < bytes.count {
      let unit = unit(at: position)
      position += unit.length
      switch unit.byte {
      case _ where unit.isPercent: break
      case UInt8(ascii: "<"): return nil
      case UInt8(ascii: ">"): return last == UInt8(ascii: "/") ? nil : position
      default: break
      }
      last = unit.byte
    }
    return nil
  }

  /// Where characters end that `]]>` ends.
  private func endOfCharacters(at start: Int) -> Int {
    var brackets = 0
    var position = start
    while position < bytes.count {
      let unit = unit(at: position)
      position += unit.length
      if unit.byte == UInt8(ascii: ">"), brackets >= 2 { return position }
      brackets = unit.byte == UInt8(ascii: "]") ? brackets + 1 : 0
    }
    return position
  }
}
