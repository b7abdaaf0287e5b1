// Recursive hierarchies (Data Aggregation 4.0 §5.5.2, §6.1).
extension Binding {
  private static let recursiveHierarchyTerm = "Org.OData.Aggregation.V1.RecursiveHierarchy"

  /// Binds a reference to a hierarchy; returns the hierarchy and its nodes.
  func hierarchy(
    _ reference: ODataHierarchyReference
  ) throws(ODataBindingError) -> (ODataBoundHierarchy, nodes: Instance) {
    let nodes = try relative(reference.nodes, .expression)
    guard let instance = nodes.instance, instance.type.isCollection else {
      throw error(
        .wrongType(expected: "a collection of nodes", found: "\(nodes.path.type ?? .untyped)"),
        at: reference.nodes.position)
    }
    let property = try relative(reference.property, .apply).path
    guard let type = property.type, type.item.primitive != nil || type.item.isOpen else {
      throw error(
        .wrongType(expected: "the node's identifier", found: "\(property.type ?? .untyped)"),
        at: reference.property.position)
    }
    let annotation = recursiveHierarchy(reference.qualifier, of: instance.type.structure)
    let node = Binding.steps(annotation?["NodeProperty"])
    let hierarchy = ODataBoundHierarchy(
      nodes: nodes.path, qualifier: reference.qualifier, property: property, nodeProperty: node,
      parentNavigation: Binding.steps(annotation?["ParentNavigationProperty"]),
      nodeSteps: nodeSteps(property, node, instance.type.structure))
    return (hierarchy, instance)
  }

  /// Binds the parts that apply to the nodes, not to the input: the transformations that select nodes, and their order.
  func onNodes(
    _ nodes: Instance, _ steps: [ODataTransformation], _ order: [ODataOrderByItem]
  ) throws(ODataBindingError) -> ([ODataBoundTransformation], [ODataBoundOrderBy]) {
    let (bound, _) = try apply(steps, on: nodes)
    let outer = (current, this, these)
    defer { (current, this, these) = outer }
    scope(nodes)
    return (bound, try orderBy(order))
  }

  /// Adds the node information of a hierarchy (§6.2.2) to the type of instances. A type that has kept its declared
  /// properties does not change.
  func adding(_ nodes: Instance, of hierarchy: ODataBoundHierarchy, to type: ODataBoundType) -> ODataBoundType {
    guard case .shape(let shape) = type.item, shape.isClosed, let count = hierarchy.nodeSteps else { return type }
    let steps = hierarchy.property.segments[..<count].filter { !$0.isCast }
    guard let last = steps.last, let name = last.memberName else {
      let open = ODataBoundShape(
        base: nodes.type.structure, members: shape.members.filter(\.isComputed), isClosed: false)
      return ODataBoundType(.shape(open), isCollection: type.isCollection, isNullable: type.isNullable)
    }
    let lastType = last.type ?? nodes.type
    let nodeType = ODataBoundType(nodes.type.item, isCollection: lastType.isCollection, isNullable: lastType.isNullable)
    let member = ODataBoundShape.Member(name: name, type: nodeType, isComputed: last.isUndeclared)
    return adding([member], to: type, along: steps.dropLast()[...])
  }

  // MARK: rollupnode

  static let rollupNode = "Org.OData.Aggregation.V1.rollupnode"

  /// Binds the function that returns the node whose descendants are aggregated (§6.3); false if the name is another.
  func rollupNode(
    _ name: String, _ segments: [ODataPathSegment], _ walk: inout Walk, at position: SourcePosition
  ) throws(ODataBindingError) -> Bool {
    guard name == "Aggregation.rollupnode" || index.model.resolve(name) == Binding.rollupNode,
      walk.path.segments.isEmpty, walk.next < segments.count, case .arguments(let arguments) = segments[walk.next].kind
    else { return false }
    var number = 1
    for argument in arguments {
      guard argument.name == "Position", case .literal(let value) = argument.value.kind,
        let place = Int((try? value.literal(dialect: .v4)) ?? "")
      else {
        throw error(
          .wrongArguments(name, found: arguments.map { $0.name ?? "" }, expected: ["Position"]), at: position)
      }
      number = place
    }
    guard rollupNodes.indices.contains(number - 1) else {
      throw misplaced(
        "\(name)(Position=\(number))", walk, "no such rolluprecursive in the groupby", at: position)
    }
    walk.next += 1
    walk.append(.rollupNode(number), rollupNodes[number - 1], at: position)
    return true
  }

  private func recursiveHierarchy(_ qualifier: String, of structure: EdmStructure?) -> EdmAnnotationValue? {
    for type in structure?.chain ?? [] {
      let annotation = index.model.annotation(
        Binding.recursiveHierarchyTerm, qualifier: qualifier, target: type.name)
      if let value = annotation?.value { return value }
    }
    return nil
  }

  private static func steps(_ value: EdmAnnotationValue?) -> [String] {
    let text: String? =
      switch value?.expression {
      case .path(_, let text), .constant(.string, let text): text
      default: nil
      }
    return (text ?? "").split(separator: "/").map { String($0) }
  }

  /// The number of steps to the node whose identifier a path ends in. Paths are equal if they go through the same
  /// elements of the model, ignoring casts.
  private func nodeSteps(_ path: ODataBoundPath, _ node: [String], _ nodes: EdmStructure?) -> Int? {
    guard let nodes, !node.isEmpty else { return nil }
    var count = path.segments.count
    for name in node.reversed() {
      while count > 0, path.segments[count - 1].isCast { count -= 1 }
      guard count > 0, path.segments[count - 1].memberName == name else { return nil }
      count -= 1
    }
    let type = count == 0 ? path.rootType : path.segments[count - 1].type
    guard let structure = type?.structure, structure.derives(from: nodes) || nodes.derives(from: structure) else {
      return nil
    }
    guard let last = path.segments[..<count].last(where: { !$0.isCast }) else { return 0 }
    switch last.kind {
    case .navigation, .computed: return count
    default: return nil
    }
  }
}

extension ODataBoundSegment {
  var isCast: Bool { if case .cast = kind { true } else { false } }
}
