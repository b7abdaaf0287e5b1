@_spi(Stores) import LarderCore

// Scheme, host and port (RFC 3986 §3.2; ABNF section A).
extension SyntaxReader {
  /// Reads `http://host:port` or `https://…`, before the first `/`.
  mutating func authority() throws(ODataSyntaxError) {
    let start = index
    guard hasWord("http", at: index, anyCase: true) else { throw unexpected("http://", "https://") }
    index += 4
    if peek | 0x20 == UInt8(ascii: "s") { index += 1 }
    guard !(start..<index).contains(where: isEncoded) else {
      throw error(.unexpected(expected: ["http:// or https:// (a scheme cannot be percent-encoded)"]), at: start)
    }
    let schemeEnd = index
    guard take(exact: "://"), !(schemeEnd..<index).contains(where: isEncoded) else {
      throw error(.unexpected(expected: ["'://'"]), at: schemeEnd)
    }
    try host()
    if take(plain: UInt8(ascii: ":")) { while peek &- 0x30 < 10, !isAtEnd { index += 1 } }
  }

  /// Reads `host`: an IPv4 or IPv6 address, or a name.
  mutating func host() throws(ODataSyntaxError) {
    if take(plain: UInt8(ascii: "[")) {
      if peek | 0x20 == UInt8(ascii: "v") { try ipvFuture() } else { try ipv6Address() }
      guard take(plain: UInt8(ascii: "]")) else { throw unexpected("']'") }
      return
    }
    while !isAtEnd {
      let byte = peek
      guard
        isEncoded(index) || byte >= 0x80
          || isPathCharacter(at: index) && byte != UInt8(ascii: ":") && byte != UInt8(ascii: "@")
      else { return }
      index += 1
    }
  }

  /// `IPvFuture`
  mutating func ipvFuture() throws(ODataSyntaxError) {
    index += 1
    let start = index
    while Hexadecimal.value(peek) != nil, !isAtEnd { index += 1 }
    guard index > start else { throw unexpected("a hexadecimal digit") }
    guard take(UInt8(ascii: ".")) else { throw unexpected("'.'") }
    let address = index
    while !isAtEnd, peek != UInt8(ascii: "@"), peek != UInt8(ascii: "]"), isPathCharacter(at: index) { index += 1 }
    guard index > address else { throw unexpected("an address") }
  }

  /// Reads `IPv6address`: eight groups, or fewer with `::` in place of zeros; the last two may be an IPv4 address.
  mutating func ipv6Address() throws(ODataSyntaxError) {
    var groups = 0
    var isShortened = false
    if hasWord("::", at: index, anyCase: false) {
      index += 2
      isShortened = true
    }
    while groups < 8 {
      let start = index
      while index - start < 4, Hexadecimal.value(peek) != nil, !isAtEnd { index += 1 }
      if index == start {
        // Nothing has to follow `::`.
        guard isShortened, peek(ahead: -1) == UInt8(ascii: ":"), peek(ahead: -2) == UInt8(ascii: ":") else {
          throw unexpected("a hexadecimal digit")
        }
        break
      }
      if peek == UInt8(ascii: "."), groups <= 6 {
        index = start
        try ipv4Address()
        groups += 2
        break
      }
      groups += 1
      guard peek == UInt8(ascii: ":"), groups < 8 else { break }
      if peek(ahead: 1) == UInt8(ascii: ":") {
        guard !isShortened else { throw error(.unexpected(expected: ["a hexadecimal digit"]), at: index + 1) }
        isShortened = true
        index += 2
      } else {
        index += 1
      }
    }
    guard isShortened ? groups < 8 : groups == 8 else { throw unexpected("':'") }
  }

  /// `IPv4address`
  mutating func ipv4Address() throws(ODataSyntaxError) {
    for part in 0..<4 {
      if part > 0, !take(UInt8(ascii: ".")) { throw unexpected("'.'") }
      let start = index
      var value = 0
      while peek &- 0x30 < 10, !isAtEnd, index - start < 3, index == start || value > 0,
        value * 10 + Int(peek &- 0x30) <= 255
      {
        value = value * 10 + Int(peek &- 0x30)
        index += 1
      }
      guard index > start else { throw unexpected("a number up to 255") }
    }
  }
}
