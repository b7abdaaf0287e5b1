// `$search` (URL Conventions 4.01 §5.1.7). NOT binds tightest, then AND, then OR.
extension SyntaxWriter {
  /// Writes `searchExpr`, or a text in single quotes.
  mutating func search(_ search: ODataSearchExpression) throws(ODataPrintingError) {
    // Outside of an expression, the words that are operators are plain words.
    if case .word(let text) = search, !text.utf8.starts(with: "'".utf8) { return try searchWord(text) }
    if case .incomplete(let text) = search {
      try demandV4("a search in single quotes")
      return try quoted(text)
    }
    try searchOperand(search, atLeast: 1)
  }

  private mutating func searchOperand(
    _ search: ODataSearchExpression, atLeast precedence: Int
  ) throws(ODataPrintingError) {
    let isOpen = search.precedence < precedence
    if isOpen { raw("(") }
    try enter()
    switch search {
    case .word(let text):
      // A quote at the beginning of the whole search would begin another kind of search.
      let isReserved = ["AND", "OR", "NOT"].contains(text) || text.utf8.starts(with: "'".utf8)
      if isReserved { raw("(") }
      try searchWord(text)
      if isReserved { raw(")") }
    case .phrase(let text): try searchPhrase(text)
    case .not(let operand):
      raw("NOT")
      space()
      try searchOperand(operand, atLeast: 3)
    case .and(let operands): try searchJunction("AND", operands, precedence: 2)
    case .or(let operands): try searchJunction("OR", operands, precedence: 1)
    case .incomplete:
      throw error(
        .misplaced("a text in single quotes", expected: "a word or phrase; single quotes must enclose all of it"))
    }
    leave()
    if isOpen { raw(")") }
  }

  private mutating func searchJunction(
    _ word: String, _ operands: [ODataSearchExpression], precedence: Int
  ) throws(ODataPrintingError) {
    try demand(word, least: 2, found: operands.count)
    var isFirst = true
    for operand in operands {
      if !isFirst { self.word(word) }
      isFirst = false
      // Parentheses around a chain of the same operator have no meaning.
      try searchOperand(operand, atLeast: operand.precedence == precedence ? precedence : precedence + 1)
    }
  }

  /// Writes `searchWord`: a text without the characters that have a meaning in a search.
  private mutating func searchWord(_ text: String) throws(ODataPrintingError) {
    let isWord = text.utf8.allSatisfy { byte in
      byte > 0x20 && byte != 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "(")
        && byte != UInt8(ascii: ")")
    }
    guard isWord, !text.isEmpty else {
      throw error(.invalidName(text, expected: "word to search for; use a phrase"))
    }
    let beginsWithQuote = text.utf8.starts(with: "'".utf8)
    if !printer.isPercentEncoded, beginsWithQuote || text.utf8.contains(UInt8(ascii: ";")) {
      throw error(.needsPercentEncoding(text))
    }
    if beginsWithQuote { escaped(UInt8(ascii: "'")) }
    try encoded(beginsWithQuote ? String(text.unicodeScalars.dropFirst()) : text)
  }

  /// Writes SAP's `search` of V2, a text of any form: a text that is not a search expression is one phrase.
  mutating func freeSearch(_ search: ODataSearchExpression) throws(ODataPrintingError) {
    guard case .phrase(let text) = search, text.utf8.contains(UInt8(ascii: "\"")) else {
      return try self.search(search)
    }
    guard SyntaxReader.freeSearch(text) == search else {
      throw error(.invalidName(text, expected: "phrase to search for; it would be read as words and operators"))
    }
    try encoded(text)
  }

  /// `searchPhrase`
  private mutating func searchPhrase(_ text: String) throws(ODataPrintingError) {
    guard !text.isEmpty, !text.utf8.contains(UInt8(ascii: "\"")) else {
      throw error(.invalidName(text, expected: "phrase to search for; it cannot be empty or contain a double quote"))
    }
    escaped(UInt8(ascii: "\""))
    try encoded(text)
    escaped(UInt8(ascii: "\""))
  }
}

extension ODataSearchExpression {
  fileprivate var precedence: Int {
    switch self {
    case .or: 1
    case .and: 2
    case .not: 3
    case .word, .phrase, .incomplete: 4
    }
  }
}
