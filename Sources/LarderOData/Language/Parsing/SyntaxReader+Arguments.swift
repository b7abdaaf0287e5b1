// Arguments in parentheses: keys and parameters.
extension SyntaxReader {
  /// Reads `(…)` after a name: the parts of a key, or a function's parameters. In a resource path only literals and
  /// aliases are allowed.
  mutating func arguments(inExpression: Bool) throws(ODataSyntaxError) -> ODataPathSegment {
    let last = end
    if !inExpression { end = endOfSegment }
    defer { end = last }
    let position = position
    try demand(UInt8(ascii: "("))
    skipSpace()
    var arguments: [ODataArgument] = []
    if take(UInt8(ascii: ")")) { return ODataPathSegment(.arguments([]), at: position) }
    repeat { try argument(into: &arguments, inExpression: inExpression) } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: ")")) else { throw unexpected("','", "')'") }
    return ODataPathSegment(.arguments(arguments), at: position)
  }

  /// Reads one argument and the white space around it.
  private mutating func argument(
    into arguments: inout [ODataArgument], inExpression: Bool
  ) throws(ODataSyntaxError) {
    skipSpace()
    let name = takeArgumentName()
    if name == nil, arguments.first?.name != nil {
      throw error(.unexpected(expected: ["a name and '='"]), at: endOfIdentifier(at: index))
    }
    arguments.append(ODataArgument(name: name, value: inExpression ? try expression() : try literalOrAlias()))
    skipSpace()
  }

  private mutating func takeArgumentName() -> String? {
    let last = endOfIdentifier(at: index)
    guard last > index, last < end, bytes[last] == UInt8(ascii: "=") else { return nil }
    defer { index = last + 1 }
    return string(index..<last)
  }

  private mutating func literalOrAlias() throws(ODataSyntaxError) -> ODataExpression {
    guard peek == UInt8(ascii: "@") else { return try primitiveLiteral() }
    let position = position
    index += 1
    let alias = try identifier("the name of a parameter alias")
    return ODataExpression(.path(ODataPath(root: .alias(alias), [], at: position)), at: position)
  }

  /// The end of a segment of a resource path: a `/` or `?` that is not encoded.
  private var endOfSegment: Int {
    (index..<end).first { place in
      (bytes[place] == UInt8(ascii: "/") || bytes[place] == UInt8(ascii: "?")) && !isEncoded(place)
    } ?? end
  }
}

// Arguments in expressions.
extension SyntaxReader {
  /// Reads a key in parentheses, after a collection.
  mutating func key() throws(ODataSyntaxError) -> ODataPathSegment {
    let start = index
    let segment = try arguments(inExpression: true)
    if case .arguments(let list) = segment.kind {
      guard let first = list.first else { throw error(.unexpected(expected: ["a key"]), at: start + 1) }
      guard list.allSatisfy({ $0.value.isKeyValue }), list.count == 1 || first.name != nil else {
        throw error(.unexpected(expected: ["a key: a literal or an alias, or name=value of each part"]), at: start + 1)
      }
    }
    return segment
  }

  /// Whether a function with a namespace takes a path without a name: `sap.entityexists(path)` of offline stores.
  static func acceptsPath(_ name: String) -> Bool {
    name.utf8.count == 16 && name.lowercased() == "sap.entityexists"
  }

  /// Reads arguments in an expression: named parameters, or a key, which is one literal or alias. V2 has no keys there,
  /// but functions of the service whose arguments have no names.
  mutating func checkedArguments(of name: String) throws(ODataSyntaxError) -> ODataPathSegment {
    if dialect == .v4, !SyntaxReader.acceptsPath(name), let place = endOfPartialKey() {
      throw error(.unknownFunction(name, nearest: ODataCanonicalFunction.nearest(to: name)), at: place)
    }
    return try arguments(inExpression: true)
  }

  /// Returns where the text stops being the beginning of a key or of named arguments, judged by the first item in the
  /// parentheses; nil if it may be either.
  private func endOfPartialKey() -> Int? {
    var lookahead = self
    lookahead.index += 1
    lookahead.skipSpace()
    guard lookahead.peek != UInt8(ascii: ")"), !isNamedArgument(at: lookahead.index) else { return nil }
    if lookahead.take(UInt8(ascii: "@")) {
      guard (try? lookahead.identifier()) != nil else { return nil }
    } else {
      do throws(ODataSyntaxError) { _ = try lookahead.primitiveLiteral() } catch {
        return lookahead.endOfInvalidLiteral()
      }
    }
    let last = lookahead.index
    lookahead.skipSpace()
    return lookahead.peek == UInt8(ascii: ")") && !lookahead.isAtEnd ? nil : last
  }

  /// Returns where the text stops being the beginning of a literal, if it is none; nil if it is a literal with an
  /// error.
  private func endOfInvalidLiteral() -> Int? {
    switch peek {
    case UInt8(ascii: "'"), UInt8(ascii: "0")...UInt8(ascii: "9"): return nil
    case UInt8(ascii: "-"), UInt8(ascii: "+"): return isNumber(at: index) ? nil : index + 1
    default: break
    }
    let last = endOfIdentifier(at: index)
    guard last > index else { return index }
    return isLiteral(upTo: last) ? nil : endOfNames(from: last)
  }

  /// Returns the end of the parts of a qualified name that follow the part before a position.
  func endOfNames(from place: Int) -> Int {
    var last = place
    while last < end, bytes[last] == UInt8(ascii: "."), case let next = endOfIdentifier(at: last + 1), next > last + 1 {
      last = next
    }
    return last
  }
}
