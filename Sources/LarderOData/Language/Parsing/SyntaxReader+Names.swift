// Names (ABNF section 6).
extension SyntaxReader {
  /// The longest name that the grammar allows, in characters (CSDL 4.01 §15.2).
  static let longestName = 128

  /// Returns the end of the identifier that begins at a position; the position itself if there is none.
  func endOfIdentifier(at start: Int) -> Int {
    var place = start
    var characters = 0
    while place < end {
      let byte = bytes[place]
      switch byte {
      case 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): break
      case 0x30...0x39 where place > start: break
      case 0x80...0xBF where place > start:
        place += 1
        continue
      case 0xC0...: guard isLetter(at: place, isFirst: place == start) else { return place }
      default: return place
      }
      guard characters < SyntaxReader.longestName else { return place }
      characters += 1
      place += 1
    }
    return place
  }

  /// Whether a name allows the multibyte character at a position: L and Nl at its start, later also Nd, Mn, Mc, Pc, Cf.
  private func isLetter(at place: Int, isFirst: Bool) -> Bool {
    var decoder = UTF8()
    var rest = bytes[place..<min(place + 4, end)].makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&rest) else { return false }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber: return true
    case .decimalNumber, .nonspacingMark, .spacingMark, .connectorPunctuation, .format: return !isFirst
    default: return false
    }
  }

  /// `odataIdentifier`
  mutating func identifier(_ expected: String = "a name") throws(ODataSyntaxError) -> String {
    let last = endOfIdentifier(at: index)
    guard last > index else { throw error(.unexpected(expected: [expected])) }
    defer { index = last }
    return string(index..<last)
  }

  /// A name with any number of namespace parts before it: `Name`, `Ns.Name`, `A.B.Name`.
  mutating func qualifiedName(
    _ expected: String = "a name"
  ) throws(ODataSyntaxError) -> (name: String, isQualified: Bool) {
    let start = index
    index = endOfIdentifier(at: index)
    guard index > start else { throw error(.unexpected(expected: [expected])) }
    var isQualified = false
    while peek == UInt8(ascii: ".") {
      let last = endOfIdentifier(at: index + 1)
      guard last > index + 1 else {
        noteFailedLookahead(to: index + 1)
        break
      }
      isQualified = true
      index = last
    }
    return (string(start..<index), isQualified)
  }

  /// Reads a type's name, also `Collection(…)` (ABNF `optionallyQualifiedTypeName`).
  mutating func typeName() throws(ODataSyntaxError) -> ODataTypeName {
    let position = position
    if hasWord("Collection", at: index, anyCase: false), peek(ahead: 10) == UInt8(ascii: "(") {
      index += 11
      let name = try qualifiedName("a type's name").name
      try demand(UInt8(ascii: ")"))
      return ODataTypeName(name, isCollection: true, at: position)
    }
    return ODataTypeName(try qualifiedName("a type's name").name, at: position)
  }

  /// Reads a number without a sign that fits an `Int` (ABNF `1*DIGIT`).
  mutating func digits(_ expected: String = "a number") throws(ODataSyntaxError) -> Int {
    let start = index
    var value = 0
    while case let digit = peek &- 0x30, digit < 10, index < end {
      let (tens, tooBig) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflow) = tens.addingReportingOverflow(Int(digit))
      guard !tooBig, !overflow else { throw error(.numberTooLarge, at: start) }
      value = sum
      index += 1
    }
    guard index > start else { throw error(.unexpected(expected: [expected])) }
    return value
  }
}
