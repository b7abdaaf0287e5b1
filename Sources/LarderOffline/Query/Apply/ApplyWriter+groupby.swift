import LarderOData
import LarderStorage

// `groupby` (Data Aggregation 4.0 §3.2.3).
extension ApplyWriter {
  func groupBy(
    _ elements: [ODataBoundGrouping], _ steps: [ODataBoundTransformation], _ rows: ApplySet
  ) throws -> ApplySet {
    var groupings: [[ODataBoundPath]] = [[]]
    var hierarchies: [(ODataBoundHierarchy, [ODataBoundTransformation])] = []
    for element in elements {
      if case .rollupRecursive(let hierarchy, let chosen) = element {
        hierarchies.append((hierarchy, chosen))
        continue
      }
      let levels = levels(of: element)
      groupings = groupings.flatMap { before in levels.map { before + $0 } }
      guard groupings.count <= ApplyWriter.maximumGroupings else {
        throw OfflineODataError.unsupported(
          "rollup with more than \(ApplyWriter.maximumGroupings) combinations of levels")
      }
    }
    let sets = try groupings.map { try group(by: $0, below: hierarchies, steps, rows) }
    return sets.count == 1 ? sets[0] : try union(sets)
  }

  private static let maximumGroupings = 64

  /// The groupings of an element: `rollup` groups by all its levels, then by one level less, down to the first
  /// (§3.2.3.2).
  private func levels(of element: ODataBoundGrouping) -> [[ODataBoundPath]] {
    switch element {
    case .property(let path): return [[path]]
    case .rollup(let paths), .rollupHierarchy(_, let paths):
      // The level of all rows has no grouping property.
      return paths.indices.reversed().map { paths[...$0].filter { !$0.segments.isEmpty } }
    case .rollupRecursive: return [[]]
    }
  }

  /// Applies the transformations to each group, and adds the grouping properties to the results.
  ///
  /// - Parameter hierarchies: the hierarchies of `rolluprecursive`, each with the transformations that choose its
  ///   nodes. There is a group for each node or, with several hierarchies, for each combination of nodes (§6.3).
  func group(
    by paths: [ODataBoundPath], below hierarchies: [(ODataBoundHierarchy, [ODataBoundTransformation])] = [],
    _ steps: [ODataBoundTransformation], _ rows: ApplySet
  ) throws -> ApplySet {
    var inner = rows
    guard !hierarchies.isEmpty else { return try grouped(by: paths, steps, inner, rows) }
    var groups = try self.groups(rows)
    var levels: [(key: String, number: Int, hierarchy: ODataBoundHierarchy)] = []
    for (place, (reference, chosen)) in hierarchies.enumerated() {
      let level = "rolluprecursive " + String(inner.keys.names.count)
      levels.append((level, place + 1, reference))
      try divide(reference, chosen: chosen, level: level, number: place + 1, rows: &inner, groups: &groups)
    }
    if paths.isEmpty {
      // A node without rows is a group too.
      inner.origin = [groups]
      inner.isThinned = true
    }
    var result =
      try paths.isEmpty
      ? steps.isEmpty ? aggregate([], inner) : apply(steps, inner) : grouped(by: paths, steps, inner, inner)
    for level in levels.reversed() { try identifyGroup(level.key, number: level.number, level.hierarchy, &result) }
    result.origin = rows.origin
    result.isThinned = rows.isThinned || result.isThinned
    return result
  }

  private func grouped(
    by paths: [ODataBoundPath], _ steps: [ODataBoundTransformation], _ start: ApplySet, _ rows: ApplySet
  ) throws -> ApplySet {
    var inner = start
    var keyRow = ComputedRow()
    for path in paths { try add(path, to: &keyRow, &inner) }
    let level = "groupby " + String(rows.keys.names.count)
    inner.keys[level] = .row(keyRow)
    inner.isThinned = false
    inner.origin = [inner]
    var result = steps.isEmpty ? try aggregate([], inner) : try apply(steps, inner)
    guard case .row(let projection)? = result.keys[level] else { return result }
    result.keys[level] = nil
    result.origin = rows.origin
    result.isThinned = rows.isThinned || result.isThinned
    if case .row(let computedRow) = result.set.scope {
      let merged = ApplyWriter.merged(projection, computedRow)
      result.set.scope = .row(merged)
      result.set.names = merged.shown
    }
    return result
  }

  /// Adds the grouping properties to the rows that the transformations computed for a group (Π of §3.2.3.1).
  private static func merged(_ projection: ComputedRow, _ computedRow: ComputedRow) -> ComputedRow {
    var all = projection
    all.kind = computedRow.kind
    all.kinds = computedRow.kinds.filter { projection[$0.key] == nil }
    all.inLine.formUnion(computedRow.inLine)
    for name in computedRow.names {
      if case .row(let first)? = all[name], case .row(let second)? = computedRow[name] {
        all[name] = .row(merged(first, second))
      } else if all[name] == nil {
        all[name] = computedRow[name]
      }
    }
    return all
  }

  // MARK: Grouping properties

