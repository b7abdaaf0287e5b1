// Paths inside expressions, and what all paths share.
extension SyntaxWriter {
  /// A path as an operand (ABNF `firstMemberExpr`, `rootExpr`).
  ///
  /// - Parameters:
  ///   - isParenthesized: whether parentheses stand around it already.
  ///   - endsWithType: whether a qualified type alone may be all of it, as in `$apply`.
  mutating func memberPath(
    _ path: ODataPath, isParenthesized: Bool = false, endsWithType: Bool = false
  ) throws(ODataPrintingError) {
    let start = bytes.count
    switch path.root {
    case .implicit: return try implicitPath(path.segments, isParenthesized: isParenthesized, endsWithType: endsWithType)
    case .it:
      try demandV4("$it")
      raw("$it")
    case .this:
      try demandV4("$this")
      raw("$this")
    case .these:
      try demandV4("$these")
      raw("$these")
    case .root:
      try demandV4("$root")
      guard let first = path.segments.first, case .name = first.kind else {
        throw error(.misplaced("$root without a set or singleton behind it", expected: "$root/Name"))
      }
      raw("$root")
    case .variable(let name):
      guard variables.contains(name) else { throw error(.variableNotInScope(name)) }
      try self.name(name, "name of a variable")
    case .alias(let name):
      try demandV4("a parameter alias", cure: "write the value in its place")
      raw("@")
      try self.name(name, "name of a parameter alias")
    case .expression(let value):
      guard case .cast = value.kind, !path.segments.isEmpty else {
        throw error(.misplaced("an expression at the beginning of a path", expected: "cast(…) and a step behind it"))
      }
      try expression(value)
    }
    if bytes.count > start, path.segments.isEmpty { return }
    raw("/")
    try steps(path.segments, behindRoot: true)
  }

  /// A path from the current instance.
  private mutating func implicitPath(
    _ segments: [ODataPathSegment], isParenthesized: Bool, endsWithType: Bool
  ) throws(ODataPrintingError) {
    guard let first = segments.first else {
      throw error(.misplaced("a path without steps", expected: "a name, or $it for the instance itself"))
    }
    switch first.kind {
    case .name(let name): try checkFirst(name, segments)
    case .annotation(_, nil) where !first.isQualifiedAnnotation:
      throw error(
        .ambiguousName(
          "@…", readsAs: "a parameter alias", cure: "qualify the term, or begin the path with $it"))
    case .qualifiedName(let name) where segments.count == 1 && !endsWithType:
      throw error(.misplaced("the type \(name) alone", expected: "a property of it behind a '/'"))
    case .qualifiedName, .annotation: break
    case .count where segments.count == 1: break
    default: throw error(.misplaced("\(first.label) at the beginning of a path", expected: "a name"))
    }
    let isNot = segments.count == 1 && first.isWord("not", anyCase: isRelaxed) && !isParenthesized
    // A bare `not` would be the operator.
    if isNot { raw("(") }
    try steps(segments, behindRoot: false)
    if isNot { raw(")") }
  }

  /// Refuses a first name that reads as something else.
  private func checkFirst(_ name: String, _ segments: [ODataPathSegment]) throws(ODataPrintingError) {
    let arguments: [ODataArgument]? =
      if segments.count > 1, case .arguments(let all) = segments[1].kind { all } else { nil }
    func refuse(_ other: String) -> ODataPrintingError {
      error(.ambiguousName(name, readsAs: other, cure: "begin the path with $it"))
    }
    guard let arguments else {
      if variables.contains(name) { throw refuse("the variable") }
      if segments.count == 1, SyntaxWriter.isLiteralWord(name, dialect: dialect, anyCase: isRelaxed) {
        throw refuse("a literal")
      }
      return
    }
    let word = isRelaxed ? name.lowercased() : name
    if ["any", "all", "aggregate", "case", "cast", "isof", "isdefined", "not"].contains(word) {
      throw error(.ambiguousName(name, readsAs: "the operator", cure: "qualify the function's name"))
    }
    if arguments.first?.name == nil, isCanonicalFunction(name) {
      throw error(.ambiguousName(name, readsAs: "the canonical function", cure: "use call, or qualify the name"))
    }
  }

