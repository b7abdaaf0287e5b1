import LarderHTTP

extension SecretScan {
  /// The text of the XML element whose name begins at a position, if its local name is secret, and it has only text.
  mutating func secretElement(at start: Int) -> Range<Int>? {
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
    return endOfText(at: begin, element: name).map { begin..<$0 }
  }

  /// Where the text of an element ends that begins at a position: at the closing tag, if only text, CDATA and comments are
  /// before it; nil if there is no text.
  private mutating func endOfText(at start: Int, element name: Range<Int>) -> Int? {
    // Comments inside the comments of such an element are not passed again and again.
    let isInComment = start < commentEnd
    var position = start
    var isBlank = true
    var endOfCharacters: Int?
    while position < bytes.count {
      let unit = unit(at: position)
      if endsString(at: position) { break }
      guard unit.byte == UInt8(ascii: "<"), !unit.isPercent else {
        if unit.byte > 0x20 { isBlank = false }
        position += unit.length
        continue
      }
      let inside = position + unit.length
      if bytes[inside...].starts(with: Section.characters.opening) {
        guard let end = end(of: .characters, at: inside) else { break }
        (position, endOfCharacters) = (end, end)
      } else if bytes[inside...].starts(with: Section.comment.opening) {
        guard !isInComment, let end = end(of: .comment, at: inside) else { break }
        (position, commentEnd) = (end, end)
      } else {
        guard !isBlank || endOfCharacters != nil, closes(name, at: inside) else { break }
        return position
      }
    }
    return endOfCharacters
  }

  /// Whether a closing tag of an element has its `/` at a position.
  private func closes(_ name: Range<Int>, at position: Int) -> Bool {
    guard position < bytes.count else { return false }
    let slash = unit(at: position)
    return slash.byte == UInt8(ascii: "/") && bytes[(position + slash.length)...].starts(with: bytes[name])
  }

  /// Whether a quotation mark at a position ends a string of the JSON that the content is, and with it all XML.
  private func endsString(at position: Int) -> Bool { isJSON && bytes[position] == UInt8(ascii: "\"") }

  /// Where the text begins after the rest of a start tag; nil if there is no text.
  private func endOfTag(at start: Int) -> Int? {
    var position = start
    var last = UInt8(ascii: " ")
    while position < bytes.count, !endsString(at: position) {
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

  /// Where a section ends whose opening is at a position; nil if it does not end. Characters at the end of the content
  /// end there: the content may be incomplete.
  private mutating func end(of section: Section, at start: Int) -> Int? {
    guard start >= openSectionEnds[section, default: 0] else { return nil }
    var count = 0
    var position = start + section.opening.count
    while position < bytes.count, !endsString(at: position) {
      let unit = unit(at: position)
      position += unit.length
      if unit.byte == UInt8(ascii: ">"), count >= 2 { return position }
      count = unit.byte == section.closing ? count + 1 : 0
    }
    if section == .characters, position >= bytes.count, !isJSON { return position }
    openSectionEnds[section] = position
    return nil
  }

  /// A part of XML whose characters are no tags.
  enum Section {
    case characters
    case comment

    /// The characters after `<`.
    fileprivate var opening: [UInt8] { Array((self == .characters ? "![CDATA[" : "!--").utf8) }

    /// The character that is twice before the closing `>`.
    fileprivate var closing: UInt8 { self == .characters ? UInt8(ascii: "]") : UInt8(ascii: "-") }
  }
}
