@_spi(Stores) import LarderCore

// Absolute URIs as written in headers (RFC 3986 §3; ABNF section A). The text is not percent-decoded here.
extension SyntaxReader {
  /// `URI`
  mutating func uri() throws(ODataSyntaxError) -> String {
    let start = index
    guard peek | 0x20 >= 0x61, peek | 0x20 <= 0x7A else { throw unexpected("a URI's scheme") }
    while SyntaxReader.isAlphanumeric(peek) || "+-.".utf8.contains(peek) { index += 1 }
    try demand(UInt8(ascii: ":"))
    if peek == UInt8(ascii: "/"), peek(ahead: 1) == UInt8(ascii: "/") {
      index += 2
      try authorityOfURI()
      while take(UInt8(ascii: "/")) { try characters(":@") }
    } else if take(UInt8(ascii: "/")) {
      // A second "/" would begin an authority.
      try characters(":@")
      while take(UInt8(ascii: "/")) { try characters(":@") }
    } else {
      let path = index
      try characters(":@")
      guard index > path else { throw unexpected("the rest of a URI") }
      while take(UInt8(ascii: "/")) { try characters(":@") }
    }
    if take(UInt8(ascii: "?")) { try characters(":@/?") }
    if take(UInt8(ascii: "#")) { try characters(":@/?") }
    return string(start..<index)
  }

  /// `[ userinfo "@" ] host [ ":" port ]`
  private mutating func authorityOfURI() throws(ODataSyntaxError) {
    let start = index
    try characters(":")
    if !take(UInt8(ascii: "@")) { index = start }
    if peek == UInt8(ascii: "[") { try host() } else { try characters("") }
    if take(UInt8(ascii: ":")) { while peek >= 0x30, peek <= 0x39 { index += 1 } }
  }

  /// Reads unreserved characters, sub-delimiters, percent-encoded bytes, and the given characters.
  private mutating func characters(_ others: StaticString) throws(ODataSyntaxError) {
    while true {
      let byte = peek
      if byte == UInt8(ascii: "%") {
        guard Hexadecimal.value(peek(ahead: 1)) != nil, Hexadecimal.value(peek(ahead: 2)) != nil else {
          throw error(.invalidPercentEncoding, at: index + (Hexadecimal.value(peek(ahead: 1)) == nil ? 1 : 2))
        }
        index += 3
      } else if SyntaxReader.isAlphanumeric(byte) || "-._~!$&'()*+,;=".utf8.contains(byte)
        || others.withUTF8Buffer({ $0.contains(byte) })
      {
        index += 1
      } else {
        return
      }
    }
  }
}
