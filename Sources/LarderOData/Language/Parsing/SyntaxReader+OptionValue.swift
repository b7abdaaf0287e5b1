@_spi(Stores) import LarderHTTP

// Values of system query options (ABNF section 2, `systemQueryOption`).
extension SyntaxReader {
  /// Reads the value of an option and stores it.
  mutating func value(
    of option: SystemOption, _ place: OptionPlace, into options: inout ODataQueryOptions
  ) throws(ODataSyntaxError) {
    recordPosition(option, in: &options)
    switch option {
    case .filter: options.filter = try expression()
    case .orderby: options.orderBy = try orderByItems()
    case .select: options.select = try selectItems()
    case .expand: options.expand = try expandItems()
    case .compute: options.compute = try computeItems()
    case .apply: options.apply = try transformations()
    case .search:
      skipSpace()
      options.search = try searchExpression()
    case .skip: options.skip = try digits()
    case .top: options.top = try digits()
    case .count: options.count = try booleanWord()
    case .inlinecount: options.count = try inlineCount()
    case .levels: options.levels = try levels()
    case .index: options.index = try signedDigits()
    case .format: options.format = try formatValue()
    case .schemaversion: options.schemaVersion = try schemaVersion()
    case .skiptoken: options.skipToken = try opaque("a token")
    case .deltatoken: options.deltaToken = try opaque("a token")
    case .id: options.id = try opaque("a URL")
    case .at, .from, .to, .toInclusive:
      // The standard's tree has no place for the extension's options: they are kept as written.
      let position = position
      let start = index
      // For the grammar, `min` and `max` are names.
      _ = try expression()
      options.custom.append(
        ODataCustomOption(name: "$" + option.rawValue, value: string(start..<index), at: position))
    }
  }

  /// Stores the position of an option whose value has none.
  private func recordPosition(_ option: SystemOption, in options: inout ODataQueryOptions) {
    let kind: OptionKinds
    switch option {
    case .apply: kind = .apply
    case .search: kind = .search
    case .skip: kind = .skip
    case .top: kind = .top
    case .count, .inlinecount: kind = .count
    case .levels: kind = .levels
    case .index: kind = .index
    case .id: kind = .id
    default: return
    }
    options.positions[kind] = position
  }

  /// Reads an opaque text, which is not empty.
  private mutating func opaque(_ expected: String) throws(ODataSyntaxError) -> String {
    let text = try queryText()
    guard !text.isEmpty else { throw unexpected(expected) }
    return text
  }

  /// `true` or `false`, in any case.
  mutating func booleanWord() throws(ODataSyntaxError) -> Bool {
    if hasWord("true", at: index, anyCase: true) {
      index += 4
      return true
    }
    guard hasWord("false", at: index, anyCase: true) else { throw unexpected("true", "false") }
    index += 5
    return false
  }

  private mutating func inlineCount() throws(ODataSyntaxError) -> Bool {
    if take(exact: "allpages") { return true }
    guard take(exact: "none") else { throw unexpected("allpages", "none") }
    return false
  }

  /// Reads `$levels`: a number from 1 on, or `max`.
  private mutating func levels() throws(ODataSyntaxError) -> ODataLevels {
    if hasWord("max", at: index, anyCase: true) {
      index += 3
      return .max
    }
    guard peek != UInt8(ascii: "0") else { throw unexpected("a number of at least 1", "max") }
    return .count(try digits("a number of at least 1, or max"))
  }

  private mutating func signedDigits() throws(ODataSyntaxError) -> Int {
    take(UInt8(ascii: "-")) ? -(try digits()) : try digits()
  }

  /// Reads `$format`: a short name or a media type. V2 services may have further short names.
  private mutating func formatValue() throws(ODataSyntaxError) -> String {
    let start = index
    var slash: Int?
    while !isAtEnd {
      if peek == UInt8(ascii: "/"), slash == nil, index > start {
        slash = index
      } else if !isPathCharacter(at: index) {
        break
      }
      index += 1
    }
    let text = string(start..<index)
    guard !text.isEmpty else { throw unexpected("json", "xml", "atom", "a media type") }
    guard let slash else {
      // Parameters belong to media types, but clients also write them after the short names.
      let name = text.prefix { $0 != ";" }.lowercased()
      if dialect == .v2 || ["atom", "json", "xml"].contains(name) { return text }
      throw unexpected("'/'")
    }
    guard slash + 1 < index else { throw unexpected("a media type's second part") }
    return text
  }

  /// Whether a path segment allows the byte (RFC 3986 `pchar`) as it is or percent-encoded.
  func isPathCharacter(at place: Int) -> Bool {
    if isEncoded(place) { return true }
    switch bytes[place] {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: return true
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"),
      UInt8(ascii: "$"),
      UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"),
      UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "@"):
      return true
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): return false
    case 0x80...: return true
    default: return !options.isPercentEncoded && bytes[place] >= 0x20
    }
  }

  /// Reads `*`, or unreserved characters.
  private mutating func schemaVersion() throws(ODataSyntaxError) -> String {
    if take(UInt8(ascii: "*")) { return "*" }
    let start = index
    while !isAtEnd, PercentEncoding.isPlain(bytes[index], in: .unreserved) { index += 1 }
    guard index > start else { throw unexpected("a version", "'*'") }
    return string(start..<index)
  }
}
