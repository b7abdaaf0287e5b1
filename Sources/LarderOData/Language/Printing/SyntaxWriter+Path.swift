@_spi(Stores) import LarderHTTP

// Paths inside expressions, and the parts that all paths share.
extension SyntaxWriter {
  /// Writes a path as an operand (ABNF `firstMemberExpr`, `rootExpr`).
  ///
  /// - Parameters:
  ///   - isOnlyPath: whether the place allows no other operand, as in `isdefined(…)`.
  ///   - endsWithType: whether the path may consist of a qualified type alone, as in `$apply`.
  mutating func memberPath(
    _ path: ODataPath, isOnlyPath: Bool = false, endsWithType: Bool = false
  ) throws(ODataPrintingError) {
    if case .expression(let value) = path.root { return try castPath(value, path) }
    let isImplicit = try root(of: path, endsWithType: endsWithType)
    let isOperand = isImplicit && !isOnlyPath
    // A bare `not` would be read as the operator.
    let isNot = isOperand && path.isWord("not", anyCase: isRelaxed)
    if isOperand { try checkLiteral(path) }
    if isNot { raw("(") }
    for index in path.segments.indices {
      if try plainStep(at: index, of: path, isImplicit: isImplicit) { continue }
      try deepStep(path.segments[index])
    }
    if isNot { raw(")") }
    // A bare `true` would be read as the literal; a `/` may follow a primitive property (ABNF `primitivePathExpr`).
    if isOperand, isLiteral(path) { raw("/") }
  }

  /// Writes a cast and the steps after it.
  private mutating func castPath(_ value: ODataExpression, _ path: ODataPath) throws(ODataPrintingError) {
    guard case .cast = value.kind, !path.segments.isEmpty else {
      throw error(.misplaced("an expression at the start of a path", expected: "cast(…) followed by a step"))
    }
    try expression(value)
    for index in path.segments.indices {
      if try plainStep(at: index, of: path, isImplicit: false) { continue }
      try deepStep(path.segments[index])
    }
  }

  /// Writes the root of the path; true if it is the current instance, which is not written.
  private mutating func root(of path: ODataPath, endsWithType: Bool) throws(ODataPrintingError) -> Bool {
    switch path.root {
    case .implicit:
      try checkImplicit(path.segments, endsWithType: endsWithType)
      return true
    case .it:
      try demandV4("$it")
      raw("$it")
    case .this:
      try demandV4("$this")
      raw("$this")
    case .these:
      try demandV4("$these")
      guard path.beginsWithCollectionStep else {
        throw error(
          .misplaced(
            "$these without a step of a collection", expected: "$these/$count, $these/aggregate(…) or a function"))
      }
      raw("$these")
    case .root:
      try demandV4("$root")
      guard let first = path.segments.first, case .name = first.kind else {
        throw error(.misplaced("$root without a set or singleton after it", expected: "$root/Name"))
      }
      raw("$root")
    case .variable(let name):
      guard variables.contains(name) else { throw error(.variableNotInScope(name)) }
      try self.name(name, "name of a variable")
    case .alias(let name):
      try demandV4("a parameter alias", cure: "write the value in its place")
      raw("@")
      try self.name(name, "name of a parameter alias")
    case .expression: break
    }
    return false
  }

  /// Throws if a step cannot begin a path from the current instance.
  private func checkImplicit(_ segments: [ODataPathSegment], endsWithType: Bool) throws(ODataPrintingError) {
    guard let first = segments.first else {
      throw error(.misplaced("a path without steps", expected: "a name, or $it for the instance itself"))
    }
    switch first.kind {
    case .name(let name): try checkFirst(name, segments)
    case .annotation(_, nil) where !first.isQualifiedAnnotation:
      throw error(
        .ambiguousName("@…", readsAs: "a parameter alias", cure: "qualify the term, or start the path with $it"))
    case .qualifiedName(let name) where segments.count == 1 && !endsWithType:
      throw error(.misplaced("the type \(name) without a property", expected: "'/' and a property of the type"))
    case .qualifiedName, .annotation: break
    case .count where segments.count == 1: break
    default: throw error(.misplaced("\(first.label) at the start of a path", expected: "a name"))
    }
  }

  /// Throws if the first name would be read as something else.
  private func checkFirst(_ name: String, _ segments: [ODataPathSegment]) throws(ODataPrintingError) {
    let arguments: [ODataArgument]? =
      if segments.count > 1, case .arguments(let all) = segments[1].kind { all } else { nil }
    func ambiguousName(_ other: String) -> ODataPrintingError {
      error(.ambiguousName(name, readsAs: other, cure: "start the path with $it"))
    }
    guard let arguments else {
      if variables.contains(name) { throw ambiguousName("the variable") }
      return
    }
    guard arguments.first?.name == nil else { return }
    let word = isRelaxed ? name.lowercased() : name
    if ["any", "all", "aggregate", "case", "cast", "isof", "isdefined", "not"].contains(word) {
      throw error(.ambiguousName(name, readsAs: "the operator", cure: "qualify the function's name"))
    }
    if isCanonicalFunction(name) {
      throw error(.ambiguousName(name, readsAs: "the canonical function", cure: "use call, or qualify the name"))
    }
  }

  /// Whether the path is a single name that would be read as a literal.
  private func isLiteral(_ path: ODataPath) -> Bool {
    guard path.segments.count == 1, case .name(let name) = path.segments[0].kind else { return false }
    return SyntaxWriter.isLiteralWord(name, dialect: dialect, anyCase: isRelaxed)
  }

