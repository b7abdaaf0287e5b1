// Literals in their one canonical spelling (ABNF `primitiveLiteral`; V2: Primitive Types, "Literal Form").
extension SyntaxWriter {
  mutating func literal(_ value: ODataValue) throws(ODataPrintingError) {
    switch value {
    case .string(let text): try quoted(text)
    case .enumeration(let members): try enumeration(ODataEnumerationLiteral(typeName: nil, members: members))
    case .null: try literalWord("null")
    case .boolean(let flag): try literalWord(flag ? "true" : "false")
    case .decimal(let number): try decimal(number, keepsFraction: dialect == .v4, suffix: "M")
    case .int64(let number) where dialect == .v4 && !printer.isStrict && Int32(exactly: number) != nil:
      raw("\(number)L")
    case .geo(let geo) where geo.srid == nil && !printer.isStrict:
      raw(geo.space.rawValue)
      try quoted(geo.wellKnownText)
    case .untypedNumber(let number): try decimal(number, keepsFraction: false, suffix: "")
    case .double(let number): try floating(number, suffix: "d")
    case .single(let number): try floating(number, suffix: "f")
    case .complex, .collection:
      throw error(
        .invalidValue("\(value.kind) cannot be a literal; create an object or array with ODataExpression(value:)"))
    case .dateTime(let dateTime) where dialect == .v4:
      // Clients send it and parsers read it, although the standard requires an offset.
      try encoded(dateTime.description)
    default:
      let text: String
      do { text = try value.literal(dialect: dialect) } catch { throw self.error(.invalidValue("\(error)")) }
      try encoded(text)
    }
  }

  /// Writes a literal that is a word; a variable of the same name would hide it.
  private mutating func literalWord(_ word: String) throws(ODataPrintingError) {
    guard !variables.contains(word) else {
      throw error(.ambiguousName(word, readsAs: "the variable", cure: "give the variable another name"))
    }
    raw(word)
  }

  private mutating func decimal(
    _ number: ODataDecimal, keepsFraction: Bool, suffix: StaticString
  ) throws(ODataPrintingError) {
    guard number.isFinite else { return try literalWord(number.description) }
    raw(number.shortestText(keepsFraction: keepsFraction))
    if dialect == .v2 { raw(suffix) }
  }

  private mutating func floating(
    _ number: some BinaryFloatingPoint & LosslessStringConvertible, suffix: StaticString
  ) throws(ODataPrintingError) {
    guard number.isFinite else { return try literalWord(number.isNaN ? "NaN" : number < 0 ? "-INF" : "INF") }
    guard let exact = ODataDecimal(number.description) else {
      throw error(.invalidValue("\(number) is not a number of OData"))
    }
    if number == 0, number.sign == .minus { raw("-") }
    raw(exact.shortestText(keepsFraction: true))
    if dialect == .v2 || !printer.isStrict { raw(suffix) }
  }

  /// `Sales.Pattern'Red,Yellow'`
  mutating func enumeration(_ literal: ODataEnumerationLiteral) throws(ODataPrintingError) {
    if let name = literal.typeName {
      try qualifiedName(name, "name of an enumeration", least: 2)
    } else if version < .v401, printer.isStrict {
      throw error(
        .notInDialect("a member of an enumeration without its type", version, cure: "write Ns.Type'\(literal.members)'")
      )
    }
    var members = literal.members
    guard members.withUTF8({ EnumerationText.read($0) != nil }) else {
      throw error(.invalidName(literal.members, expected: "list of an enumeration's members"))
    }
    try quoted(literal.members)
  }
}

extension ODataDecimal {
  /// The most digits that are written before an exponent is used.
  private static let longestPlain: Int64 = 40

  /// The shortest text of a finite number, equal for all of its scales.
  ///
  /// - Parameter keepsFraction: whether a whole number that fits into an integer type ends with `.0`, so that it does
  ///   not read back as an integer.
  func shortestText(keepsFraction: Bool) -> String {
    var digits = digits
    var exponent = Int64(exponent)
    while digits.count > 1, digits.last == 0 {
      digits.removeLast()
      exponent += 1
    }
    if digits == [0] { exponent = 0 }
    let sign = signum < 0 ? "-" : ""
    var text = digits.map { UInt8($0) + 0x30 }
    let point = Int64(digits.count) + exponent
    if point > ODataDecimal.longestPlain || point < -ODataDecimal.longestPlain {
      if text.count > 1 { text.insert(UInt8(ascii: "."), at: 1) }
      return sign + String(decoding: text, as: UTF8.self) + "e\(point - 1)"
    }
    if exponent >= 0 {
      text.append(contentsOf: repeatElement(0x30, count: Int(exponent)))
      let whole = sign + String(decoding: text, as: UTF8.self)
      return keepsFraction && Int64(whole) != nil ? whole + ".0" : whole
    }
    if point <= 0 { text.insert(contentsOf: repeatElement(0x30, count: Int(1 - point)), at: 0) }
    text.insert(UInt8(ascii: "."), at: Int(max(point, 1)))
    return sign + String(decoding: text, as: UTF8.self)
  }
}
