@_spi(Stores) import LarderCore
import LarderStorage

/// Rows on their way from the reader of a page to the thread that writes them. The queue holds few rows at a time, and
/// writes them in order, each transaction for one time slice. The ends of pages are also in the queue: the facts about
/// a page are stored in the transaction that writes its last rows, or after it.
final class RowQueue: Sendable {
  private let replica: Replica
  private let writing: Exclusive<Writing>
  private let state = Locked(State())

  /// The state of the writing thread, which alone uses it.
  private struct Writing {
    var writer: GenerationWriter
    /// Packed rows that are partly written, and their table.
    var packed: (table: EntityTable, rows: PackedRows)?
    /// The number of page ends that the transaction has written.
    var ends = 0

    mutating func sort() {
      guard let (table, rows) = packed, !rows.isSorted else { return }
      packed?.rows.sort(by: writer.tables[table.number]?.order ?? [], of: table)
    }
  }

  /// What the reader passes on.
  enum Item: Sendable {
    case batch(PageBatch)
    /// Plain rows of a table, which may be written in any order.
    case packed(EntityTable, PackedRows)
    case end(PageMark)

    var byteCount: Int {
      switch self {
      case .batch(let batch): batch.byteCount
      case .packed(_, let rows): rows.byteCount
      case .end: 0
      }
    }
  }

  private struct State {
    var items: [Item] = []
    var isRunning = false
    /// Whether packed rows are partly written.
    var hasPacked = false
    /// The number of bytes of all rows so far.
    var bytes = 0
    var newRows = 0
    /// The number of pages that have ended and whose rows are not all written.
    var openPages = 0
    /// The number of staged rows at the end of the last page.
    var stagedRows: Int64?
    /// The rows so far that have the key of an earlier one.
    var repeated = RepeatedRows()
    var failure: StorageError?
    /// The memory of written rows, for the next ones: system libraries keep freed memory, and fragment it.
    var spares: [Int: PackedRows] = [:]
    /// The columns that rows are ordered by, for each table of which rows have been written.
    var orders: [Int: [Int]] = [:]
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  /// The number of bytes of rows in the queue above which the reader waits.
  private static let limit = 1 << 20
  /// The number of tables whose memory is kept.
  private static let spareLimit = 3
  /// The longest duration of a transaction, without its commit.
  private static let slice = Duration.milliseconds(14)

  init(_ replica: Replica, _ writer: GenerationWriter) {
    self.replica = replica
    writing = Exclusive(Writing(writer: writer))
  }

  /// Returns an empty list for rows of a table.
  func empty(_ table: EntityTable, bytes: Int) -> PackedRows {
    if let spare = state.withLock({ $0.spares.removeValue(forKey: table.number) }) { return spare }
    var rows = PackedRows(width: table.columnNames.count)
    // Rows are passed on when a piece of the payload has made the list large enough.
    rows.reserve(bytes: bytes + bytes / 8)
    return rows
  }

  /// Adds rows to the queue. Returns when there is space for more.
  func put(_ batch: PageBatch) async throws(StorageError) { try await put(.batch(batch)) }

  /// Adds packed rows of a table. They are sorted on this thread, if their order is known, to relieve the thread that
  /// writes.
  func put(_ rows: PackedRows, of table: EntityTable) async throws(StorageError) {
    var rows = rows
    if let columns = state.withLock({ $0.orders[table.number] }) {
      rows.sort(by: columns, of: table)
    }
    try await put(.packed(table, rows))
  }

  private func put(_ item: Item) async throws(StorageError) {
    enqueue(item)
    await wait { $0.items.reduce(0) { $0 + $1.byteCount } < RowQueue.limit }
    try check()
  }

  /// Marks the end of a page's rows. Returns when the rows of the page before are written, so that after a crash at
  /// most one page must be read again.
  func end(_ mark: PageMark) async throws(StorageError) {
    state.withLock { $0.openPages += 1 }
    enqueue(.end(mark))
    await wait { $0.openPages < 2 }
    try check()
  }

  /// The number of bytes of the rows that were added.
  var byteCount: Int { state.withLock { $0.bytes } }

  private func enqueue(_ item: Item) {
    let begins = state.withLock { state in
      state.items.append(item)
      state.bytes += item.byteCount
      if state.isRunning { return false }
      state.isRunning = true
      return true
    }
    if begins { replica.database.environment.task { await self.run() } }
  }

  /// Waits until everything is written. Returns the number of new rows since the last call, and the number of staged
  /// rows of the query's own table at the end of the last page, with those that had the key of an earlier one.
  func drain() async throws(StorageError) -> (new: Int, staged: Int64?, repeated: RepeatedRows) {
    await settle()
    try check()
    return state.withLock { state in
      defer { state.newRows = 0 }
      return (state.newRows, state.stagedRows, state.repeated)
    }
  }

  /// Waits until everything is written, or writing has failed.
  func settle() async { await wait { !$0.isRunning } }

  /// Discards the rows that are not written yet, and waits for the rest.
  func stop() async {
    _ = state.withLock { state in
      state.openPages = 0
      return exchange(&state.items, with: [])
    }
    await settle()
  }

