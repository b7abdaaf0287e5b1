import CSQLite

extension Statement {
  /// Runs the statement once for each row of a batch, its cells bound in their order. Rows of answers are passed over.
  ///
  /// The bytes stay where they are in the batch until the last step.
  func run(_ batch: RowBatch) throws(StorageError) {
    let wanted = unsafe sqlite3_bind_parameter_count(handle)
    guard Int(wanted) == batch.width, batch.openCells == 0 else {
      throw StorageError(
        .misuse, message: "Rows of \(batch.width) cells for \(wanted) parameters", sql: sql, file: connection.file)
    }
    let code = unsafe batch.cells.withUnsafeBufferPointer { cells in
      unsafe batch.arena.withUnsafeBytes { arena in unsafe run(cells, batch.width, arena) }
    }
    guard code == SQLITE_OK else {
      throw connection.error(code, sql: sql)
    }
  }

  private func run(
    _ cells: UnsafeBufferPointer<RowBatch.Cell>, _ width: Int, _ arena: UnsafeRawBufferPointer
  ) -> Int32 {
    var index = 0
    while index < cells.count {
      for place in 0..<width {
        let code = unsafe bind(cells[index + place], Int32(truncatingIfNeeded: place + 1), arena)
        if code != SQLITE_OK { return code }
      }
      var code = unsafe sqlite3_step(handle)
      while code == SQLITE_ROW { code = unsafe sqlite3_step(handle) }
      guard code == SQLITE_DONE else { return code }
      code = unsafe sqlite3_reset(handle)
      if code != SQLITE_OK { return code }
      index += width
    }
    return SQLITE_OK
  }

  @inline(__always)
  private func bind(_ cell: RowBatch.Cell, _ place: Int32, _ arena: UnsafeRawBufferPointer) -> Int32 {
    switch cell.storageClass {
    case .null: return unsafe sqlite3_bind_null(handle, place)
    case .integer: return unsafe sqlite3_bind_int64(handle, place, cell.payload)
    case .real:
      return unsafe sqlite3_bind_double(handle, place, Double(bitPattern: UInt64(bitPattern: cell.payload)))
    case .text:
      // The address of nothing would be NULL.
      guard let base = arena.baseAddress, cell.count > 0 else {
        return unsafe larder_sqlite3_bind_text_static(handle, place, "", 0)
      }
      let start = unsafe (base + Int(cell.payload)).assumingMemoryBound(to: CChar.self)
      return unsafe larder_sqlite3_bind_text_static(handle, place, start, UInt64(cell.count))
    case .blob:
      guard let base = arena.baseAddress, cell.count > 0 else {
        return unsafe sqlite3_bind_zeroblob(handle, place, 0)
      }
      return unsafe larder_sqlite3_bind_blob_static(handle, place, base + Int(cell.payload), UInt64(cell.count))
    }
  }
}
