import LarderStorage

/// Plain rows of one table, packed until there are many of them: entities with their keys and nothing else.
struct PackedSlot: Sendable {
  let table: EntityTable
  private(set) var rows: PackedRows
  /// Which columns of properties the payload had: as many numbers for each row as in ``RowSlot``.
  private var present: [UInt64] = []
  /// The order in which the rows are written; nil before it is computed.
  private(set) var order: [Int32]?

  init(_ table: EntityTable) {
    self.table = table
    rows = PackedRows(width: RowSlot.systemCount + table.columns.count)
  }

  var rowCount: Int { rows.rowCount }
  var byteCount: Int { rows.byteCount + present.count * MemoryLayout<UInt64>.stride }

  mutating func reserve(bytes: Int) { rows.reserve(bytes: bytes) }

  /// Appends the rows of a plain chunk.
  mutating func append(_ slot: RowSlot) {
    rows.append(slot.batch)
    present += slot.present
    order = nil
  }

  /// Computes the order by some columns. This takes time, so call it outside transactions.
  mutating func sort(by columns: [Int]) {
    let key = table.key.map { RowSlot.systemCount + $0 }
    // If a row occurs twice, the later one is used. Such rows stay in the payload's order.
    let isFree = !columns.isEmpty && !rows.mayRepeat(in: key)
    order = rows.order(by: isFree ? columns : [])
  }

  /// Removes all rows and keeps the memory.
  mutating func removeAll() {
    rows.removeAll()
    present.removeAll(keepingCapacity: true)
    order = nil
  }

  /// Replaces the content of a slot of the same table by rows, in the given order.
  func unpack(_ order: ArraySlice<Int32>, into slot: inout RowSlot) {
    slot.removeAll()
    rows.unpack(order, into: &slot.batch)
    for row in order {
      slot.appendPlain(present[(Int(row) * slot.words)..<((Int(row) + 1) * slot.words)])
    }
  }
}

extension RowChunk {
  /// Whether the chunk contains only rows that need no special handling: their columns contain everything that joins
  /// them.
  var isPlain: Bool {
    guard links.isEmpty, outerLinks.isEmpty, completeLinks.isEmpty, inlines.isEmpty, deltaLinks.isEmpty else {
      return false
    }
    return slots.allSatisfy { !$0.hasFlags && !$0.table.isContained && !$0.table.key.isEmpty }
  }
}
