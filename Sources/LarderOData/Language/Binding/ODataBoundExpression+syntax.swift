/// Converts bound trees to unbound ones, and collects the aliases that they need.
struct SyntaxWriting {
  /// The aliases for values that cannot be written in a path.
  var aliases: [ODataAlias] = []
  let dialect: ODataDialect

  mutating func expressions(_ items: [ODataBoundExpression]) -> [ODataExpression] {
    var written: [ODataExpression] = []
    written.reserveCapacity(items.count)
    for item in items { written.append(expression(item)) }
    return written
  }

  mutating func expression(_ bound: ODataBoundExpression) -> ODataExpression {
    ODataExpression(kind(bound), at: bound.position)
  }

  private mutating func kind(_ bound: ODataBoundExpression) -> ODataExpression.Kind {
    switch bound.kind {
    case .literal(let value): .literal(value)
    case .enumeration(let type, let value): .enumeration(enumeration(type, value))
    case .path(let path): .path(self.path(path))
    case .and(let parts): .and(expressions(parts))
    case .or(let parts): .or(expressions(parts))
    case .not(let operand): .not(expression(operand))
    case .negate(let operand): .negate(expression(operand))
    case .binary(let name, let left, let right): .binary(name, expression(left), expression(right))
    case .membership(let left, let right): .membership(expression(left), expression(right))
    case .list(let items): .list(expressions(items))
    case .call(let function, let arguments): call(function, arguments)
    case .cast(let operand, let type): .cast(operand.map { expression($0) }, typeName(type))
    case .isof(let operand, let type): .isof(operand.map { expression($0) }, typeName(type))
    case .conditional(let branches): .conditional(self.branches(branches))
    case .isdefined(let path): .isdefined(self.path(path))
    case .array(let items): .array(expressions(items))
    case .object(let members): .object(self.members(members))
    }
  }

  private mutating func branches(_ branches: [ODataBoundBranch]) -> [ODataConditionalBranch] {
    var written: [ODataConditionalBranch] = []
    for branch in branches {
      written.append(ODataConditionalBranch(condition: expression(branch.condition), value: expression(branch.value)))
    }
    return written
  }

  private mutating func members(_ members: [ODataBoundMember]) -> [ODataObjectMember] {
    var written: [ODataObjectMember] = []
    for member in members { written.append(ODataObjectMember(name: member.name, value: expression(member.value))) }
    return written
  }

  private mutating func call(
    _ function: ODataCanonicalFunction, _ arguments: [ODataBoundExpression]
  ) -> ODataExpression.Kind {
    var written = expressions(arguments)
    if dialect == .v2, function == .contains { return .call(.substringof, written.reversed()) }
    guard function == .concat, dialect == .v4, written.count > 2 else { return .call(function, written) }
    // V4's `concat` joins two at a time.
    var joined = written.removeFirst()
    for part in written { joined = ODataExpression(.call(.concat, [joined, part])) }
    return joined.kind
  }

  func enumeration(_ type: ODataDeclaredEnum, _ value: Int64) -> ODataEnumerationLiteral {
    ODataEnumerationLiteral(
      typeName: type.name, members: type.members(of: value)?.joined(separator: ",") ?? String(value))
  }

  func typeName(_ type: ODataBoundType) -> ODataTypeName {
    ODataTypeName("\(type.item)", isCollection: type.isCollection)
  }

  /// Converts a value in the path of a URL: a value that is not a literal becomes an alias.
  mutating func pathValue(_ bound: ODataBoundExpression) -> ODataExpression {
    let written = expression(bound)
    switch bound.kind {
    case .literal, .enumeration: return written
    default:
      if let alias = aliases.first(where: { $0.value == written }) {
        return ODataExpression(.path(ODataPath(root: .alias(alias.name), [])))
      }
      let alias = ODataAlias(name: "p\(aliases.count + 1)", value: written)
      aliases.append(alias)
      return ODataExpression(.path(ODataPath(root: .alias(alias.name), [])))
    }
  }
}

extension ODataBoundExpression {
  /// The unbound form: names qualified by namespaces, literals in the spelling of their types, aliases replaced by their
  /// values.
  package func syntax(_ dialect: ODataDialect = .v4) -> ODataExpression {
    var writing = SyntaxWriting(dialect: dialect)
    return writing.expression(self)
  }
}
