// Preferences of `Prefer` (ABNF section 8; Protocol 4.01 §8.2.8; RFC 7240).

/// The names of the preferences, without `odata.`.
enum PreferenceName: String, CaseIterable {
  case allowEntityReferences = "allow-entityreferences"
  case callback
  case continueOnError = "continue-on-error"
  case includeAnnotations = "include-annotations"
  case maxPageSize = "maxpagesize"
  case omitValues = "omit-values"
  case respondAsync = "respond-async"
  case `return`
  case trackChanges = "track-changes"
  case wait

  /// Whether the preference may have the prefix `odata.`: those that OData 4.0 defined.
  var allowsPrefix: Bool {
    switch self {
    case .omitValues, .respondAsync, .return, .wait: false
    default: true
    }
  }
}

extension SyntaxReader {
  /// Reads one of the given preferences.
  mutating func preference(_ allowed: [PreferenceName]) throws(ODataSyntaxError) -> ODataPreference {
    var allowed = allowed
    if hasWord("odata.", at: index, anyCase: true) {
      index += 6
      allowed.removeAll { !$0.allowsPrefix }
    }
    guard let name = takeName(of: allowed) else {
      throw error(.unexpected(expected: allowed.map { "'\($0.rawValue)'" }))
    }
    switch name {
    case .allowEntityReferences: return .allowEntityReferences
    case .callback: return .callback(url: try callbackURL())
    case .continueOnError: return .continueOnError(takeEqual() ? try booleanPreference() : true)
    case .includeAnnotations:
      try demandEqual()
      return .includeAnnotations(try quoted { (reader) throws(ODataSyntaxError) in try reader.annotationPatterns() })
    case .maxPageSize:
      try demandEqual()
      guard peek >= 0x31, peek <= 0x39 else { throw unexpected("a number above 0") }
      return .maxPageSize(try digits())
    case .omitValues:
      try demandEqual()
      if takeAnyCase("nulls") { return .omitValues(isDefaults: false) }
      guard takeAnyCase("defaults") else { throw unexpected("'nulls'", "'defaults'") }
      return .omitValues(isDefaults: true)
    case .respondAsync: return .respondAsync
    case .return:
      try demandEqual()
      if take(exact: "minimal") { return .return(isMinimal: true) }
      guard take(exact: "representation") else { throw unexpected("'minimal'", "'representation'") }
      return .return(isMinimal: false)
    case .trackChanges: return .trackChanges
    case .wait:
      try demandEqual()
      return .wait(seconds: try digits())
    }
  }

  private mutating func callbackURL() throws(ODataSyntaxError) -> String {
    skipSpace()
    try demand(UInt8(ascii: ";"))
    skipSpace()
    guard takeAnyCase("url") else { throw unexpected("'url'") }
    try demandEqual()
    return try quoted { (reader) throws(ODataSyntaxError) in try reader.uri() }
  }

  /// `annotationsList`
  mutating func annotationPatterns() throws(ODataSyntaxError) -> [ODataAnnotationPattern] {
    var patterns = [try annotationPattern()]
    while take(UInt8(ascii: ",")) { patterns.append(try annotationPattern()) }
    return patterns
  }

  /// `annotationIdentifier`
  mutating func annotationPattern() throws(ODataSyntaxError) -> ODataAnnotationPattern {
    var pattern = ODataAnnotationPattern(isExcluded: take(UInt8(ascii: "-")), namespace: nil, term: nil)
    if !takeStar() {
      var parts = [try identifier("'*' or a namespace")]
      var isAny = false
      while !isAny, take(UInt8(ascii: ".")) {
        isAny = takeStar()
        if !isAny { parts.append(try identifier("'*' or a term's name")) }
      }
      if !isAny {
        guard parts.count > 1 else { throw unexpected("'.'") }
        pattern.term = parts.removeLast()
      }
      pattern.namespace = parts.joined(separator: ".")
    }
    if take(UInt8(ascii: "#")) { pattern.qualifier = try identifier("a qualifier") }
    return pattern
  }

  /// `STAR`
  private mutating func takeStar() -> Bool { take(UInt8(ascii: "*")) || takeAnyCase("%2A") }

  private mutating func quoted<Value>(
    _ read: (inout SyntaxReader) throws(ODataSyntaxError) -> Value
  ) throws(ODataSyntaxError) -> Value {
    try demand(UInt8(ascii: "\""))
    let value = try read(&self)
    try demand(UInt8(ascii: "\""))
    return value
  }

  private mutating func takeAnyCase(_ word: StaticString) -> Bool {
    guard hasWord(word, at: index, anyCase: true) else { return false }
    index += word.utf8CodeUnitCount
    return true
  }

  private mutating func booleanPreference() throws(ODataSyntaxError) -> Bool {
    if takeAnyCase("true") { return true }
    guard takeAnyCase("false") else { throw unexpected("'true'", "'false'") }
    return false
  }

  /// Reads `EQ-h`; takes nothing if there is no `=`.
  private mutating func takeEqual() -> Bool {
    let start = index
    skipSpace()
    guard take(UInt8(ascii: "=")) else {
      index = start
      return false
    }
    skipSpace()
    return true
  }

  private mutating func demandEqual() throws(ODataSyntaxError) {
    guard takeEqual() else {
      skipSpace()
      throw unexpected("'='")
    }
  }
}
