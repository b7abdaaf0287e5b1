// Arguments in parentheses: keys and parameters.
extension SyntaxReader {
  /// `(…)` behind a name: the parts of a key, or a function's parameters. In a resource path literals and aliases alone.
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

  /// One argument and the white space around it.
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

  /// Where the segment of a resource path ends: at a `/` or `?` that is not encoded.
  private var endOfSegment: Int {
    (index..<end).first { place in
      (bytes[place] == UInt8(ascii: "/") || bytes[place] == UInt8(ascii: "?")) && !isEncoded(place)
    } ?? end
  }
}
