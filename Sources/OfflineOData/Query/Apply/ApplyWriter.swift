import OData

/// Writes `$apply` (Data Aggregation 4.0): the rows that come in, as what comes out.
///
/// What it answers stands where the rows of a path would: ``RowSet/rows`` with a subquery among its tables,
/// ``RowSet/scope`` with a member for each property (``Scope/row(_:)``), or the entity still, where transformations keep
/// it; ``RowSet/names`` for the answer, ``RowSet/order`` where the rows have one, ``RowSet/identity`` to make every order
/// total. All other options go on from there.
struct ApplyWriter {
  let statement: Statement
  /// `$it` of the options around; nil at the top.
  let it: Scope?

  func rows(_ steps: [ODataBoundTransformation], _ set: RowSet) throws -> RowSet {
    for step in steps where step != .identity { throw OfflineODataError.unsupported("$apply") }
    return set
  }
}
