// `groupby`, and the transformations that join and nest (Data Aggregation 4.0 §3.2.3, §3.3, §3.4).
extension Binding {
  static let leveledHierarchyTerm = "Org.OData.Aggregation.V1.LeveledHierarchy"

  func groupBy(
    _ elements: [ODataGroupingElement], _ inner: [ODataTransformation], _ instance: inout Instance
  ) throws(ODataBindingError) -> ODataBoundTransformation {
    var bound: [ODataBoundGrouping] = []
    var paths = GroupedPaths()
    for element in elements { bound.append(try grouping(element, &paths, instance)) }
    let grouped =
      paths.node.map { ODataBoundShape(base: $0, members: [], isClosed: false) }
      ?? shape(of: paths.all.map { $0.segments[...] }, in: instance.type)
    guard !inner.isEmpty else {
      instance.type = ODataBoundType(.shape(grouped), isCollection: true)
      return .groupBy(bound, [])
    }
    let outer = rollupNodes
    if !paths.nodes.isEmpty { rollupNodes = paths.nodes }
    defer { rollupNodes = outer }
    let (steps, result) = try apply(inner, on: instance)
    instance = result
    // Transformations that keep the instances also keep the grouping properties; to new instances they are added.
    if case .shape(let newShape) = result.type.item, newShape.isClosed {
      let members = grouped.members.filter { newShape.member($0.name) == nil } + newShape.members
      let shape = ODataBoundShape(base: grouped.base, members: members, isClosed: grouped.isClosed)
      instance.type = ODataBoundType(.shape(shape), isCollection: true)
    }
    return .groupBy(bound, steps)
  }

  private func grouping(
    _ element: ODataGroupingElement, _ paths: inout GroupedPaths, _ instance: Instance
  ) throws(ODataBindingError) -> ODataBoundGrouping {
    switch element {
    case .property(let path):
      let bound = try relative(path, .apply).path
      guard paths.insert(bound) else { throw error(.duplicate("a grouping property"), at: path.position) }
      return .property(bound)
    case .rollup(let levels):
      var bound: [ODataBoundPath] = []
      for path in levels {
        let isAll = bound.isEmpty && path.segments.count == 1 && path.segments[0].kind == .allEntities
        bound.append(
          isAll ? ODataBoundPath(root: .implicit, rootType: current?.type) : try relative(path, .apply).path)
      }
      for path in bound where !path.segments.isEmpty { _ = paths.insert(path) }
      return .rollup(bound)
    case .rollupHierarchy(let qualifier):
      let levels = try levels(of: qualifier, instance)
      for path in levels { _ = paths.insert(path) }
      return .rollupHierarchy(qualifier, levels: levels)
    case .rollupRecursive(let reference, let inner):
      let (hierarchy, nodes) = try self.hierarchy(reference)
      paths.insert(hierarchy, nodes)
      let (steps, _) = try onNodes(nodes, inner, [])
      return .rollupRecursive(hierarchy, steps)
    }
  }

  /// The properties of a leveled hierarchy, from an annotation of the type or the container.
  private func levels(
    of qualifier: String, _ instance: Instance
  ) throws(ODataBindingError) -> [ODataBoundPath] {
    var targets = instance.type.structure?.chain.map(\.name) ?? []
    if let container = index.model.defaultContainer?.qualifiedName { targets.append(container) }
    for target in targets {
      guard
        let annotation = index.model.annotation(
          Binding.leveledHierarchyTerm, qualifier: qualifier, target: target), let items = annotation.value?.items
      else { continue }
      var paths: [ODataBoundPath] = []
      for item in items {
        guard let text = item.string ?? item.expression.pathText else { continue }
        let segments = text.split(separator: "/").map { ODataPathSegment(.name(String($0))) }
        paths.append(try relative(ODataPath(segments), .apply).path)
      }
      return paths
    }
    throw error(
      .unknownName(qualifier, what: "leveled hierarchy", place: "in \(instance.type.item)", nearest: nil), at: .none)
  }

  /// The shape of a type after grouping: the properties at the ends of paths, and the properties on the way to them.
  private func shape(of paths: [ArraySlice<ODataBoundSegment>], in type: ODataBoundType) -> ODataBoundShape {
    var groups: [GroupedSteps] = []
    var places: [String: Int] = [:]
    for path in paths {
      // Casts in the path are not properties.
      let steps = path.drop { if case .cast = $0.kind { true } else { false } }
      guard let first = steps.first, let name = first.memberName, let firstType = first.type else { continue }
      let place = places[name] ?? groups.count
      if place == groups.count {
        places[name] = place
        groups.append(GroupedSteps(name: name, type: firstType, isComputed: first.isUndeclared))
      }
      if steps.count == 1 { groups[place].endsHere = true } else { groups[place].rest.append(steps.dropFirst()) }
    }
    let members = groups.map { group in
      var memberType = group.type
      // A property that is grouped as a whole keeps its type.
      if !group.endsHere {
        memberType = ODataBoundType(
          .shape(shape(of: group.rest, in: memberType)), isCollection: memberType.isCollection,
          isNullable: memberType.isNullable)
      }
      return ODataBoundShape.Member(name: group.name, type: memberType, isComputed: group.isComputed)
    }
    return ODataBoundShape(base: type.structure, members: members, isClosed: true)
  }

