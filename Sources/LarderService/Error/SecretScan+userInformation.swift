extension SecretScan {
  /// The user information, with the at sign, of a URL whose scheme and colon end before a position. Without a scheme, as
  /// in `//user:password@host`, it must have a password: `//image@2x.png` has none.
  ///
  /// - Parameter isEncoded: whether the colon is percent-encoded.
  func userInformation(at start: Int, hasScheme: Bool, isEncoded: Bool) -> Range<Int>? {
    var position = start
    for _ in 0..<2 {
      guard position < bytes.count else { return nil }
      let slash = unit(at: position)
      guard slash.byte == UInt8(ascii: "/") else { return nil }
      position += slash.length
    }
    let begin = position
    var end: Int?
    var hasPassword = false
    while position < bytes.count {
      let unit = unit(at: position)
      if endsAuthority(unit.byte, at: position, isPercent: unit.isPercent, isEncoded: isEncoded) { break }
      let isDelimiter = isEncoded || !unit.isPercent
      if isDelimiter, unit.byte == UInt8(ascii: ":") { hasPassword = true }
      // What follows is the next one of a list, as in `http://host,mail@host`.
      if isDelimiter, !hasPassword, SecretScan.delimitersOfLists.contains(unit.byte) { return nil }
      position += unit.length
      if unit.byte == UInt8(ascii: "@"), hasScheme || hasPassword { end = position }
    }
    return end.map { begin..<$0 }
  }

  private static let delimitersOfLists = Array("&,;|()'".utf8)

  /// Whether the character before a position can end the scheme of a URL.
  func endsScheme(before position: Int) -> Bool {
    guard position > 0 else { return false }
    switch bytes[position - 1] {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
      return true
    default: return false
    }
  }

  /// Whether a character ends the authority of a URL. A URL in the query ends where its option or literal ends; the
  /// user information of other URLs can have `&` and `'`, and most characters in encoded form.
  private func endsAuthority(_ byte: UInt8, at position: Int, isPercent: Bool, isEncoded: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): true
    case UInt8(ascii: "&"):
      isPath
        ? !isURL && !isPercent && (beginsEntity(at: position + 1) || beginsOption(at: position + 1))
        : isEncoded || !isPercent
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

  /// Whether a name and an equals sign are at a position, as after the `&` of a form.
  private func beginsOption(at position: Int) -> Bool {
    let rest = bytes[position...].prefix(SecretScan.nameLimit)
    guard let end = rest.firstIndex(of: UInt8(ascii: "=")), end > position else { return false }
    return rest[..<end].allSatisfy(SecretScan.isOfName)
  }
}
