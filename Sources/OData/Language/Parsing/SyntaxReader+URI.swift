// Absolute URIs as they stand in headers (RFC 3986 §3; ABNF section A). The text is not percent-decoded here.
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
    if take(UInt8(ascii: "[")) {
      try addressInBrackets()
    } else {
      try characters("")
    }
    if take(UInt8(ascii: ":")) { while peek >= 0x30, peek <= 0x39 { index += 1 } }
  }

  /// `IP-literal`, behind its bracket.
  private mutating func addressInBrackets() throws(ODataSyntaxError) {
    let start = index
    if take(UInt8(ascii: "v")) || take(UInt8(ascii: "V")) {
      while Hexadecimal.value(peek) != nil { index += 1 }
      guard index > start + 1 else { throw unexpected("a hexadecimal digit") }
      try demand(UInt8(ascii: "."))
      let address = index
      while SyntaxReader.isAlphanumeric(peek) || "-._~!$&'()*+,;=:".utf8.contains(peek) { index += 1 }
      guard index > address else { throw unexpected("an address") }
    } else {
      while Hexadecimal.value(peek) != nil || peek == UInt8(ascii: ":") || peek == UInt8(ascii: ".") { index += 1 }
      guard SyntaxReader.isIPv6(string(start..<index)) else {
        throw error(.unexpected(expected: ["an address of IPv6"]), at: start)
      }
    }
    try demand(UInt8(ascii: "]"))
  }

  /// Eight groups of up to four digits, at most once `::` for one or more of them; the last two can be an address of IPv4.
  private static func isIPv6(_ text: String) -> Bool {
    guard text.utf8.count <= 45 else { return false }
    let halves = text.split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
    guard halves.count <= 2 else { return false }
    var groups = 0
    for (place, half) in halves.enumerated() where !half.isEmpty {
      let parts = half.split(separator: ":", omittingEmptySubsequences: false)
      for (index, part) in parts.enumerated() {
        if index == parts.count - 1, place == halves.count - 1, part.contains(".") {
          let octets = part.split(separator: ".", omittingEmptySubsequences: false)
          guard octets.count == 4, octets.allSatisfy({ isOctet($0) }) else { return false }
          groups += 2
        } else {
          guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ Hexadecimal.value($0) != nil }) else {
            return false
          }
          groups += 1
        }
      }
    }
    return halves.count == 2 ? groups <= 7 : groups == 8
  }

  /// `dec-octet`
  private static func isOctet(_ text: Substring) -> Bool {
    guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return false }
    return text.utf8.count == 1 || text.utf8.first != UInt8(ascii: "0") && (Int(text) ?? 256) < 256
  }

  /// Unreserved characters, sub-delimiters, percent-encoded bytes, and those named.
  private mutating func characters(_ others: StaticString) throws(ODataSyntaxError) {
    while true {
      let byte = peek
      if byte == UInt8(ascii: "%") {
        guard Hexadecimal.value(peek(ahead: 1)) != nil, Hexadecimal.value(peek(ahead: 2)) != nil else {
          throw error(.invalidPercentEncoding)
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