  /// Throws for such a name if no `/` may follow it.
  private func checkLiteral(_ path: ODataPath) throws(ODataPrintingError) {
    guard dialect == .v2, isLiteral(path), case .name(let name)? = path.segments.first?.kind else { return }
    throw error(
      .ambiguousName(name, readsAs: "a literal", cure: "rename the property: V2 has no other spelling for it"))
  }

  private static func isLiteralWord(_ name: String, dialect: ODataDialect, anyCase: Bool) -> Bool {
    switch name {
    case "null", "true", "false", "INF", "NaN": return true
    case "Nan": return dialect == .v2
    default:
      guard anyCase, name.utf8.count <= 5 else { return false }
      return ["true", "false"].contains(name.lowercased())
    }
  }

  private func isCanonicalFunction(_ name: String) -> Bool {
    if ODataCanonicalFunction(rawValue: name) != nil { return true }
    guard isRelaxed else { return false }
    let folded = name.lowercased()
    return ODataCanonicalFunction.allCases.contains { $0.rawValue.lowercased() == folded }
  }

  /// Writes a step, with the `/` before it. If the step contains expressions, it writes only the `/` and returns false.
  private mutating func plainStep(
    at index: Int, of path: ODataPath, isImplicit: Bool
  ) throws(ODataPrintingError) -> Bool {
    let segment = path.segments[index]
    let before = index > 0 ? path.segments[index - 1] : nil
    if let before, before.endsExpressionPath {
      throw error(.misplaced("a step after \(before.label)", expected: "the end of the path"))
    }
    if segment.isArguments {
      let isAfterCall = index > 1 && before.map(\.isCall) ?? false && path.segments[index - 2].isName
      guard let before, before.acceptsArguments || isAfterCall else {
        throw error(.misplaced("arguments", expected: "arguments after a name or a $filter step"))
      }
      return false
    }
    let isFirst = index == 0 && isImplicit
    if !isFirst { raw("/") }
    switch segment.kind {
    case .name(let name):
      if !isFirst { try checkOperator(name, followedBy: path.segments.dropFirst(index + 1).first) }
      try self.name(name)
    case .qualifiedName(let name): try qualifiedName(name, least: 2)
    case .annotation(let term, let qualifier): try annotation(term, qualifier)
    case .text(let text) where !isFirst: try ordinal(text)
    case .count(nil): raw("$count")
    case .any(nil):
      try demandLambdas("any")
      raw("any()")
    case .count where !isFirst: return false
    case .any, .all, .aggregate, .filter: return false
    default: throw error(.misplaced("\(segment.label) in an expression", expected: "a property or function"))
    }
    return true
  }

  /// Throws for a function of the service that has the name of an operator on collections, unless its arguments have
  /// names.
  private func checkOperator(_ name: String, followedBy next: ODataPathSegment?) throws(ODataPrintingError) {
    guard case .arguments(let arguments)? = next?.kind, arguments.first?.name == nil else { return }
    let word = isRelaxed ? name.lowercased() : name
    guard word == "any" || word == "all" || name == "aggregate" else { return }
    throw error(.ambiguousName(name, readsAs: "the operator", cure: "qualify the function's name"))
  }

  /// Writes a step that contains expressions.
  private mutating func deepStep(_ segment: ODataPathSegment) throws(ODataPrintingError) {
    switch segment.kind {
    case .any, .all: try lambdaStep(segment)
    case .arguments, .filter: try expressionStep(segment)
    default: try rareStep(segment)
    }
  }

  private mutating func lambdaStep(_ segment: ODataPathSegment) throws(ODataPrintingError) {
    switch segment.kind {
    case .any(let lambda?): try self.lambda("any", lambda)
    case .all(let lambda): try self.lambda("all", lambda)
    default: break
    }
  }

  private mutating func expressionStep(_ segment: ODataPathSegment) throws(ODataPrintingError) {
    switch segment.kind {
    case .arguments(let list): try arguments(list, inExpression: true)
    case .filter(let filter): try filterStep(filter)
    default: break
    }
  }

  private mutating func rareStep(_ segment: ODataPathSegment) throws(ODataPrintingError) {
    switch segment.kind {
    case .aggregate(let aggregate): try aggregateStep(aggregate)
    case .count(let options?): try count(options)
    default: break
    }
  }

  private mutating func aggregateStep(_ aggregate: ODataAggregateExpression) throws(ODataPrintingError) {
    try demandV4("aggregate")
    raw("aggregate(")
    try enter()
    try aggregateExpression(aggregate, hasAlias: false)
    leave()
    raw(")")
  }

  /// Writes a key as a segment that is not a name. In an expression it can begin only with a digit, and must not need
  /// encoding.
  private mutating func ordinal(_ text: String) throws(ODataPrintingError) {
    guard let first = text.utf8.first, first &- 0x30 < 10,
      text.utf8.allSatisfy({ PercentEncoding.isPlain($0, in: .unreserved) })
    else {
      throw error(.misplaced("the key '\(text)' as a segment of an expression", expected: "the key in parentheses"))
    }
    try encoded(text)
  }

  private func demandLambdas(_ word: String) throws(ODataPrintingError) {
    guard version >= .v3 || !printer.isStrict else { throw error(.notInDialect(word, version, cure: nil)) }
  }

  private mutating func lambda(_ word: String, _ lambda: ODataLambda) throws(ODataPrintingError) {
    try demandLambdas(word)
    raw(word)
    raw("(")
    try name(lambda.variable, "name of a variable")
    raw(":")
    variables.append(lambda.variable)
    try operand(lambda.predicate, atLeast: 1)
    variables.removeLast()
    raw(")")
  }
}
