import LarderOData

extension Coverage {
  /// Computes what the queries have downloaded. A query that no longer fits the model is ignored.
  init(_ queries: [KnownQuery], plan: ReplicaPlan, binder: ODataBinder) {
    var builder = CoverageBuilder(plan)
    for query in queries {
      let bound = try? BoundDefiningQuery(
        query.url, plan: plan, binder: binder, pageSize: nil, tracksChanges: false)
      if let bound { builder.add(query, bound) }
      // Tables behind links that the service does not expand have no rows of the query.
      let unreached = bound == nil ? [] : builder.unreached
      for (table, bit) in query.bits where !unreached.contains(table) { builder.tables[table].bits |= 1 << bit }
    }
    self.init(plan, builder.tables)
  }
}

extension RequestedLinks {
  /// The links that a defining query requests.
  init(_ bound: BoundDefiningQuery, plan: ReplicaPlan) {
    var builder = CoverageBuilder(plan)
    builder.add(KnownQuery(name: "", url: "", isDownloaded: true, bits: [:]), bound)
    self = builder.requested
  }
}

extension Coverage {
  /// The columns that a defining query's `$select` returns, by table. A table of which the query returns all columns
  /// has no entry.
  static func selected(by bound: BoundDefiningQuery, plan: ReplicaPlan) -> [Int: Set<Int>] {
    var builder = CoverageBuilder(plan)
    builder.add(KnownQuery(name: "", url: "", isDownloaded: true, bits: [:]), bound)
    var selected: [Int: Set<Int>] = [:]
    for (number, table) in builder.tables.enumerated() {
      let routes = table.queries.flatMap(\.routes)
      guard !routes.isEmpty, routes.allSatisfy({ $0.columns != nil }) else { continue }
      selected[number] = routes.reduce(into: []) { $0.formUnion($1.columns ?? []) }
    }
    return selected
  }
}

/// Follows the options of defining queries from table to table.
private struct CoverageBuilder {
  let plan: ReplicaPlan
  var tables: [Coverage.Table]
  /// How the query that is being followed reaches each table, by the number of the table.
  private var routes: [Int: [Coverage.Route]] = [:]
  /// The items with `$levels` that were followed, and the levels of the entities that they lead to.
  private var followed: [Level: Int] = [:]
  /// The links that the query that is being followed requests.
  private(set) var requested: RequestedLinks
  /// The links that the service does not return to the query that is being followed.
  private var missing: Set<String> = []
  /// The tables that the query leads to only through missing links.
  private(set) var unreached: Set<Int> = []
  private var isBehindMissingLink = false

  /// The rows that a path identifies in the copy, and the bit of the query that returns them.
  private struct Owners {
    let path: ODataBoundPath
    let bit: Int64

    /// The entities that an item returns for the rows: those that a single step leads to, without options that leave some
    /// of them out.
    func rows(_ item: ODataBoundExpandItem) -> Coverage.Rows? {
      guard item.path.segments.count == 1, case .navigation(let navigation)? = item.path.segments.first?.kind else {
        return nil
      }
      if let options = item.options {
        let isPart = options.filter != nil || options.search != nil || options.top != nil || options.skip != nil
        guard !isPart, options.levels == nil, options.custom.isEmpty else { return nil }
      }
      return Coverage.Rows(path: path, filter: nil, link: Coverage.Link(navigation: navigation, bit: bit))
    }
  }

  private struct Level: Hashable {
    let item: ODataBoundExpandItem
    let table: Int
  }

  init(_ plan: ReplicaPlan) {
    self.plan = plan
    requested = RequestedLinks(plan.model)
    tables = plan.tables.map { _ in Coverage.Table() }
  }

  private var isV2: Bool { plan.model.version < .v4 }

