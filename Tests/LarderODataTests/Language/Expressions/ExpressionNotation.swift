@testable import LarderOData

/// An expression in prefix notation, each node in parentheses: `(and (eq Name 'x') (gt Price 100i32))`. For tests alone.
func notation(_ expression: ODataExpression) -> String {
  switch expression.kind {
  case .literal(let value): notation(value)
  case .enumeration(let literal): "\(literal.typeName ?? "")'\(literal.members)'"
  case .path(let path): notation(path)
  case .and(let items): list("and", items)
  case .or(let items): list("or", items)
  case .not(let operand): list("not", [operand])
  case .negate(let operand): list("-", [operand])
  case .binary(let kind, let left, let right): list(kind.rawValue, [left, right])
  case .membership(let left, let right): list("in", [left, right])
  case .list(let items): list("list", items)
  case .call(let function, let arguments): list(function.rawValue, arguments)
  case .cast(let operand, let type): "(cast \(operand.map(notation) ?? "_") \(notation(type)))"
  case .isof(let operand, let type): "(isof \(operand.map(notation) ?? "_") \(notation(type)))"
  case .conditional(let branches):
    "(case " + branches.map { "\(notation($0.condition)):\(notation($0.value))" }.joined(separator: " ") + ")"
  case .isdefined(let path): "(isdefined \(notation(path)))"
  case .array(let items): "[" + items.map(notation).joined(separator: ",") + "]"
  case .object(let members): "{" + members.map { "\($0.name):\(notation($0.value))" }.joined(separator: ",") + "}"
  }
}

private func list(_ name: String, _ items: [ODataExpression]) -> String {
  "(" + ([name] + items.map(notation)).joined(separator: " ") + ")"
}

private func notation(_ type: ODataTypeName) -> String { type.isCollection ? "Collection(\(type.name))" : type.name }

/// A value, with its type if the text alone does not show it.
private func notation(_ value: ODataValue) -> String {
  let text = (try? value.literal(dialect: .v4)) ?? "\(value)"
  return switch value {
  case .int32: text + "i32"
  case .int64: text + "i64"
  case .decimal: text + "m"
  case .double: text + "d"
  case .single: text + "f"
  case .dateTime(let dateTime): "datetime'\(dateTime)'"
  default: text
  }
}

func notation(_ path: ODataPath) -> String {
  var text =
    switch path.root {
    case .implicit: ""
    case .it: "$it"
    case .this: "$this"
    case .these: "$these"
    case .root: "$root"
    case .variable(let name): "\\" + name
    case .alias(let name): "@" + name
    case .expression(let expression): notation(expression)
    }
  for segment in path.segments {
    if case .arguments(let arguments) = segment.kind {
      text += "(" + arguments.map { ($0.name.map { $0 + "=" } ?? "") + notation($0.value) }.joined(separator: ",") + ")"
      continue
    }
    text += (text.isEmpty ? "" : "/") + step(segment.kind)
  }
  return text
}

private func step(_ kind: ODataPathSegment.Kind) -> String {
  switch kind {
  case .name(let name): name
  case .qualifiedName(let name): "<\(name)>"
  case .text(let text): "\"\(text)\""
  case .arguments: ""
  case .annotation(let term, let qualifier): "@\(term)" + (qualifier.map { "#" + $0 } ?? "")
  case .count(let options): options == nil ? "$count" : "$count(…)"
  case .value: "$value"
  case .ref: "$ref"
  case .each: "$each"
  case .query: "$query"
  case .links: "$links"
  case .filter(let filter): "$filter(\(notation(filter)))"
  case .any(let lambda): "any(\(lambda.map { "\($0.variable):\(notation($0.predicate))" } ?? ""))"
  case .all(let lambda): "all(\(lambda.variable):\(notation(lambda.predicate)))"
  case .aggregate: "aggregate(…)"
  case .star: "*"
  case .allOperations(let namespace): "\(namespace).*"
  case .crossjoin(let names): "$crossjoin(\(names.joined(separator: ",")))"
  case .allEntities: "$all"
  }
}