  // MARK: join, nest, addnested

  func joining(
    _ transformation: ODataTransformation, _ instance: inout Instance
  ) throws(ODataBindingError) -> ODataBoundTransformation {
    switch transformation {
    case .join(let path, let alias, let isOuter, let inner):
      let walk = try relative(path, .apply)
      guard let target = walk.instance, target.type.isCollection else {
        throw error(
          .wrongType(expected: "a collection to join", found: "\(walk.path.type ?? .untyped)"), at: path.position)
      }
      let (steps, result) = try apply(inner, on: target)
      let type = ODataBoundType(result.type.item, isNullable: isOuter)
      instance.type = adding([ODataBoundShape.Member(name: alias, type: type, isComputed: true)], to: instance.type)
      return .join(walk.path, alias: alias, isOuter: isOuter, steps)
    case .nest(let sequences):
      let (bound, members) = try nested(sequences, on: instance)
      let shape = ODataBoundShape(base: instance.type.structure, members: members, isClosed: true)
      instance.type = ODataBoundType(.shape(shape), isCollection: true)
      return .nest(bound)
    case .addNested(let path, let sequences):
      let walk = try relative(path, .apply)
      guard var target = walk.instance, target.type.item.isStructured else {
        throw error(
          .wrongType(expected: "related instances", found: "\(walk.path.type ?? .untyped)"), at: path.position)
      }
      let isCollection = target.type.isCollection
      target.type.isCollection = true
      var (bound, members) = try nested(sequences, on: target)
      if !isCollection {
        // A single instance is transformed into a single instance (§3.4.3).
        members = members.map {
          ODataBoundShape.Member(name: $0.name, type: $0.type.single.nullable(), isComputed: true)
        }
      }
      let around = walk.path.segments.filter { !$0.isCast }.dropLast()
      instance.type = adding(members, to: instance.type, along: around)
      return .addNested(walk.path, bound)
    default: return .identity
    }
  }

  private func nested(
    _ sequences: [ODataNestedSequence], on instance: Instance
  ) throws(ODataBindingError) -> ([ODataBoundNested], [ODataBoundShape.Member]) {
    var bound: [ODataBoundNested] = []
    var members: [ODataBoundShape.Member] = []
    for sequence in sequences {
      let (steps, result) = try apply(sequence.transformations, on: instance)
      bound.append(ODataBoundNested(transformations: steps, alias: sequence.alias))
      members.append(ODataBoundShape.Member(name: sequence.alias, type: result.type, isComputed: true))
    }
    return (bound, members)
  }

  /// Adds properties to the type at the end of a path.
  func adding(
    _ members: [ODataBoundShape.Member], to type: ODataBoundType, along path: ArraySlice<ODataBoundSegment>
  ) -> ODataBoundType {
    guard let first = path.first else { return adding(members, to: type) }
    guard let name = first.memberName, let next = first.type else {
      return adding(members, to: type, along: path.dropFirst())
    }
    let changed = adding(members, to: next, along: path.dropFirst())
    return adding(
      [ODataBoundShape.Member(name: name, type: changed, isComputed: first.isUndeclared)], to: type)
  }
}

/// The distinct paths that a `groupby` names.
private struct GroupedPaths {
  private(set) var all: [ODataBoundPath] = []
  private var distinctPaths: Set<ODataBoundPath> = []
  /// The type of the nodes, if the input's instances are nodes: nodes with all their properties then replace the
  /// groups.
  private(set) var node: EdmStructure?
  /// The nodes of each hierarchy.
  private(set) var nodes: [Binding.Instance] = []

  /// Adds a path; returns whether it is new.
  mutating func insert(_ path: ODataBoundPath) -> Bool {
    guard distinctPaths.insert(path).inserted else { return false }
    all.append(path)
    return true
  }

  /// Adds the path that `rolluprecursive` adds to the groups' instances: the node, the related node, or its identifier
  /// (§6.2.2).
  mutating func insert(_ hierarchy: ODataBoundHierarchy, _ nodes: Binding.Instance) {
    if hierarchy.nodeSteps == 0 { node = nodes.type.structure }
    self.nodes.append(nodes.single)
    var path = hierarchy.property
    if let count = hierarchy.nodeSteps, count > 0 { path.segments = Array(path.segments[..<count]) }
    _ = insert(path)
  }
}

/// The paths of a `groupby` that begin with one property.
private struct GroupedSteps {
  let name: String
  let type: ODataBoundType
  let isComputed: Bool
  /// Whether one of the paths ends with the property.
  var endsHere = false
  /// The remaining steps of the other paths.
  var rest: [ArraySlice<ODataBoundSegment>] = []
}

extension EdmExpression {
  /// The text of a path.
  fileprivate var pathText: String? {
    if case .path(_, let text) = self { text } else { nil }
  }
}

extension ODataBoundSegment {
  /// The name of a step to a property of any kind; nil for other steps.
  var memberName: String? {
    switch kind {
    case .property(let property): property.name
    case .navigation(let property): property.name
    case .dynamic(let name), .computed(let name): name
    default: nil
    }
  }

  /// Whether the step's name is not declared in the model.
  var isUndeclared: Bool {
    switch kind {
    case .dynamic, .computed: true
    default: false
    }
  }
}
