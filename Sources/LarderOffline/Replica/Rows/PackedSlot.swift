import LarderStorage

/// Plain rows of one table, packed until there are many: entities with their keys, and nothing else was told with them.
struct PackedSlot: Sendable {
  let table: EntityTable
  private(set) var rows: PackedRows
  /// Which columns of properties the payload had: as many numbers a row as ``RowSlot`` has.
  private var present: [UInt64] = []
  /// The order in which the rows are written; nil before it is found.
  private(set) var order: [Int32]?

  init(_ table: EntityTable) {
    self.table = table
    rows = PackedRows(width: RowSlot.systemCount + table.columns.count)
  }

  var rowCount: Int { rows.rowCount }
  var byteCount: Int { rows.byteCount + present.count * MemoryLayout<UInt64>.stride }

  mutating func reserve(bytes: Int) { rows.reserve(bytes: bytes) }

  /// Appends the rows of a chunk that is plain.
  mutating func append(_ slot: RowSlot) {
    rows.append(slot.batch)
    present += slot.present
    order = nil
  }

  /// Finds the order, that of some columns; takes its time, so outside transactions.
  mutating func sort(by columns: [Int]) {
    let key = table.key.map { RowSlot.systemCount + $0 }
    // Of rows that come twice the later wins, so they stay in the payload's order.
    let isFree = !columns.isEmpty && !rows.mayRepeat(in: key)
    order = rows.order(by: isFree ? columns : [])
  }

  /// Forgets all rows and keeps the memory.
  mutating func removeAll() {
    rows.removeAll()
    present.removeAll(keepingCapacity: true)
    order = nil
  }

  /// Puts rows into a slot of the same table, in the order given, in the place of what it has.
  func unpack(_ order: ArraySlice<Int32>, into slot: inout RowSlot) {
    slot.removeAll()
    rows.unpack(order, into: &slot.batch)
    for row in order {
      slot.appendPlain(present[(Int(row) * slot.words)..<((Int(row) + 1) * slot.words)])
    }
  }
}

extension RowChunk {
  /// Whether the chunk is rows and nothing else, of which none needs care: what joins them stands in their columns.
  var isPlain: Bool {
    guard links.isEmpty, outerLinks.isEmpty, told.isEmpty, inlines.isEmpty, deltaLinks.isEmpty else { return false }
    return slots.allSatisfy { !$0.hasFlags && !$0.table.isContained && !$0.table.key.isEmpty }
  }
}
