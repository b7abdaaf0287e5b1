import LarderOData

// Expressions (URL Conventions 4.01 §5.1.1).
extension TreeGenerator {
  mutating func expression() -> ODataExpression {
    guard depth > 0, !random.once(in: 5) else { return leaf() }
    return deeper { $0.compound() }
  }

  private mutating func leaf() -> ODataExpression {
    random.once(in: 2) ? literal() : ODataExpression(.path(path()))
  }

  private mutating func compound() -> ODataExpression {
    switch random.below(isV4 ? 16 : 9) {
    case 0: return ODataExpression(.and(junction(isAnd: true)))
    case 1: return ODataExpression(.or(junction(isAnd: false)))
    case 2: return ODataExpression(.not(expression()))
    case 3: return ODataExpression(.negate(negated()))
    case 4, 5: return binary()
    case 6: return call()
    case 7: return ODataExpression(.cast(maybe(2) { $0.expression() }, typeName()))
    case 8: return ODataExpression(.isof(maybe(2) { $0.expression() }, typeName()))
    case 9: return ODataExpression(.membership(expression(), ODataExpression(.list(several(0...3) { $0.literal() }))))
    case 10: return ODataExpression(.membership(expression(), notAListOfOne()))
    case 11:
      return ODataExpression(
        .conditional(several(1...3) { ODataConditionalBranch(condition: $0.expression(), value: $0.expression()) }))
    case 12: return ODataExpression(.isdefined(path(mayBeginWithCast: false)))
    case 13: return ODataExpression(.array(several(0...3) { $0.expression() }))
    case 14:
      return ODataExpression(
        .object(several(0...3) { ODataObjectMember(name: $0.text(0...4), value: $0.expression()) }))
    default: return ODataExpression(.path(path()))
    }
  }

  private mutating func notAListOfOne() -> ODataExpression { expression() }

  /// Operands none of which is a chain of the same operator.
  private mutating func junction(isAnd: Bool) -> [ODataExpression] {
    several(2...4) { generator in
      let item = generator.expression()
      switch item.kind {
      case .and where isAnd: return generator.leaf()
      case .or where !isAnd: return generator.leaf()
      default: return item
      }
    }
  }

  /// An operand of a minus sign: not a number, whose sign it would be.
  private mutating func negated() -> ODataExpression {
    let operand = expression()
    if case .literal(let value) = operand.kind {
      switch value {
      case .int32, .int64, .decimal, .double, .single: return ODataExpression(.path(path()))
      default: break
      }
    }
    return operand
  }

  private mutating func binary() -> ODataExpression {
    let kinds =
      isV4 ? ODataBinaryOperator.allCases : ODataBinaryOperator.allCases.filter { $0 != .has && $0 != .divideBy }
    let kind = random.pick(kinds)
    let right = expression()
    // A literal after `has` names members of an enumeration.
    if kind == .has, case .literal = right.kind {
      return ODataExpression(.binary(.has, expression(), enumeration()))
    }
    return ODataExpression(.binary(kind, expression(), right))
  }

  private mutating func call() -> ODataExpression {
    let dialect: ODataDialect = isV4 ? .v4 : .v2
    let isOld = version == .v4
    let later: Set<ODataCanonicalFunction> = [.matchesPattern, .hassubset, .hassubsequence]
    let functions = ODataCanonicalFunction.allCases.filter { $0.belongs(to: dialect) && !(isOld && later.contains($0)) }
    let function = random.pick(functions)
    let arity = function.arity(dialect)
    return ODataExpression(.call(function, several(arity.lowerBound...min(arity.upperBound, 4)) { $0.expression() }))
  }
}

// Paths in expressions.
extension TreeGenerator {
  /// Steps that may follow `$these`.
  private mutating func collectionStep() -> [ODataPathSegment] {
    random.once(in: 2)
      ? [annotation(isQualified: true)] : [ODataPathSegment(.qualifiedName(qualifiedName())), parameters()]
  }

