import LarderStorage

/// Rows of one table that are written into its next generation, a few at a time. Transactions may end between them.
///
/// The rows are written in the order of the table's first index other than the key's, and get their identities in that
/// order. Consecutive rows then change few pages of that index. In the order in which a service sends rows, nearly
/// every row would change another page of it, and each commit would write all of those pages.
struct RowRun {
  private var packed: PackedSlot
  /// The rows that are written next.
  private var slot: RowSlot
  /// The columns that the rows are ordered by.
  let columns: [Int]
  private var next = 0
  /// The first of the identities that are reserved for the run's rows; 0 before any are reserved.
  private var identity: Int64 = 0

  /// The number of rows that are written before the clock is read again.
  private static let part = 128

  private static let places = Array(0..<Int32(part))

  init(_ packed: PackedSlot, order columns: [Int]) {
    self.packed = packed
    slot = RowSlot(packed.table)
    self.columns = columns
  }

  var table: Int { packed.table.number }
  var isSorted: Bool { packed.order != nil }
  var isDone: Bool { packed.order.map { next >= $0.count } ?? false }

  /// Computes the order. This takes time, so call it outside a transaction.
  mutating func sort() { packed.sort(by: columns) }

  /// Discards the rows and returns the memory.
  mutating func takeEmpty() -> PackedSlot {
    packed.removeAll()
    return packed
  }

  /// Writes the next rows. Returns their number; nil if the first of the remaining rows breaks a constraint, because it
  /// was written before.
  mutating func write(to target: TableTarget, _ connection: Connection) throws(StorageError) -> Int? {
    try begin(connection)
    let rows = slot.rowCount
    for row in 0..<rows {
      let identity = identity + Int64(next + row)
      if target.mode == .fresh {
        slot.batch.set(row, SystemColumn.id.place, integer: identity)
        slot.batch.set(row, SystemColumn.queries.place, integer: 1 << target.bit)
      } else {
        _ = try target.write(&slot, row, nil, identity, isCareful: false, connection)
      }
    }
    let count = try connection.insert(target.insert, rows: slot.batch, order: Self.places[..<rows])
    next += count
    return count == 0 && rows > 0 ? nil : count
  }

  /// Writes the next rows and looks up each of them among the rows already written.
  mutating func writeCarefully(to target: TableTarget, _ connection: Connection) throws(StorageError) -> Int {
    try begin(connection)
    var new = 0
    for row in 0..<slot.rowCount {
      let written = try target.write(&slot, row, nil, identity + Int64(next), isCareful: true, connection)
      if written.isNew { new += 1 }
      next += 1
    }
    return new
  }

  /// Unpacks the next rows.
  private mutating func begin(_ connection: Connection) throws(StorageError) {
    if !isSorted { sort() }
    let order = packed.order ?? []
    if identity == 0 { identity = try connection.takeIdentities(order.count) }
    packed.unpack(order[next..<min(next + Self.part, order.count)], into: &slot)
  }
}
