/// The effect of a queued request on the rows of the store. Effects are recorded with the request, in order, and refer
/// to tables and columns by name.
///
/// The rows that readers see are the server's rows with the effects of all queued requests: see ``PendingFold``.
struct Effect: Hashable, Sendable {
  enum Kind: Int, Sendable {
    /// Creates the row with these cells.
    case insert = 0
    /// Changes cells of the row.
    case set = 1
    /// Deletes the row.
    case delete = 2
    /// Adds the link from `row` to `other`.
    case link = 3
    /// Removes the link.
    case unlink = 4
  }

  var kind: Kind
  /// The name of the table; for a link, that of the link table, ``LinkTable/name``.
  var name: String
  /// The `@id` of the row; for a link, that of its source.
  var row: Int64
  /// For a link, the `@id` of the target.
  var other: Int64?
  /// The changed cells by column; for an insert, all known cells.
  var cells = EntityCells()

  init(_ kind: Kind, _ name: String, _ row: Int64, other: Int64? = nil, cells: EntityCells = EntityCells()) {
    self.kind = kind
    self.name = name
    self.row = row
    self.other = other
    self.cells = cells
  }

  /// The row, if the effect is on a row; nil for a link.
  var reference: RowReference? { other == nil ? RowReference(name, row) : nil }
}
