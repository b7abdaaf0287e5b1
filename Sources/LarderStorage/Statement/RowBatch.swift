/// Rows for one statement: cells of all classes, their bytes in one place, so that a row costs no memory of its own.
package struct RowBatch: Sendable {
  /// A cell: its class, and its value or where its bytes stand.
  struct Cell: Sendable {
    /// The value of an integer, the bits of a real, or where the bytes begin.
    let payload: Int64
    let count: UInt32
    let storageClass: SQLStorageClass
  }

  /// Cells a row.
  package let width: Int
  fileprivate(set) var cells: [Cell] = []
  fileprivate(set) var arena: [UInt8] = []

  /// Makes an empty batch for rows of so many cells, at least one.
  package init(width: Int) { self.width = max(1, width) }

  /// The rows that are complete.
  package var rowCount: Int { cells.count / width }
  /// The bytes of texts and blobs, and what the cells take.
  package var byteCount: Int { arena.count + cells.count * MemoryLayout<Cell>.stride }
  /// The cells of the row that is not complete yet.
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

  /// Forgets all rows and keeps the memory.
  package mutating func removeAll() {
    cells.removeAll(keepingCapacity: true)
    arena.removeAll(keepingCapacity: true)
  }

  /// Forgets the cells of the row that is not complete.
  package mutating func removeOpenRow() {
    let count = openCells
    guard count > 0 else { return }
    for cell in cells.suffix(count) where cell.storageClass == .text || cell.storageClass == .blob {
      // The first bytes of the row are where the arena ended before it.
      arena.removeSubrange(Int(cell.payload)...)
      break
    }
    cells.removeLast(count)
  }

  /// A cell whose bytes, where it has any, stand in others and are copied.
  @inline(__always)
  mutating func append(_ cell: Cell, of bytes: UnsafeRawBufferPointer) {
    guard cell.storageClass == .text || cell.storageClass == .blob else { return cells.append(cell) }
    cells.append(Cell(payload: Int64(arena.count), count: cell.count, storageClass: cell.storageClass))
    let start = Int(cell.payload)
    unsafe arena.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<(start + Int(cell.count))]))
  }

  /// NULL.
  package mutating func appendNull() { cells.append(Cell(payload: 0, count: 0, storageClass: .null)) }

  /// An integer.
  package mutating func append(integer number: Int64) {
    cells.append(Cell(payload: number, count: 0, storageClass: .integer))
  }

  /// A floating-point number.
  package mutating func append(real number: Double) {
    cells.append(Cell(payload: Int64(bitPattern: number.bitPattern), count: 0, storageClass: .real))
  }

  /// A text of UTF-8 bytes, which are copied.
  package mutating func append(text bytes: UnsafeBufferPointer<UInt8>) {
    cells.append(Cell(payload: Int64(arena.count), count: UInt32(clamping: bytes.count), storageClass: .text))
    unsafe arena.append(contentsOf: bytes)
  }

  /// A text.
  package mutating func append(text string: String) {
    var string = string
    string.withUTF8 { unsafe append(text: $0) }
  }

  /// A blob, copied.
  package mutating func append(blob bytes: UnsafeBufferPointer<UInt8>) {
    cells.append(Cell(payload: Int64(arena.count), count: UInt32(clamping: bytes.count), storageClass: .blob))
    unsafe arena.append(contentsOf: bytes)
  }

  /// A text that `write` appends to the bytes it is given, which are those of the batch.
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

  /// A value.
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

// Rows whose cells come in any order: a row of NULLs first, then cells are appended and put where they belong.
extension RowBatch {
  /// Appends a row of NULLs; answers its number.
  package mutating func appendRow() -> Int {
    let row = cells.count / width
    cells.append(contentsOf: repeatElement(Cell(payload: 0, count: 0, storageClass: .null), count: width))
    return row
  }

  /// Moves the cell that was appended last to a column of a row that is complete.
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

  /// Sets a cell to NULL.
  package mutating func setNull(_ row: Int, _ column: Int) {
    cells[row * width + column] = Cell(payload: 0, count: 0, storageClass: .null)
  }

  /// Sets a cell to a value.
  package mutating func set(_ row: Int, _ column: Int, _ value: SQLValue) {
    append(value)
    placeLast(in: row, column)
  }

  /// Removes the last row; the bytes of its texts stay where they are.
  package mutating func removeLastRow() { cells.removeLast(min(width, cells.count)) }

  /// True where a cell is NULL.
  package func isNull(_ row: Int, _ column: Int) -> Bool { cells[row * width + column].storageClass == .null }

  /// The value of a cell, its bytes copied.
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