  /// Runs `body` with the writer of rows, in a transaction.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (inout GenerationWriter, Connection) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    try await replica.database.stage { [self] (connection) throws(StorageError) in
      try writing.run { (writing) throws(StorageError) in
        let before = writing.writer
        do throws(StorageError) { return try body(&writing.writer, connection) } catch {
          // What the transaction has created was rolled back.
          writing.writer = before
          throw error
        }
      }
    }
  }

  private func check() throws(StorageError) { if let failure = state.withLock({ $0.failure }) { throw failure } }

  private func wait(_ isDone: @escaping @Sendable (borrowing State) -> Bool) async {
    while true {
      let isOver = state.withLock { isDone($0) || $0.failure != nil && !$0.isRunning }
      if isOver { return }
      await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
        let isOver = state.withLock { state in
          if isDone(state) || state.failure != nil && !state.isRunning { return true }
          state.waiters.append(waiter)
          return false
        }
        if isOver { waiter.resume() }
      }
    }
  }

  // MARK: Writing

  private func run() async {
    while true {
      let isOver = state.withLock { state in
        if state.items.isEmpty && !state.hasPacked || state.failure != nil { state.isRunning = false }
        return !state.isRunning
      }
      if isOver { break }
      do throws(StorageError) {
        // Sorting rows takes time. It is done outside the transaction, so that others need not wait for the file.
        writing.run { $0.sort() }
        try await replica.database.stage { [self] (connection) throws(StorageError) in
          try writing.run { (writing) throws(StorageError) in try slice(&writing, connection) }
        }
        writing.run { writing in
          state.withLock { $0.openPages -= writing.ends }
          writing.ends = 0
        }
      } catch {
        writing.run { $0.packed = nil }
        state.withLock { $0.failure = error }
      }
      wake()
    }
    wake()
  }

  /// Writes until the transaction's time slice has ended, or rows must be sorted.
  private func slice(_ writing: inout Writing, _ connection: Connection) throws(StorageError) {
    let begin = connection.environment.uptime()
    var new = 0
    defer {
      let hasPacked = writing.packed != nil
      state.withLock { state in
        state.newRows += new
        state.hasPacked = hasPacked
      }
    }
    repeat {
      if case (let table, var rows)? = writing.packed {
        new += try writing.writer.write(&rows, of: table, connection)
        writing.packed = rows.isDone ? nil : (table, rows)
        if rows.isDone { recycle(&rows, of: table) }
        continue
      }
      guard let item = state.withLock({ $0.items.isEmpty ? nil : $0.items.removeFirst() }) else { return }
      switch item {
      case .packed(let table, let rows):
        try writing.writer.prepare(table: table.number, connection)
        writing.packed = (table, rows)
        if !rows.isSorted {
          let columns = writing.writer.tables[table.number]?.order ?? []
          state.withLock { $0.orders[table.number] = columns }
          return
        }
      case .batch(let batch): new += try writing.writer.write(batch, connection)
      case .end(let mark):
        let staged = try mark.write(writing.writer.query, connection)
        writing.ends += 1
        state.withLock { ($0.stagedRows, $0.repeated) = (staged, writing.writer.allRepeated) }
      }
    } while connection.environment.uptime() - begin < RowQueue.slice
  }

  private func recycle(_ rows: inout PackedRows, of table: EntityTable) {
    rows.removeAll()
    let rows = rows
    state.withLock { state in
      if state.spares.count < RowQueue.spareLimit { state.spares[table.number] = rows }
    }
  }

  private func wake() {
    let waiters = state.withLock { state in
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}

/// The end of a page of a whole read, with the facts that are stored when its rows are written.
struct PageMark: Sendable {
  let bytes: Int64
  let inline: InlinePage?
  let end: PageEnd
  /// The position at which the download continues after the page; nil stores nothing.
  let position: @Sendable (PageEnd) -> String?

  /// Stores the end of the page. Returns the number of staged rows of the query's own table.
  func write(_ query: Int64, _ connection: Connection) throws(StorageError) -> Int64? {
    try connection.run(
      "UPDATE larder_download SET pages = pages + ?1, bytes = bytes + ?2 WHERE query = ?3",
      .integer(inline == nil ? 1 : 0), .integer(bytes), .integer(query))
    try goOn(connection)
    let rows = try connection.first("SELECT rows FROM larder_download WHERE query = ?1", .integer(query)) {
      (row) throws(StorageError) in try row.int64(0)
    }
    var end = end
    end.stagedRows = rows
    if let position = position(end) {
      try connection.run(
        "UPDATE larder_download SET position = ?1 WHERE query = ?2", .text(position), .integer(query))
    }
    return rows
  }

  /// Stores the next link of an inline collection, or removes the collection if it is complete.
  private func goOn(_ connection: Connection) throws(StorageError) {
    guard let inline else { return }
    if let next = end.nextLink {
      try connection.run("UPDATE larder_inline SET link = ?1 WHERE id = ?2", .text(next), .integer(inline.id))
    } else {
      try connection.run("DELETE FROM larder_inline WHERE id = ?1", .integer(inline.id))
    }
  }
}
