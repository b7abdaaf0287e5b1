// Expressions (URL Conventions 4.01 §5.1.1), with as few parentheses as precedence (§5.1.1.17) allows.
extension ODataExpression {
  /// How tightly the outermost operator binds; 9 where there is none.
  var precedence: Int {
    switch kind {
    case .or: 1
    case .and: 2
    case .binary(let kind, _, _): kind.precedence
    case .membership: ODataBinaryOperator.less.precedence
    case .not, .negate: ODataExpression.unaryPrecedence
    default: 9
    }
  }

  static let unaryPrecedence = 7

  /// The operands of a chain of `and`, or of `or`, those of chains inside it among them.
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

  /// An expression, in parentheses where it binds less tightly than its place demands.
  mutating func operand(_ expression: ODataExpression, atLeast precedence: Int) throws(ODataPrintingError) {
    guard expression.precedence < precedence else { return try bare(expression) }
    raw("(")
    try bare(expression)
    raw(")")
  }

  private mutating func bare(_ expression: ODataExpression) throws(ODataPrintingError) {
    try nested { (writer: inout SyntaxWriter) throws(ODataPrintingError) in
      switch expression.kind {
      case .and, .or: try writer.junction(expression)
      case .binary, .membership: try writer.chain(expression)
      case .not(let operand):
        writer.raw("not")
        writer.space()
        try writer.operand(operand, atLeast: ODataExpression.unaryPrecedence)
      case .negate(let operand): try writer.negation(operand)
      default: try writer.primary(expression)
      }
    }
  }

  /// `and` and `or`; chains of the same operator inside are joined, as parentheses around them mean nothing.
  private mutating func junction(_ expression: ODataExpression) throws(ODataPrintingError) {
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
    var isFirst = true
    for operand in operands {
      if !isFirst { word(isAnd ? "and" : "or") }
      isFirst = false
      try self.operand(operand, atLeast: expression.precedence + 1)
    }
  }

  /// One operator and its right side, of a chain that leans to the left.
  private struct Link {
    var word: String
    var right: ODataExpression
    var precedence: Int
    var isMembership: Bool
    /// Whether the operator behind it needs parentheses around all up to here.
    var isClosed = false
  }

  /// Operators of two operands. The left sides are walked in a loop: chains are long where nothing else is deep.
  private mutating func chain(_ expression: ODataExpression) throws(ODataPrintingError) {
    var links: [Link] = []
    var rest = expression
    while true {
      let link: Link
      let left: ODataExpression
      switch rest.kind {
      case .binary(let kind, let first, let second):
        try check(kind, second)
        link = Link(word: kind.rawValue, right: second, precedence: kind.precedence, isMembership: false)
        left = first
      case .membership(let first, let second):
        try demandV4("in", cure: "compare with eq and join by or")
        link = Link(word: "in", right: second, precedence: rest.precedence, isMembership: true)
        left = first
      default: return try finish(links, first: rest)
      }
      if let outer = links.last, link.precedence < outer.precedence {
        links.append(link)
        links[links.count - 1].isClosed = true
      } else {
        links.append(link)
      }
      rest = left
    }
  }

  private mutating func finish(_ links: [Link], first: ODataExpression) throws(ODataPrintingError) {
    for _ in 0..<links.count(where: \.isClosed) { raw("(") }
    try operand(first, atLeast: links.last?.precedence ?? 1)
    for link in links.reversed() {
      word(link.word)
      if link.isMembership {
        try membershipOperand(link.right)
      } else {
        try operand(link.right, atLeast: link.precedence + 1)
      }
      if link.isClosed { raw(")") }
    }
  }

  private func check(_ kind: ODataBinaryOperator, _ right: ODataExpression) throws(ODataPrintingError) {
    switch kind {
    case .has:
      try demandV4("has", cure: "compare the whole value with eq")
      guard case .literal(let value) = right.kind, !value.isEnumeration else { return }
      throw error(.misplaced("a value behind has", expected: "members of an enumeration"))
    case .divideBy: try demandV4("divby", cure: "write div of values with a fraction")
    default: break
    }
  }

  /// The right side of `in`. A parenthesis there opens a list, so that what would begin with one gets its own around it.
  private mutating func membershipOperand(_ expression: ODataExpression) throws(ODataPrintingError) {
    if case .list(let items) = expression.kind {
      raw("(")
      try list(items) { (writer, item) throws(ODataPrintingError) in
        guard item.isLiteral else {
          throw writer.error(.misplaced("an expression in the list behind in", expected: "literals, or an array"))
        }
        try writer.primary(item)
      }
      return raw(")")
    }
    let start = bytes.count
    try operand(expression, atLeast: ODataBinaryOperator.less.precedence + 1)
    if begins(at: start, with: UInt8(ascii: "(")), expression.precedence > ODataBinaryOperator.less.precedence {
      parenthesize(from: start)
    }
  }

