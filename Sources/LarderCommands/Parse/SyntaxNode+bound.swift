internal import LarderOData

// The nodes of bound trees: those of unbound ones, with the type of each expression and each step of a path.
extension SyntaxNode {
  static func bound(_ url: ODataBoundURL) -> JSONNode {
    let resource: JSONNode
    switch url.resource {
    case .service: resource = node("service")
    case .batch: resource = node("batch")
    case .metadata(let fragment): resource = node("metadata", ("context", fragment.map(context)))
    case .entity(let structure): resource = node("entity", ("castTo", text(structure?.name)))
    case .path(let path): resource = bound(path)
    }
    return node(
      "url", ("serviceRoot", text(url.serviceRoot)), ("type", type(url.type)),
      ("source", text(url.source?.source.name)), ("resource", resource), ("options", bound(url.options)))
  }

  private static func type(_ type: ODataBoundType?) -> JSONNode? { type.map { .string("\($0)") } }

  /// The node of bound options. `$apply` is shown as without a model, with the type of its result.
  static func bound(_ options: ODataBoundOptions) -> JSONNode {
    let apply = options.syntax().apply
    return node(
      nil, ("apply", apply.map { list($0, transformation) }),
      ("applied", options.apply == nil ? nil : type(options.type)),
      (
        "compute",
        list(options.compute) { node("compute", ("as", .string($0.alias)), ("expression", bound($0.expression))) }
      ),
      ("filter", options.filter.map(bound)), ("search", options.search.map(search)),
      (
        "orderby",
        list(options.orderBy) { node($0.isDescending ? "desc" : "asc", ("expression", bound($0.expression))) }
      ),
      ("select", list(options.select) { node("item", ("path", bound($0.path)), ("options", $0.options.map(bound))) }),
      ("expand", list(options.expand, bound)), ("skip", number(options.skip)), ("top", number(options.top)),
      ("count", options.count.map { .boolean($0) }), ("levels", options.levels.map(levels)),
      ("index", number(options.index)), ("format", text(options.format)),
      ("schemaversion", text(options.schemaVersion)), ("skiptoken", text(options.skipToken)),
      ("deltatoken", text(options.deltaToken)), ("id", text(options.id)), ("custom", list(options.custom, custom)))
  }

  private static func bound(_ item: ODataBoundExpandItem) -> JSONNode {
    let content: String?
    switch item.content {
    case .entities: content = nil
    case .references: content = "$ref"
    case .count: content = "$count"
    case .stream: content = "stream"
    }
    return node("item", ("content", text(content)), ("path", bound(item.path)), ("options", item.options.map(bound)))
  }

  static func bound(_ expression: ODataBoundExpression) -> JSONNode {
    let type = ("type", type(expression.type))
    switch expression.kind {
    case .literal(let value): return node("literal", type, ("value", literal(value)["value"]))
    case .enumeration(_, let value): return node("enumeration", type, ("value", .number(String(value))))
    case .path(let path): return bound(path)
    case .and(let items): return node("and", type, ("items", list(items, bound)))
    case .or(let items): return node("or", type, ("items", list(items, bound)))
    case .not(let operand): return node("not", type, ("operand", bound(operand)))
    case .negate(let operand): return node("negate", type, ("operand", bound(operand)))
    case .binary(let kind, let left, let right):
      return node(kind.rawValue, type, ("left", bound(left)), ("right", bound(right)))
    case .membership(let left, let right): return node("in", type, ("left", bound(left)), ("right", bound(right)))
    case .list(let items): return node("list", type, ("items", list(items, bound)))
    case .call(let function, let arguments):
      return node("call", ("function", .string(function.rawValue)), type, ("arguments", list(arguments, bound)))
    case .cast(let operand, _): return node("cast", type, ("operand", operand.map(bound)))
    case .isof(let operand, let testedType):
      return node("isof", type, ("of", .string("\(testedType)")), ("operand", operand.map(bound)))
    case .conditional(let branches):
      return node(
        "case", type,
        ("branches", list(branches) { node("branch", ("condition", bound($0.condition)), ("value", bound($0.value))) }))
    case .isdefined(let path): return node("isdefined", type, ("path", bound(path)))
    case .array(let items): return node("array", type, ("items", list(items, bound)))
    case .object(let members):
      return node(
        "object", type,
        ("members", list(members) { node("member", ("name", .string($0.name)), ("value", bound($0.value))) }))
    }
  }

  static func bound(_ path: ODataBoundPath) -> JSONNode {
    var from: JSONNode?
    if case .expression(let inner) = path.root { from = bound(inner) }
    let root = rootName(path.syntax().root)
    return node(
      "path", ("root", text(root)), ("type", type(path.type)), ("from", from), ("segments", list(path.segments, bound)))
  }

  private static func bound(_ segment: ODataBoundSegment) -> JSONNode {
    let type = ("type", type(segment.type))
    func named(_ kind: String, _ name: String) -> JSONNode { node(kind, ("name", .string(name)), type) }
    switch segment.kind {
    case .source(let source): return named("set", source.name)
    case .property(let property): return named("property", property.name)
    case .navigation(let property): return named("navigation", property.name)
    case .dynamic(let name): return named("dynamic", name)
    case .computed(let name): return named("computed", name)
    case .rollupNode(let place): return node("rollupnode", ("value", number(place)), type)
    case .key(let parts):
      return node(
        "key",
        ("items", list(parts) { node("part", ("name", .string($0.part.name)), ("value", $0.value.map(bound))) }))
    case .ordinal(let place): return node("ordinal", ("value", number(place)), type)
    case .cast: return node("cast", type)
    case .operation(let operation, let arguments):
      return node("operation", ("name", .string(operation.name)), type, ("items", list(arguments, bound)))
    case .operationImport(let container, _, let arguments):
      return node("import", ("name", .string(container.name)), type, ("items", list(arguments, bound)))
    case .operations(let name): return named("operations", name)
    case .annotation(let term, let qualifier):
      return node("annotation", ("term", .string(term)), ("qualifier", text(qualifier)), type)
    case .count(let options): return node("$count", type, ("options", options.map(bound)))
    case .value: return node("$value", type)
    case .ref: return node("$ref", type)
    case .each: return node("$each", type)
    case .query: return node("$query", type)
    case .filter(let filter): return node("$filter", type, ("filter", bound(filter)))
    case .any(let lambda):
      return node("any", ("variable", text(lambda?.variable)), ("predicate", lambda.map { bound($0.predicate) }))
    case .all(let lambda):
      return node("all", ("variable", .string(lambda.variable)), ("predicate", bound(lambda.predicate)))
    case .aggregate: return node("aggregate", type)
    case .star: return node("*")
    case .allOperations(let namespace): return named("allOperations", namespace)
    case .crossjoin(let sets): return node("$crossjoin", ("sets", list(sets) { .string($0.name) }))
    case .allEntities: return node("$all")
    }
  }

  private static func bound(_ argument: ODataBoundArgument) -> JSONNode {
    node("argument", ("name", .string(argument.parameter.name)), ("value", bound(argument.value)))
  }
}
