// Operators and their operands (URL Conventions 4.01 §5.1.1.1 to §5.1.1.3, precedence §5.1.1.17; ABNF `commonExpr`).
extension SyntaxReader {
  // A level of nesting passes through only these few methods. Decisions are in separate methods, which return before
  // the next level begins: without optimization, every comparison and every message takes space in the stack frame.

  /// Reads `commonExpr`: it ends before the first text that cannot continue it.
  mutating func expression() throws(ODataSyntaxError) -> ODataExpression {
    try enter()
    defer { leave() }
    return try operation(minimum: 1)
  }

  private enum Operator {
    case or
    case and
    case membership
    case binary(ODataBinaryOperator)

    var precedence: Int {
      switch self {
      case .or: 1
      case .and: 2
      case .membership: ODataBinaryOperator.primaryPrecedence
      case .binary(let kind): kind.precedence
      }
    }
  }

  /// Reads operands joined by operators of at least a given precedence.
  private mutating func operation(minimum: Int) throws(ODataSyntaxError) -> ODataExpression {
    try operation(minimum: minimum, after: try operand())
  }

  private mutating func operation(
    minimum: Int, after left: consuming ODataExpression
  ) throws(ODataSyntaxError) -> ODataExpression {
    var chain = 0
    while let (kind, position) = takeOperator(minimum: minimum) {
      left = try operation(kind, left, at: position, chain: &chain)
    }
    return left
  }

  private mutating func operation(
    _ kind: Operator, _ left: ODataExpression, at position: SourcePosition, chain: inout Int
  ) throws(ODataSyntaxError) -> ODataExpression {
    switch kind {
    case .and, .or: return try junction(kind, left, at: position)
    case .membership:
      try demandV4("the operator in", at: position)
      chain += 1
      try checkChain(chain)
      return ODataExpression(.membership(left, try membershipOperand()), at: position)
    case .binary(let kind):
      if kind == .has || kind == .divideBy { try demandV4("the operator \(kind.rawValue)", at: position) }
      chain += 1
      try checkChain(chain)
      return try binary(kind, left, at: position)
    }
  }

  private mutating func binary(
    _ kind: ODataBinaryOperator, _ left: ODataExpression, at position: SourcePosition
  ) throws(ODataSyntaxError) -> ODataExpression {
    let start = index
    let right = try rightOperand(minimum: kind.precedence + 1)
    if kind == .has { try checkMembers(right, at: start) }
    return ODataExpression(.binary(kind, left, right), at: position)
  }

  /// Reads the operand after an operator, one level deeper.
  private mutating func rightOperand(minimum: Int) throws(ODataSyntaxError) -> ODataExpression {
    try enter()
    defer { leave() }
    return try operation(minimum: minimum)
  }

  /// Checks that a literal after `has` names members of an enumeration.
  private func checkMembers(_ operand: ODataExpression, at start: Int) throws(ODataSyntaxError) {
    if case .literal(let value) = operand.kind, !value.isEnumeration {
      throw error(.unexpected(expected: ["members of an enumeration: 'Red' or Sales.Color'Red,Blue'"]), at: start)
    }
  }

  /// Takes the next operator if it has at least the given precedence, and the white space around it.
  private mutating func takeOperator(minimum: Int) -> (kind: Operator, position: SourcePosition)? {
    guard let (kind, start, after) = operatorAhead(), kind.precedence >= minimum else { return nil }
    index = after
    return (kind, SourcePosition(offset: offset(of: start)))
  }

  /// Reads all operands of a chain of `and` or `or` as one node.
  private mutating func junction(
    _ kind: Operator, _ first: ODataExpression, at position: SourcePosition
  ) throws(ODataSyntaxError) -> ODataExpression {
    let isAnd = kind.precedence == Operator.and.precedence
    var items: [ODataExpression] = []
    add(first, isAnd: isAnd, to: &items)
    repeat {
      add(try rightOperand(minimum: kind.precedence + 1), isAnd: isAnd, to: &items)
    } while takeOperator(minimum: kind.precedence) != nil
    return ODataExpression(isAnd ? .and(items) : .or(items), at: position)
  }

