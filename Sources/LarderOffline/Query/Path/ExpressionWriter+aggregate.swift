import LarderOData
import LarderStorage

// Aggregates of collections as values: `aggregate` after a collection, and `$these` (Data Aggregation 4.0 §3.1).
extension ExpressionWriter {
  /// The aggregate of a collection of entities or computed rows, in a subquery of its own.
  func aggregated(_ item: ODataBoundAggregate, _ place: PathPlace) throws -> SQLOperand {
    switch place.scope {
    case .entity, .row: break
    case .value, .json, .complex, .nested: throw OfflineODataError.unsupported("aggregate on a collection of values")
    }
    guard place.isCollection, let rows = place.rows else {
      throw OfflineODataError.unsupported("aggregate on a value that is not a collection")
    }
    var item = item
    let name = item.name ?? "value"
    item.alias = name
    let apply = ApplyWriter(statement: statement, it: environment.it)
    var set = ApplySet(RowSet(rows: rows, scope: place.scope), core: "")
    if case .entity(let entity) = place.scope, entity.computed.isEmpty {
      set.core = entity.alias
    } else {
      // The values of a row come from several tables.
      set = try apply.project(set).rows
    }
    let aggregated = try apply.aggregate([item], set).set
    guard case .row(let row) = aggregated.scope, case .value(var value)? = row[name] else {
      throw OfflineODataError.unsupported("aggregate here")
    }
    value.text = aggregated.rows.value(value.text)
    value.hasCollation = false
    return value
  }

  /// The enclosing rows again, under aliases of their own, because the expression inside may also refer to the
  /// enclosing row.
  func these() throws -> PathPlace {
    guard let these = environment.these, let rows = these.rows else {
      throw OfflineODataError.unsupported("$these here")
    }
    guard rows.from().sql.utf8.count <= ExpressionWriter.longestThese else {
      throw OfflineODataError.unsupported("nested $these with conditions of this length")
    }
    let set = ApplySet(RowSet(rows: rows, scope: these.scope), core: "")
    let projected = try ApplyWriter(statement: statement, it: environment.it).project(set).rows.set
    return PathPlace(rows: projected.rows, scope: projected.scope, isCollection: true)
  }

  /// The maximum size of the rows' SQL in bytes. Each use of `$these` repeats the rows with all their earlier
  /// conditions, which may use `$these` too.
  private static let longestThese = 10_000
}
