/// Rows for one statement: cells of all classes with their bytes in one array, so that a row needs no allocation of its
/// own.
package struct RowBatch: Sendable {
  /// A cell: its class, and its value or the place of its bytes.
  struct Cell: Sendable {
    /// The value of an integer, the bits of a real, or the offset of the bytes.
    let payload: Int64
    let count: UInt32
    let storageClass: SQLStorageClass
    /// Whether the cell is NULL only because nothing was put there.
    var isAbsent = false
  }

  /// The number of cells in a row.
  package let width: Int
  fileprivate(set) var cells: [Cell] = []
  fileprivate(set) var arena: [UInt8] = []

  /// Creates an empty batch for rows of `width` cells, at least one.
  package init(width: Int) { self.width = max(1, width) }

  /// The number of complete rows.
  package var rowCount: Int { cells.count / width }
  /// The number of bytes of texts and blobs, and of the cells.
  package var byteCount: Int { arena.count + cells.count * MemoryLayout<Cell>.stride }
  /// The number of cells in the row that is not complete yet.
  package var openCells: Int { cells.count % width }

  /// The values of all cells, copied; for tests and messages.
  package var cellValues: [SQLValue] {
    cells.map { cell in
      let bytes = arena.dropFirst(max(0, Int(cell.payload))).prefix(Int(cell.count))
      return switch cell.storageClass {
      case .null: .null
      case .integer: .integer(cell.payload)
      case .real: .real(Double(bitPattern: UInt64(bitPattern: cell.payload)))
      case .text: .text(String(decoding: bytes, as: UTF8.self))
      case .blob: .blob(Array(bytes))
      }
    }
  }

  /// Removes all rows and keeps the memory.
  package mutating func removeAll() {
    cells.removeAll(keepingCapacity: true)
    arena.removeAll(keepingCapacity: true)
  }

  /// Appends a cell. If it has bytes, they are copied from `bytes`.
  @inline(__always)
  mutating func append(_ cell: Cell, of bytes: UnsafeRawBufferPointer) {
    guard cell.storageClass == .text || cell.storageClass == .blob else { return cells.append(cell) }
    cells.append(Cell(payload: Int64(arena.count), count: cell.count, storageClass: cell.storageClass))
    let start = Int(cell.payload)
    unsafe arena.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<(start + Int(cell.count))]))
  }

  /// Appends NULL.
  package mutating func appendNull() { cells.append(Cell(payload: 0, count: 0, storageClass: .null)) }

  /// Appends an integer.
  package mutating func append(integer number: Int64) {
    cells.append(Cell(payload: number, count: 0, storageClass: .integer))
  }

  /// Appends a floating-point number.
  package mutating func append(real number: Double) {
    cells.append(Cell(payload: Int64(bitPattern: number.bitPattern), count: 0, storageClass: .real))
  }

  /// Appends a text of UTF-8 bytes, which are copied.
  package mutating func append(text bytes: UnsafeBufferPointer<UInt8>) {
    cells.append(Cell(payload: Int64(arena.count), count: UInt32(clamping: bytes.count), storageClass: .text))
    unsafe arena.append(contentsOf: bytes)
  }

  /// Appends a text.
  package mutating func append(text string: String) {
    var string = string
    string.withUTF8 { unsafe append(text: $0) }
  }

  /// Appends a blob, copied.
  package mutating func append(blob bytes: UnsafeBufferPointer<UInt8>) {
    cells.append(Cell(payload: Int64(arena.count), count: UInt32(clamping: bytes.count), storageClass: .blob))
    unsafe arena.append(contentsOf: bytes)
  }

  /// Appends a text that `write` adds to the batch's bytes.
  package mutating func appendText<Failure: Error>(
    writtenBy write: (inout [UInt8]) throws(Failure) -> Void
  ) throws(Failure) {
    let start = arena.count
    do throws(Failure) { try write(&arena) } catch {
      arena.removeSubrange(min(start, arena.count)...)
      throw error
    }
    cells.append(Cell(payload: Int64(start), count: UInt32(clamping: arena.count - start), storageClass: .text))
  }

  /// Appends a value.
  package mutating func append(_ value: SQLValue) {
    switch value {
    case .null: appendNull()
    case .integer(let number): append(integer: number)
    case .real(let number): append(real: number)
    case .text(let string): append(text: string)
    case .blob(let bytes): unsafe bytes.withUnsafeBufferPointer { unsafe append(blob: $0) }
    }
  }
}

// Fills rows whose cells come in any order: a row of absent cells is appended first, then cells are appended and moved
// to their columns.
extension RowBatch {
  /// Appends a row of absent cells, which are NULL. Returns its number.
  package mutating func appendRow() -> Int {
    let row = cells.count / width
    let absent = Cell(payload: 0, count: 0, storageClass: .null, isAbsent: true)
    cells.append(contentsOf: repeatElement(absent, count: width))
    return row
  }

  /// Moves the cell that was appended last to a column of a complete row.
  @inline(__always)
  package mutating func placeLast(in row: Int, _ column: Int) {
    guard let last = cells.popLast(), row * width + column < cells.count else { return }
    cells[row * width + column] = last
  }

  /// Sets a cell to an integer.
  @inline(__always)
  package mutating func set(_ row: Int, _ column: Int, integer number: Int64) {
    cells[row * width + column] = Cell(payload: number, count: 0, storageClass: .integer)
  }

  /// Sets a cell to a value.
  package mutating func set(_ row: Int, _ column: Int, _ value: SQLValue) {
    append(value)
    placeLast(in: row, column)
  }

  /// Removes the last row; the bytes of its texts stay in the batch.
  package mutating func removeLastRow() { cells.removeLast(min(width, cells.count)) }

  /// True if a cell is NULL.
  package func isNull(_ row: Int, _ column: Int) -> Bool { cells[row * width + column].storageClass == .null }

  /// True if nothing was put into a cell since ``appendRow()``. Such a cell is NULL.
  @inline(__always)
  package func isAbsent(_ row: Int, _ column: Int) -> Bool { cells[row * width + column].isAbsent }

  /// The value of a cell, with its bytes copied.
  package func value(_ row: Int, _ column: Int) -> SQLValue {
    let cell = cells[row * width + column]
    let start = Int(cell.payload)
    return switch cell.storageClass {
    case .null: .null
    case .integer: .integer(cell.payload)
    case .real: .real(Double(bitPattern: UInt64(bitPattern: cell.payload)))
    case .text: .text(String(decoding: arena[start..<(start + Int(cell.count))], as: UTF8.self))
    case .blob: .blob(Array(arena[start..<(start + Int(cell.count))]))
    }
  }
}
