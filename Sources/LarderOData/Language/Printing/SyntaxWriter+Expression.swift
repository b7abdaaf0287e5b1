// Expressions (URL Conventions 4.01 §5.1.1), with as few parentheses as precedence (§5.1.1.17) allows.
extension ODataExpression {
  /// The precedence of the outermost operator; 9 if there is none.
  var precedence: Int {
    switch kind {
    case .or: 1
    case .and: 2
    case .binary(let kind, _, _): kind.precedence
    case .membership: ODataBinaryOperator.primaryPrecedence
    case .not, .negate: ODataExpression.unaryPrecedence
    default: 9
    }
  }

  static let unaryPrecedence = 7

  /// The operands of a chain of `and`, or of `or`, including those of nested chains.
  fileprivate func junctionOperands(isAnd: Bool) -> [ODataExpression]? {
    switch kind {
    case .and(let items) where isAnd: items
    case .or(let items) where !isAnd: items
    default: nil
    }
  }
}

extension SyntaxWriter {
  /// `commonExpr`
  mutating func expression(_ expression: ODataExpression) throws(ODataPrintingError) {
    try operand(expression, atLeast: 1)
  }

  /// Writes an expression, in parentheses if it has a lower precedence than its place requires.
  mutating func operand(_ expression: ODataExpression, atLeast precedence: Int) throws(ODataPrintingError) {
    let isOpen = expression.precedence < precedence
    if isOpen { raw("(") }
    try enter()
    try bare(expression)
    leave()
    if isOpen { raw(")") }
  }

  private mutating func bare(_ expression: ODataExpression) throws(ODataPrintingError) {
    switch expression.kind {
    case .and, .or: try junction(expression)
    case .binary, .membership: try chain(expression)
    case .not, .negate: try unary(expression)
    case .path: try pathOperand(expression)
    case .call, .conditional, .cast, .isof: try call(expression)
    case .isdefined: try isdefined(expression)
    case .array, .object: try json(expression)
    case .literal, .enumeration, .list: try leaf(expression)
    }
  }

  private mutating func pathOperand(_ expression: ODataExpression) throws(ODataPrintingError) {
    guard case .path(let path) = expression.kind else { return }
    try memberPath(path)
  }

  private mutating func isdefined(_ expression: ODataExpression) throws(ODataPrintingError) {
    guard case .isdefined(let path) = expression.kind else { return }
    try demandV4("isdefined")
    raw("isdefined(")
    try memberPath(path, isOnlyPath: true)
    raw(")")
  }

  /// Writes a literal; lists are allowed only after `in`.
  mutating func leaf(_ expression: ODataExpression) throws(ODataPrintingError) {
    switch expression.kind {
    case .literal(let value): try literal(value)
    case .enumeration(let literal): try enumeration(literal)
    default: throw error(.misplaced("a list in parentheses", expected: "a list after in, or an array"))
    }
  }

  private mutating func unary(_ expression: ODataExpression) throws(ODataPrintingError) {
    switch expression.kind {
    case .not(let operand):
      raw("not")
      space()
      try self.operand(operand, atLeast: ODataExpression.unaryPrecedence)
    case .negate(let operand):
      raw("-")
      let start = bytes.count
      try self.operand(operand, atLeast: ODataExpression.unaryPrecedence)
      // With a digit or INF after it, the sign would be read as a number's.
      if start < bytes.count, bytes[start] &- 0x30 < 10 || bytes[start...].starts(with: "INF".utf8) {
        parenthesize(from: start)
      }
    default: break
    }
  }

  /// Writes `and` and `or`. Nested chains of the same operator are joined, as parentheses around them have no meaning.
  private mutating func junction(_ expression: ODataExpression) throws(ODataPrintingError) {
    let operands = try operands(of: expression)
    let precedence = expression.precedence
    for index in operands.indices {
      if index > 0 { word(precedence == 2 ? "and" : "or") }
      try operand(operands[index], atLeast: precedence + 1)
    }
  }

