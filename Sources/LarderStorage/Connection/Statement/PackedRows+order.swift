// Computes the order in which rows are written, such that consecutive rows go to one place of an index.
extension PackedRows {
  /// The numbers of all rows, ordered by columns: NULL first, then numbers, reals by their integral part, then texts
  /// and blobs by their bytes. Rows that are equal in these columns keep their order.
  package func order(by columns: [Int]) -> [Int32] {
    let all = 0..<Int32(clamping: rowCount)
    guard let first = columns.first else { return all.map(\.self) }
    let second = columns.count > 1 ? columns[1] : first
    return unsafe bytes.withUnsafeBytes { bytes in
      var (one, other) = (RowReader(self, upTo: columns), RowReader(self, upTo: columns))
      var keys = all.map { row in
        unsafe one.read(row, bytes)
        return unsafe (key: prefix(of: one[first], bytes), next: prefix(of: one[second], bytes), row: row)
      }
      keys.sort { left, right in
        if left.key != right.key { return left.key < right.key }
        // The first bytes of most cells decide whether they differ or are known to be equal.
        let isSame = Self.isWhole(left.key)
        if isSame, left.next != right.next { return left.next < right.next }
        unsafe one.read(left.row, bytes)
        unsafe other.read(right.row, bytes)
        for column in isSame ? columns.dropFirst() : columns[...] {
          let order = unsafe compare(one[column], other[column], bytes)
          if order != 0 { return order < 0 }
        }
        return left.row < right.row
      }
      return keys.map(\.row)
    }
  }

  /// Whether two rows may have the same bytes in all of some columns; false if no two rows have.
  package func mayRepeat(in columns: [Int]) -> Bool {
    var seenHashes: Set<UInt64> = []
    seenHashes.reserveCapacity(rowCount)
    return unsafe bytes.withUnsafeBytes { bytes in
      var reader = RowReader(self, upTo: columns)
      for row in 0..<Int32(clamping: rowCount) {
        unsafe reader.read(row, bytes)
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for column in columns { hash = unsafe mix(hash, reader[column], bytes) }
        if !seenHashes.insert(hash).inserted { return true }
      }
      return false
    }
  }

  /// Reads the first cells of a row, as many as some columns need.
  private struct RowReader {
    private let starts: [Int]
    private var cells: [Cell]

    init(_ rows: PackedRows, upTo columns: [Int]) {
      starts = rows.starts
      let count = min(rows.width, (columns.max() ?? 0) + 1)
      cells = Array(repeating: Cell(payload: 0, count: 0, storageClass: .null), count: max(1, count))
    }

    subscript(_ column: Int) -> Cell { cells[column] }

    @inline(__always)
    mutating func read(_ row: Int32, _ bytes: UnsafeRawBufferPointer) {
      var position = starts[Int(row)]
      for column in cells.indices { cells[column] = unsafe PackedRows.read(bytes, at: &position) }
    }
  }

  typealias Cell = RowBatch.Cell

  /// The beginning of a cell as a number of the same order: for texts and blobs, seven bytes and then the length, at
  /// most eight.
  @inline(__always)
  private func prefix(of cell: Cell, _ arena: UnsafeRawBufferPointer) -> UInt64 {
    switch cell.storageClass {
    case .null: return 0
    case .integer: return (UInt64(bitPattern: cell.payload) ^ (1 << 63)) >> 1
    case .real:
      let whole = Int64(Double(bitPattern: UInt64(bitPattern: cell.payload)).clamped)
      return (UInt64(bitPattern: whole) ^ (1 << 63)) >> 1
    case .text, .blob:
      let count = min(Int(cell.count), 8)
      let start = Int(cell.payload)
      var prefix: UInt64 = 0
      for position in 0..<7 { prefix = unsafe prefix << 8 | (position < count ? UInt64(arena[start + position]) : 0) }
      return 1 << 63 | prefix << 4 | UInt64(count)
    }
  }

  /// Whether cells with this prefix are equal: NULL, and texts that the prefix contains completely.
  private static func isWhole(_ prefix: UInt64) -> Bool { prefix == 0 || prefix >> 63 != 0 && prefix & 0xF < 8 }

  @inline(__always)
  private func compare(_ one: Cell, _ other: Cell, _ arena: UnsafeRawBufferPointer) -> Int {
    switch (one.storageClass, other.storageClass) {
    case (.integer, .integer): return one.payload < other.payload ? -1 : one.payload > other.payload ? 1 : 0
    case (.text, .text), (.blob, .blob):
      let bytes = unsafe UnsafeRawBufferPointer(rebasing: arena[Int(one.payload)..<(Int(one.payload) + Int(one.count))])
      let others = unsafe UnsafeRawBufferPointer(
        rebasing: arena[Int(other.payload)..<(Int(other.payload) + Int(other.count))])
      for position in 0..<min(bytes.count, others.count) where unsafe bytes[position] != others[position] {
        return unsafe bytes[position] < others[position] ? -1 : 1
      }
      return bytes.count - others.count
    default:
      let (rank, otherRank) = unsafe (prefix(of: one, arena), prefix(of: other, arena))
      return rank < otherRank ? -1 : rank > otherRank ? 1 : 0
    }
  }

  @inline(__always)
  private func mix(_ hash: UInt64, _ cell: Cell, _ arena: UnsafeRawBufferPointer) -> UInt64 {
    var hash = (hash ^ UInt64(truncatingIfNeeded: cell.storageClass.rawValue)) &* 0x100_0000_01b3
    switch cell.storageClass {
    case .null: break
    case .integer, .real:
      // A step of SplitMix64, which spreads numbers that differ in few bits.
      var value = UInt64(bitPattern: cell.payload) &+ hash
      value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
      value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
      hash = value ^ (value >> 31)
    case .text, .blob:
      let bytes = unsafe UnsafeRawBufferPointer(
        rebasing: arena[Int(cell.payload)..<(Int(cell.payload) + Int(cell.count))])
      for position in 0..<bytes.count { hash = unsafe (hash ^ UInt64(bytes[position])) &* 0x100_0000_01b3 }
    }
    return hash
  }
}

extension Double {
  /// The value, limited to a range that fits an integer: precise enough for an order.
  fileprivate var clamped: Double { isNaN ? 0 : min(max(self, -1e18), 1e18) }
}
