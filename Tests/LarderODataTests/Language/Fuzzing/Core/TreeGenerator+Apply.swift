import LarderOData

// `$apply` (Data Aggregation 4.0 §3 and §6).
extension TreeGenerator {
  mutating func transformations(onlyPreserving: Bool = false) -> [ODataTransformation] {
    several(1...3) { $0.transformation(onlyPreserving: onlyPreserving) }
  }

  private mutating func transformation(onlyPreserving: Bool) -> ODataTransformation {
    guard depth > 0 else { return .identity }
    return deeper { onlyPreserving || $0.random.once(in: 2) ? $0.preserving() : $0.reshaping() }
  }

  private mutating func preserving() -> ODataTransformation {
    switch random.below(10) {
    case 0: return .filter(expression())
    case 1: return .search(search())
    case 2: return .orderBy(orderByItems())
    case 3: return .top(random.below(100))
    case 4: return .skip(random.below(100))
    case 5: return .extremes(random.pick(ODataExtremes.allCases), expression(), expression())
    case 6:
      return .relatives(
        random.once(in: 2) ? .ancestors : .descendants, hierarchy(), transformations(onlyPreserving: true),
        distance: maybe(2) { $0.random.below(9) }, keepsStart: random.once(in: 2))
    case 7:
      return .traverse(
        hierarchy(), isPostorder: random.once(in: 2), maybe(2) { $0.transformations(onlyPreserving: true) } ?? [],
        maybe(2) { $0.orderByNames() } ?? [])
    case 8: return .custom(collectionFunction())
    default: return .identity
    }
  }

  private mutating func reshaping() -> ODataTransformation {
    switch random.below(7) {
    case 0: return .aggregate(several(1...3) { $0.aggregate(hasAlias: true) })
    case 1: return .groupBy(several(1...3) { $0.groupingElement() }, maybe(2) { $0.transformations() } ?? [])
    case 2: return .concat(several(2...3) { $0.transformations() })
    case 3: return .compute(computeItems())
    case 4:
      var path = [ODataPathSegment(.name(name()))]
      if random.once(in: 3) { path.append(ODataPathSegment(.qualifiedName(qualifiedName()))) }
      if random.once(in: 4) { path = [ODataPathSegment(.annotation(term: qualifiedName(), qualifier: nil))] }
      return .join(ODataPath(path), alias: name(), isOuter: random.once(in: 2), maybe(2) { $0.transformations() } ?? [])
    case 5: return .nest(nestedSequences())
    default:
      let path = listPath() + (random.once(in: 3) ? [ODataPathSegment(.qualifiedName(qualifiedName()))] : [])
      return .addNested(ODataPath(path), nestedSequences())
    }
  }

  private mutating func nestedSequences() -> [ODataNestedSequence] {
    several(1...2) { ODataNestedSequence($0.transformations(), as: $0.name()) }
  }

  /// Items that cannot be taken for transformations.
  private mutating func orderByNames() -> [ODataOrderByItem] {
    several(1...2) {
      ODataOrderByItem(ODataExpression(.path(ODataPath([ODataPathSegment(.name($0.random.pick(["ID", "Name"])))]))))
    }
  }

  private mutating func collectionFunction() -> ODataPath {
    let arguments = several(0...2) { ODataArgument(name: $0.name(), value: $0.expression()) }
    return ODataPath([ODataPathSegment(.qualifiedName(qualifiedName())), ODataPathSegment(.arguments(arguments))])
  }

  private mutating func hierarchy() -> ODataHierarchyReference {
    let nodes = ODataPath(root: .root, [ODataPathSegment(.name(name()))])
    return ODataHierarchyReference(nodes: nodes, qualifier: name(), property: ODataPath(listPath()))
  }

  private mutating func groupingElement() -> ODataGroupingElement {
    switch random.below(5) {
    case 0: .rollup(several(2...3) { ODataPath($0.listPath()) })
    case 1: .rollupHierarchy(name())
    case 2: .rollupRecursive(hierarchy(), maybe(2) { $0.transformations(onlyPreserving: true) } ?? [])
    default: .property(ODataPath(listPath()))
    }
  }

  mutating func aggregate(hasAlias: Bool) -> ODataAggregateExpression {
    let alias = hasAlias ? name() : nil
    let from =
      maybe(4) {
        $0.several(1...2) { ODataAggregateFrom($0.several(1...2) { ODataPath($0.listPath()) }, with: $0.method()) }
      } ?? []
    let path = ODataPath(listPath())
    switch random.below(5) {
    case 0:
      let counted = random.once(in: 2) ? [] : path.segments
      return ODataAggregateExpression(
        ODataExpression(.path(ODataPath(counted + [ODataPathSegment(.count(nil))]))), from: from, as: alias)
    case 1:
      // A custom aggregate brings its method with it, and keeps its name where it wants.
      let steps = from.map { ODataAggregateFrom($0.properties, with: random.once(in: 2) ? nil : $0.method) }
      let keepsName = steps.isEmpty && random.once(in: 2)
      return ODataAggregateExpression(ODataExpression(.path(path)), from: steps, as: keepsName ? nil : alias)
    case 2:
      let cast = ODataPath(path.segments + [ODataPathSegment(.qualifiedName(qualifiedName()))])
      return ODataAggregateExpression(ODataExpression(.path(cast)), with: "countdistinct", from: from, as: alias)
    case 3 where depth > 0:
      return ODataAggregateExpression(deeper { $0.expression() }, with: method(), from: from, as: alias)
    default: return ODataAggregateExpression(ODataExpression(.path(path)), with: method(), from: from, as: alias)
    }
  }

  private mutating func method() -> String {
    random.once(in: 4) ? qualifiedName() : random.pick(["sum", "min", "max", "average", "countdistinct"])
  }
}
