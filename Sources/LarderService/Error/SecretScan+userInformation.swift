extension SecretScan {
  /// The user information, with the at sign, of a URL with a colon before the position.
  ///
  /// - Parameter isEncoded: whether the colon is percent-encoded.
  func userInformation(at start: Int, isEncoded: Bool) -> Range<Int>? {
    var position = start
    for _ in 0..<2 {
      guard position < bytes.count else { return nil }
      let slash = unit(at: position)
      guard slash.byte == UInt8(ascii: "/") else { return nil }
      position += slash.length
    }
    let begin = position
    var end: Int?
    while position < bytes.count {
      let unit = unit(at: position)
      if endsAuthority(unit.byte, at: position, isPercent: unit.isPercent, isEncoded: isEncoded) { break }
      position += unit.length
      if unit.byte == UInt8(ascii: "@") { end = position }
    }
    return end.map { begin..<$0 }
  }

  /// Whether a character ends the authority of a URL. A URL in the query ends where its option or literal ends; the
  /// user information of other URLs can have `&` and `'`, and most characters in encoded form.
  private func endsAuthority(_ byte: UInt8, at position: Int, isPercent: Bool, isEncoded: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): true
    case UInt8(ascii: "&"): isPath ? !isURL && !isPercent && beginsEntity(at: position + 1) : isEncoded || !isPercent
    case UInt8(ascii: "'"): isPath ? isQuoted && !isPercent : true
    case 0...0x20, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"): isPath ? !isURL && !isPercent : true
    default: false
    }
  }

  /// Whether a character of HTML, other than `&amp;`, is written after an ampersand before the position, as in
  /// `&quot;`.
  private func beginsEntity(at position: Int) -> Bool {
    let rest = bytes[position...].prefix(8)
    guard let end = rest.firstIndex(of: UInt8(ascii: ";")), end > position else { return false }
    return rest[..<end].allSatisfy { $0 == UInt8(ascii: "#") || SecretScan.isOfName($0) }
      && !rest.starts(with: "amp;".utf8) && !rest.starts(with: "#38;".utf8)
  }
}
