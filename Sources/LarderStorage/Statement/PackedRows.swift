/// Rows on their way to a statement in as few bytes as their values need, so that many can wait.
///
/// A cell is a byte with its class and a small length, the length where that is larger, and the bytes of its value; an integer
/// has those that its size needs. A row whose cells are mostly NULL or small takes a third of what it takes in a ``RowBatch``.
package struct PackedRows: Sendable {
  /// Cells a row.
  package let width: Int
  private(set) var bytes: [UInt8] = []
  /// Where each row begins.
  private(set) var starts: [Int] = []

  /// The length that stands in the four bytes behind a cell's first.
  private static let long: UInt8 = 31
  /// The most that a cell takes beside the bytes of a text or blob.
  private static let cellBytes = 9

  /// Makes room for rows of so many cells, at least one.
  package init(width: Int) { self.width = max(1, width) }

  package var rowCount: Int { starts.count }
  /// The bytes of the cells.
  package var byteCount: Int { bytes.count }

  /// Takes memory for so many bytes at once, rather than again and again twice what there was.
  package mutating func reserve(bytes count: Int) { bytes.reserveCapacity(count) }

  /// Forgets all rows and keeps the memory.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
  }

  /// Appends the rows of a batch of the same width.
  package mutating func append(_ batch: RowBatch) {
    guard batch.width == width, batch.openCells == 0, batch.rowCount > 0 else { return }
    let first = bytes.count
    // Rows may share bytes of the batch, so that the sum of lengths counts.
    let texts = batch.cells.reduce(0) { $0 + Int($1.count) }
    bytes.append(contentsOf: repeatElement(0, count: texts + batch.cells.count * Self.cellBytes))
    var end = first
    unsafe bytes.withUnsafeMutableBytes { bytes in
      unsafe batch.arena.withUnsafeBytes { arena in
        for (place, cell) in batch.cells.enumerated() {
          if place % width == 0 { starts.append(end) }
          // Within the room that was made above.
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
      unsafe bytes[end] = kind
      end += 1
    case .integer, .real:
      // The highest of the bytes that are kept has the sign.
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

  /// The cell that begins at a place, which is moved to its end; texts and blobs stand in the bytes.
  @inline(__always)
  static func read(_ bytes: UnsafeRawBufferPointer, at place: inout Int) -> RowBatch.Cell {
    let head = unsafe bytes[place]
    place += 1
    var count = Int(head & long)
    let kind = SQLStorageClass(rawValue: Int32(head >> 5)) ?? .null
    switch kind {
    case .null: return RowBatch.Cell(payload: 0, count: 0, storageClass: .null)
    case .integer, .real:
      var value: Int64 = 0
      if count > 0 {
        for byte in 0..<count { value |= unsafe Int64(bytes[place + byte]) << Int64(byte * 8) }
        let unused = Int64(64 - count * 8)
        value = (value << unused) >> unused
      }
      place += count
      return RowBatch.Cell(payload: value, count: 0, storageClass: kind)
    case .text, .blob:
      if count == Int(long) {
        count = unsafe Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
        place += 4
      }
      defer { place += count }
      return RowBatch.Cell(payload: Int64(place), count: UInt32(truncatingIfNeeded: count), storageClass: kind)
    }
  }

  /// Appends rows to a batch of the same width, in the order given.
  package func unpack(_ rows: ArraySlice<Int32>, into batch: inout RowBatch) {
    guard batch.width == width, batch.openCells == 0 else { return }
    unsafe bytes.withUnsafeBytes { bytes in
      for row in rows where row >= 0 && Int(row) < starts.count {
        var place = starts[Int(row)]
        for _ in 0..<width { unsafe batch.append(Self.read(bytes, at: &place), of: bytes) }
      }
    }
  }
}
