import CLarderSQLite

extension PreparedStatement {
  /// Runs the statement once for each row of a batch, with its cells bound in their order. Result rows are ignored.
  ///
  /// The bytes stay in the batch until the last step.
  func run(_ batch: RowBatch) throws(StorageError) {
    let wanted = unsafe sqlite3_bind_parameter_count(handle)
    guard Int(wanted) == batch.width, batch.openCells == 0 else {
      throw StorageError(
        .misuse, message: "The rows have \(batch.width) cells, but the statement has \(wanted) parameters", sql: sql,
        path: file)
    }
    let code = unsafe batch.cells.withUnsafeBufferPointer { cells in
      unsafe batch.arena.withUnsafeBytes { arena in unsafe run(cells, batch.width, arena) }
    }
    guard code == SQLITE_OK else {
      throw connection.error(code, sql: sql)
    }
  }

  /// Runs the statement for rows of a batch in a given order. Stops at the first row that breaks a constraint, which
  /// changes nothing. Returns how many rows were written.
  func run(_ batch: RowBatch, _ order: ArraySlice<Int32>) throws(StorageError) -> Int {
    let wanted = unsafe sqlite3_bind_parameter_count(handle)
    let last = batch.rowCount
    guard Int(wanted) == batch.width, order.allSatisfy({ $0 >= 0 && Int($0) < last }) else {
      throw StorageError(
        .misuse, message: "The rows have \(batch.width) cells, but the statement has \(wanted) parameters", sql: sql,
        path: file)
    }
    let (code, count) = unsafe batch.cells.withUnsafeBufferPointer { cells in
      unsafe batch.arena.withUnsafeBytes { arena in
        var count = 0
        for row in order {
          let start = Int(row) * batch.width
          let code = unsafe runOnce(UnsafeBufferPointer(rebasing: cells[start..<(start + batch.width)]), arena)
          if code != SQLITE_OK { return (code, count) }
          count += 1
        }
        return (SQLITE_OK, count)
      }
    }
    guard code == SQLITE_OK || code & 0xFF == SQLITE_CONSTRAINT else { throw connection.error(code, sql: sql) }
    return count
  }

  /// Binds cells to `?1` and so on, followed by integers.
  func bind(
    _ batch: RowBatch, row: Int, columns: [Int], integers: [Int64], body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    let wanted = unsafe sqlite3_bind_parameter_count(handle)
    let start = row * batch.width
    guard Int(wanted) == columns.count + integers.count, start >= 0, row < batch.rowCount,
      columns.allSatisfy({ $0 >= 0 && $0 < batch.width })
    else {
      throw StorageError(
        .misuse,
        message: "\(columns.count + integers.count) values were given, but the statement has \(wanted) parameters",
        sql: sql,
        path: file)
    }
    try unsafe batch.arena.withUnsafeBufferPointer { (bytes) throws(StorageError) in
      let arena = UnsafeRawBufferPointer(bytes)
      var parameter: Int32 = 0
      for column in columns {
        parameter += 1
        let code = unsafe bind(batch.cells[start + column], parameter, arena)
        guard code == SQLITE_OK else { throw connection.error(code, sql: sql) }
      }
      for integer in integers {
        parameter += 1
        let code = unsafe sqlite3_bind_int64(handle, parameter, integer)
        guard code == SQLITE_OK else { throw connection.error(code, sql: sql) }
      }
      try body()
    }
  }

  private func runOnce(_ cells: UnsafeBufferPointer<RowBatch.Cell>, _ arena: UnsafeRawBufferPointer) -> Int32 {
    for parameter in 0..<cells.count {
      let code = unsafe bind(cells[parameter], Int32(truncatingIfNeeded: parameter + 1), arena)
      if code != SQLITE_OK { return code }
    }
    var code = unsafe sqlite3_step(handle)
    while code == SQLITE_ROW { code = unsafe sqlite3_step(handle) }
    // The result of a reset repeats that of the step.
    let end = unsafe sqlite3_reset(handle)
    return code == SQLITE_DONE ? end : code
  }

  private func run(
    _ cells: UnsafeBufferPointer<RowBatch.Cell>, _ width: Int, _ arena: UnsafeRawBufferPointer
  ) -> Int32 {
    var index = 0
    while index < cells.count {
      let code = unsafe runOnce(UnsafeBufferPointer(rebasing: cells[index..<(index + width)]), arena)
      if code != SQLITE_OK { return code }
      index += width
    }
    return SQLITE_OK
  }

  @inline(__always)
  private func bind(_ cell: RowBatch.Cell, _ parameter: Int32, _ arena: UnsafeRawBufferPointer) -> Int32 {
    switch cell.storageClass {
    case .null: return unsafe sqlite3_bind_null(handle, parameter)
    case .integer: return unsafe sqlite3_bind_int64(handle, parameter, cell.payload)
    case .real:
      return unsafe sqlite3_bind_double(handle, parameter, Double(bitPattern: UInt64(bitPattern: cell.payload)))
    case .text:
      // The address of an empty buffer would be NULL.
      guard let base = arena.baseAddress, cell.count > 0 else {
        return unsafe larder_sqlite3_bind_text_static(handle, parameter, "", 0)
      }
      let start = unsafe (base + Int(cell.payload)).assumingMemoryBound(to: CChar.self)
      return unsafe larder_sqlite3_bind_text_static(handle, parameter, start, UInt64(cell.count))
    case .blob:
      guard let base = arena.baseAddress, cell.count > 0 else {
        return unsafe sqlite3_bind_zeroblob(handle, parameter, 0)
      }
      return unsafe larder_sqlite3_bind_blob_static(handle, parameter, base + Int(cell.payload), UInt64(cell.count))
    }
  }
}
