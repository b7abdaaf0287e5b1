// Steps of all kinds of paths.
extension SyntaxWriter {
  /// Writes `$count` with options in parentheses.
  mutating func count(_ options: ODataQueryOptions) throws(ODataPrintingError) {
    raw("$count")
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

  /// Writes `(…)`: a key or parameters. In a resource path they are literals and aliases.
  mutating func arguments(_ arguments: [ODataArgument], inExpression: Bool) throws(ODataPrintingError) {
    raw("(")
    for index in arguments.indices {
      if index > 0 { raw(",") }
      try check(arguments[index], among: arguments, inExpression: inExpression)
      if let name = arguments[index].name {
        try self.name(name, "name of a parameter or key property")
        raw("=")
      }
      try operand(arguments[index].value, atLeast: 1)
    }
    raw(")")
  }

  private func check(
    _ argument: ODataArgument, among arguments: [ODataArgument], inExpression: Bool
  ) throws(ODataPrintingError) {
    if !inExpression, !argument.value.isKeyValue {
      throw error(
        .misplaced("an expression as an argument in a resource path", expected: "a literal, or an alias for it"))
    }
    guard argument.name == nil else { return }
    if arguments.count > 1, !inExpression || dialect == .v4 || arguments[0].name != nil {
      throw error(.misplaced("one of several arguments without a name", expected: "name=value"))
    }
    if inExpression, dialect == .v4, !argument.value.isKeyValue {
      throw error(.misplaced("an expression as a key", expected: "a literal or an alias; parameters have names"))
    }
  }
}

extension ODataPath {
  /// Whether the first step is one of a collection.
  var beginsWithCollectionStep: Bool {
    switch segments.first?.kind {
    case .count, .filter, .any, .all, .aggregate, .annotation: true
    case .name, .qualifiedName: segments.count > 1 && segments[1].isArguments
    default: false
    }
  }

  /// Whether the path is a single name that is a word of the grammar.
  func isWord(_ word: String, anyCase: Bool) -> Bool {
    segments.count == 1 && segments[0].isWord(word, anyCase: anyCase)
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

  /// Whether nothing may follow the step in an expression.
  var endsExpressionPath: Bool {
    switch kind {
    case .count, .any, .all, .aggregate: true
    default: false
    }
  }

  var acceptsArguments: Bool {
    switch kind {
    case .name, .qualifiedName, .filter: true
    default: false
    }
  }

  /// The name of the step in messages.
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