  /// Adds an operand to a chain. If it is a chain of the same operator, its operands are added.
  private func add(_ item: ODataExpression, isAnd: Bool, to items: inout [ODataExpression]) {
    switch item.kind {
    case .and(let inner) where isAnd: items += inner
    case .or(let inner) where !isAnd: items += inner
    default: items.append(item)
    }
  }

  /// Looks for an operator after white space; returns the operator, where it begins, and where its right operand
  /// begins.
  private mutating func operatorAhead() -> (kind: Operator, start: Int, after: Int)? {
    var start = index
    while start < end, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
    guard start > index else { return nil }
    noteFailedLookahead(to: start)
    guard start + 2 <= end else { return nil }
    var last = start
    while last < end, last - start < 6, bytes[last] | 0x20 >= 0x61, bytes[last] | 0x20 <= 0x7A { last += 1 }
    guard let kind = operatorWord(start..<last) else {
      // If a word only begins like an operator, the error is after that beginning.
      if let count = (2..<max(last - start, 2)).last(where: { operatorWord(start..<start + $0) != nil }) {
        noteFailedLookahead(to: start + count)
      }
      return nil
    }
    var after = last
    while after < end, bytes[after] == 0x20 || bytes[after] == 0x09 { after += 1 }
    if after == last, last < end {
      // White space is required after an operator, but many clients omit it before a list.
      guard case .membership = kind, bytes[after] == UInt8(ascii: "(") else {
        noteFailedLookahead(to: last)
        return nil
      }
    }
    return (kind, start, after)
  }

  private func operatorWord(_ range: Range<Int>) -> Operator? {
    func `is`(_ word: StaticString) -> Bool {
      range.count == word.utf8CodeUnitCount && hasWord(word, at: range.lowerBound, anyCase: isRelaxed)
    }
    switch bytes[range.lowerBound] | 0x20 {
    case UInt8(ascii: "a"): return `is`("and") ? .and : `is`("add") ? .binary(.add) : nil
    case UInt8(ascii: "o"): return `is`("or") ? .or : nil
    case UInt8(ascii: "e"): return `is`("eq") ? .binary(.equal) : nil
    case UInt8(ascii: "n"): return `is`("ne") ? .binary(.notEqual) : nil
    case UInt8(ascii: "l"): return `is`("lt") ? .binary(.less) : `is`("le") ? .binary(.lessOrEqual) : nil
    case UInt8(ascii: "g"): return `is`("gt") ? .binary(.greater) : `is`("ge") ? .binary(.greaterOrEqual) : nil
    case UInt8(ascii: "h"): return `is`("has") ? .binary(.has) : nil
    case UInt8(ascii: "i"): return `is`("in") ? .membership : nil
    case UInt8(ascii: "s"): return `is`("sub") ? .binary(.subtract) : nil
    case UInt8(ascii: "m"): return `is`("mul") ? .binary(.multiply) : `is`("mod") ? .binary(.modulo) : nil
    case UInt8(ascii: "d"): return `is`("div") ? .binary(.divide) : `is`("divby") ? .binary(.divideBy) : nil
    default: return nil
    }
  }

  private enum UnaryOperator {
    case minus
    case not
  }

  /// Reads one operand with the unary operators before it.
  private mutating func operand() throws(ODataSyntaxError) -> ODataExpression {
    let position = position
    switch takeUnaryOperator() {
    case .minus: return try negated(at: position)
    case .not: return ODataExpression(.not(try unaryOperand()), at: position)
    case nil: return try primary()
    }
  }

  private mutating func negated(at position: SourcePosition) throws(ODataSyntaxError) -> ODataExpression {
    let operand = try unaryOperand()
    return ODataExpression(operand.negatedLiteral ?? .negate(operand), at: position)
  }

