import CBenchSQLite
import Foundation

/// Prepared inserts of parsed rows into the same tables and indexes as those of the store: the baseline of the download
/// benchmark.
enum BareInserts {
  /// Copies the rows of a store's file into a new one. Returns the seconds that the inserts took, without the reads.
  static func seconds(from source: String, to target: String, columns: [String]) throws -> (seconds: Double, rows: Int)
  {
    let store = try BareSQLite(path: source)
    let table = try RowTable.find(in: store, with: columns)
    let file = try BareSQLite(path: target)
    try file.run("PRAGMA synchronous=NORMAL")
    try file.run(table.definition)
    for index in table.indexes { try file.run(index) }
    let name = RowTable.quote(table.name)
    let places = (1...table.columns.count).map { "?\($0)" }.joined(separator: ",")
    let insert = try file.prepare("INSERT INTO \(name) VALUES (\(places))")
    let select = try store.prepare("SELECT * FROM \(name)")
    defer {
      sqlite3_finalize(insert)
      sqlite3_finalize(select)
    }
    var (time, count) = (Duration.zero, 0)
    var rows = ParsedRows(width: table.columns.count)
    var begin = ContinuousClock.now
    try file.run("BEGIN IMMEDIATE")
    time += begin.duration(to: .now)
    while try rows.fill(from: select, upTo: 50_000) > 0 {
      begin = .now
      try rows.insert(with: insert)
      time += begin.duration(to: .now)
      count += rows.count
    }
    begin = .now
    try file.run("COMMIT")
    time += begin.duration(to: .now)
    return (inSeconds(time), count)
  }
}

/// Rows in memory: their cells, and the bytes of all texts in one array.
struct ParsedRows {
  private enum Cell {
    case null
    case integer(Int64)
    case real(Double)
    case text(Int, Int32)
  }

  private let width: Int
  private var cells: [Cell] = []
  private var bytes: [UInt8] = []

  init(width: Int) { self.width = width }

  var count: Int { cells.count / width }

  mutating func fill(from statement: OpaquePointer, upTo limit: Int) throws -> Int {
    cells.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
    while count < limit, sqlite3_step(statement) == SQLITE_ROW {
      for column in 0..<Int32(width) {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: cells.append(.integer(sqlite3_column_int64(statement, column)))
        case SQLITE_FLOAT: cells.append(.real(sqlite3_column_double(statement, column)))
        case SQLITE_NULL: cells.append(.null)
        default:
          let text = sqlite3_column_text(statement, column)
          let length = sqlite3_column_bytes(statement, column)
          cells.append(.text(bytes.count, length))
          if let text { bytes.append(contentsOf: UnsafeBufferPointer(start: text, count: Int(length))) }
        }
      }
    }
    return count
  }

  func insert(with statement: OpaquePointer) throws {
    try bytes.withUnsafeBytes { bytes in
      let texts = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      try cells.withUnsafeBufferPointer { cells in
        var column: Int32 = 0
        for cell in cells {
          column += 1
          switch cell {
          case .null: sqlite3_bind_null(statement, column)
          case .integer(let number): sqlite3_bind_int64(statement, column, number)
          case .real(let number): sqlite3_bind_double(statement, column, number)
          // A nil destructor is SQLITE_STATIC: the bytes stay valid until the step is done.
          case .text(let offset, let length):
            sqlite3_bind_text(statement, column, texts.map { $0 + offset }, length, nil)
          }
          guard column == Int32(width) else { continue }
          column = 0
          guard sqlite3_step(statement) == SQLITE_DONE else { throw BenchmarkError("an insert failed") }
          sqlite3_reset(statement)
        }
      }
    }
  }
}

func inSeconds(_ duration: Duration) -> Double {
  Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
}
