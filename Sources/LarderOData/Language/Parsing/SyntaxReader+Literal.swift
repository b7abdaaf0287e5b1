// Primitive literals (ABNF `primitiveLiteral`; V2: Primitive Types, "Literal Form").
extension SyntaxReader {
  /// Reads a literal of either dialect. Numbers get the smallest type that their form allows.
  mutating func primitiveLiteral() throws(ODataSyntaxError) -> ODataExpression {
    let position = position
    let start = index
    switch peek {
    case UInt8(ascii: "'"): return ODataExpression(.literal(.string(try quotedString())), at: position)
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"):
      if let value = try guidOrTimestamp() {
        if continuesTimestamp(index) { notePossibleTimestamp(from: start) }
        return ODataExpression(.literal(value), at: position)
      }
      return ODataExpression(.literal(try number()), at: position)
    default: break
    }
    if dialect == .v4, let last = endOfGuid(at: index) { return try literal(start..<last, .guid, at: position) }
    let (name, isQualified) = try qualifiedName("a literal")
    if peek == UInt8(ascii: "'"), !isAtEnd {
      index = start
      return try prefixedLiteral(name, isQualified: isQualified, at: position)
    }
    guard !isQualified, let value = word(name) else {
      let last = index
      index = start
      noteFailedLookahead(to: last)
      throw unexpected("a literal ('\(name)' is not one; a string needs quotes)")
    }
    return ODataExpression(.literal(value), at: position)
  }

  /// Whether the text that begins with the identifier before a position is a literal.
  func isLiteral(upTo last: Int) -> Bool {
    let next = last < end ? bytes[last] : 0
    if next == UInt8(ascii: "'") { return true }
    if next == UInt8(ascii: "-") { return dialect == .v4 && endOfGuid(at: index) != nil }
    if next == UInt8(ascii: ".") { return isEnumeration(from: last) }
    if next == UInt8(ascii: "/") || next == UInt8(ascii: "(") || last - index > 5 { return false }
    switch bytes[index] | 0x20 {
    case UInt8(ascii: "n"), UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "i"):
      let name = string(index..<last)
      return !variables.contains(name) && word(name) != nil
    default: return false
    }
  }

  /// Whether further parts of a name and then a quote follow.
  private func isEnumeration(from last: Int) -> Bool {
    var place = last
    while place < end, bytes[place] == UInt8(ascii: ".") {
      let next = endOfIdentifier(at: place + 1)
      guard next > place + 1 else { return false }
      place = next
    }
    return place < end && bytes[place] == UInt8(ascii: "'")
  }

  /// `null`, `true`, `false` and the numbers that are words.
  func word(_ name: String) -> ODataValue? {
    switch name {
    case "null": return .null
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    case "INF": return .double(.infinity)
    case "NaN": return .double(.nan)
    case "Nan" where dialect == .v2: return .double(.nan)
    default: break
    }
    guard isRelaxed, name.utf8.count <= 5 else { return nil }
    switch name.lowercased() {
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    default: return nil
    }
  }

  /// Reads `'…'`, in which quotes are doubled.
  mutating func quotedString() throws(ODataSyntaxError) -> String {
    let start = index
    try demand(UInt8(ascii: "'"))
    let first = index
    var isPlain = true
    while index < end {
      guard bytes[index] == UInt8(ascii: "'") else {
        index += 1
        continue
      }
      if index + 1 < end, bytes[index + 1] == UInt8(ascii: "'") {
        isPlain = false
        index += 2
        continue
      }
      defer { index += 1 }
      if isPlain { return string(first..<index) }
      return withoutDoubledQuotes(first..<index)
    }
    // If the closing quote is missing, the text extends as far as characters are allowed unencoded.
    index = first
    while index < end, isPathCharacter(at: index) { index += 1 }
    throw error(.unexpected(expected: ["a quote to end the string that starts at character \(offset(of: start) + 1)"]))
  }

  private func withoutDoubledQuotes(_ range: Range<Int>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(range.count)
    var place = range.lowerBound
    while place < range.upperBound {
      text.append(bytes[place])
      place += bytes[place] == UInt8(ascii: "'") ? 2 : 1
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads `duration'…'`, `datetime'…'`, `Ns.Color'Red'` and similar literals.
  private mutating func prefixedLiteral(
    _ name: String, isQualified: Bool, at position: SourcePosition
  ) throws(ODataSyntaxError) -> ODataExpression {
    let start = index
    index += name.utf8.count
    guard isQualified || LiteralWords.isPrefix(name, dialect) else {
      throw error(.notInDialect("the literal \(name)'…'" + LiteralWords.cure(name, dialect)))
    }
    let quote = index
    let word = isQualified ? nil : name.lowercased()
    do throws(ODataSyntaxError) { _ = try quotedString() } catch {
      throw self.error(error.problem, at: endOfForm(word, from: quote) ?? index)
    }
    let text = string(start..<index)
    do throws(ODataValueError) {
      if isQualified {
        let (typeName, members) = try ODataValue.enumeration(literal: text)
        return ODataExpression(
          .enumeration(ODataEnumerationLiteral(typeName: typeName, members: members)), at: position)
      }
      // Clients send both alphabets, with and without padding.
      let isBinary = dialect == .v4 && word == "binary"
      let form = isBinary ? text.replacing("+", with: "-").replacing("/", with: "_") : text
      return ODataExpression(.literal(try ODataValue(literal: form, dialect: dialect)), at: position)
    } catch {
      throw self.error(.invalidLiteral("\(error)"), at: endOfForm(word, from: quote) ?? start)
    }
  }

  /// Returns where the text between quotes stops matching the form that the word before them requires; without a word,
  /// the form of an enumeration's members. Nil if the form is right, or if V4 defines none.
  private func endOfForm(_ word: String?, from quote: Int) -> Int? {
    guard dialect == .v4 else { return nil }
    let last = reach(from: quote) { (reader) throws(ODataSyntaxError) in
      _ = try reader.singleQuoted { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        switch word {
        case nil: _ = try reader.enumerationMembers()
        case "duration": try reader.scanDuration()
        case "binary": try reader.scanBinary()
        default:
          try reader.scanSRID()
          try reader.scanShape(GeoShape.allCases)
        }
      }
    }
    return last > quote ? last : nil
  }

  private mutating func literal(
    _ range: Range<Int>, _ type: EdmPrimitiveType, at position: SourcePosition
  ) throws(ODataSyntaxError) -> ODataExpression {
    ODataExpression(.literal(try value(range, type)), at: position)
  }
}

/// The words before quoted literals.
private enum LiteralWords {
  static func isPrefix(_ name: String, _ dialect: ODataDialect) -> Bool {
    switch name.lowercased() {
    case "binary", "geography", "geometry": true
    case "duration": dialect == .v4
    case "datetime", "datetimeoffset", "time", "guid", "x": dialect == .v2
    default: false
    }
  }

  static func cure(_ name: String, _ dialect: ODataDialect) -> String {
    switch (name.lowercased(), dialect) {
    case ("datetime", .v4), ("datetimeoffset", .v4): " (V4 writes 2012-09-03T13:52:00Z)"
    case ("time", .v4): " (in V4, write 13:52:00 or duration'PT13H52M')"
    case ("guid", .v4): " (in V4, write the GUID without quotes)"
    case ("x", .v4): " (in V4, write binary'…' in base64)"
    case ("duration", .v2): " (in V2, write time'PT…')"
    default: " (enumerations need the namespace before the type)"
    }
  }
}
