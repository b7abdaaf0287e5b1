import LarderOData

/// The name of a path segment in messages.
func describe(_ kind: ODataBoundSegment.Kind) -> String {
  switch kind {
  case .source(let source): "'\(source.name)'"
  case .property(let property): "'\(property.name)'"
  case .navigation(let navigation): "'\(navigation.name)'"
  case .dynamic(let name), .computed(let name): "'\(name)'"
  case .rollupNode(let number): "Aggregation.rollupnode(Position=\(number))"
  case .key: "a key"
  case .ordinal: "an index into a collection"
  case .cast(let type): "a cast to \(type.name)"
  case .operation(let operation, _): "the operation \(operation.name)"
  case .operationImport(let item, _, _): "the operation \(item.name)"
  case .operations(let name): "the operation \(name)"
  case .annotation(let term, _): "the annotation @\(term)"
  case .count: "$count"
  case .value: "$value"
  case .ref: "$ref"
  case .each: "$each"
  case .query: "$query"
  case .filter: "$filter"
  case .any: "any"
  case .all: "all"
  case .aggregate: "aggregate"
  case .star: "*"
  case .allOperations(let namespace): "\(namespace).*"
  case .crossjoin: "$crossjoin"
  case .allEntities: "$all"
  }
}
