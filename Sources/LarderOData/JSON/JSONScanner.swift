/// A pull reader of JSON tokens over bytes that arrive in chunks, or over one contiguous array.
///
/// Feed chunks with ``feed(_:)``, tell the end with ``finish()``, and take tokens with ``next()``: nil means that more
/// bytes are needed, or after ``finish()`` that the one value of the text is complete and nothing follows it. A token's
/// bytes can be looked at until the next ``feed(_:)``. Brackets, literals, numbers, escapes and UTF-8 are checked
/// (RFC 8259); a byte order mark is skipped; names that repeat are the caller's to notice.
package struct JSONScanner {
  private var bytes: [UInt8]
  private var lexer: JSONLexer
  private var isFinished: Bool

  /// A scanner that is going to be fed.
  package init(limits: JSONLimits = JSONLimits()) {
    bytes = []
    lexer = JSONLexer(limits: limits)
    isFinished = false
  }

  /// A scanner over a whole text: no copy is made.
  package init(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) {
    self.bytes = bytes
    lexer = JSONLexer(limits: limits)
    isFinished = true
  }

  /// Adds bytes behind those not yet taken.
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

  /// Tells that no chunk follows.
  package mutating func finish() { isFinished = true }

  /// The next token; nil where more bytes are needed or, when finished, at the end.
  package mutating func next() throws(JSONError) -> JSONToken? {
    try bytes.withUnsafeBufferPointer { bytes throws(JSONError) in try lexer.next(bytes, isFinal: isFinished) }
  }

  /// How many brackets are open.
  package var depth: Int { lexer.depth }

  /// True once the value is complete; white space alone may follow.
  package var isComplete: Bool { lexer.isComplete }

  /// The text of a name, string, number or word, escapes undone.
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

  /// True where a token without escapes has just this text; no string is made.
  package func matches(_ token: JSONToken, _ text: StaticString) -> Bool {
    !token.isEscaped
      && withBytes(of: token) { bytes in
        bytes.count == text.utf8CodeUnitCount && (0..<bytes.count).allSatisfy { bytes[$0] == text.utf8Start[$0] }
      }
  }

  /// Passes over the rest of the value that began with a token, which ``next()`` gave last. Nil-safe only on a
  /// finished scanner: on one that is still fed it returns false where the value is not complete yet.
  package mutating func skip(_ token: JSONToken) throws(JSONError) -> Bool {
    guard token.kind == .beginObject || token.kind == .beginArray else { return true }
    let outer = lexer.depth - 1
    while lexer.depth > outer { if try next() == nil { return false } }
    return true
  }

  /// Bytes of the text before a token.
  package func offset(of token: JSONToken) -> Int { lexer.base + token.start }

  /// An error at a token, for callers that refuse what the grammar allows. Line and column are those of the reading
  /// position, exact for the token that was taken last.
  package func error(_ problem: JSONError.Problem, at token: JSONToken) -> JSONError {
    lexer.error(problem, at: token.start)
  }
}
