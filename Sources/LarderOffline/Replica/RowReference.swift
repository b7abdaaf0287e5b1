/// An entity of the store by its identity, which does not change when its key or the model changes.
struct RowReference: Codable, Hashable, Sendable {
  /// The name of the table: ``EntityTable/name``.
  var table: String
  /// The `@id` of the row.
  var row: Int64

  init(_ table: String, _ row: Int64) {
    self.table = table
    self.row = row
  }
}
