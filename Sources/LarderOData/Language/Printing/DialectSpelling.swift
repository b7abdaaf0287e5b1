/// Rewrites a built tree for a dialect.
///
/// Built trees hold numbers of their Edm types. V4 writes numbers without a type, so they are converted to the types
/// that its parser reads: the smallest integer type that holds them, else Decimal. V2 keeps the types, which its
/// literals show, and gets its own forms of expressions that it lacks: `substringof` for `contains`, `or` for `in`,
/// paths for nested `$expand` and `$select`. The printer rejects anything that V2 still lacks.
enum DialectSpelling {
  static func expression(_ expression: ODataExpression, _ dialect: ODataDialect) -> ODataExpression {
    switch dialect {
    case .v4:
      var spelling = SpellingV4()
      let spelled = spelling.rewrite(expression)
      return spelling.isTooDeep ? expression : spelled
    case .v2:
      var spelling = SpellingV2()
      let spelled = spelling.rewrite(expression)
      return spelling.isTooDeep ? expression : spelled
    }
  }

  static func path(_ path: ODataPath, _ dialect: ODataDialect) -> ODataPath {
    var spelling = SpellingV4()
    return dialect == .v4 ? spelling.rewrite(path) : path
  }

  static func options(_ options: ODataQueryOptions, _ dialect: ODataDialect) -> ODataQueryOptions {
    switch dialect {
    case .v4:
      var spelling = SpellingV4()
      let spelled = spelling.rewrite(options)
      return spelling.isTooDeep ? options : spelled
    case .v2:
      var spelling = SpellingV2()
      let spelled = spelling.rewrite(options)
      return spelling.flattened(spelling.isTooDeep ? options : spelled)
    }
  }
}

/// Converts numbers to the types that V4's parser reads.
struct SpellingV4: SyntaxRewriting {
  var level = 0
  var isTooDeep = false

  mutating func rewrite(_ expression: ODataExpression) -> ODataExpression {
    if case .literal(let value) = expression.kind {
      return ODataExpression(.literal(SpellingV4.number(value)), at: expression.position)
    }
    let expression = rewriteParts(of: expression)
    switch expression.kind {
    // In a comparison, the fraction of a whole number does not matter; in arithmetic it keeps a division one of
    // decimals.
    case .binary(let kind, let left, let right) where kind.precedence <= ODataBinaryOperator.less.precedence:
      return ODataExpression(
        .binary(kind, SpellingV4.integerIfWhole(left), SpellingV4.integerIfWhole(right)), at: expression.position)
    case .list(let items): return ODataExpression(.list(items.map(SpellingV4.integerIfWhole)), at: expression.position)
    default: return expression
    }
  }

  static func number(_ value: ODataValue) -> ODataValue {
    switch value {
    case .byte(let number): return integer(Int64(number))
    case .sbyte(let number): return integer(Int64(number))
    case .int16(let number): return integer(Int64(number))
    case .int64(let number): return integer(number)
    case .double(let number) where number.isFinite:
      return ODataDecimal(number.description).map { .decimal($0) } ?? value
    case .single(let number) where number.isFinite:
      return ODataDecimal(number.description).map { .decimal($0) } ?? value
    case .single(let number): return .double(Double(number))
    case .decimal(let number) where !number.isFinite:
      return .double(number.isNaN ? .nan : number.signum < 0 ? -.infinity : .infinity)
    default: return value
    }
  }

  private static func integer(_ number: Int64) -> ODataValue {
    Int32(exactly: number).map { .int32($0) } ?? .int64(number)
  }

  /// Converts a whole decimal that fits into an integer type to an integer.
  private static func integerIfWhole(_ expression: ODataExpression) -> ODataExpression {
    guard case .literal(.decimal(let number)) = expression.kind, number.isFinite,
      let integer = Int64(number.shortestText(keepsFraction: false))
    else { return expression }
    return ODataExpression(.literal(self.integer(integer)), at: expression.position)
  }
}

private struct SpellingV2: SyntaxRewriting {
  var level = 0
  var isTooDeep = false

  mutating func rewrite(_ expression: ODataExpression) -> ODataExpression {
    let expression = rewriteParts(of: expression)
    switch expression.kind {
    case .call(.contains, let arguments) where arguments.count == 2:
      return ODataExpression(.call(.substringof, arguments.reversed()), at: expression.position)
    case .membership(let operand, let values):
      guard case .list(let items) = values.kind else { return expression }
      return .any(items.map { ODataExpression(.binary(.equal, operand, $0)) })
    case .and(let operands): return .all(operands)
    case .or(let operands): return .any(operands)
    default: return expression
    }
  }

  /// Converts nested options to paths of the outermost ones (V2 URI Conventions §4.6, §4.7).
  func flattened(_ options: ODataQueryOptions) -> ODataQueryOptions {
    var options = options
    let selects = !options.select.isEmpty || options.expand.contains { SpellingV2.selects($0.options) }
    let items = options.expand
    options.expand = []
    if selects, options.select.isEmpty { options.select = [ODataSelectItem(ODataPath([ODataPathSegment(.star)]))] }
    for item in items { flatten(item, below: ODataPath([]), selects: selects, into: &options) }
    return options
  }

  private static func selects(_ options: ODataQueryOptions) -> Bool {
    !options.select.isEmpty || options.expand.contains { selects($0.options) }
  }

  private func flatten(
    _ item: ODataExpandItem, below outer: ODataPath, selects: Bool, into options: inout ODataQueryOptions
  ) {
    let path = ODataPath(outer.segments + item.path.segments)
    var rest = item.options
    rest.select = []
    rest.expand = []
    // The remaining options cannot be written in V2; the printer reports them.
    options.expand.append(ODataExpandItem(path, options: rest))
    if selects {
      if item.options.select.isEmpty {
        options.select.append(ODataSelectItem(path))
      } else {
        options.select += item.options.select.map {
          ODataSelectItem(ODataPath(path.segments + $0.path.segments), options: $0.options)
        }
      }
    }
    for inner in item.options.expand { flatten(inner, below: path, selects: selects, into: &options) }
    // A longer path also expands the properties on its way.
    if !item.options.expand.isEmpty, rest.isEmpty {
      options.expand.removeAll { $0.path == path && $0.options.isEmpty }
    }
  }
}
