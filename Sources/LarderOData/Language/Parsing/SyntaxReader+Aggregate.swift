// `aggregate` (Data Aggregation 4.0 §3.2.1; ABNF `aggregateExpr`, `aggregateFunctionExpr`).
extension SyntaxReader {
  /// The forms of an aggregate's operand.
  private enum AggregateOperand: Equatable {
    /// `$count`, or a path that ends with it; alone if nothing precedes it.
    case count(isAlone: Bool)
    /// A path that ends with a name: of a property, or of a custom aggregate.
    case path
    /// A path that ends with a cast; alone if nothing precedes the cast.
    case cast(isAlone: Bool)
    /// Anything else.
    case expression
  }

  /// `aggregateExpr`; without the alias it is the form in `$these/aggregate(…)`.
  mutating func aggregateExpression(hasAlias: Bool) throws(ODataSyntaxError) -> ODataAggregateExpression {
    let (operand, kind) = try aggregateOperand()
    var result = ODataAggregateExpression(operand)
    // The number of instances is not a value of each instance to which a method could be applied.
    if kind != .count(isAlone: true), try takeKeyword("with") {
      result.method = try aggregateMethod()
      if kind == .cast(isAlone: true), let method = result.method, method != "countdistinct", !method.contains(".") {
        throw unexpected("'.' (to count instances, use countdistinct or a method of the service)")
      }
    } else if kind == .expression || kind == .cast(isAlone: true) || kind == .cast(isAlone: false) {
      skipSpace()
      throw kind == .expression ? unexpected("'with' and a method") : unexpected("'/'", "'with' and a method")
    }
    let isCustom = result.method == nil && kind == .path
    result.from = try aggregateFrom(needsMethod: !isCustom)
    guard hasAlias else { return result }
    if isCustom, result.from.isEmpty {
      if try takeKeyword("as") { result.alias = try identifier() }
    } else {
      result.alias = try alias().name
    }
    return result
  }

  /// Reads any number of `aggregateFrom` and `customFrom` (§3.2.1.4).
  private mutating func aggregateFrom(needsMethod: Bool) throws(ODataSyntaxError) -> [ODataAggregateFrom] {
    var steps: [ODataAggregateFrom] = []
    while try takeKeyword("from") {
      let properties = try list { (reader) throws(ODataSyntaxError) in try reader.groupingProperty() }
      var method: String?
      if try takeKeyword("with") {
        method = try aggregateMethod()
      } else if needsMethod {
        skipSpace()
        throw unexpected("'with' and a method")
      }
      steps.append(ODataAggregateFrom(properties, with: method))
    }
    return steps
  }

  /// `aggregateMethod` (§3.2.1.2)
  private mutating func aggregateMethod() throws(ODataSyntaxError) -> String {
    let (name, isQualified) = try qualifiedName("sum, min, max, average, countdistinct or the name of a method")
    guard isQualified || ["sum", "min", "max", "average", "countdistinct"].contains(name) else {
      throw unexpected("'.' ('\(name)' is not sum, min, max, average or countdistinct)")
    }
    return name
  }

  /// Reads a path if one is followed by `with`, `from`, `as`, a comma or the end; else any expression.
  private mutating func aggregateOperand() throws(ODataSyntaxError) -> (ODataExpression, AggregateOperand) {
    let start = index
    let position = position
    if let (path, kind) = try aggregatedPath() { return (ODataExpression(.path(path), at: position), kind) }
    index = start
    return (try expression(), .expression)
  }

  /// Reads names and casts, at most one cast between two names, and `$count` (ABNF `aggrPropPath`, `aggrPrimPath`,
  /// `aggregateCount`); nil if anything else follows: then the operand is an expression.
  private mutating func aggregatedPath() throws(ODataSyntaxError) -> (ODataPath, AggregateOperand)? {
    let position = position
    var segments: [ODataPathSegment] = []
    var kind = AggregateOperand.count(isAlone: true)
    repeat {
      let place = self.position
      if take(exact: "$count") {
        segments.append(ODataPathSegment(.count(nil), at: place))
        kind = .count(isAlone: segments.count == 1)
        break
      }
      guard let (name, isQualified) = try? qualifiedName() else { return nil }
      if isQualified, case .cast = kind { return nil }
      segments.append(ODataPathSegment(isQualified ? .qualifiedName(name) : .name(name), at: place))
      kind = isQualified ? .cast(isAlone: segments.count == 1) : .path
    } while take(UInt8(ascii: "/"))
    if peek == UInt8(ascii: "("), hasWord("$count", at: index + 1, anyCase: false),
      segments.last?.kind != .name("aggregate")
    {
      index += 1
      throw unexpected("a key ('$count' must follow its path and a '/')")
    }
    guard isAtEndOfAggregated else {
      if kind == .cast(isAlone: true), takeSpace() { throw unexpected("'with' and a method") }
      return nil
    }
    if case .name(let name)? = segments.first?.kind {
      if variables.contains(name) { return nil }
      if segments.count == 1, isOtherOperand(name) { return nil }
    }
    return (ODataPath(segments, at: position), kind)
  }

  /// Whether a single name is the operator `not`, or a literal before `with`, where any expression is allowed.
  /// Elsewhere the name of a literal is that of a custom aggregate.
  private func isOtherOperand(_ name: String) -> Bool {
    if name == "not" || isRelaxed && name.lowercased() == "not" { return true }
    return isMethodAhead && word(name) != nil
  }

  private var isMethodAhead: Bool {
    var lookahead = self
    lookahead.skipSpace()
    return lookahead.hasWord("with", at: lookahead.index, anyCase: false)
  }

  private var isAtEndOfAggregated: Bool {
    var lookahead = self
    lookahead.skipSpace()
    if lookahead.isAtEnd || lookahead.peek == UInt8(ascii: ",") || lookahead.peek == UInt8(ascii: ")") { return true }
    guard lookahead.index > index else { return false }
    for word in ["with", "from", "as"] as [StaticString]
    where lookahead.hasWord(word, at: lookahead.index, anyCase: false) {
      // If the name continues after the word, it is another name.
      switch lookahead.peek(ahead: word.utf8CodeUnitCount) {
      case 0, 0x20, 0x09, UInt8(ascii: ","), UInt8(ascii: ")"): return true
      default: return false
      }
    }
    return false
  }
}
