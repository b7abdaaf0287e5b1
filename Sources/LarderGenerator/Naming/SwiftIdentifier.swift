/// Swift names for the names of a service, by Swift's API Design Guidelines: types in `UpperCamelCase`, members in
/// `lowerCamelCase`. Words are kept: `SalesOrderID` becomes `salesOrderID`, plural and singular stay.
package enum SwiftIdentifier {
  /// The name of a type: `A_SalesOrder` becomes `SalesOrder`, `order_item` `OrderItem`.
  package static func type(_ name: String) -> String { upperCamel(withoutViewPrefix(name)) }

  /// The name of a type with all its words: `A_SalesOrder` becomes `ASalesOrder`.
  package static func wholeType(_ name: String) -> String { upperCamel(name) }

  /// The name of a property, parameter or case: `SalesOrderID` becomes `salesOrderID`, `URLPath` `urlPath`.
  package static func member(_ name: String) -> String { lowerCamel(words(name)) }

  /// The name of a member without the prefix of a view: `C_OrderItem` becomes `orderItem`.
  static func viewMember(_ name: String) -> String { member(withoutViewPrefix(name)) }

  /// The name of a member that begins with the words of another name.
  static func member(_ beginning: String, then name: String) -> String { lowerCamel(words(beginning) + words(name)) }

  /// The name in a declaration: keywords are in backticks.
  package static func declared(_ name: String) -> String { SwiftKeywords.all.contains(name) ? "`\(name)`" : name }

  /// The name as the label of an argument in a call: every keyword but `inout` is allowed as it is.
  package static func label(_ name: String) -> String { name == "inout" ? "`inout`" : name }

  /// SAP begins the names of views with a letter that says what kind of view it is: `A_`, `C_`, `I_` and so on.
  private static func withoutViewPrefix(_ name: String) -> String {
    let scalars = Array(name.unicodeScalars)
    guard scalars.count > 2, "ACDEIPR".unicodeScalars.contains(scalars[0]), scalars[1] == "_",
      scalars[2].properties.isAlphabetic
    else { return name }
    return String(name.dropFirst(2))
  }

  private static func upperCamel(_ name: String) -> String {
    let words = words(name)
    return words.isEmpty ? "_" : valid(joined(words.map(capitalized)))
  }

  private static func lowerCamel(_ words: [String]) -> String {
    guard let first = words.first else { return "_" }
    return valid(joined([lowerCamel(first)] + words.dropFirst().map(capitalized)))
  }

  /// The parts between underscores and characters that no identifier has. Of several parts, those in capitals are
  /// words: `SALES_ORDER_ID` has `Sales`, `Order` and `ID`. Beside such a part, the capitals that another part begins
  /// with are a word too: `PO_HEADERSet` has `Po` and `HeaderSet`.
  private static func words(_ name: String) -> [String] {
    var words: [String] = []
    var word = ""
    for scalar in name.unicodeScalars {
      if scalar != "_", isIdentifierPart(scalar) {
        word.unicodeScalars.append(scalar)
      } else if !word.isEmpty {
        words.append(word)
        word = ""
      }
    }
    if !word.isEmpty { words.append(word) }
    guard words.count > 1, words.contains(where: isInCapitals) else { return words }
    return words.map { word in
      let (capitals, rest) = isInCapitals(word) ? (word[...], "") : leadingCapitals(word)
      if initialisms.contains(String(capitals)) { return word }
      return capitals.prefix(1) + capitals.dropFirst().lowercased() + rest
    }
  }

  /// Whether a word has several letters, all of them capitals.
  private static func isInCapitals(_ word: String) -> Bool {
    word.count { $0.isUppercase } > 1 && !word.contains { $0.isLowercase }
  }

  /// The capitals that a word begins with, without the one that begins the next word, and the rest of the word.
  private static func leadingCapitals(_ word: String) -> (capitals: Substring, rest: Substring) {
    let capitals = word.prefix { $0.isUppercase }
    let rest = word[capitals.endIndex...]
    if capitals.count < 2 || isPluralEnding(rest) { return (capitals, rest) }
    return (capitals.dropLast(), word[word.index(before: capitals.endIndex)...])
  }

  /// Whether capitals before a text are an abbreviation in the plural, as in `IDs`.
  private static func isPluralEnding(_ rest: Substring) -> Bool {
    rest.first == "s" && rest.dropFirst().first?.isLowercase != true
  }

  private static let initialisms: Set = ["ID", "URL", "URI", "UUID", "GUID"]

  /// Joins words. Digits stay apart: `Line_1_2` is not `Line_12`.
  private static func joined(_ words: [String]) -> String {
    words.reduce(into: "") { name, word in
      if name.last?.isNumber == true, word.first?.isNumber == true { name += "_" }
      name += word
    }
  }

  private static func capitalized(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }

  /// The word with its leading capitals in lower case, except the one that begins the next word.
  private static func lowerCamel(_ word: String) -> String {
    let capitals = word.prefix { $0.isUppercase }
    let rest = word[capitals.endIndex...]
    guard capitals.count > 1, let next = rest.first, next.isLowercase else { return capitals.lowercased() + rest }
    if isPluralEnding(rest) { return capitals.lowercased() + rest }
    return capitals.dropLast().lowercased() + capitals.suffix(1) + rest
  }

  /// An identifier does not begin with a digit or a combining mark.
  private static func valid(_ name: String) -> String {
    guard let first = name.unicodeScalars.first else { return "_" }
    let isMark = [.nonspacingMark, .spacingMark].contains(first.properties.generalCategory)
    return isMark || ("0"..."9").contains(first) ? "_" + name : name
  }

  /// Letters, digits and marks that Swift's grammar allows (The Swift Programming Language, "Identifiers").
  private static func isIdentifierPart(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) }
    guard ranges.contains(where: { $0.contains(scalar.value) }) else { return false }
    return switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .nonspacingMark, .spacingMark:
      true
    default: false
    }
  }

  private static let ranges: [ClosedRange<UInt32>] = [
    0xAA...0xAA, 0xB5...0xB5, 0xBA...0xBA, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x167F, 0x1681...0x180D, 0x180F...0x1FFF,
    0x2070...0x20FF, 0x2100...0x218F, 0x2C00...0x2DFF, 0x2E80...0x2FFF, 0x3004...0x3007, 0x3021...0x302F,
    0x3031...0xD7FF, 0xF900...0xFD3D, 0xFD40...0xFDCF, 0xFDF0...0xFE44, 0xFE47...0xFFFD, 0x10000...0x1FFFD,
    0x20000...0x2FFFD, 0x30000...0x3FFFD,
  ]
}
