import LarderStorage
import LarderTestSupport
import Testing

@Suite("Batches of rows, cursors, sessions", .timeLimit(.minutes(1)))
struct RowBatchTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open() async throws -> Database {
    try await Database.openForTest(folder.file("test.db"), schema: TestSchema.first)
  }

  private static func batch(_ count: Int64) -> RowBatch {
    var batch = RowBatch(width: 4)
    for number in 1...count {
      batch.append(integer: number)
      if number % 5 == 0 {
        batch.appendNull()
      } else {
        batch.append(text: String(repeating: "é", count: Int(number % 7)))
      }
      if number % 3 == 0 { batch.append(.blob([])) } else { batch.append(.blob([0, UInt8(number % 256)])) }
      batch.append(real: Double(number) / 4)
    }
    return batch
  }

  @Test("Rows are sorted by columns: NULL, numbers, text by its bytes; the sort is stable")
  func order() {
    var batch = RowBatch(width: 2)
    let cells: [(SQLValue, SQLValue)] = [
      (.text("b"), .integer(2)), (.text("a long text, with an end 2"), .integer(1)), (.null, .integer(9)),
      (.text("a long text, with an end 1"), .integer(1)), (.text("b"), .integer(-2)), (.integer(5), .null),
      (.integer(-5), .null), (.text("b"), .integer(2)), (.text(""), .null), (.real(2.5), .null), (.real(-1e300), .null),
    ]
    for (one, other) in cells {
      batch.append(one)
      batch.append(other)
    }
    var rows = PackedRows(width: 2)
    rows.append(batch)
    #expect(rows.order(by: [0, 1]) == [2, 10, 6, 9, 5, 8, 3, 1, 4, 0, 7])
    #expect(rows.order(by: [1]).prefix(5) == [5, 6, 8, 9, 10])
    #expect(rows.order(by: []) == Array(0..<11))
    #expect(rows.mayRepeat(in: [0, 1]))
    #expect(PackedRows(width: 2).order(by: [0]) == [])
    var others = PackedRows(width: 4)
    others.append(RowBatchTests.batch(2000))
    #expect(!others.mayRepeat(in: [0]))
    #expect(others.mayRepeat(in: [1]))
  }

  @Test("A cell without a value is NULL and absent, also after packing; a cell that was set to NULL is not absent")
  func absentCells() {
    var batch = RowBatch(width: 3)
    let row = batch.appendRow()
    batch.set(row, 1, .null)
    batch.set(row, 2, .text("x"))
    var rows = PackedRows(width: 3)
    rows.append(batch)
    var unpacked = RowBatch(width: 3)
    rows.unpack([0], into: &unpacked)
    for batch in [batch, unpacked] {
      #expect((0..<3).map { batch.isAbsent(row, $0) } == [true, false, false])
      #expect((0..<3).map { batch.isNull(row, $0) } == [true, true, false])
      #expect(batch.cellValues == [.null, .null, .text("x")])
    }
  }

  @Test("Packed rows are taken in their order, a few at a time; rows that repeat a key stay in the order of appending")
  func taking() {
    var batch = RowBatch(width: 2)
    for (key, value) in [(1, 30), (2, 10), (3, 20)] as [(Int64, Int64)] {
      batch.append(integer: key)
      batch.append(integer: value)
    }
    var rows = PackedRows(width: 2)
    rows.append(batch)
    var part = RowBatch(width: 2)
    rows.unpackNext(2, into: &part)
    #expect(part.rowCount == 0 && !rows.isSorted)
    rows.sort(by: [1], unlessRepeated: [0])
    rows.unpackNext(2, into: &part)
    #expect(part.cellValues == [.integer(2), .integer(10), .integer(3), .integer(20)])
    rows.take(1)
    rows.unpackNext(2, into: &part)
    #expect(part.cellValues == [.integer(3), .integer(20), .integer(1), .integer(30)])
    rows.take(2)
    #expect(rows.isDone && rows.takenCount == 3)
    rows.removeAll()
    #expect(!rows.isSorted && rows.takenCount == 0)
    rows.append(batch)
    rows.append(batch)
    rows.sort(by: [1], unlessRepeated: [0])
    rows.unpackNext(2, into: &part)
    #expect(part.cellValues == [.integer(1), .integer(30), .integer(2), .integer(10)])
  }

  @Test("Packed rows are read as they were written, in any order: every class, and every size of numbers and text")
  func packing() {
    var values: [SQLValue] = [
      .null, .text(""), .blob([]), .real(-0.0), .real(.infinity), .integer(.min), .integer(.max),
    ]
    for bit in 0..<63 {
      let power = Int64(1) << Int64(bit)
      for number in [power, -power, power - 1, -power - 1] {
        values.append(.integer(number))
        values.append(.real(Double(number) / 3))
      }
    }
    for count in [1, 30, 31, 32, 255, 256, 70_000] {
      values.append(.text(String(repeating: "x", count: count)))
      values.append(.blob([UInt8](repeating: 7, count: count)))
    }
    while values.count % 3 != 0 { values.append(.text("end")) }
    var batch = RowBatch(width: 3)
    for value in values { batch.append(value) }
    var rows = PackedRows(width: 3)
    for _ in 0..<2 {
      rows.removeAll()
      rows.append(batch)
      rows.append(RowBatch(width: 3))
      rows.append(batch)
      #expect(rows.rowCount == batch.rowCount * 2)
      let order = Array((0..<Int32(rows.rowCount)).reversed())
      var back = RowBatch(width: 3)
      rows.unpack(order[...], into: &back)
      #expect(back.cellValues == order.flatMap { row in (0..<3).map { values[(Int(row) * 3 + $0) % values.count] } })
    }
  }

  @Test("Rows are inserted in order up to the first that violates a constraint; cells can be used as parameters")
  func inserting() async throws {
    let database = try await open()
    let batch = RowBatchTests.batch(10)
    let values = try await database.stage { (connection) throws(StorageError) in
      let sql = "INSERT INTO item(id, name, data, size) VALUES(?1, ?2, ?3, ?4)"
      let first = try connection.insert(sql, rows: batch, order: [4, 2, 0])
      let second = try connection.insert(sql, rows: batch, order: [7, 2, 9])
      let none = try connection.insert(sql, rows: batch, order: [])
      var names: [SQLValue] = []
      try connection.forEachRow(
        "SELECT name, ?2 FROM item WHERE id = ?1 AND size = ?3 + ?4", of: batch, row: 7, columns: [0, 1, 3],
        integers: [0]
      ) { (row) throws(StorageError) in
        names += [row.value(0), row.value(1)]
        return true
      }
      let ids = try connection.rows("SELECT id FROM item ORDER BY id") { (row) throws(StorageError) in
        try row.int64(0)
      }
      return (first, second, none, names, ids)
    }
    #expect(values.0 == 3)
    #expect(values.1 == 1)
    #expect(values.2 == 0)
    #expect(values.3 == [.text("é"), .text("é")])
    #expect(values.4 == [1, 3, 5, 8])
    await #expect(throws: StorageError.self) {
      try await database.write { (connection) throws(StorageError) in
        _ = try connection.insert(
          "INSERT INTO item(id, name, data, size) VALUES(?1, ?2, ?3, ?4)", rows: batch, order: [10])
      }
    }
    await #expect(throws: StorageError.self) {
      try await database.write { (connection) throws(StorageError) in
        try connection.forEachRow("SELECT ?1", of: batch, row: 0, columns: [4])
      }
    }
  }

  @Test("Rows of a batch are inserted and read unchanged")
  func roundTrip() async throws {
    let database = try await open()
    let batch = RowBatchTests.batch(1000)
    #expect(batch.rowCount == 1000)
    try await database.write { (connection) throws(StorageError) in
      try connection.run("INSERT INTO item(id, name, data, size) VALUES(?1, ?2, ?3, ?4)", rows: batch)
    }
    let rows = try await database.read { (connection) throws(StorageError) in
      try connection.rows("SELECT id, name, data, size FROM item ORDER BY id") { (row) throws(StorageError) in
        [row.value(0), row.value(1), row.value(2), row.value(3)]
      }
    }
    #expect(rows.count == 1000)
    for (index, row) in rows.enumerated() {
      let number = index + 1
      #expect(row[0] == .integer(Int64(number)))
      #expect(row[1] == (number % 5 == 0 ? .null : .text(String(repeating: "é", count: number % 7))))
      #expect(row[2] == (number % 3 == 0 ? .blob([]) : .blob([0, UInt8(number % 256)])))
      #expect(row[3] == .real(Double(number) / 4))
    }
    try await database.close()
  }

  @Test("A row that violates a constraint throws, and the statement works again")
  func failure() async throws {
    let database = try await open()
    let error = await storageError {
      try await database.write { (connection) throws(StorageError) in
        let batch = RowBatchTests.batch(3)
        try connection.run("INSERT INTO item(id, name, data, size) VALUES(?1, ?2, ?3, ?4)", rows: batch)
        try connection.run("INSERT INTO item(id, name, data, size) VALUES(?1, ?2, ?3, ?4)", rows: batch)
      }
    }
    #expect(error?.category == .constraint)
    let width = await storageError {
      try await database.write { (connection) throws(StorageError) in
        try connection.run("INSERT INTO item(id) VALUES(?1)", rows: RowBatchTests.batch(1))
      }
    }
    #expect(width?.category == .misuse)
    try await database.write { (connection) throws(StorageError) in
      try connection.run("INSERT INTO item(id, name, data, size) VALUES(?1, ?2, ?3, ?4)", rows: RowBatchTests.batch(3))
    }
    #expect(try await database.names().count == 3)
    try await database.close()
  }

  @Test("A cursor continues where it stopped")
  func cursor() async throws {
    let database = try await open()
    try await database.write { (connection) throws(StorageError) in
      try connection.run("INSERT INTO item(id, name, data, size) VALUES(?1, ?2, ?3, ?4)", rows: RowBatchTests.batch(10))
    }
    let values = try await database.read { (connection) throws(StorageError) in
      let cursor = try connection.cursor(
        "SELECT id FROM item WHERE id > ? AND data <> ? ORDER BY id", [.integer(2), .blob([9])])
      var values: [[Int64]] = []
      while !cursor.isAtEnd {
        var part: [Int64] = []
        try cursor.forEachRow { (row) throws(StorageError) in
          part.append(row.integer(0))
          return part.count < 3
        }
        values.append(part)
      }
      return values
    }
    #expect(values == [[3, 4, 5], [6, 7, 8], [9, 10]])
    try await database.close()
  }

  @Test("A session sees one state between its calls, occupies no reader, and ends with the database")
  func session() async throws {
    let database = try await Database.openForTest(
      folder.file("test.db"), schema: TestSchema.first, options: DatabaseOptions(readers: 1))
    for name in ["a", "b", "c", "d"] { try await database.insert(name) }
    let session = try await database.readSession { (connection) throws(StorageError) in
      try connection.cursor("SELECT name FROM item ORDER BY id")
    }
    let other = try await database.readSession { (connection) throws(StorageError) in
      try connection.cursor("SELECT name FROM item ORDER BY id")
    }
    func next(_ session: ReadSession<RowCursor>) async throws -> String? {
      try await session.next { (_, cursor) throws(StorageError) in
        var values: String?
        try cursor.forEachRow { (row) throws(StorageError) in
          values = try row.text(0)
          return false
        }
        return values
      }
    }
    #expect(try await next(session) == "a")
    try await database.insert("e")
    #expect(try await database.names() == ["a", "b", "c", "d", "e"], "a reader beside the session")
    #expect(try await next(session) == "b")
    #expect(try await next(other) == "a")
    #expect(try await next(session) == "c")
    #expect(try await next(session) == "d")
    #expect(try await next(session) == nil, "what came later is not of this state")
    await session.end()
    await session.end()
    #expect(await storageError { _ = try await next(session) }?.category == .closed)
    try await database.close()
    #expect(await storageError { _ = try await next(other) }?.category == .closed)
  }

  @Test("A session that cannot begin returns its connection")
  func failingSession() async throws {
    let database = try await open()
    let error = await storageError {
      _ = try await database.readSession { (connection) throws(StorageError) in
        try connection.cursor("SELECT nothing FROM nowhere")
      }
    }
    #expect(error?.category == .misuse)
    try await database.insert("works")
    try await database.close()
  }
}
