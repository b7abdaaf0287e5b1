import LarderOData
import LarderStorage

// `join` and `outerjoin` (Data Aggregation 4.0 §3.5).
extension ApplyWriter {
  /// Repeats each row for each of its related instances. The row contains the instance under the alias.
  func join(
    _ path: ODataBoundPath, as alias: String, isOuter: Bool, _ steps: [ODataBoundTransformation], _ rows: ApplySet
  ) throws -> ApplySet {
    let (owners, ordinal) = try project(rows, ordinal: true)
    guard let ordinal else { return rows }
    var related = try reached(path, owners)
    let level = "join"
    related.keys = owners.keys
    related.keys[level] = .row(["owner": .value(ordinal)])
    (related, _) = try project(related)
    related.origin = [related]
    let result = try apply(steps, related)
    guard case .row(let keyRow)? = result.keys[level], case .value(let owner)? = keyRow["owner"] else {
      throw OfflineODataError.unsupported("join")
    }
    // The joined rows are one subquery, which is joined to the owners.
    var projection = Projection(statement)
    let back = projection.operand(owner)
    let computedScope = try projection.scope(result.set.scope)
    let terms = projection.terms(
      try OrderWriter(writer: writer(result.set.scope)).terms([], result.set))
    var joined = owners
    let inner: SQLText = "SELECT \(SQLText.joined(projection.list, ", ")) \(result.set.rows.from())"
    let kind: SQLText = isOuter ? "LEFT JOIN" : "JOIN"
    var tables = owners.set.rows.tables
    guard let last = tables.popLast() else { return rows }
    tables.append(
      "\(last) \(kind) (\(inner)) AS \(alias: projection.alias) ON \(back.text) = \(ordinal.text)\(projection.joins)")
    joined.set.rows.tables = tables
    switch joined.set.scope {
    case .entity(var entity):
      joined.set.identity = try OrderWriter(writer: writer(joined.set.scope)).identity(of: entity)
      entity.computed[alias] = computedScope
      joined.set.scope = .entity(entity)
    case .row(var members):
      members[alias] = computedScope
      joined.set.scope = .row(members)
    default: throw OfflineODataError.unsupported("join here")
    }
    joined.set.names.append(alias)
    joined.set.identity += terms
    joined.isThinned = joined.isThinned || !isOuter
    return try project(joined).rows
  }

  /// The related instances of all rows.
  private func reached(_ path: ODataBoundPath, _ owners: ApplySet) throws -> ApplySet {
    let writer = writer(owners.set.scope)
    let place = try writer.place(path)
    guard place.isCollection else { throw OfflineODataError.unsupported("join with a value that is not a collection") }
    guard case .entity(let entity) = place.scope, let joinedRows = place.rows else {
      throw OfflineODataError.unsupported("join with a collection of values")
    }
    let rows = RelatedRows(
      tables: owners.set.rows.tables + joinedRows.tables, conditions: owners.set.rows.conditions + joinedRows.conditions
    )
    return ApplySet(RowSet(rows: rows, scope: .entity(entity)), core: entity.alias)
  }
}