  mutating func path(mayBeginWithCast: Bool = true) -> ODataPath {
    guard isV4 else {
      return ODataPath(several(1...3) { ODataPathSegment(.name($0.name())) })
    }
    if let name = variables.last, random.once(in: 3) { return ODataPath(root: .variable(name), steps(0...2)) }
    switch random.below(12) {
    case 0: return ODataPath(root: .it, steps(0...2))
    case 1: return ODataPath(root: .this, steps(0...2))
    case 2: return ODataPath(root: .these, collectionStep() + steps(0...1))
    case 3: return ODataPath(root: .root, namedStep() + steps(0...2))
    case 4: return ODataPath(root: .alias(name()), steps(0...1))
    case 5: return ODataPath([annotation(isQualified: true)] + steps(0...1))
    case 6:
      return ODataPath(
        [ODataPathSegment(.qualifiedName(qualifiedName())), ODataPathSegment(.name(name()))] + steps(0...1))
    case 7: return ODataPath([ODataPathSegment(.qualifiedName(qualifiedName())), parameters()] + steps(0...1))
    case 8 where depth > 0 && mayBeginWithCast:
      let cast = deeper { ODataExpression(.cast($0.maybe(2) { $0.expression() }, $0.typeName())) }
      return ODataPath(root: .expression(cast), steps(1...2))
    default: return ODataPath(namedStep() + steps(0...2))
    }
  }

  private mutating func annotation(isQualified: Bool) -> ODataPathSegment {
    let term = isQualified || random.once(in: 2) ? qualifiedName() : name()
    return ODataPathSegment(.annotation(term: term, qualifier: maybe(3) { $0.name() }))
  }

  private mutating func namedStep() -> [ODataPathSegment] {
    switch random.below(5) {
    case 0: [ODataPathSegment(.name(functionName())), parameters()]
    case 1: [ODataPathSegment(.name(random.pick(["Orders", "Größen"]))), key()]
    default: [ODataPathSegment(.name(name()))]
    }
  }

  /// A key of one part.
  private mutating func key() -> ODataPathSegment {
    ODataPathSegment(.arguments([ODataArgument(value: keyValue())]))
  }

  /// An alias or a literal; null cannot be part of a key.
  mutating func keyValue() -> ODataExpression {
    if isV4, random.once(in: 3) { return ODataExpression(.path(ODataPath(root: .alias(name()), []))) }
    let literal = literal()
    return literal.kind == .literal(.null) ? ODataExpression(.literal(.int32(0))) : literal
  }

  private mutating func parameters() -> ODataPathSegment {
    ODataPathSegment(.arguments(several(0...2) { ODataArgument(name: $0.name(), value: $0.deeperExpression()) }))
  }

  private mutating func deeperExpression() -> ODataExpression { depth > 0 ? deeper { $0.expression() } : leaf() }

  private mutating func steps(_ range: ClosedRange<Int>) -> [ODataPathSegment] {
    var segments: [ODataPathSegment] = []
    for _ in 0..<Int.random(in: range, using: &random) {
      switch random.below(8) {
      case 0: segments += [ODataPathSegment(.qualifiedName(qualifiedName())), parameters()]
      case 1: segments.append(ODataPathSegment(.qualifiedName(qualifiedName())))
      case 2: segments.append(annotation(isQualified: false))
      case 3 where depth > 0: segments.append(ODataPathSegment(.filter(deeperExpression())))
      default: segments += namedStep()
      }
    }
    if depth > 0, range.lowerBound == 0, random.once(in: 4) { segments.append(deeper { $0.lastStep() }) }
    return segments
  }

  private mutating func lastStep() -> ODataPathSegment {
    switch random.below(5) {
    case 0: return ODataPathSegment(.count(nil))
    case 1: return ODataPathSegment(.count(countOptions()))
    case 2: return ODataPathSegment(.all(lambda()))
    case 3: return ODataPathSegment(.aggregate(aggregate(hasAlias: false)))
    default: return ODataPathSegment(.any(maybe(2) { $0.lambda() }))
    }
  }

  private mutating func lambda() -> ODataLambda {
    let variable = variable()
    variables.append(variable)
    let lambda = ODataLambda(variable: variable, predicate: expression())
    variables.removeLast()
    return lambda
  }

  /// What `$count` takes; something at least.
  mutating func countOptions() -> ODataQueryOptions {
    var options = ODataQueryOptions()
    options.filter = maybe(2) { $0.deeperExpression() }
    if options.filter == nil || random.once(in: 3) { options.search = search() }
    return options
  }
}
