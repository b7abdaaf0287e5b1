// Lambdas and aggregates after a collection (ABNF `anyExpr`, `allExpr`, `aggregateFunctionExpr`).
extension SyntaxReader {
  /// The steps that apply to all items of a collection; no step can follow them.
  enum CollectionStep {
    case any
    case all
    case aggregate
  }

  /// Reads `any(…)`, `all(…)` or `aggregate(…)`; nil if none of them follows.
  mutating func collectionStep(at position: SourcePosition) throws(ODataSyntaxError) -> ODataPathSegment? {
    guard let step = try startOfCollectionStep() else { return nil }
    return try collectionStep(step, at: position)
  }

  func startOfCollectionStep() throws(ODataSyntaxError) -> CollectionStep? {
    guard peek | 0x20 == UInt8(ascii: "a") else { return nil }
    if hasWord("any(", at: index, anyCase: isRelaxed), !isNamedArgument(at: index + 4) { return .any }
    if hasWord("all(", at: index, anyCase: isRelaxed), !isNamedArgument(at: index + 4) {
      var place = index + 4
      while place < end, bytes[place] == 0x20 || bytes[place] == 0x09 { place += 1 }
      if place < end, bytes[place] == UInt8(ascii: ")") {
        // Up to the parenthesis it reads as the call of a function.
        throw error(.unexpected(expected: ["a variable and a predicate in the parentheses of all"]), at: place + 1)
      }
      return .all
    }
    return hasWord("aggregate(", at: index, anyCase: false) && !isNamedArgument(at: index + 10) ? .aggregate : nil
  }

  mutating func collectionStep(
    _ step: CollectionStep, at position: SourcePosition
  ) throws(ODataSyntaxError) -> ODataPathSegment {
    switch step {
    case .any:
      index += 4
      skipSpace()
      return ODataPathSegment(.any(take(UInt8(ascii: ")")) ? nil : try lambda()), at: position)
    case .all:
      index += 4
      skipSpace()
      return ODataPathSegment(.all(try lambda()), at: position)
    case .aggregate: return ODataPathSegment(.aggregate(try aggregateInParentheses()), at: position)
    }
  }

  private mutating func aggregateInParentheses() throws(ODataSyntaxError) -> ODataAggregateExpression {
    index += 10
    skipSpace()
    let aggregate = try nested { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      try reader.aggregateExpression(hasAlias: false)
    }
    skipSpace()
    try demand(UInt8(ascii: ")"))
    return aggregate
  }

  /// `variable:predicate)`
  private mutating func lambda() throws(ODataSyntaxError) -> ODataLambda {
    let variable = try takeVariable()
    let predicate = try expression()
    variables.removeLast()
    skipSpace()
    guard take(UInt8(ascii: ")")) else { throw unexpected("an operator", "')'") }
    return ODataLambda(variable: variable, predicate: predicate)
  }

  /// Reads `variable:`; the variable is in scope from here on.
  private mutating func takeVariable() throws(ODataSyntaxError) -> String {
    let variable = try identifier("a variable")
    skipSpace()
    try demand(UInt8(ascii: ":"))
    skipSpace()
    variables.append(variable)
    return variable
  }
}
