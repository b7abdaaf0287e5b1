import LarderOData
import LarderStorage

extension RowContainer {
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
  /// Throws `notFound` if no defining query has returned the entity.
  func place(of container: RowContainer?) async throws(OfflineODataError) -> GenerationRead.Container? {
    guard let container else { return nil }
    let row = try await read { snapshot in try container.row(LocalRows(snapshot)) }
    guard let row else {
      throw OfflineODataError(
        .entityNotFound, "the entity that contains the query's rows; add a defining query that includes it")
    }
    return GenerationRead.Container(table: container.table, navigation: container.navigation, row: row)
  }

  /// Whether the entity that contains a query's rows is missing because a pending change deletes it.
  func isDeletedHere(_ container: RowContainer) async throws(OfflineODataError) -> Bool {
    try await read { snapshot in
      do { return try ChangeWalk.isDeletedHere(container.path, LocalRows(snapshot)) } catch let error
        as OfflineODataError where error.name == .entityNotFound
      { return false }
    }
  }
}
