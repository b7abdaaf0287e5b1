import LarderHTTP

extension SecretScan {
  /// The value of the option at a position, if its name is secret.
  ///
  /// - Parameter isArgument: whether it is an argument of a function in a path, or a key of an entity: data.
  mutating func secretOption(at start: Int, isArgument: Bool = false) -> Range<Int>? {
    guard looksLikeURL, let (begin, isEncoded) = optionValue(at: start, isArgument: isArgument) else { return nil }
    let isAlias = aliases.contains(name)
    guard isAlias || (isArgument ? SecretNames.isSecretMember(name[...]) : SecretNames.isSecretOption(name)) else {
      return isArgument ? nil : secretJSON(at: begin, isEncoded: isEncoded)
    }
    let literalEnd = literalEnd(at: begin)
    let end = endOfOption(from: literalEnd ?? begin, isEncoded: isEncoded, isArgument: isArgument)
    if isArgument, let alias = alias(in: begin..<end) { aliases.insert(alias) }
    return end == literalEnd && !isAlias && SecretNames.isHarmlessAsLiteral(name) ? nil : begin..<end
  }

  /// Where the value of an option ends that has begun before a position.
  private func endOfOption(from start: Int, isEncoded: Bool, isArgument: Bool = false) -> Int {
    var position = start
    while position < bytes.count {
      let unit = unit(at: position)
      if ends(unit.byte, isPercent: unit.isPercent, isEncoded: isEncoded) { break }
      if isArgument, unit.byte == UInt8(ascii: ",") || unit.byte == UInt8(ascii: ")") { break }
      position += unit.length
    }
    return position
  }

  /// The value of an option that begins at a position, if it is JSON, percent-encoded or not, that has secrets.
  private mutating func secretJSON(at start: Int, isEncoded: Bool) -> Range<Int>? {
    guard start >= jsonEnd, start < bytes.count, "{[".utf8.contains(unit(at: start).byte) else { return nil }
    jsonEnd = endOfOption(from: start, isEncoded: isEncoded)
    var json: [UInt8] = []
    var position = start
    while position < jsonEnd {
      let unit = unit(at: position)
      json.append(unit.isPercent ? unit.byte : bytes[position])
      position += unit.isPercent ? unit.length : 1
    }
    return SecretScan.hasSecrets(json: json) ? start..<jsonEnd : nil
  }

  /// Where the value of the option at a position begins, and whether its equals sign is percent-encoded. White space can
  /// surround the name and the sign; as it is, it ends a URL in other text, except among arguments.
  mutating func optionValue(at start: Int, isArgument: Bool = false) -> (begin: Int, isEncoded: Bool)? {
    name.removeAll(keepingCapacity: true)
    var position = start
    func skipSpaces() {
      while position < bytes.count {
        let unit = unit(at: position)
        guard unit.byte <= 0x20, isArgument || isURL || unit.isPercent else { return }
        position += unit.length
      }
    }
    skipSpaces()
    while position < bytes.count, name.count <= SecretScan.nameLimit {
      let unit = unit(at: position)
      guard SecretScan.isOfName(unit.byte) || (unit.byte == UInt8(ascii: "@") && name.isEmpty && !isArgument) else {
        break
      }
      name.append(unit.byte)
      position += unit.length
    }
    skipSpaces()
    guard position < bytes.count else { return nil }
    let sign = unit(at: position)
    guard sign.byte == UInt8(ascii: "=") else { return nil }
    position += sign.length
    skipSpaces()
    // White space among arguments does not end the URL.
    if isArgument { index = position }
    return (position, sign.isPercent)
  }

  /// The parameter alias that is the value of an argument, as in `Login(password=@p)?@p='…'`.
  private func alias(in range: Range<Int>) -> [UInt8]? {
    var alias: [UInt8] = []
    var position = range.lowerBound
    while position < range.upperBound, alias.count <= SecretScan.nameLimit {
      let unit = unit(at: position)
      if unit.byte <= 0x20 { break }
      guard alias.isEmpty ? unit.byte == UInt8(ascii: "@") : SecretScan.isOfName(unit.byte) else { return nil }
      alias.append(unit.byte)
      position += unit.length
    }
    return alias.count > 1 ? alias : nil
  }

  /// Where the literal in `'` at a position ends, which has `''` for one `'`.
  private func literalEnd(at start: Int) -> Int? {
    // In `href='a?token='` the literal is that of the text.
    guard let opening = quoteLength(at: start), !isQuoted || bytes[start] != UInt8(ascii: "'") else { return nil }
    var position = start + opening
    while position < bytes.count {
      let unit = unit(at: position)
      if let length = quoteLength(at: position) {
        position += length
        guard let second = quoteLength(at: position) else { return position }
        position += second
      } else if !isURL, !unit.isPercent, SecretScan.endsLine(unit.byte) {
        return nil
      } else {
        position += unit.length
      }
    }
    return nil
  }

  /// Whether a character ends a string, an element or a line, and with it every literal.
  private static func endsLine(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
  }

  /// The length of the `'` at a position, as it is or as an escape of JSON, HTML or a URL.
  private func quoteLength(at position: Int) -> Int? {
    guard position < bytes.count else { return nil }
    let unit = unit(at: position)
    if unit.byte == UInt8(ascii: "'") { return unit.length }
    guard unit.byte == UInt8(ascii: "&"), !isURL else { return nil }
    let rest = bytes[(position + unit.length)...]
    return SecretScan.quotesOfHTML.first { rest.starts(with: $0) }.map { unit.length + $0.count }
  }

  private static let quotesOfHTML = ["#39;", "#x27;", "apos;"].map { Array($0.utf8) }

  /// Whether a character ends the value of an option, whose equals sign may be percent-encoded: then an option has a
  /// URL as its value.
  private func ends(_ byte: UInt8, isPercent: Bool, isEncoded: Bool) -> Bool {
    guard isEncoded || !isPercent else { return false }
    switch byte {
    case UInt8(ascii: "&"): return true
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): return isPath && !isList
    case UInt8(ascii: ";"): return isPath
    case 0...0x20, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"): return !isURL
    case UInt8(ascii: "'"): return isQuoted
    default: return false
    }
  }
}
