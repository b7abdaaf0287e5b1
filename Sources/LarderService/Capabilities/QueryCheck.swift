import LarderOData

/// Checks a bound query against the rules of all entities that it reads.
struct QueryCheck {
  private let model: EdmModel

  init(_ model: EdmModel) { self.model = model }

  func check(_ path: ODataBoundPath, _ options: ODataBoundOptions) throws(QueryRules.Violation) {
    var rules: QueryRules?
    var names: [String] = []
    var isSingleEntity = false
    var countsItems = false
    for segment in path.segments {
      switch segment.kind {
      case .source(let source):
        rules = QueryRules(source: source.name, type: segment.type?.structure, model)
        isSingleEntity = source.singleton != nil
      case .navigation(let navigation):
        let step = (names + [navigation.name]).joined(separator: "/")
        rules = rules?.behind(navigation, path: step, source: segment.source)
        (names, isSingleEntity) = ([], navigation.type.isCollection == false)
      case .property(let property): names.append(property.name)
      case .key: isSingleEntity = true
      case .count: countsItems = true
      case .cast: break
      // The result of an operation, or something else that the annotations do not describe.
      default: return
      }
    }
    guard let rules, names.isEmpty else { return }
    let last = path.segments.last { segment in
      if case .cast = segment.kind { false } else { segment.type != nil }
    }
    let byKey = if case .key? = last?.kind { true } else { false }
    try rules.checkReadable(byKey: byKey)
    if countsItems { try rules.checkCount() }
    // After a navigation property, the containing entity's key already selects rows; the service checks what else is
    // required.
    let hasNoNavigation = !path.segments.contains { if case .navigation = $0.kind { true } else { false } }
    if !isSingleEntity, hasNoNavigation { try rules.checkSet(filteredBy: options.filter.map { UsedPaths($0).paths }) }
    try check(options, rules, isCollection: !isSingleEntity)
  }

  private func check(
    _ options: ODataBoundOptions, _ rules: QueryRules, isCollection: Bool, isNested: Bool = false
  ) throws(QueryRules.Violation) {
    if isCollection {
      if let filter = options.filter { try rules.checkFilter(UsedPaths(filter, isNested: isNested).paths) }
      try rules.checkSort(
        options.orderBy.flatMap { item in
          UsedPaths(item.expression, isNested: isNested).paths.map { ($0, item.isDescending) }
        })
      if options.search != nil { try rules.checkSearch() }
      if options.count == true { try rules.checkCount() }
      if options.top != nil { try rules.checkTop() }
      if options.skip != nil { try rules.checkSkip() }
    }
    if !options.select.isEmpty { try rules.checkSelect() }
    let items = options.expand.filter { $0.content != .stream }
    try rules.checkExpand(items.map(\.path.memberPath), levels: QueryCheck.levels(options))
    for item in items {
      let path = item.path.memberPath
      if item.content == .count { try rules.checkCount(of: path) }
      guard let nested = item.options,
        let last = item.path.segments.last(where: { $0.memberName != nil }),
        case .navigation(let navigation) = last.kind
      else { continue }
      let behind = rules.behind(navigation, path: path, source: last.source)
      if nested.count == true { try rules.checkCount(of: path) }
      try check(nested, behind, isCollection: navigation.type.isCollection, isNested: true)
    }
  }

  /// The levels of related entities in a query.
  private static func levels(_ options: ODataBoundOptions) -> Int {
    options.expand.map { item in
      var levels = 1
      if case .count(let count)? = item.options?.levels { levels = count }
      return levels + (item.options.map(QueryCheck.levels) ?? 0)
    }.max() ?? 0
  }
}
