@_spi(Stores) import LarderCore

// Values in the form of the grammar (ABNF section 7), read byte by byte, so that an error has its exact position.
// Expressions read literals less strictly (`primitiveLiteral()`).
extension SyntaxReader {
  /// Converts a part of the text to a value of a type.
  mutating func value(
    _ type: EdmPrimitiveType, _ scan: (inout SyntaxReader) throws(ODataSyntaxError) -> Void
  ) throws(ODataSyntaxError) -> ODataValue {
    let start = index
    try scan(&self)
    do { return try ODataValue(text: string(start..<index), type: type) } catch {
      throw self.error(.invalidLiteral("\(error)"), at: start)
    }
  }

  private var isDigit: Bool { peek &- 0x30 < 10 && !isAtEnd }

  private mutating func demandDigit(_ range: ClosedRange<UInt8> = 0x30...0x39) throws(ODataSyntaxError) {
    guard range.contains(peek), !isAtEnd else { throw unexpected("a digit") }
    index += 1
  }

  private mutating func scanDigits(_ limit: Int = .max) throws(ODataSyntaxError) {
    try demandDigit()
    var count = 1
    while isDigit, count < limit {
      index += 1
      count += 1
    }
  }

  private mutating func takeSign() -> Bool { take(UInt8(ascii: "+")) || take(UInt8(ascii: "-")) }

  private mutating func takeLetter(_ letter: Unicode.Scalar) -> Bool {
    guard !isAtEnd, peek | 0x20 == UInt8(truncatingIfNeeded: letter.value) else { return false }
    index += 1
    return true
  }

  /// `date`
  mutating func scanDate() throws(ODataSyntaxError) {
    _ = take(UInt8(ascii: "-"))
    let isShort = peek == UInt8(ascii: "0")
    for _ in 0..<4 { try demandDigit() }
    if !isShort { while isDigit { index += 1 } }
    try demand(UInt8(ascii: "-"))
    if take(UInt8(ascii: "0")) {
      try demandDigit(0x31...0x39)
    } else {
      try demandDigit(0x31...0x31)
      try demandDigit(0x30...0x32)
    }
    try demand(UInt8(ascii: "-"))
    if take(UInt8(ascii: "0")) {
      try demandDigit(0x31...0x39)
    } else if take(UInt8(ascii: "3")) {
      try demandDigit(0x30...0x31)
    } else {
      try demandDigit(0x31...0x32)
      try demandDigit()
    }
  }

  private mutating func scanHour() throws(ODataSyntaxError) {
    if take(UInt8(ascii: "2")) {
      try demandDigit(0x30...0x33)
    } else {
      try demandDigit(0x30...0x31)
      try demandDigit()
    }
  }

  private mutating func scanMinute() throws(ODataSyntaxError) {
    try demandDigit(0x30...0x35)
    try demandDigit()
  }

  /// `timeOfDayLiteral`, `timeOfDayValue`
  mutating func scanTimeOfDay() throws(ODataSyntaxError) {
    try scanHour()
    try demand(UInt8(ascii: ":"))
    try scanMinute()
    guard take(UInt8(ascii: ":")) else { return }
    // A leap second.
    if !take(exact: "60") { try scanMinute() }
    if take(UInt8(ascii: ".")) { try scanDigits(12) }
  }

  /// `dateTimeOffsetLiteral`, `dateTimeOffsetValue`
  mutating func scanDateTimeOffset() throws(ODataSyntaxError) {
    try scanDate()
    guard takeLetter("t") else { throw unexpected("'T'") }
    try scanTimeOfDay()
    if takeLetter("z") { return }
    guard takeSign() else { throw unexpected("'Z'", "'+'", "'-'") }
    try scanHour()
    try demand(UInt8(ascii: ":"))
    try scanMinute()
  }

  /// `durationValue`
  mutating func scanDuration() throws(ODataSyntaxError) {
    _ = take(UInt8(ascii: "-"))
    guard takeLetter("p") else { throw unexpected("'P'") }
    let hasDays = isDigit
    if hasDays {
      try scanDigits()
      guard takeLetter("d") else { throw unexpected("'D' (years and months have no fixed length)") }
    }
    guard takeLetter("t") else {
      guard hasDays else { throw unexpected("a number of days", "'T'") }
      return
    }
    guard isDigit else { throw unexpected("a number of hours, minutes or seconds") }
    var rest: [Unicode.Scalar] = ["h", "m", "s"]
    while isDigit, !rest.isEmpty {
      try scanDigits()
      if rest.last == "s", take(UInt8(ascii: ".")) {
        try scanDigits()
        rest = ["s"]
      }
      guard let place = rest.firstIndex(where: { takeLetter($0) }) else {
        throw error(.unexpected(expected: rest.map { "'\(Character($0).uppercased())'" }))
      }
      rest.removeFirst(place + 1)
    }
  }