  private func add(_ path: ODataBoundPath, to row: inout ComputedRow, _ rows: inout ApplySet) throws {
    switch path.root {
    case .implicit, .this: break
    default: throw OfflineODataError.unsupported("groupby with a path that does not start with a property")
    }
    try add(path.segments[...], PathPlace(scope: rows.set.scope), to: &row, &rows)
  }

  private func add(
    _ segments: ArraySlice<ODataBoundSegment>, _ start: PathPlace, to row: inout ComputedRow, _ rows: inout ApplySet
  ) throws {
    let writer = writer(rows.set.scope)
    var place = start
    var rest = segments
    while let step = rest.first, case .cast = step.kind {
      place = try writer.step(step, place)
      rest = rest.dropFirst()
    }
    guard let step = rest.popFirst() else { throw OfflineODataError.unsupported("groupby with a cast and no property") }
    guard let name = step.propertyName else {
      throw OfflineODataError.unsupported("groupby with " + describe(step.kind))
    }
    let next = try writer.step(step, place)
    guard !next.isCollection else { throw OfflineODataError.unsupported("groupby with the collection '\(name)'") }
    let isLast = rest.allSatisfy { if case .cast = $0.kind { true } else { false } }
    guard !isLast else {
      row[name] = try leaf(next, &rows)
      if case .entity? = row[name] { row.inLine.insert(name) }
      return
    }
    var inner = ComputedRow()
    if let existing = row[name] {
      // A property that is grouped by as a whole includes all its parts.
      guard case .row(let computedRow) = existing, !row.inLine.contains(name) else { return }
      inner = computedRow
    } else {
      inner.marker = try marker(next)
    }
    try add(rest, next, to: &inner, &rows)
    row[name] = .row(inner)
  }

  /// The marker of a grouping object: NULL if the path leads to nothing.
  private func marker(_ place: PathPlace) throws -> SQLText? {
    switch place.scope {
    case .entity(let entity):
      guard let joinedRows = place.rows else {
        return .atom("CASE WHEN \(try writer(place.scope).system(.id, of: entity)) IS NOT NULL THEN '' END")
      }
      return .atom("(SELECT '' \(joinedRows.from()) LIMIT 1)")
    case .complex(let complex):
      let computedRow = try RowParts(statement).row(of: complex)
      return computedRow.marker.map { text in place.rows.map { $0.value(text) } ?? text }
    case .row(let computedRow): return computedRow.marker
    case .json(let json):
      let kind = place.rows.map { $0.value(json.kind) } ?? json.kind
      return .atom("CASE WHEN \(kind) = 'object' THEN '' END")
    case .value, .nested: return nil
    }
  }

  /// The value of a grouping property as a whole.
  private func leaf(_ place: PathPlace, _ rows: inout ApplySet) throws -> Scope {
    switch place.scope {
    case .value: return .value(try writer(rows.set.scope).value(of: place))
    case .json(let json):
      guard let joinedRows = place.rows else { return place.scope }
      return .json(JSONPlace(base: joinedRows.value(json.json), type: json.type))
    case .entity(let entity):
      guard let joinedRows = place.rows else { return place.scope }
      let id = joinedRows.value(try writer(place.scope).system(.id, of: entity))
      return .entity(try attached(id, entity, &rows))
    case .complex(let complex):
      var computedRow = try RowParts(statement).row(of: complex)
      if let joinedRows = place.rows { computedRow = ApplyWriter.subqueryRow(computedRow, from: joinedRows) }
      return .row(computedRow)
    case .row: return place.scope
    case .nested: throw OfflineODataError.unsupported("groupby with a collection")
    }
  }

  /// The parts of a value that is read from related rows.
  private static func subqueryRow(_ row: ComputedRow, from joinedRows: RelatedRows) -> ComputedRow {
    var subqueries = row
    subqueries.marker = row.marker.map { joinedRows.value($0) }
    for name in row.names {
      switch row[name] {
      case .value(var value)?:
        value.text = joinedRows.value(value.text)
        value.hasCollation = false
        subqueries[name] = .value(value)
      case .json(let json)?: subqueries[name] = .json(JSONPlace(base: joinedRows.value(json.json), type: json.type))
      case .row(let inner)?: subqueries[name] = .row(subqueryRow(inner, from: joinedRows))
      default: break
      }
    }
    return subqueries
  }

  /// Joins an entity to each row; an expression contains the entity's identity.
  func attached(_ id: SQLText, _ entity: EntityScope, _ rows: inout ApplySet) throws -> EntityScope {
    let name = statement.context.alias("w")
    let alias = statement.context.alias()
    let physical = try statement.context.table(entity.table.number)
    rows.joins.append(
      " LEFT JOIN \(physical) AS \(alias: alias) ON \(alias: alias).\"@id\" = \(alias: rows.core).\(alias: name)")
    rows.wrap(["\(id) AS \(alias: name)"])
    return EntityScope(statement: statement, alias: alias, table: entity.table, type: entity.type)
  }
}

extension ODataBoundSegment {
  /// The name of a segment that leads to a property of any kind.
  var propertyName: String? {
    switch kind {
    case .property(let property): property.name
    case .navigation(let navigation): navigation.name
    case .dynamic(let name), .computed(let name): name
    default: nil
    }
  }
}
