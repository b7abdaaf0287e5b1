// `$expand` (URL Conventions 4.01 §5.1.3).
extension Binding {
  func expand(
    _ items: [ODataExpandItem], on instance: Instance
  ) throws(ODataBindingError) -> [ODataBoundExpandItem] {
    var bound: [ODataBoundExpandItem] = []
    bound.reserveCapacity(items.count)
    // Few items are compared with each other; many are looked up in a set.
    var paths: Set<ODataBoundPath> = []
    for place in items.indices {
      let next = try expandItem(items[place])
      let isNew = items.count > 8 ? paths.insert(next.path).inserted : !bound.contains { $0.path == next.path }
      guard isNew else {
        throw error(.duplicate("'\(name(of: next.path))'"), at: items[place].path.position)
      }
      bound.append(next)
    }
    return bound
  }

  private func name(of path: ODataBoundPath) -> String {
    switch path.lastKind {
    case .navigation(let property): property.name
    case .property(let property): property.name
    case .cast(let type): type.name
    case .star: "*"
    case .value: "$value"
    default: "the item"
    }
  }

  private func expandItem(_ item: ODataExpandItem) throws(ODataBindingError) -> ODataBoundExpandItem {
    var walk = try begin(item.path, .expand, at: item.path.position)
    let segments = item.path.segments
    var content = ODataBoundExpandItem.Content.entities
    var counted: ODataQueryOptions?
    var target = walk.instance
    while walk.next < segments.count {
      let segment = segments[walk.next]
      guard content == .entities else { throw misplaced("a further step", walk, "", at: segment.position) }
      switch segment.kind {
      case .ref:
        content = .references
        walk.next += 1
      case .count(let inner):
        content = .count
        walk.next += 1
        counted = inner
        guard target?.type.isCollection == true else {
          throw misplaced("$count", walk, "only collections can be counted", at: segment.position)
        }
      case .value:
        try value(&walk, at: segment.position)
        walk.next += 1
        content = .stream
      default:
        try expandStep(segments, &walk)
        target = walk.instance
      }
    }
    if case .property? = walk.path.lastKind { content = .stream }
    try checkEnd(walk, at: item.path.position)
    // Options are large: they are passed on, not copied.
    guard let counted else {
      return try expanded(walk, content: content, target: target, options: item.options, at: item.path.position)
    }
    return try expanded(walk, content: content, target: target, options: counted, at: item.path.position)
  }

  private func expanded(
    _ walk: Walk, content: ODataBoundExpandItem.Content, target: Instance?, options: ODataQueryOptions,
    at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpandItem {
    if self.options.keepsOptionsOfAnyType, content == .entities, walk.instance?.isOfAnyType == true {
      return try keepingUnbound(walk, options, at: position)
    }
    guard !options.isBare else { return ODataBoundExpandItem(path: walk.path, content: content, options: nil) }
    try allow(allowed(on: walk, content), options, on: "\(describe(walk, content))", at: position)
    let bound = try nested(options, on: target, .expand, at: position)
    try checkLevels(options, walk, at: position)
    return ODataBoundExpandItem(path: walk.path, content: content, options: bound)
  }

  /// Keeps options on entities of any type unbound if they name properties; the other options are bound now.
  private func keepingUnbound(
    _ walk: Walk, _ options: ODataQueryOptions, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpandItem {
    var unbound = ODataQueryOptions()
    (unbound.compute, unbound.expand, unbound.select) = (options.compute, options.expand, options.select)
    var others = options
    (others.compute, others.expand, others.select) = ([], [], [])
    try allow([.levels], others, on: describe(walk, .entities), at: position)
    var bound: ODataBoundOptions?
    if !others.isBare { bound = try nested(others, on: nil, .expand, at: position) }
    var item = ODataBoundExpandItem(path: walk.path, content: .entities, options: bound)
    if !OptionKinds(unbound).isEmpty {
      unbound.aliases = aliases
      item.unbound = unbound
    }
    return item
  }

  private func expandStep(
    _ segments: [ODataPathSegment], _ walk: inout Walk
  ) throws(ODataBindingError) {
    let segment = segments[walk.next]
    if hasNavigated(walk) {
      guard case .qualifiedName = segment.kind else {
        throw misplaced(
          "a further step", walk, "expand it with options in parentheses: ($expand=…)", at: segment.position)
      }
    }
    switch segment.kind {
    case .name, .qualifiedName, .star, .annotation: try step(segments, &walk)
    default: throw misplaced("the step", walk, "expected a navigation property", at: segment.position)
    }
  }

  private func hasNavigated(_ walk: Walk) -> Bool {
    walk.path.segments.contains { if case .navigation = $0.kind { true } else { false } }
  }

  /// Checks that a path ends with a step that can be expanded.
  private func checkEnd(_ walk: Walk, at position: SourcePosition) throws(ODataBindingError) {
    switch walk.path.lastKind {
    case .navigation, .star, .value, .dynamic, .annotation, .computed: return
    case .cast where hasNavigated(walk): return
    case .property(let property) where property.type.item.primitive == .stream: return
    case .property(let property):
      throw error(
        .wrongType(expected: "a navigation property", found: "'\(property.name)' of type \(property.type)"),
        at: position)
    default:
      throw error(.wrongType(expected: "a navigation property", found: "\(walk.path.type ?? .untyped)"), at: position)
    }
  }

  private func allowed(on walk: Walk, _ content: ODataBoundExpandItem.Content) -> OptionKinds {
    if case .star? = walk.path.lastKind { return content == .entities ? [.levels] : [] }
    let isMany = walk.instance?.type.isCollection ?? true
    switch content {
    case .stream: return []
    case .count: return [.filter, .search]
    case .references: return isMany ? [.filter, .search, .orderBy, .skip, .top, .count] : []
    case .entities: return allowed(on: walk.instance?.type).union([.levels]).subtracting([.index])
    }
  }

  private func describe(_ walk: Walk, _ content: ODataBoundExpandItem.Content) -> String {
    switch content {
    case .count: "$count"
    case .references: "$ref"
    case .stream: "a stream"
    case .entities:
      if case .star? = walk.path.lastKind { "*" } else { walk.instance.map { "\($0.type)" } ?? "it" }
    }
  }

  /// Checks that `$levels` is on a navigation property that leads back to its own type (§5.1.3.3).
  private func checkLevels(
    _ options: ODataQueryOptions, _ walk: Walk, at position: SourcePosition
  ) throws(ODataBindingError) {
    guard let levels = options.levels else { return }
    if case .count(let count) = levels, count < 1 {
      throw error(.invalidLiteral("$levels must be at least 1, or max"), at: position)
    }
    for segment in walk.path.segments {
      guard case .navigation(let property) = segment.kind, let target = property.type.structure else { continue }
      let source = walk.path.rootType?.structure ?? property.declaringType
      guard target.derives(from: property.declaringType) || source.derives(from: target) else {
        throw error(
          .misplacedOption(
            "$levels", on: "'\(property.name)'", reason: "it does not lead back to \(property.declaringType.name)"),
          at: position)
      }
    }
  }
}