  private func operands(of expression: ODataExpression) throws(ODataPrintingError) -> [ODataExpression] {
    let isAnd = expression.precedence == 2
    var operands: [ODataExpression] = []
    var pending = [expression]
    while let next = pending.popLast() {
      guard let inner = next.junctionOperands(isAnd: isAnd) else {
        operands.append(next)
        continue
      }
      guard inner.count > 1 else { throw error(.tooFew(isAnd ? "and" : "or", least: 2, found: inner.count)) }
      pending.append(contentsOf: inner.reversed())
    }
    return operands
  }

  /// One operator and its right side in a left-associative chain.
  private struct Link {
    var word: String
    var right: ODataExpression
    var precedence: Int
    var isMembership: Bool
    /// Whether the next operator needs parentheses around everything up to here.
    var isClosed = false
  }

  /// Writes binary operators. The left sides are walked in a loop: a chain can be much longer than trees are deep.
  private mutating func chain(_ expression: ODataExpression) throws(ODataPrintingError) {
    let (links, first) = try links(of: expression)
    for _ in 0..<links.count(where: \.isClosed) { raw("(") }
    try operand(first, atLeast: links.last?.precedence ?? 1)
    for link in links.reversed() { try write(link) }
  }

  private mutating func write(_ link: Link) throws(ODataPrintingError) {
    word(link.word)
    if link.isMembership {
      try membershipOperand(link.right)
    } else {
      try operand(link.right, atLeast: link.precedence + 1)
    }
    if link.isClosed { raw(")") }
  }

  /// Returns the operators, the outermost first, and the operand before all of them.
  private func links(
    of expression: ODataExpression
  ) throws(ODataPrintingError) -> (links: [Link], first: ODataExpression) {
    var links: [Link] = []
    var rest = expression
    while true {
      var link: Link
      let left: ODataExpression
      switch rest.kind {
      case .binary(let kind, let first, let second):
        try check(kind, second)
        link = Link(word: kind.rawValue, right: second, precedence: kind.precedence, isMembership: false)
        left = first
      case .membership(let first, let second):
        try demandV4("in", cure: "compare with eq and join with or")
        link = Link(word: "in", right: second, precedence: rest.precedence, isMembership: true)
        left = first
      default: return (links, rest)
      }
      if let outer = links.last { link.isClosed = link.precedence < outer.precedence }
      links.append(link)
      rest = left
    }
  }

  private func check(_ kind: ODataBinaryOperator, _ right: ODataExpression) throws(ODataPrintingError) {
    switch kind {
    case .has:
      try demandV4("has", cure: "compare the whole value with eq")
      guard case .literal(let value) = right.kind, !value.isEnumeration else { return }
      throw error(.misplaced("a value after has", expected: "members of an enumeration"))
    case .divideBy: try demandV4("divby", cure: "use div with values that have a fraction")
    default: break
    }
  }

  /// Writes the right side of `in`. A parenthesis there opens a list, so an operand that would begin with one is
  /// written in parentheses of its own.
  private mutating func membershipOperand(_ expression: ODataExpression) throws(ODataPrintingError) {
    if case .list = expression.kind { return try literals(expression) }
    let start = bytes.count
    try operand(expression, atLeast: ODataBinaryOperator.primaryPrecedence + 1)
    if begins(at: start, with: UInt8(ascii: "(")), expression.precedence > ODataBinaryOperator.primaryPrecedence {
      parenthesize(from: start)
    }
  }

  private mutating func literals(_ expression: ODataExpression) throws(ODataPrintingError) {
    guard case .list(let items) = expression.kind else { return }
    raw("(")
    for index in items.indices {
      if index > 0 { raw(",") }
      guard items[index].isLiteral else {
        throw error(.misplaced("an expression in the list after in", expected: "literals, or an array"))
      }
      try leaf(items[index])
    }
    raw(")")
  }
}
