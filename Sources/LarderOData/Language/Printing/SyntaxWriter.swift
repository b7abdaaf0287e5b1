@_spi(Stores) import LarderHTTP

/// Writes a text of the OData language: the counterpart of ``SyntaxReader``. Every construct is a mutating method in an
/// extension, one file for each topic.
///
/// Text of the grammar itself is written by ``raw(_:)`` and its siblings, unchanged. Everything from the tree is
/// written by ``name(_:_:)`` or ``encoded(_:)``, so that nothing in a tree can be read as grammar.
struct SyntaxWriter {
  /// Where the text will be used. It determines which characters it must not contain if nothing is percent-encoded.
  enum Place {
    /// A value alone: quotes are its only boundaries.
    case value
    /// In a query, between `?` and `#`.
    case query
    /// In the path of a URL.
    case path
    /// After `#`.
    case fragment
  }

  let printer: ODataPrinter
  var place: Place
  var bytes: [UInt8] = []
  /// The open options, outermost first.
  var options: [String] = []
  /// The lambda variables in scope, the innermost last.
  var variables: [String] = []
  /// Where the current list of options began, and the separator of its options.
  var openList: (start: Int, separator: StaticString) = (0, "&")
  private var depth = 0
  /// Stops recursion before the end of the stack.
  private var stack = StackGuard()

  init(printer: ODataPrinter, place: Place) {
    self.printer = printer
    self.place = place
    bytes.reserveCapacity(128)
  }

  var version: ODataVersion { printer.version }
  var dialect: ODataDialect { printer.version.dialect }
  /// Whether words are read in any case (4.01).
  var isRelaxed: Bool { version >= .v401 }

  func error(_ problem: ODataPrintingError.Problem) -> ODataPrintingError { ODataPrintingError(problem, in: options) }

  /// Throws if the version is not V4, for a construct that only V4 has.
  func demandV4(_ what: String, cure: String? = nil) throws(ODataPrintingError) {
    guard dialect == .v4 || !printer.isStrict else { throw error(.notInDialect(what, version, cure: cure)) }
  }

  /// Throws if the version is V4, for a construct that only V1 to V3 have.
  func demandV2(_ what: String, cure: String? = nil) throws(ODataPrintingError) {
    guard dialect == .v2 || !printer.isStrict else { throw error(.notInDialect(what, version, cure: cure)) }
  }

  func demand(_ what: String, least: Int, found: Int) throws(ODataPrintingError) {
    guard found >= least else { throw error(.tooFew(what, least: least, found: found)) }
  }

  /// Goes one level deeper. Recursive methods keep their stack frames small, as these add up: calls that do not go
  /// deeper are in separate functions.
  mutating func enter() throws(ODataPrintingError) {
    guard depth < printer.maxDepth else { throw error(.tooDeep(limit: printer.maxDepth)) }
    guard !stack.isSpent(at: depth, usual: 300) else { throw error(.tooDeep(limit: depth)) }
    depth += 1
  }

  mutating func leave() { depth -= 1 }

  /// Writes items with a separator between them.
  mutating func list<Item>(
    _ items: [Item], separator: StaticString = ",",
    _ write: (inout SyntaxWriter, Item) throws(ODataPrintingError) -> Void
  ) throws(ODataPrintingError) {
    var isFirst = true
    for item in items {
      if !isFirst { raw(separator) }
      isFirst = false
      try write(&self, item)
    }
  }

  /// Whether the text written since a position begins with a byte.
  func begins(at place: Int, with byte: UInt8) -> Bool { place < bytes.count && bytes[place] == byte }

  /// Encloses the text written since a position in parentheses.
  mutating func parenthesize(from place: Int) {
    bytes.insert(UInt8(ascii: "("), at: place)
    raw(")")
  }
}

// Text of the grammar.
extension SyntaxWriter {
  /// Writes characters that need no encoding in any place.
  mutating func raw(_ text: StaticString) { bytes.append(ascii: text) }

