// `$search` (URL Conventions 4.01 §5.1.8; ABNF `searchExpr`).
extension SyntaxReader {
  /// Reads the value of `$search`: words, phrases, `AND`, `OR`, `NOT`, parentheses; or, in single quotes, a text that
  /// the user is still typing.
  mutating func searchExpression() throws(ODataSyntaxError) -> ODataSearchExpression {
    peek == UInt8(ascii: "'") ? try incompleteSearch() : try searchAlternatives()
  }

  /// Reads a text that need not be a search expression of OData (SAP's `search` in V2).
  static func freeSearch(_ text: String) -> ODataSearchExpression {
    let options = ODataParserOptions(isPercentEncoded: false)
    guard var reader = try? SyntaxReader(text, options: options),
      let search = try? reader.readToEnd({
        (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.searchAlternatives()
      })
    else { return .phrase(text) }
    return search
  }

  /// Reads `searchExpr`: terms joined by `OR`.
  private mutating func searchAlternatives() throws(ODataSyntaxError) -> ODataSearchExpression {
    var terms: [ODataSearchExpression] = []
    while true {
      let term = try searchConjunction()
      if case .or(let inner) = term { terms += inner } else { terms.append(term) }
      guard let after = searchOperator("OR") else { break }
      index = after
    }
    return terms.count == 1 ? terms[0] : .or(terms)
  }

  /// Reads terms joined by `AND` or by white space alone.
  private mutating func searchConjunction() throws(ODataSyntaxError) -> ODataSearchExpression {
    var terms: [ODataSearchExpression] = []
    while true {
      let term = try searchTerm()
      if case .and(let inner) = term { terms += inner } else { terms.append(term) }
      if searchOperator("OR") != nil { break }
      if let after = searchOperator("AND") {
        index = after
        continue
      }
      let last = index
      guard takeSpace(), beginsSearchTerm(at: index) else {
        index = last
        break
      }
    }
    return terms.count == 1 ? terms[0] : .and(terms)
  }

  /// Returns where the right side of an operator between white space begins; nil if the word is not an operator,
  /// because no right side can follow.
  private func searchOperator(_ word: StaticString) -> Int? {
    let start = endOfSpace(from: index)
    guard start > index, hasWord(word, at: start, anyCase: false) else { return nil }
    let last = start + word.utf8CodeUnitCount
    let after = endOfSpace(from: last)
    return after > last && beginsSearchTerm(at: after) ? after : nil
  }

  private func endOfSpace(from start: Int) -> Int {
    var place = start
    while place < end, bytes[place] == 0x20 || bytes[place] == 0x09 { place += 1 }
    return place
  }

  private func beginsSearchTerm(at place: Int) -> Bool {
    guard place < end else { return false }
    let byte = bytes[place]
    return byte == UInt8(ascii: "(") || byte == UInt8(ascii: "\"") || isSearchCharacter(at: place)
  }

  private mutating func searchTerm() throws(ODataSyntaxError) -> ODataSearchExpression {
    switch peek {
    case UInt8(ascii: "("):
      return try nested { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        reader.index += 1
        reader.skipSpace()
        let search = try reader.searchAlternatives()
        reader.skipSpace()
        guard reader.take(UInt8(ascii: ")")) else { throw reader.unexpected("a word", "AND", "OR", "')'") }
        return search
      }
    case UInt8(ascii: "\""): return try searchPhrase()
    default: break
    }
    if hasWord("NOT", at: index, anyCase: false) {
      let after = endOfSpace(from: index + 3)
      if after > index + 3, beginsSearchTerm(at: after) {
        return try nested { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
          reader.index = after
          return .not(try reader.searchTerm())
        }
      }
    }
    return .word(try searchWord())
  }

  /// `searchPhrase`
  mutating func searchPhrase() throws(ODataSyntaxError) -> ODataSearchExpression {
    try demand(UInt8(ascii: "\""))
    let start = index
    while !isAtEnd, peek != UInt8(ascii: "\"") {
      guard isQueryCharacter(at: index) else { throw unexpected("'\"'") }
      index += 1
    }
    guard index > start else { throw unexpected("text") }
    let text = string(start..<index)
    try demand(UInt8(ascii: "\""))
    return .phrase(text)
  }

  /// `searchWord`
  mutating func searchWord() throws(ODataSyntaxError) -> String {
    let start = index
    while !isAtEnd, isSearchCharacter(at: index) || index > start && peek == UInt8(ascii: "'") { index += 1 }
    guard index > start else { throw unexpected("a word", "'\"'", "'('") }
    return string(start..<index)
  }

  /// Whether a byte is a `searchChar`: neither parentheses nor double quotes nor white space, encoded or not; other
  /// separators of a URL only encoded.
  private func isSearchCharacter(at place: Int) -> Bool {
    let byte = bytes[place]
    switch byte {
    case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "\""), 0x00...0x20, 0x7F: return false
    case UInt8(ascii: "'"), UInt8(ascii: ";"), UInt8(ascii: "&"), UInt8(ascii: "#"), UInt8(ascii: "["),
      UInt8(ascii: "]"),
      UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
      UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "%"):
      return isEncoded(place) || !options.isPercentEncoded && byte != UInt8(ascii: ";") && byte != UInt8(ascii: "'")
    default: return true
    }
  }

  /// Reads `searchExpr-incomplete`: a text in single quotes, in which quotes are doubled.
  private mutating func incompleteSearch() throws(ODataSyntaxError) -> ODataSearchExpression {
    index += 1
    var text: [UInt8] = []
    while !isAtEnd {
      if peek == UInt8(ascii: "'") {
        guard peek(ahead: 1) == UInt8(ascii: "'") else {
          index += 1
          return .incomplete(String(decoding: text, as: UTF8.self))
        }
        index += 1
      } else if !isQueryCharacter(at: index) {
        break
      }
      text.append(bytes[index])
      index += 1
    }
    throw unexpected("a single quote at the end")
  }
}
