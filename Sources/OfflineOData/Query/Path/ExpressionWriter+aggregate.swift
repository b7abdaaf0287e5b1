import OData
import Storage

// What collections come to, as values: `aggregate` behind a collection, and `$these` (Data Aggregation 4.0 §3.1).
extension ExpressionWriter {
  /// The value of a collection of entities or made rows, in a statement of its own.
  func aggregated(_ item: ODataBoundAggregate, _ place: PathPlace) throws -> SQLOperand {
    let core: String
    switch place.scope {
    case .entity(let entity): core = entity.alias
    case .row: core = ""
    case .value, .json, .complex: throw OfflineODataError.unsupported("aggregate on a collection of values")
    }
    guard place.isCollection, let rows = place.rows else {
      throw OfflineODataError.unsupported("aggregate on what is no collection")
    }
    var item = item
    let name = item.name ?? "value"
    item.alias = name
    let apply = ApplyWriter(statement: statement, it: environment.it)
    let made = try apply.aggregate([item], ApplySet(RowSet(rows: rows, scope: place.scope), core: core)).set
    guard case .row(let row) = made.scope, case .value(var value)? = row[name] else {
      throw OfflineODataError.unsupported("aggregate here")
    }
    value.text = made.rows.value(value.text)
    value.hasCollation = false
    return value
  }

  /// The rows around, once more: aliases of a statement inside are its own.
  func these() throws -> PathPlace {
    guard let these = environment.these else { throw OfflineODataError.unsupported("$these here") }
    let length = these.rows?.from().sql.utf8.count ?? 0
    guard length <= ExpressionWriter.longestThese else {
      throw OfflineODataError.unsupported("$these whose conditions name $these so often")
    }
    return these
  }

  /// The rows stand in the statement wherever they are named, with all conditions before, which may name them too.
  private static let longestThese = 10_000
}
