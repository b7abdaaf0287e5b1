/// A pull parser of JSON tokens over bytes that arrive in chunks, or over one contiguous array.
///
/// Add chunks with ``feed(_:)``, end the text with ``finish()``, and take tokens with ``next()``: nil means that more
/// bytes are needed, or after ``finish()`` that the one value of the text is complete and nothing follows it. A token's
/// bytes are valid until the next ``feed(_:)``. Brackets, literals, numbers, escapes and UTF-8 are validated (RFC
/// 8259); a byte order mark is skipped; duplicate names are for the caller to detect.
package struct JSONScanner {
  private var bytes: [UInt8]
  private var lexer: JSONLexer
  private var isFinished: Bool

  /// Creates a scanner without bytes; add them with ``feed(_:)``.
  package init(limits: JSONLimits = JSONLimits()) {
    bytes = []
    lexer = JSONLexer(limits: limits)
    isFinished = false
  }

  /// Creates a scanner over a whole text, which is not copied.
  package init(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) {
    self.bytes = bytes
    lexer = JSONLexer(limits: limits)
    isFinished = true
  }

  /// Adds bytes after those that were not taken yet.
  package mutating func feed(_ chunk: [UInt8]) {
    guard !chunk.isEmpty else { return }
    let taken = lexer.position
    if taken == bytes.count {
      bytes = chunk
    } else {
      bytes.removeFirst(taken)
      bytes.append(contentsOf: chunk)
    }
    lexer.advance(by: taken)
  }

  /// Ends the text: no chunk follows.
  package mutating func finish() { isFinished = true }

  /// Returns the next token; nil if more bytes are needed or, when finished, at the end.
  package mutating func next() throws(JSONError) -> JSONToken? {
    try bytes.withUnsafeBufferPointer { bytes throws(JSONError) in try lexer.next(bytes, isFinal: isFinished) }
  }

  /// The number of open brackets.
  package var depth: Int { lexer.depth }

  /// Whether the value is complete; only white space may follow.
  package var isComplete: Bool { lexer.isComplete }

  /// The text of a name, string, number or word, with escapes decoded.
  package func string(_ token: JSONToken) -> String {
    withBytes(of: token) { JSONText.decode($0, isEscaped: token.isEscaped) }
  }

  /// Passes a token's bytes, as written in the text, to a closure, which must not keep them.
  package func withBytes<Result>(of token: JSONToken, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows
    -> Result
  {
    try bytes.withUnsafeBufferPointer { bytes in
      let range = token.start..<max(token.start, min(token.end, bytes.count))
      return try body(range.lowerBound <= bytes.count ? .init(rebasing: bytes[range]) : .init(start: nil, count: 0))
    }
  }

  /// Whether a token without escapes has exactly this text; no string is created.
  package func matches(_ token: JSONToken, _ text: StaticString) -> Bool {
    !token.isEscaped
      && withBytes(of: token) { bytes in
        bytes.count == text.utf8CodeUnitCount && (0..<bytes.count).allSatisfy { bytes[$0] == text.utf8Start[$0] }
      }
  }

  /// Skips the rest of the value that begins with a token, the last one that ``next()`` returned. Returns false if the
  /// value is incomplete, which happens only while the scanner is still fed.
  package mutating func skip(_ token: JSONToken) throws(JSONError) -> Bool {
    guard token.kind == .beginObject || token.kind == .beginArray else { return true }
    let outer = lexer.depth - 1
    while lexer.depth > outer { if try next() == nil { return false } }
    return true
  }

  /// The number of bytes of the text before a token.
  package func offset(of token: JSONToken) -> Int { lexer.base + token.start }

  /// Creates an error at a token, for callers that reject what the grammar allows. Line and column are those of the
  /// reading position: they are exact for the last token.
  package func error(_ problem: JSONError.Problem, at token: JSONToken) -> JSONError {
    lexer.error(problem, at: token.start)
  }
}