  mutating func add(_ query: KnownQuery, _ bound: BoundDefiningQuery) {
    guard case .path(var path) = bound.url.resource else { return }
    if case .operation? = path.segments.last?.kind { path.segments.removeLast() }
    (routes, followed, requested, unreached) = ([:], [:], RequestedLinks(plan.model), [])
    missing = query.missingLinks
    let level = requested.addLevel(bound.table, path: "")
    let owners = query.bits[bound.table.number].flatMap { ownRows(path, bound.url.options, bit: $0) }
    add(route(bound.url.options, bound.table, level, of: owners), to: bound.table.number)
    noteRows(path, bound.url.options, bound.table.number)
    unreached.subtract(routes.keys)
    noteMissing(query.name)
    for (table, routes) in routes {
      guard query.isDownloaded else {
        tables[table].awaitedQuery = min(query.name, tables[table].awaitedQuery ?? query.name)
        continue
      }
      tables[table].queries.append(Coverage.Query(name: query.name, bit: query.bits[table], routes: routes))
    }
    if query.isDownloaded, let container = bound.container {
      tables[container.table].contained[container.navigation, default: []]
        .append(Coverage.Rows(path: container.path, filter: nil))
    }
  }

  private mutating func add(_ route: Coverage.Route, to table: Int) {
    if isBehindMissingLink { unreached.insert(table) } else { routes[table, default: []].append(route) }
  }

  /// Records for error messages which query requested a link that the service did not return.
  private mutating func noteMissing(_ query: String) {
    for level in requested.levels {
      for link in level.links where missing.contains(link.name) {
        tables[level.table.number].missing[link.navigation] = query
      }
    }
  }

  /// Records which rows are the query's own. They belong to the way that was added last.
  private mutating func noteRows(_ path: ODataBoundPath, _ options: ODataBoundOptions, _ table: Int) {
    let isWindow = options.search != nil || options.top != nil || options.skip != nil || !options.custom.isEmpty
    guard !isWindow, let all = routes[table], let latest = all.indices.last else { return }
    routes[table]?[latest].coversAllRows = path.segments.count == 1 && options.filter == nil
    // The condition is evaluated for all rows of the table, so each row needs the properties that it names.
    guard options.filter == nil || all.allSatisfy({ $0.columns == nil }) else { return }
    routes[table]?[latest].rows = Coverage.Rows(path: path, filter: options.filter)
  }

  /// The query's own rows with what it expands, if it returns all rows of its path.
  private func ownRows(_ path: ODataBoundPath, _ options: ODataBoundOptions, bit: Int64) -> Owners? {
    let isPart = options.filter != nil || options.search != nil || options.top != nil || options.skip != nil
    return isPart || !options.custom.isEmpty ? nil : Owners(path: path, bit: bit)
  }

  /// - Parameter owners: the rows whose options these are; nil if the copy does not determine them.
  private mutating func route(
    _ options: ODataBoundOptions, _ table: EntityTable, _ level: Int, of owners: Owners? = nil
  ) -> Coverage.Route {
    var navigations: Set<Int> = []
    for item in options.expand where isShown(item, options) {
      navigations.formUnion(follow(item, from: table, level, of: owners))
    }
    return Coverage.Route(columns: columns(options, of: table), navigations: navigations)
  }

  // MARK: $expand

  /// Returns the navigation properties whose links an item returns. Adds the expanded entities to their tables.
  private mutating func follow(
    _ item: ODataBoundExpandItem, from table: EntityTable, _ level: Int, of owners: Owners?
  ) -> Set<Int> {
    guard item.content == .entities || item.content == .references else { return [] }
    var path: [String] = []
    var type: EdmStructure?
    for segment in item.path.segments {
      switch segment.kind {
      case .cast(let cast) where path.isEmpty: type = cast
      case .property(let property): path.append(property.name)
      case .navigation(let navigation): path.append(navigation.name)
      default: break
      }
    }
    let isAll = if case .star? = item.path.segments.last?.kind { true } else { false }
    let numbers = table.navigations.indices.filter { number in
      let navigation = table.navigations[number]
      guard !isAll else { return navigation.path.count == 1 && table.type.isOrDerives(from: navigation.declaringType) }
      return navigation.path == path
        && (type.map {
          $0.isOrDerives(from: navigation.declaringType) || navigation.declaringType.isOrDerives(from: $0)
        }
          ?? true)
    }
    var shown: Set<Int> = []
    for number in numbers {
      let name = requested.add(number, to: level)
      let wasBehind = isBehindMissingLink
      defer { isBehindMissingLink = wasBehind }
      if missing.contains(name) { isBehindMissingLink = true } else { shown.insert(number) }
      guard item.content == .entities else { continue }
      let target = descend(
        item, to: plan.tables[table.navigations[number].target], path: name, rows: owners?.rows(item))
      requested.add(number, to: level, target: target)
    }
    return shown
  }

