// Primitive literals (ABNF `primitiveLiteral`; V2: Primitive Types, "Literal Form").
extension SyntaxReader {
  /// A literal of either dialect. Numbers take the smallest type that their form allows.
  mutating func primitiveLiteral() throws(ODataSyntaxError) -> ODataExpression {
    let position = position
    let start = index
    switch peek {
    case UInt8(ascii: "'"): return ODataExpression(.literal(.string(try quotedString())), at: position)
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"):
      guard let value = try guidOrMoment() else { return ODataExpression(.literal(try number()), at: position) }
      return ODataExpression(.literal(value), at: position)
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
      lookedInVain(to: last)
      throw unexpected("a literal: '\(name)' is none, a text stands in quotes")
    }
    return ODataExpression(.literal(value), at: position)
  }

  /// Whether what begins with the identifier that ends at a place is a literal.
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

  /// Whether more parts of a name and then a quote follow.
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
  private func word(_ name: String) -> ODataValue? {
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

  /// `'…'`, quotes inside doubled.
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
      return undoubled(first..<index)
    }
    throw error(.unexpected(expected: ["a quote that ends the text begun at character \(offset(of: start) + 1)"]))
  }

  private func undoubled(_ range: Range<Int>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(range.count)
    var place = range.lowerBound
    while place < range.upperBound {
      text.append(bytes[place])
      place += bytes[place] == UInt8(ascii: "'") ? 2 : 1
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// `duration'…'`, `datetime'…'`, `Ns.Color'Red'` and their like.
  private mutating func prefixedLiteral(
    _ name: String, isQualified: Bool, at position: SourcePosition
  ) throws(ODataSyntaxError) -> ODataExpression {
    let start = index
    index += name.utf8.count
    _ = try quotedString()
    let text = string(start..<index)
    do {
      if isQualified {
        let (typeName, members) = try ODataValue.enumeration(literal: text)
        return ODataExpression(
          .enumeration(ODataEnumerationLiteral(typeName: typeName, members: members)), at: position)
      }
      guard LiteralWords.isPrefix(name, dialect) else {
        index = start
        throw error(.notInDialect("the literal \(name)'…'" + LiteralWords.cure(name, dialect)))
      }
      let value: ODataValue
      if dialect == .v4, name.lowercased() == "binary" {
        // Both alphabets are sent, and with padding as without.
        let digits = text.replacing("+", with: "-").replacing("/", with: "_")
        value = try ODataValue(literal: digits, dialect: dialect)
      } else {
        value = try ODataValue(literal: text, dialect: dialect)
      }
      return ODataExpression(.literal(value), at: position)
    } catch let failure as ODataValueError {
      throw error(.invalidLiteral("\(failure)"), at: start)
    } catch let failure as ODataSyntaxError {
      throw failure
    } catch {
      throw self.error(.invalidLiteral("\(error)"), at: start)
    }
  }

  private mutating func literal(
    _ range: Range<Int>, _ type: EdmPrimitiveType, at position: SourcePosition
  ) throws(ODataSyntaxError) -> ODataExpression {
    ODataExpression(.literal(try value(range, type)), at: position)
  }

  /// The value that a part of the text has as a literal of a type.
  private mutating func value(
    _ range: Range<Int>, _ type: EdmPrimitiveType?, _ dialect: ODataDialect = .v4
  ) throws(ODataSyntaxError) -> ODataValue {
    let value: ODataValue
    do {
      if let type {
        value = try ODataValue(literal: string(range), type: type, dialect: dialect)
      } else {
        value = try ODataValue(literal: string(range), dialect: dialect)
      }
    } catch {
      throw self.error(.invalidLiteral("\(error)"), at: range.lowerBound)
    }
    index = range.upperBound
    return value
  }
}

// Numbers, moments, GUIDs.
extension SyntaxReader {
  private func isDigit(_ place: Int) -> Bool { place < end && bytes[place] &- 0x30 < 10 }

  /// Whether a number begins here, with its sign.
  func isNumber(at place: Int) -> Bool {
    isDigit(place + 1)
      || dialect == .v4 && stands("-INF", at: place, anyCase: false) && endOfIdentifier(at: place + 1) == place + 4
  }

  /// 8-4-4-4-12 hexadecimal digits.
  private func endOfGuid(at start: Int) -> Int? {
    guard start + 36 <= end, start + 8 < end, bytes[start + 8] == UInt8(ascii: "-") else { return nil }
    for step in 0..<36 {
      let byte = bytes[start + step]
      switch step {
      case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return nil }
      default: guard Hexadecimal.value(byte) != nil else { return nil }
      }
    }
    return start + 36
  }

  /// A GUID, date, moment or time of day; nil where a number stands here. V2 has none of these without quotes.
  private mutating func guidOrMoment() throws(ODataSyntaxError) -> ODataValue? {
    guard dialect == .v4 else { return nil }
    if let last = endOfGuid(at: index) { return try value(index..<last, .guid) }
    if let last = endOfTime(at: index) { return try value(index..<last, .timeOfDay) }
    guard let dateEnd = endOfDate(at: index) else { return nil }
    guard dateEnd < end, bytes[dateEnd] | 0x20 == UInt8(ascii: "t"), let timeEnd = endOfTime(at: dateEnd + 1) else {
      return try value(index..<dateEnd, .date)
    }
    guard let last = endOfOffset(at: timeEnd) else {
      // No offset: no moment of V4, but one that clients send; it binds as UTC.
      return try value(index..<timeEnd, .dateTime)
    }
    return try value(index..<last, .dateTimeOffset)
  }

  /// A year of four digits or more, a month and a day.
  private func endOfDate(at start: Int) -> Int? {
    var place = start
    if place < end, bytes[place] == UInt8(ascii: "-") { place += 1 }
    let first = place
    while isDigit(place) { place += 1 }
    guard place - first >= 4, place + 5 < end || place + 5 == end - 1 || place + 6 <= end else { return nil }
    for step in 0..<2 {
      let dash = place + step * 3
      guard dash < end, bytes[dash] == UInt8(ascii: "-"), isDigit(dash + 1), isDigit(dash + 2) else { return nil }
    }
    return place + 6
  }

  private func endOfTime(at start: Int) -> Int? {
    guard isDigit(start), isDigit(start + 1), start + 2 < end, bytes[start + 2] == UInt8(ascii: ":"),
      isDigit(start + 3), isDigit(start + 4)
    else { return nil }
    var place = start + 5
    guard place < end, bytes[place] == UInt8(ascii: ":"), isDigit(place + 1), isDigit(place + 2) else { return place }
    place += 3
    guard place < end, bytes[place] == UInt8(ascii: "."), isDigit(place + 1) else { return place }
    place += 1
    while isDigit(place) { place += 1 }
    return place
  }

  private func endOfOffset(at start: Int) -> Int? {
    guard start < end else { return nil }
    switch bytes[start] {
    case UInt8(ascii: "Z"), UInt8(ascii: "z"): return start + 1
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      guard isDigit(start + 1), isDigit(start + 2), start + 3 < end, bytes[start + 3] == UInt8(ascii: ":"),
        isDigit(start + 4), isDigit(start + 5)
      else { return nil }
      return start + 6
    default: return nil
    }
  }

  /// A number, with V2's suffix too: clients send it to services of V4 as well.
  private mutating func number() throws(ODataSyntaxError) -> ODataValue {
    let start = index
    var place = start
    if bytes[place] == UInt8(ascii: "-") || bytes[place] == UInt8(ascii: "+") { place += 1 }
    if stands("INF", at: place, anyCase: false), endOfIdentifier(at: place) == place + 3 {
      return try value(start..<place + 3, nil)
    }
    let digits = place
    while isDigit(place) { place += 1 }
    guard place > digits else { throw error(.unexpected(expected: ["a digit"]), at: place) }
    if place < end, bytes[place] == UInt8(ascii: ".") {
      guard isDigit(place + 1) else { throw error(.unexpected(expected: ["a digit"]), at: place + 1) }
      place += 1
      while isDigit(place) { place += 1 }
    }
    if place < end, bytes[place] | 0x20 == UInt8(ascii: "e") {
      var exponent = place + 1
      if exponent < end, bytes[exponent] == UInt8(ascii: "+") || bytes[exponent] == UInt8(ascii: "-") { exponent += 1 }
      guard isDigit(exponent) else { throw error(.unexpected(expected: ["a digit"]), at: exponent) }
      place = exponent
      while isDigit(place) { place += 1 }
    }
    let letter = place < end ? bytes[place] | 0x20 : 0
    if letter == UInt8(ascii: "l") || letter == UInt8(ascii: "m") || letter == UInt8(ascii: "d")
      || letter == UInt8(ascii: "f"),
      endOfIdentifier(at: place) == place + 1
    {
      return try value(start..<place + 1, nil, .v2)
    }
    return try value(start..<place, nil, dialect)
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
    case ("time", .v4): " (V4 writes 13:52:00, or duration'PT13H52M')"
    case ("guid", .v4): " (V4 writes the GUID without quotes)"
    case ("x", .v4): " (V4 writes binary'…' in base64)"
    case ("duration", .v2): " (V2 writes time'PT…')"
    default: " (enumerations need the namespace before the type)"
    }
  }
}