  static func isLiteralWord(_ name: String, dialect: ODataDialect, anyCase: Bool) -> Bool {
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

  /// Steps of a path in an expression; a `/` is written between them.
  private mutating func steps(_ segments: [ODataPathSegment], behindRoot: Bool) throws(ODataPrintingError) {
    for (index, segment) in segments.enumerated() {
      let before = index > 0 ? segments[index - 1] : nil
      if let before, before.endsExpressionPath {
        throw error(.misplaced("a step behind \(before.label)", expected: "the end of the path"))
      }
      if case .arguments(let arguments) = segment.kind {
        guard let before, before.takesArguments else {
          throw error(.misplaced("arguments", expected: "them behind a name or a $filter step"))
        }
        try self.arguments(arguments, inExpression: true)
        continue
      }
      if index > 0 { raw("/") }
      let hasArguments = index + 1 < segments.count && segments[index + 1].isArguments
      try step(segment, isFirst: index == 0 && !behindRoot, argumentsBehind: hasArguments ? segments[index + 1] : nil)
    }
  }

  private mutating func step(
    _ segment: ODataPathSegment, isFirst: Bool, argumentsBehind: ODataPathSegment?
  ) throws(ODataPrintingError) {
    switch segment.kind {
    case .name(let name):
      if !isFirst, case .arguments(let arguments)? = argumentsBehind?.kind, arguments.first?.name == nil,
        segment.isWord("any", anyCase: isRelaxed) || segment.isWord("all", anyCase: isRelaxed)
          || segment.isWord("aggregate", anyCase: false)
      {
        throw error(.ambiguousName(name, readsAs: "the operator", cure: "qualify the function's name"))
      }
      try self.name(name)
    case .qualifiedName(let name): try qualifiedName(name, least: 2)
    case .annotation(let term, let qualifier): try annotation(term, qualifier)
    case .text(let text) where !isFirst: try ordinal(text)
    case .count(let options) where !isFirst || options == nil: try count(options)
    case .filter(let filter): try filterStep(filter)
    case .any(let lambda):
      try demandLambdas("any")
      raw("any(")
      if let lambda { try self.lambda(lambda) }
      raw(")")
    case .all(let lambda):
      try demandLambdas("all")
      raw("all(")
      try self.lambda(lambda)
      raw(")")
    case .aggregate(let aggregate):
      try demandV4("aggregate")
      raw("aggregate(")
      try nested { (writer: inout SyntaxWriter) throws(ODataPrintingError) in
        try writer.aggregateExpression(aggregate, hasAlias: false)
      }
      raw(")")
    default: throw error(.misplaced("\(segment.label) in an expression", expected: "a property or function"))
    }
  }

  /// A key as a segment that is no name. Only digits begin one in an expression, and what would be encoded has no place in it.
  private mutating func ordinal(_ text: String) throws(ODataPrintingError) {
    guard let first = text.utf8.first, first &- 0x30 < 10, text.utf8.allSatisfy(SyntaxWriter.isUnreserved) else {
      throw error(.misplaced("the key '\(text)' as a segment of an expression", expected: "it in parentheses"))
    }
    try encoded(text)
  }

  private func demandLambdas(_ word: String) throws(ODataPrintingError) {
    guard version >= .v3 || !printer.isStrict else { throw error(.notInDialect(word, version, cure: nil)) }
  }

  private mutating func lambda(_ lambda: ODataLambda) throws(ODataPrintingError) {
    try name(lambda.variable, "name of a variable")
    raw(":")
    variables.append(lambda.variable)
    try expression(lambda.predicate)
    variables.removeLast()
  }
}

// Steps of all kinds of paths.
extension SyntaxWriter {
  /// `$count`, with options in parentheses where there are some.
  mutating func count(_ options: ODataQueryOptions?) throws(ODataPrintingError) {
    raw("$count")
    guard let options else { return }
    try demandV4("$count with options")
    try parenthesizedOptions(options, in: .expandCount)
  }