  /// Adds the entities that an item returns. With `$levels`, the item is followed again from these entities.
  /// Returns the level of these entities.
  private mutating func descend(
    _ item: ODataBoundExpandItem, to table: EntityTable, path: String, rows: Coverage.Rows?
  ) -> Int {
    var options = item.options ?? ODataBoundOptions()
    if options.levels != nil, let known = followed[Level(item: item, table: table.number)] { return known }
    let level = requested.addLevel(table, path: path)
    if let levels = options.levels {
      followed[Level(item: item, table: table.number)] = level
      options.levels = nil
      switch levels {
      case .max: options.expand.append(item)
      case .count(let count) where count > 1:
        var next = item
        next.options?.levels = .count(count - 1)
        options.expand.append(next)
      case .count: break
      }
    }
    var route = route(options, table, level)
    route.rows = rows
    add(route, to: table.number)
    return level
  }

  /// Before V4, expanded entities come only if `$select` is absent or names them (OData V2 URI Conventions §4.8).
  private func isShown(_ item: ODataBoundExpandItem, _ options: ODataBoundOptions) -> Bool {
    guard isV2, isSelecting(options) else { return true }
    if item.options.map(isSelecting) == true { return true }
    return options.select.contains { selected in
      switch selected.path.segments.last?.kind {
      case .star: true
      case .navigation(let navigation):
        item.path.segments.contains { segment in
          if case .navigation(let expanded) = segment.kind { expanded.name == navigation.name } else { false }
        }
      default: false
      }
    }
  }

  /// Whether the query has `$select`, for this level or for expanded entities below: the binder splits paths between
  /// levels.
  private func isSelecting(_ options: ODataBoundOptions) -> Bool {
    !options.select.isEmpty || isV2 && options.expand.contains { $0.options.map(isSelecting) == true }
  }

  // MARK: $select

  /// The columns that are downloaded; nil for all.
  private func columns(_ options: ODataBoundOptions, of table: EntityTable) -> Set<Int>? {
    guard isSelecting(options) else { return nil }
    var paths: [[String]] = table.key.map { table.columns[$0].path }
    guard collect(options.select, below: [], &paths) else { return nil }
    let all = table.columns.filter { column in
      paths.contains { path in
        column.path.starts(with: path) || column.storage == .complex && path.starts(with: column.path)
      }
    }
    return Set(all.map(\.number))
  }

  /// Collects the paths of the selected properties. Returns false if all properties are selected.
  private func collect(_ select: [ODataBoundSelectItem], below prefix: [String], _ paths: inout [[String]]) -> Bool {
    for item in select {
      var path = prefix
      for segment in item.path.segments {
        switch segment.kind {
        case .property(let property): path.append(property.name)
        case .star where path.isEmpty: return false
        case .dynamic(let name), .computed(let name): path.append(name)
        default: break
        }
      }
      guard path.count > prefix.count else {
        // The path ends with a navigation property, an operation or `*`; `*` of a complex value means all of it.
        if case .star? = item.path.segments.last?.kind { paths.append(prefix) }
        continue
      }
      let inner = item.options?.select ?? []
      if inner.isEmpty || !collect(inner, below: path, &paths) { paths.append(path) }
    }
    return true
  }
}