  private mutating func takeUnaryOperator() -> UnaryOperator? {
    if peek == UInt8(ascii: "-"), !isNumber(at: index) || isTimeOrGuid(at: index + 1) {
      index += 1
      skipSpace()
      return .minus
    }
    guard peek | 0x20 == UInt8(ascii: "n"), let after = endOfNot() else { return nil }
    index = after
    return .not
  }

  /// Reads the operand of a unary operator, which binds tighter than all operators but `has` and `in`.
  private mutating func unaryOperand() throws(ODataSyntaxError) -> ODataExpression {
    try rightOperand(minimum: ODataBinaryOperator.primaryPrecedence)
  }

  /// Returns where the operand of a `not` begins; nil if the text is not this operator.
  private func endOfNot() -> Int? {
    guard hasWord("not", at: index, anyCase: isRelaxed) else { return nil }
    var after = index + 3
    while after < end, bytes[after] == 0x20 || bytes[after] == 0x09 { after += 1 }
    // White space is required after it, but many clients omit it before a parenthesis.
    guard after < end else { return nil }
    if after > index + 3 { return after }
    return bytes[after] == UInt8(ascii: "(") && !isNamedArgument(at: after + 1) ? after : nil
  }

  /// Throws if the version is V1 to V3.
  func demandV4(_ what: @autoclosure () -> String, at position: SourcePosition) throws(ODataSyntaxError) {
    guard dialect == .v4 else {
      throw ODataSyntaxError(.notInDialect(what()), offset: position.offset ?? offset(of: index), in: text)
    }
  }

  /// Reads the right side of `in` and the operators after it.
  mutating func membership() throws(ODataSyntaxError) -> ODataExpression {
    try operation(minimum: 1, after: try membershipOperand())
  }

  /// Reads the right side of `in`: a list in parentheses, or an expression.
  mutating func membershipOperand() throws(ODataSyntaxError) -> ODataExpression {
    guard peek == UInt8(ascii: "(") else {
      return try rightOperand(minimum: Operator.membership.precedence + 1)
    }
    let position = position
    index += 1
    skipSpace()
    if take(UInt8(ascii: ")")) { return ODataExpression(.list([]), at: position) }
    let first = try expression()
    skipSpace()
    guard first.isLiteral else {
      guard take(UInt8(ascii: ")")) else {
        throw unexpected("')' (a list of several values can contain only literals)")
      }
      return try operation(minimum: Operator.membership.precedence + 1, after: first)
    }
    var items = [first]
    while take(UInt8(ascii: ",")) {
      skipSpace()
      items.append(try primitiveLiteral())
      skipSpace()
    }
    guard take(UInt8(ascii: ")")) else { throw unexpected("','", "')'") }
    return ODataExpression(.list(items), at: position)
  }
}

extension ODataValue {
  /// Whether the value may be an enumeration's: names or numbers, joined by commas.
  var isEnumeration: Bool {
    guard case .string(let text) = self else { return self == .null }
    return (try? ODataValue.enumeration(literal: "'\(text)'")) != nil
  }
}

extension ODataExpression {
  /// Whether the expression may be a key of one part: a literal or an alias.
  var isKeyValue: Bool {
    if case .path(let path) = kind, case .alias = path.root { return path.segments.isEmpty }
    return isLiteral
  }

  /// Whether the expression is a literal, including that of an enumeration.
  var isLiteral: Bool {
    switch kind {
    case .literal, .enumeration: true
    default: false
    }
  }

  /// The negated number, in the smallest type that holds it; nil if the literal is not a number.
  var negatedLiteral: Kind? {
    guard case .literal(let value) = kind else { return nil }
    let text: String
    switch value {
    case .int32(let number): text = "\(-Int64(number))"
    case .int64(let number): text = number == .min ? "9223372036854775808" : "\(-number)"
    case .double(let number): return .literal(.double(-number))
    case .single(let number): return .literal(.single(-number))
    case .decimal(let number):
      let digits = number.description
      text = digits.hasPrefix("-") ? String(digits.dropFirst()) : "-" + digits
    default: return nil
    }
    return (try? ODataValue(literal: text, dialect: .v4)).map { .literal($0) }
  }
}
