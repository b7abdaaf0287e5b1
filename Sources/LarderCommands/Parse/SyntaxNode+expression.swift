internal import LarderOData

// The nodes of expressions and paths.
extension SyntaxNode {
  static func expression(_ expression: ODataExpression) -> JSONNode {
    switch expression.kind {
    case .literal(let value): literal(value)
    case .enumeration(let literal): enumeration(literal)
    case .path(let path): self.path(path)
    case .and(let items): node("and", ("items", list(items, self.expression)))
    case .or(let items): node("or", ("items", list(items, self.expression)))
    case .not(let operand): node("not", ("operand", self.expression(operand)))
    case .negate(let operand): node("negate", ("operand", self.expression(operand)))
    case .binary(let kind, let left, let right):
      node(kind.rawValue, ("left", self.expression(left)), ("right", self.expression(right)))
    case .membership(let left, let right):
      node("in", ("left", self.expression(left)), ("right", self.expression(right)))
    case .list(let items): node("list", ("items", list(items, self.expression)))
    case .call(let function, let arguments):
      node("call", ("function", .string(function.rawValue)), ("arguments", list(arguments, self.expression)))
    case .cast(let operand, let type):
      node("cast", ("type", .string(typeName(type))), ("operand", operand.map(self.expression)))
    case .isof(let operand, let type):
      node("isof", ("type", .string(typeName(type))), ("operand", operand.map(self.expression)))
    case .conditional(let branches): node("case", ("branches", list(branches, branch)))
    case .isdefined(let path): node("isdefined", ("path", self.path(path)))
    case .array(let items): node("array", ("items", list(items, self.expression)))
    case .object(let members): node("object", ("members", list(members, member)))
    }
  }

  private static func branch(_ branch: ODataConditionalBranch) -> JSONNode {
    node("branch", ("condition", expression(branch.condition)), ("value", expression(branch.value)))
  }

  private static func member(_ member: ODataObjectMember) -> JSONNode {
    node("member", ("name", .string(member.name)), ("value", expression(member.value)))
  }

  static func typeName(_ type: ODataTypeName) -> String { type.isCollection ? "Collection(\(type.name))" : type.name }

  static func enumeration(_ literal: ODataEnumerationLiteral) -> JSONNode {
    node("enumeration", ("type", text(literal.typeName)), ("members", .string(literal.members)))
  }

  /// A value with its type; numbers that JSON can represent are numbers.
  static func literal(_ value: ODataValue) -> JSONNode {
    let written: JSONNode
    switch value {
    case .null: written = .null
    case .boolean(let flag): written = .boolean(flag)
    case .byte, .sbyte, .int16, .int32, .int64: written = .number((try? value.text()) ?? "0")
    case .decimal(let number) where number.isFinite: written = .number(number.description)
    case .double(let number) where number.isFinite: written = .number("\(number)")
    case .single(let number) where number.isFinite: written = .number("\(number)")
    default: written = .string((try? value.text()) ?? "")
    }
    return node("literal", ("type", text(value.type?.qualifiedName)), ("value", written))
  }

  static func path(_ path: ODataPath) -> JSONNode {
    var from: JSONNode?
    if case .expression(let inner) = path.root { from = expression(inner) }
    return node(
      "path", ("root", text(rootName(path.root))), ("from", from), ("segments", list(path.segments, segment)))
  }

  /// The beginning of a path as it is written; nil at the current instance and at an expression.
  static func rootName(_ root: ODataPath.Root) -> String? {
    switch root {
    case .implicit, .expression: nil
    case .it: "$it"
    case .this: "$this"
    case .these: "$these"
    case .root: "$root"
    case .variable(let name): name
    case .alias(let name): "@" + name
    }
  }

  static func argument(_ argument: ODataArgument) -> JSONNode {
    node("argument", ("name", text(argument.name)), ("value", expression(argument.value)))
  }

  private static func lambda(_ kind: String, _ lambda: ODataLambda?) -> JSONNode {
    node(kind, ("variable", text(lambda?.variable)), ("predicate", lambda.map { expression($0.predicate) }))
  }

  static func segment(_ segment: ODataPathSegment) -> JSONNode {
    switch segment.kind {
    case .name(let name): node("name", ("name", .string(name)))
    case .qualifiedName(let name): node("qualifiedName", ("name", .string(name)))
    case .text(let text): node("text", ("text", .string(text)))
    case .arguments(let arguments): node("arguments", ("items", list(arguments, argument)))
    case .annotation(let term, let qualifier):
      node("annotation", ("term", .string(term)), ("qualifier", text(qualifier)))
    case .count(let options): node("$count", ("options", options.map(self.options)))
    case .value: node("$value")
    case .ref: node("$ref")
    case .each: node("$each")
    case .query: node("$query")
    case .links: node("$links")
    case .filter(let filter): node("$filter", ("filter", expression(filter)))
    case .any(let predicate): lambda("any", predicate)
    case .all(let predicate): lambda("all", predicate)
    case .aggregate(let item): aggregate(item)
    case .star: node("*")
    case .allOperations(let namespace): node("allOperations", ("namespace", .string(namespace)))
    case .crossjoin(let sets): node("$crossjoin", ("sets", list(sets) { .string($0) }))
    case .allEntities: node("$all")
    }
  }
}