  private mutating func negation(_ operand: ODataExpression) throws(ODataPrintingError) {
    raw("-")
    let start = bytes.count
    try self.operand(operand, atLeast: ODataExpression.unaryPrecedence)
    // A digit behind the sign would make it a number's.
    if start < bytes.count, bytes[start] &- 0x30 < 10 { parenthesize(from: start) }
  }
}

// What stands between operators.
extension SyntaxWriter {
  mutating func primary(_ expression: ODataExpression) throws(ODataPrintingError) {
    switch expression.kind {
    case .literal(let value): try literal(value)
    case .enumeration(let literal): try enumeration(literal)
    case .path(let path): try memberPath(path)
    case .list: throw error(.misplaced("a list in parentheses", expected: "one behind in; elsewhere an array"))
    case .call(let function, let arguments): try call(function, arguments)
    case .cast(let operand, let type): try typeFunction("cast", operand, type)
    case .isof(let operand, let type): try typeFunction("isof", operand, type)
    case .conditional(let branches): try conditional(branches)
    case .isdefined(let path):
      try demandV4("isdefined")
      raw("isdefined(")
      try memberPath(path, isParenthesized: true)
      raw(")")
    case .array(let items): try array(items)
    case .object(let members): try object(members)
    case .and, .or, .binary, .membership, .not, .negate: try self.expression(expression)
    }
  }

  private mutating func call(
    _ function: ODataCanonicalFunction, _ arguments: [ODataExpression]
  ) throws(ODataPrintingError) {
    guard function.belongs(to: dialect) || !printer.isStrict else {
      throw error(.notInDialect(function.rawValue, version, cure: SyntaxWriter.cure(function)))
    }
    let arity = function.arity(dialect)
    guard arity.contains(arguments.count) else {
      throw error(.wrongArgumentCount(function.rawValue, expected: arity, found: arguments.count))
    }
    raw(function.rawValue)
    raw("(")
    try list(arguments) { (writer, item) throws(ODataPrintingError) in try writer.expression(item) }
    raw(")")
  }

  private static func cure(_ function: ODataCanonicalFunction) -> String? {
    switch function {
    case .contains: "write substringof, its arguments the other way around"
    case .substringof: "write contains, its arguments the other way around"
    default: nil
    }
  }

  private mutating func typeFunction(
    _ word: String, _ operand: ODataExpression?, _ type: ODataTypeName
  ) throws(ODataPrintingError) {
    raw(word)
    raw("(")
    if let operand {
      try expression(operand)
      raw(",")
    }
    // V2 writes the type as a text (OData V2 URI Conventions §4.5).
    if dialect == .v2 { raw("'") }
    try typeName(type)
    if dialect == .v2 { raw("'") }
    raw(")")
  }

  private mutating func conditional(_ branches: [ODataConditionalBranch]) throws(ODataPrintingError) {
    try demandV4("case")
    try demand("case", least: 1, found: branches.count)
    raw("case(")
    try list(branches) { (writer, branch) throws(ODataPrintingError) in
      try writer.expression(branch.condition)
      writer.raw(":")
      try writer.expression(branch.value)
    }
    raw(")")
  }
}

// JSON in URLs (§5.1.1.14).
extension SyntaxWriter {
  private mutating func array(_ items: [ODataExpression]) throws(ODataPrintingError) {
    try demandV4("an array")
    escaped(UInt8(ascii: "["))
    try list(items) { (writer, item) throws(ODataPrintingError) in try writer.jsonValue(item) }
    escaped(UInt8(ascii: "]"))
  }

  private mutating func object(_ members: [ODataObjectMember]) throws(ODataPrintingError) {
    try demandV4("an object")
    escaped(UInt8(ascii: "{"))
    try list(members) { (writer, member) throws(ODataPrintingError) in
      try writer.jsonString(member.name)
      writer.raw(":")
      try writer.jsonValue(member.value)
    }
    escaped(UInt8(ascii: "}"))
  }

  private mutating func jsonValue(_ value: ODataExpression) throws(ODataPrintingError) {
    if case .literal(.string(let text)) = value.kind { return try jsonString(text) }
    try expression(value)
  }

  /// `"…"`; what ends it, escapes, and control characters are escaped as in JSON, the rest as everywhere.
  private mutating func jsonString(_ text: String) throws(ODataPrintingError) {
    escaped(UInt8(ascii: "\""))
    var plain = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      guard scalar == "\"" || scalar == "\\" || scalar.value < 0x20 || scalar.value == 0x7F else {
        plain.append(scalar)
        continue
      }
      try encoded(String(plain))
      plain.removeAll()
      escaped(UInt8(ascii: "\\"))
      if scalar.value < 0x20 || scalar.value == 0x7F {
        raw("u00")
        bytes.append(Hexadecimal.upper(UInt8(scalar.value) >> 4))
        bytes.append(Hexadecimal.upper(UInt8(scalar.value) & 0x0F))
      } else {
        escaped(UInt8(scalar.value))
      }
    }
    try encoded(String(plain))
    escaped(UInt8(ascii: "\""))
  }
}
