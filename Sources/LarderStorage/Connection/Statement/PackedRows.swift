/// Rows to be written by a statement, in as few bytes as their values need, so that many can be kept in memory.
///
/// A cell is a byte with its class and a small length, the length if it is larger, and the bytes of its value; an
/// integer takes only the bytes that its size needs. The small length of an absent cell is 1. A row whose cells are
/// mostly NULL or small takes a third of its size in a ``RowBatch``.
package struct PackedRows: Sendable {
  /// The number of cells in a row.
  package let width: Int
  private(set) var bytes: [UInt8] = []
  /// The offset where each row begins.
  private(set) var starts: [Int] = []
  /// The order in which the rows are taken; nil before it is computed.
  private var order: [Int32]?
  /// The number of rows that were taken.
  package private(set) var takenCount = 0

  /// The small length that means that the length follows in the next four bytes.
  private static let long: UInt8 = 31
  /// The most bytes that a cell takes in addition to those of a text or blob.
  private static let cellBytes = 9

  /// Creates an empty list for rows of `width` cells, at least one.
  package init(width: Int) { self.width = max(1, width) }

  package var rowCount: Int { starts.count }
  package var isSorted: Bool { order != nil }
  /// Whether all rows were taken.
  package var isDone: Bool { takenCount == rowCount }
  /// The number of bytes of the cells.
  package var byteCount: Int { bytes.count }

  /// Reserves memory for `count` bytes at once, instead of repeatedly doubling it.
  package mutating func reserve(bytes count: Int) { bytes.reserveCapacity(count) }

  /// Removes all rows and keeps the memory.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
    order = nil
    takenCount = 0
  }

  /// Computes the order in which the rows are taken: by some columns, if no two rows may be equal in the columns of
  /// `key`. Repeated rows stay in the order in which they were appended, because the later one is used.
  package mutating func sort(by columns: [Int], unlessRepeated key: [Int]) {
    order = order(by: columns.isEmpty || mayRepeat(in: key) ? [] : columns)
  }

  /// Replaces the rows of a batch of the same width by the next rows in the order, at most `count`. They count as taken
  /// only after ``take(_:)``.
  package func unpackNext(_ count: Int, into batch: inout RowBatch) {
    batch.removeAll()
    guard let order else { return }
    unpack(order[takenCount..<min(takenCount + count, order.count)], into: &batch)
  }

  /// Counts rows as taken.
  package mutating func take(_ count: Int) { takenCount = min(takenCount + count, rowCount) }

  /// Appends the rows of a batch of the same width.
  package mutating func append(_ batch: RowBatch) {
    guard batch.width == width, batch.openCells == 0, batch.rowCount > 0 else { return }
    order = nil
    let first = bytes.count
    // Rows may share bytes of the batch, so the sum of the lengths counts.
    let texts = batch.cells.reduce(0) { $0 + Int($1.count) }
    bytes.append(contentsOf: repeatElement(0, count: texts + batch.cells.count * Self.cellBytes))
    var end = first
    unsafe bytes.withUnsafeMutableBytes { bytes in
      unsafe batch.arena.withUnsafeBytes { arena in
        for (position, cell) in batch.cells.enumerated() {
          if position % width == 0 { starts.append(end) }
          // Within the room that was reserved above.
          unsafe Self.write(cell, arena, to: bytes, at: &end)
        }
      }
    }
    bytes.removeLast(bytes.count - end)
  }

  @inline(__always)
  private static func write(
    _ cell: RowBatch.Cell, _ arena: UnsafeRawBufferPointer, to bytes: UnsafeMutableRawBufferPointer, at end: inout Int
  ) {
    let kind = UInt8(truncatingIfNeeded: cell.storageClass.rawValue) << 5
    switch cell.storageClass {
    case .null:
      unsafe bytes[end] = kind | (cell.isAbsent ? 1 : 0)
      end += 1
    case .integer, .real:
      // The highest of the stored bytes has the sign.
      let bits = 65 - (cell.payload ^ (cell.payload >> 63)).leadingZeroBitCount
      let count = cell.payload == 0 ? 0 : (bits + 7) >> 3
      unsafe bytes[end] = kind | UInt8(truncatingIfNeeded: count)
      unsafe bytes.storeBytes(of: cell.payload.littleEndian, toByteOffset: end + 1, as: Int64.self)
      end += 1 + count
    case .text, .blob:
      let count = Int(cell.count)
      unsafe bytes[end] = kind | UInt8(truncatingIfNeeded: min(count, Int(long)))
      end += 1
      if count >= Int(long) {
        unsafe bytes.storeBytes(of: cell.count.littleEndian, toByteOffset: end, as: UInt32.self)
        end += 4
      }
      let start = Int(cell.payload)
      unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[end..<(end + count)])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: arena[start..<(start + count)]))
      end += count
    }
  }

  /// Reads the cell that begins at an offset, and moves the offset to its end. Texts and blobs stay in the bytes.
  @inline(__always)
  static func read(_ bytes: UnsafeRawBufferPointer, at position: inout Int) -> RowBatch.Cell {
    let head = unsafe bytes[position]
    position += 1
    var count = Int(head & long)
    let kind = SQLStorageClass(rawValue: Int32(head >> 5)) ?? .null
    switch kind {
    case .null: return RowBatch.Cell(payload: 0, count: 0, storageClass: .null, isAbsent: count == 1)
    case .integer, .real:
      var value: Int64 = 0
      if count > 0 {
        for byte in 0..<count { value |= unsafe Int64(bytes[position + byte]) << Int64(byte * 8) }
        let unused = Int64(64 - count * 8)
        value = (value << unused) >> unused
      }
      position += count
      return RowBatch.Cell(payload: value, count: 0, storageClass: kind)
    case .text, .blob:
      if count == Int(long) {
        count = unsafe Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
        position += 4
      }
      defer { position += count }
      return RowBatch.Cell(payload: Int64(position), count: UInt32(truncatingIfNeeded: count), storageClass: kind)
    }
  }

  /// Appends rows to a batch of the same width, in the given order.
  package func unpack(_ rows: ArraySlice<Int32>, into batch: inout RowBatch) {
    guard batch.width == width, batch.openCells == 0 else { return }
    unsafe bytes.withUnsafeBytes { bytes in
      for row in rows where row >= 0 && Int(row) < starts.count {
        var position = starts[Int(row)]
        for _ in 0..<width { unsafe batch.append(Self.read(bytes, at: &position), of: bytes) }
      }
    }
  }
}
