import LarderOData
import LarderStorage

// What collections come to, as values: `aggregate` behind a collection, and `$these` (Data Aggregation 4.0 §3.1).
extension ExpressionWriter {
  /// The value of a collection of entities or made rows, in a statement of its own.
  func aggregated(_ item: ODataBoundAggregate, _ place: PathPlace) throws -> SQLOperand {
    switch place.scope {
    case .entity, .row: break
    case .value, .json, .complex, .nested: throw OfflineODataError.unsupported("aggregate on a collection of values")
    }
    guard place.isCollection, let rows = place.rows else {
      throw OfflineODataError.unsupported("aggregate on what is no collection")
    }
    var item = item
    let name = item.name ?? "value"
    item.alias = name
    let apply = ApplyWriter(statement: statement, it: environment.it)
    var set = ApplySet(RowSet(rows: rows, scope: place.scope), core: "")
    if case .entity(let entity) = place.scope, entity.computed.isEmpty {
      set.core = entity.alias
    } else {
      // What is known of a row stands in several tables.
      set = try apply.project(set).rows
    }
    let made = try apply.aggregate([item], set).set
    guard case .row(let row) = made.scope, case .value(var value)? = row[name] else {
      throw OfflineODataError.unsupported("aggregate here")
    }
    value.text = made.rows.value(value.text)
    value.hasCollation = false
    return value
  }

  /// The rows around, once more, under aliases of their own: what stands inside may name the row around as well.
  func these() throws -> PathPlace {
    guard let these = environment.these, let rows = these.rows else {
      throw OfflineODataError.unsupported("$these here")
    }
    guard rows.from().sql.utf8.count <= ExpressionWriter.longestThese else {
      throw OfflineODataError.unsupported("$these whose conditions name $these so often")
    }
    let set = ApplySet(RowSet(rows: rows, scope: these.scope), core: "")
    let own = try ApplyWriter(statement: statement, it: environment.it).project(set).rows.set
    return PathPlace(rows: own.rows, scope: own.scope, isCollection: true)
  }

  /// The rows stand in the statement wherever they are named, with all conditions before, which may name them too.
  private static let longestThese = 10_000
}
