// `aggregate` (Data Aggregation 4.0 §3.2.1).
extension Binding {
  static let customAggregateTerm = "Org.OData.Aggregation.V1.CustomAggregate"

  func aggregate(
    _ items: [ODataAggregateExpression], _ instance: inout Instance
  ) throws(ODataBindingError) -> [ODataBoundAggregate] {
    var bound: [ODataBoundAggregate] = []
    var members: [ODataBoundShape.Member] = []
    var names: Set<String> = []
    for item in items {
      let aggregate = try self.aggregate(item)
      guard let name = aggregate.name else {
        throw error(.wrongType(expected: "a name for the value (as …)", found: "none"), at: item.expression.position)
      }
      guard names.insert(name).inserted else {
        throw error(.duplicate("'\(name)'"), at: item.expression.position)
      }
      members.append(ODataBoundShape.Member(name: name, type: aggregate.type, isComputed: true))
      bound.append(aggregate)
    }
    let shape = ODataBoundShape(base: instance.type.structure, members: members, isClosed: true)
    instance.type = ODataBoundType(.shape(shape), isCollection: true)
    return bound
  }

  /// Binds one item on the current instance.
  func aggregate(_ item: ODataAggregateExpression) throws(ODataBindingError) -> ODataBoundAggregate {
    let (operand, type) = try operand(item)
    var from: [ODataBoundAggregateFrom] = []
    for step in item.from {
      var properties: [ODataBoundPath] = []
      for property in step.properties { properties.append(try relative(property, .apply).path) }
      from.append(ODataBoundAggregateFrom(properties: properties, method: step.method))
    }
    return ODataBoundAggregate(operand: operand, method: item.method, from: from, alias: item.alias, type: type)
  }

  private func operand(
    _ item: ODataAggregateExpression
  ) throws(ODataBindingError) -> (ODataBoundAggregate.Operand, ODataBoundType) {
    let position = item.expression.position
    guard let method = item.method else {
      guard case .path(let path) = item.expression.kind else {
        throw error(.wrongType(expected: "a method (with …)", found: "none"), at: position)
      }
      return try withoutMethod(path, at: position)
    }
    let value = try aggregable(item.expression)
    let primitive = value.type.item.primitive
    let result: ODataBoundType
    switch method {
    case "sum", "average":
      guard !value.type.isCollection, primitive?.isNumeric ?? value.type.item.isOpen else {
        throw error(.wrongType(expected: "a number for \(method)", found: "\(value.type)"), at: position)
      }
      result = .primitive(primitive?.isFloating == true ? .double : .decimal, isNullable: true)
    case "min", "max":
      guard isOrdered(value.type) else {
        throw error(.wrongType(expected: "a value that can be ordered", found: "\(value.type)"), at: position)
      }
      result = value.type.nullable()
    case "countdistinct": result = .primitive(.decimal)
    default: result = .untyped
    }
    return (.expression(value), result)
  }

  /// Binds an expression that has a value for each instance: paths go through collections, to each of their items.
  func aggregable(_ expression: ODataExpression) throws(ODataBindingError) -> ODataBoundExpression {
    guard case .path(let path) = expression.kind else { return try bind(expression) }
    switch path.root {
    case .alias, .expression: return try bind(expression)
    default: break
    }
    let walk = try relative(path, .apply)
    return ODataBoundExpression(.path(walk.path), (walk.path.type ?? .untyped).single, at: expression.position)
  }

  /// Binds `$count`, and custom aggregates, which the model declares by annotations.
  private func withoutMethod(
    _ path: ODataPath, at position: SourcePosition
  ) throws(ODataBindingError) -> (ODataBoundAggregate.Operand, ODataBoundType) {
    var front = path
    let last = front.segments.popLast()
    switch last?.kind {
    case .count(nil): return (.count(try relative(front, .apply).path), .primitive(.decimal))
    case .name(let name):
      let walk = try relative(front, .apply)
      guard isCustomAggregate(name, walk.instance) else {
        throw error(
          .unknownName(
            name, what: "custom aggregate", place: walk.instance.map { "in \($0.type.item)" } ?? "in the model",
            nearest: nil), at: last?.position ?? position)
      }
      return (.custom(walk.path, name), .untyped)
    default: throw error(.wrongType(expected: "a method (with …)", found: "none"), at: position)
    }
  }

  private func isCustomAggregate(_ name: String, _ instance: Instance?) -> Bool {
    var targets = instance?.type.structure?.chain.map(\.name) ?? []
    if let container = index.model.defaultContainer {
      targets.append(container.qualifiedName)
      if let source = instance?.source?.source { targets.append(container.qualifiedName + "/" + source.name) }
    }
    return targets.contains { target in
      index.model.annotations(target: target).contains {
        $0.term == Binding.customAggregateTerm && $0.qualifier == name
      }
    }
  }
}

extension ODataBoundAggregate {
  /// The name of its value.
  package var name: String? {
    if let alias { return alias }
    if case .custom(_, let name) = operand { return name }
    return nil
  }
}