  /// `decimalValue`, `doubleValue`, `singleValue` and their literals
  mutating func scanDecimal() throws(ODataSyntaxError) {
    if take(exact: "NaN") || take(exact: "INF") || take(exact: "-INF") { return }
    _ = takeSign()
    try scanDigits()
    if take(UInt8(ascii: ".")) { try scanDigits() }
    guard takeLetter("e") else { return }
    _ = takeSign()
    try scanDigits()
  }

  /// A whole number with at most the given number of digits. The grammar limits only the digits: a number that its type
  /// cannot hold becomes one of the next larger type.
  mutating func wholeNumber(
    _ type: EdmPrimitiveType, digits limit: Int, isSigned: Bool
  ) throws(ODataSyntaxError) -> ODataValue {
    let start = index
    if isSigned { _ = takeSign() }
    try scanDigits(limit)
    let text = string(start..<index)
    if let value = try? ODataValue(text: text, type: type) { return value }
    do { return try ODataValue(literal: text, dialect: .v4) } catch {
      throw self.error(.invalidLiteral("\(error)"), at: start)
    }
  }

  /// `guid`
  mutating func scanGuid() throws(ODataSyntaxError) {
    for (part, count) in [8, 4, 4, 4, 12].enumerated() {
      if part > 0 { try demand(UInt8(ascii: "-")) }
      for _ in 0..<count {
        guard Hexadecimal.value(peek) != nil, !isAtEnd else { throw unexpected("a hexadecimal digit") }
        index += 1
      }
    }
  }

  /// `binaryValue`
  mutating func scanBinary() throws(ODataSyntaxError) {
    let start = index
    while !isAtEnd, SyntaxReader.isBase64(peek) { index += 1 }
    let rest = (index - start) % 4
    guard rest != 0 else { return }
    guard rest > 1 else { throw unexpected("a character of base64url") }
    let last: StaticString = rest == 2 ? "AQgw" : "AEIMQUYcgkosw048"
    guard (0..<last.utf8CodeUnitCount).contains(where: { last.utf8Start[$0] == bytes[index - 1] }) else {
      throw unexpected("a character of base64url (the unused bits of the last one must be zero)")
    }
    if rest == 2 { _ = take(exact: "==") } else { _ = take(UInt8(ascii: "=")) }
  }

  private static func isBase64(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }

  /// `booleanValue`, and `boolean` in any case.
  mutating func booleanValue(anyCase: Bool) throws(ODataSyntaxError) -> ODataValue {
    guard anyCase || hasWord("true", at: index, anyCase: false) || hasWord("false", at: index, anyCase: false) else {
      throw unexpected("true", "false")
    }
    return .boolean(try booleanWord())
  }

  /// `enumValue`: members, or numbers, joined by commas.
  mutating func enumerationMembers() throws(ODataSyntaxError) -> String {
    let start = index
    repeat {
      let last = endOfIdentifier(at: index)
      if last > index {
        index = last
      } else {
        _ = takeSign()
        guard isDigit else { throw unexpected("a member of the enumeration", "a number") }
        try scanDigits(19)
      }
    } while take(UInt8(ascii: ","))
    return string(start..<index)
  }

  /// `enumLiteral`
  mutating func enumerationLiteral() throws(ODataSyntaxError) -> ODataEnumerationLiteral {
    var typeName: String?
    if peek != UInt8(ascii: "'") {
      let (name, isQualified) = try qualifiedName("a single quote or an enumeration's name")
      guard isQualified else { throw unexpected("'.' and the rest of the name") }
      typeName = name
    }
    let members = try singleQuoted { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      try reader.enumerationMembers()
    }
    return ODataEnumerationLiteral(typeName: typeName, members: members)
  }

  /// Reads a value between single quotes.
  mutating func singleQuoted<Value>(
    _ read: (inout SyntaxReader) throws(ODataSyntaxError) -> Value
  ) throws(ODataSyntaxError) -> Value {
    try demand(UInt8(ascii: "'"))
    let value = try read(&self)
    try demand(UInt8(ascii: "'"))
    return value
  }

  /// Reads `stringLiteral` strictly: only characters of a path's segment.
  mutating func strictString() throws(ODataSyntaxError) -> String {
    let start = index
    try demand(UInt8(ascii: "'"))
    while !isAtEnd {
      if peek == UInt8(ascii: "'") {
        index += 1
        guard take(UInt8(ascii: "'")) else {
          let last = index
          index = start
          defer { index = last }
          return try quotedString()
        }
      } else {
        guard isPathCharacter(at: index) else { break }
        index += 1
      }
    }
    throw unexpected("a single quote at the end")
  }
}
