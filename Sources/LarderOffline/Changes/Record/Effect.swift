/// What a queued request does to the rows of the store: recorded with it, in order, by names of tables and columns.
///
/// Effective rows are what the effects of all queued requests make of the server's: see ``PendingFold``.
struct Effect: Hashable, Sendable {
  enum Kind: Int, Sendable {
    /// The row comes to be, with these cells.
    case insert = 0
    /// Cells of the row change.
    case set = 1
    /// The row goes.
    case delete = 2
    /// The link from `row` to `other` comes to be.
    case link = 3
    /// The link goes.
    case unlink = 4
  }

  var kind: Kind
  /// The table's name; of a link the link table's, ``LinkTable/name``.
  var name: String
  /// The row's `@id`; of a link its source's.
  var row: Int64
  /// Of a link: the target's `@id`.
  var other: Int64?
  /// By column; of an insert all that are known.
  var cells = EntityCells()

  init(_ kind: Kind, _ name: String, _ row: Int64, other: Int64? = nil, cells: EntityCells = EntityCells()) {
    self.kind = kind
    self.name = name
    self.row = row
    self.other = other
    self.cells = cells
  }

  /// The row, where the effect is on one.
  var reference: RowReference? { other == nil ? RowReference(name, row) : nil }
}