  mutating func filterStep(_ filter: ODataExpression) throws(ODataPrintingError) {
    try demandV4("$filter as a step")
    raw("$filter(")
    try expression(filter)
    raw(")")
  }

  /// `@Ns.Term#qualifier`
  mutating func annotation(_ term: String, _ qualifier: String?) throws(ODataPrintingError) {
    try demandV4("an annotation")
    raw("@")
    try qualifiedName(term, "name of a term")
    guard let qualifier else { return }
    if place == .fragment { raw("#") } else { try qualifierMark(qualifier) }
    try name(qualifier, "qualifier")
  }

  private mutating func qualifierMark(_ qualifier: String) throws(ODataPrintingError) {
    guard printer.isPercentEncoded || place == .value else { throw error(.needsPercentEncoding("#" + qualifier)) }
    escaped(UInt8(ascii: "#"))
  }

  /// `(…)`: a key or parameters. In a resource path they are literals and aliases.
  mutating func arguments(_ arguments: [ODataArgument], inExpression: Bool) throws(ODataPrintingError) {
    raw("(")
    try list(arguments) { (writer, argument) throws(ODataPrintingError) in
      if let name = argument.name {
        try writer.name(name, "name of a parameter or key property")
        writer.raw("=")
      } else if arguments.count > 1, !inExpression || writer.dialect == .v4 || arguments[0].name != nil {
        throw writer.error(.misplaced("one of several arguments without a name", expected: "name=value"))
      } else if inExpression, writer.dialect == .v4, !argument.value.isKeyValue {
        throw writer.error(
          .misplaced("an expression as a key", expected: "a literal or an alias; parameters have names"))
      }
      if inExpression { return try writer.expression(argument.value) }
      switch argument.value.kind {
      case .literal, .enumeration: try writer.primary(argument.value)
      case .path(let path) where path.isAlias: try writer.memberPath(path)
      default:
        throw writer.error(
          .misplaced("an expression as an argument in a resource path", expected: "a literal, or an alias for it"))
      }
    }
    raw(")")
  }
}

extension ODataPath {
  /// Whether it is an alias and nothing else.
  var isAlias: Bool {
    if case .alias = root { return segments.isEmpty }
    return false
  }
}

extension ODataPathSegment {
  var isArguments: Bool { if case .arguments = kind { true } else { false } }

  var isName: Bool {
    switch kind {
    case .name, .qualifiedName: true
    default: false
    }
  }

  var isQualifiedAnnotation: Bool { if case .annotation(let term, _) = kind { term.contains(".") } else { false } }

  func isWord(_ word: String, anyCase: Bool) -> Bool {
    guard case .name(let name) = kind else { return false }
    return anyCase ? name.lowercased() == word : name == word
  }

  /// Whether nothing may follow it in an expression.
  fileprivate var endsExpressionPath: Bool {
    switch kind {
    case .count, .any, .all, .aggregate: true
    default: false
    }
  }

  fileprivate var takesArguments: Bool {
    switch kind {
    case .name, .qualifiedName, .filter: true
    default: false
    }
  }

  /// What it is, for messages.
  var label: String {
    switch kind {
    case .name(let name), .qualifiedName(let name): "'\(name)'"
    case .text: "a key as a segment"
    case .arguments: "arguments"
    case .annotation: "an annotation"
    case .count: "$count"
    case .value: "$value"
    case .ref: "$ref"
    case .each: "$each"
    case .query: "$query"
    case .links: "$links"
    case .filter: "$filter"
    case .any: "any"
    case .all: "all"
    case .aggregate: "aggregate"
    case .star, .allOperations: "*"
    case .crossjoin: "$crossjoin"
    case .allEntities: "$all"
    }
  }
}
