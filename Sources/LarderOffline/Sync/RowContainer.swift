import LarderOData
import LarderStorage

/// The one entity that contains all rows of a defining query, as `Orders(1)` contains those of `Orders(1)/Items`.
struct RowContainer: Sendable {
  /// The entity's path.
  let path: ODataBoundPath
  /// The entity's table, and the navigation property that contains the rows.
  let table: Int
  let navigation: Int

  /// Nil for a path that does not lead from one entity to the entities that it contains.
  init?(_ path: ODataBoundPath, _ plan: ReplicaPlan) {
    let last = path.segments.lastIndex { if case .navigation = $0.kind { true } else { false } }
    guard let last, case .navigation(let step) = path.segments[last].kind else { return nil }
    var above = path
    above.segments.removeSubrange(last...)
    guard above.type?.isCollection == false, let source = above.source, let table = plan.table(of: source) else {
      return nil
    }
    let position = table.navigations.firstIndex { $0.path == [step.name] && plan.tables[$0.target].isContained }
    guard let position else { return nil }
    self.path = above
    self.table = table.number
    navigation = position
  }

  /// The identity of the entity's row as readers see it; nil if the entity does not exist.
  func row(_ rows: LocalRows) throws -> Int64? {
    do { return try ChangeWalk.target(of: path, rows).entity?.row } catch let error as OfflineODataError
      where error.name == .entityNotFound
    { return nil }
  }
}

extension OpenStore {
  /// Where the rows of a query with a containing entity belong: below the current row of that entity. Nil for rows of a
  /// set.
  ///
  /// Throws `notFound` if no defining query has brought the entity.
  func place(of container: RowContainer?) async throws(OfflineODataError) -> StagedRead.Container? {
    guard let container else { return nil }
    let row = try await read { connection, state, plan in try container.row(LocalRows(plan, state, connection)) }
    guard let row else {
      throw OfflineODataError(
        .entityNotFound, "the entity that contains the query's rows; add a defining query that includes it")
    }
    return StagedRead.Container(table: container.table, navigation: container.navigation, row: row)
  }

  /// Whether the entity that contains a query's rows is missing because a pending change deletes it.
  func isDeletedHere(_ container: RowContainer) async throws(OfflineODataError) -> Bool {
    try await read { connection, state, plan in
      do { return try ChangeWalk.isDeletedHere(container.path, LocalRows(plan, state, connection)) } catch let error
        as OfflineODataError where error.name == .entityNotFound
      { return false }
    }
  }
}
