/// An entity of the store by its identity, which stays when its key changes and when the model does.
struct RowReference: Codable, Hashable, Sendable {
  /// The name of its table: ``EntityTable/name``.
  var table: String
  /// Its `@id`.
  var row: Int64

  init(_ table: String, _ row: Int64) {
    self.table = table
    self.row = row
  }
}
