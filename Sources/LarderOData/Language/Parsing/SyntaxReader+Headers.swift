// Headers (ABNF section 8; Protocol 4.01 §8). Names are read in any case.

/// The names of the headers.
enum HeaderName: String, CaseIterable {
  case asyncResult = "AsyncResult"
  case contentID = "Content-ID"
  case isolation = "Isolation"
  case odataIsolation = "OData-Isolation"
  case entityID = "OData-EntityID"
  case error = "OData-Error"
  case maxVersion = "OData-MaxVersion"
  case version = "OData-Version"
  case prefer = "Prefer"
}

extension SyntaxReader {
  /// Reads one of the given headers.
  mutating func header(_ allowed: [HeaderName]) throws(ODataSyntaxError) -> ODataHeader {
    guard let name = takeName(of: allowed) else {
      let hasPrefix = hasWord("OData-", at: index, anyCase: true)
      throw error(.unexpected(expected: allowed.map { "'\($0.rawValue)'" }), at: hasPrefix ? index + 6 : index)
    }
    try demand(UInt8(ascii: ":"))
    skipSpace()
    switch name {
    case .asyncResult: return .asyncResult(try statusCode())
    case .contentID: return .contentID(try requestID())
    case .isolation, .odataIsolation:
      guard hasWord("snapshot", at: index, anyCase: true) else { throw unexpected("'snapshot'") }
      index += 8
      return .isolation
    case .entityID: return .entityID(try visible("an IRI", orSpace: false))
    case .error:
      let start = index
      for part: StaticString in ["{", "\"", "code", "\"", ":"] {
        guard take(exact: part) else { throw unexpected("'{\"code\":' and more JSON") }
      }
      _ = visibleRun(orSpace: true)
      return .error(string(start..<index))
    case .maxVersion:
      let major = try digits()
      try demand(UInt8(ascii: "."))
      return .maxVersion(major: major, minor: try digits())
    case .version: return .version(try version())
    case .prefer:
      return .prefer(try list { (reader) throws(ODataSyntaxError) in try reader.preference(PreferenceName.allCases) })
    }
  }

  /// Takes the longest of the allowed names that the text continues with, in any case.
  mutating func takeName<Name: RawRepresentable>(of allowed: [Name]) -> Name? where Name.RawValue == String {
    let longest = allowed.map(\.rawValue.utf8.count).max() ?? 0
    let nextCharacters = string(index..<min(index + longest, end)).lowercased()
    let matchingNames = allowed.filter { nextCharacters.hasPrefix($0.rawValue.lowercased()) }
    guard let name = matchingNames.max(by: { $0.rawValue.utf8.count < $1.rawValue.utf8.count }) else { return nil }
    index += name.rawValue.utf8.count
    return name
  }

  static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
  }

  private mutating func statusCode() throws(ODataSyntaxError) -> Int {
    let start = index
    while index < start + 3 {
      guard peek >= 0x30, peek <= 0x39 else { throw unexpected("three digits") }
      index += 1
    }
    return Int(string(start..<index)) ?? 0
  }

  /// `"4.0" [ oneToNine ]`
  private mutating func version() throws(ODataSyntaxError) -> String {
    let start = index
    guard take(exact: "4.0") else { throw unexpected("'4.0'") }
    if peek >= 0x31, peek <= 0x39 { index += 1 }
    return string(start..<index)
  }

  /// `request-id`: unreserved characters.
  mutating func requestID() throws(ODataSyntaxError) -> String {
    let start = index
    while SyntaxReader.isAlphanumeric(peek) || "-._~".utf8.contains(peek) { index += 1 }
    guard index > start else { throw unexpected("a letter, a digit or one of '-._~'") }
    return string(start..<index)
  }

  /// Reads visible characters and those beyond ASCII, at least one.
  mutating func visible(_ expected: String, orSpace: Bool) throws(ODataSyntaxError) -> String {
    let start = index
    guard visibleRun(orSpace: orSpace) else { throw unexpected(expected) }
    return string(start..<index)
  }

  private mutating func visibleRun(orSpace: Bool) -> Bool {
    let start = index
    while index < end, bytes[index] > 0x20 && bytes[index] != 0x7F || orSpace && bytes[index] == 0x20 { index += 1 }
    return index > start
  }
}