  /// Writes ASCII of the grammar or of a number.
  mutating func raw(_ text: some StringProtocol) { bytes.append(contentsOf: text.utf8) }

  /// Writes one space.
  mutating func space() { if printer.isPercentEncoded { raw("%20") } else { raw(" ") } }

  /// Writes a word with a space at each side.
  mutating func word(_ word: String) {
    space()
    raw(word)
    space()
  }

  /// Writes a character of the grammar that URLs cannot contain unencoded: `"`, `[`, `{`, `#`.
  mutating func escaped(_ byte: UInt8) {
    guard printer.isPercentEncoded else { return bytes.append(byte) }
    PercentEncoding.append(byte, to: &bytes)
  }
}

// Text of the tree.
extension SyntaxWriter {
  /// Writes a text of the tree: encoded, or rejected if it would need encoding that is turned off.
  ///
  /// - Parameters:
  ///   - quotesDoubled: whether the text is inside quotes.
  ///   - isStrict: whether characters that the grammar uses are encoded too, because the text has no delimiters around
  ///     it.
  mutating func encoded(
    _ text: String, quotesDoubled: Bool = false, isStrict: Bool = false
  ) throws(ODataPrintingError) {
    for byte in text.utf8 {
      if byte == UInt8(ascii: "'"), quotesDoubled { bytes.append(byte) }
      if printer.isPercentEncoded {
        if PercentEncoding.isPlain(byte, in: isStrict ? .unreserved : .content) {
          bytes.append(byte)
        } else {
          PercentEncoding.append(byte, to: &bytes)
        }
      } else {
        guard !separates(byte) else { throw error(.needsPercentEncoding(text)) }
        bytes.append(byte)
      }
    }
  }

  /// Writes `'…'`, in which quotes are doubled.
  mutating func quoted(_ text: String) throws(ODataPrintingError) {
    raw("'")
    try encoded(text, quotesDoubled: true)
    raw("'")
  }

  /// Whether a byte would end the current part of the URL if it is not encoded.
  private func separates(_ byte: UInt8) -> Bool {
    switch place {
    case .value: false
    case .query: byte == UInt8(ascii: "&") || byte == UInt8(ascii: "#")
    case .path: byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    case .fragment: byte == UInt8(ascii: "/") || byte == UInt8(ascii: "#")
    }
  }

  /// `odataIdentifier`
  mutating func name(_ name: String, _ expected: String = "identifier") throws(ODataPrintingError) {
    guard SyntaxWriter.isIdentifier(name[...]) else { throw error(.invalidName(name, expected: expected)) }
    try encoded(name)
  }

  /// Identifiers joined by dots: at least one, or at least two.
  mutating func qualifiedName(
    _ name: String, _ expected: String = "name", least: Int = 1
  ) throws(ODataPrintingError) {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count >= least, parts.allSatisfy(SyntaxWriter.isIdentifier) else {
      throw error(.invalidName(name, expected: least > 1 ? "qualified \(expected)" : expected))
    }
    try encoded(name)
  }

  /// A type's name, also `Collection(…)`.
  mutating func typeName(_ type: ODataTypeName) throws(ODataPrintingError) {
    if type.isCollection { raw("Collection(") }
    try qualifiedName(type.name, "name of a type")
    if type.isCollection { raw(")") }
  }

  /// Whether a text is an `odataIdentifier` from its first character to its last.
  static func isIdentifier(_ text: Substring) -> Bool {
    var isFirst = true
    var isPlain = true
    var count = 0
    for byte in text.utf8 {
      switch byte {
      case 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): break
      case 0x30...0x39 where !isFirst: break
      case 0x80...: isPlain = false
      default: return false
      }
      isFirst = false
      count += 1
    }
    if isPlain { return count > 0 && count <= SyntaxReader.longestName }
    let options = ODataParserOptions(isPercentEncoded: false)
    guard let reader = try? SyntaxReader(String(text), options: options) else { return false }
    return reader.endOfIdentifier(at: 0) == count
  }
}
