import LarderStorage

/// The next generation of one table, and how rows are written to it.
struct TableGeneration: Sendable {
  enum Mode: Sendable { case fresh, existing, careful }

  let table: EntityTable
  private let name: String
  private let bit: Int64
  /// The bits of other queries in the table.
  private let others: Int64
  var mode: Mode
  private let insert: String
  private let replace: String
  private let findCurrent: String?
  private let findNext: String
  private let current: String?
  /// The columns of the first index other than the key's, as indexes in a row; empty if there is no such index.
  let order: [Int]
  /// The memory for the packed rows that are written next.
  private var part: RowBatch
  /// The first of the identities that are reserved for packed rows; 0 before any are reserved.
  private var identity: Int64 = 0
  /// The packed rows that have the key of an earlier one.
  private(set) var repeated = RepeatedRows()

  init(_ table: EntityTable, name: String, current: String?, bit: Int64, others: Int64, index: [Int]) {
    self.table = table
    order = TableGeneration.hasPlainKey(table) ? index.map { EntityTable.systemCount + $0 } : []
    self.name = name
    self.bit = bit
    self.others = others
    self.current = current
    part = RowBatch(width: table.columnNames.count)
    insert = "INSERT INTO \(table.insertion(into: TableDDL.quoted(name)))"
    replace = "INSERT OR REPLACE INTO \(table.insertion(into: TableDDL.quoted(name)))"
    findNext = "SELECT \"@id\", \"@queries\" FROM \(TableDDL.quoted(name)) WHERE \(table.identityCondition)"
    findCurrent = current.map {
      "SELECT \"@id\", \"@queries\" FROM \(TableDDL.quoted($0)) WHERE \(table.identityCondition)"
    }
    mode = current == nil ? .fresh : .existing
  }

  /// Whether all rows are new and need no look-up.
  func isPlain(hasFlags: Bool) -> Bool { mode == .fresh && !table.isContained && !hasFlags && !table.key.isEmpty }

  /// Whether keys are equal only if their cells have the same bytes. Repeated rows are then found by these bytes.
  private static func hasPlainKey(_ table: EntityTable) -> Bool {
    !table.key.isEmpty
      && table.key.allSatisfy { column in
        switch table.columns[column].storage {
        case .integer, .string, .guid, .boolean, .enumeration: true
        default: false
        }
      }
  }

  private func find(
    _ sql: String, _ arguments: [SQLValue], _ connection: Connection
  ) throws(StorageError) -> (id: Int64, queries: Int64)? {
    var identity: (Int64, Int64)?
    try connection.forEachRow(sql, arguments) { (row) throws(StorageError) in
      identity = (row.integer(0), row.integer(1))
      return false
    }
    return identity
  }

  // MARK: Packed rows

  /// The number of rows that are written before the clock is read again.
  private static let partRows = 128
  private static let partOrder = Array(0..<Int32(partRows))

  /// Writes the next of the sorted rows. Transactions may end between calls. Returns the number of rows that no earlier
  /// page had.
  mutating func write(_ rows: inout PackedRows, _ connection: Connection) throws(StorageError) -> Int {
    if identity == 0 { identity = try connection.takeIdentities(rows.rowCount) }
    var part = exchange(&part, with: RowBatch(width: 1))
    defer { self.part = part }
    rows.unpackNext(Self.partRows, into: &part)
    let first = identity + Int64(rows.takenCount)
    var new = 0
    if mode == .careful {
      for row in 0..<part.rowCount {
        let written = try prepare(&part, row, free: first + Int64(row), isCareful: true, connection)
        if written.isNew { new += 1 } else { repeated.add(table.keyText(part, row)) }
      }
      rows.take(part.rowCount)
    } else {
      for row in 0..<part.rowCount {
        if mode == .fresh {
          setIdentity(first + Int64(row), of: row, in: &part)
        } else {
          _ = try prepare(&part, row, free: first + Int64(row), isCareful: false, connection)
        }
      }
      new = try connection.insert(insert, rows: part, order: Self.partOrder[..<part.rowCount])
      rows.take(new)
      // A row occurs twice: from now on, the table is written row by row.
      if new == 0, part.rowCount > 0 { mode = .careful }
    }
    if rows.isDone { identity = 0 }
    return new
  }

  // MARK: Rows of a page

  /// Gives a new row its identity.
  func setIdentity(_ identity: Int64, of row: Int, in cells: inout RowBatch) {
    cells.set(row, SystemColumn.id.place, integer: identity)
    cells.set(row, SystemColumn.queries.place, integer: 1 << bit)
  }

  /// Writes rows that have their identities.
  func insert(_ cells: RowBatch, _ connection: Connection) throws(StorageError) {
    try connection.run(insert, rows: cells)
  }

  /// Gives a row its identity, and writes it if rows are written one by one.
  func prepare(
    _ cells: inout RowBatch, _ row: Int, below parent: Int64? = nil, flags: PageBatch.Flags = [], free: Int64,
    isCareful: Bool, _ connection: Connection
  ) throws(StorageError) -> (id: Int64, isNew: Bool) {
    setIdentity(free, of: row, in: &cells)
    // A singleton without a key is one row: a second row is the same.
    let isCareful = isCareful || table.key.isEmpty
    guard mode != .fresh || isCareful else { return (free, true) }
    let arguments = table.identity(cells, row, below: parent)
    let isReference = flags.contains(.reference)
    var id = free
    if let arguments, isCareful, let next = try find(findNext, arguments, connection) {
      if !isReference { try update(cells, row: row, id: next.id, connection: connection) }
      return (next.id, false)
    }
    if let arguments, let findCurrent, let currentRow = try find(findCurrent, arguments, connection) {
      id = currentRow.id
      cells.set(row, SystemColumn.id.place, integer: id)
      let shared = currentRow.queries & others
      if shared != 0, !isReference {
        cells.set(row, SystemColumn.queries.place, integer: 1 << bit | shared)
        try keepAbsent(&cells, row: row, id: id, connection: connection)
      }
    } else if isReference {
      // A link to an entity that the store does not have says nothing.
      return (0, false)
    }
    guard isCareful, flags.isDisjoint(with: [.reference, .deleted, .left]) else { return (id, true) }
    try connection.forEachRow(replace, of: cells, row: row, columns: Array(0..<cells.width))
    return (id, true)
  }

  /// Takes the columns that another query has returned of the entity and this one omits.
  private func keepAbsent(
    _ cells: inout RowBatch, row: Int, id: Int64, connection: Connection
  ) throws(StorageError) {
    guard let current, !table.isComplete(cells, row) else { return }
    let absent = table.columns.indices.filter { cells.isAbsent(row, EntityTable.systemCount + $0) }
    let names = TableDDL.list(absent.map { table.columns[$0].name })
    var values: [SQLValue] = []
    try connection.forEachRow("SELECT \(names) FROM \(TableDDL.quoted(current)) WHERE \"@id\" = ?1", [.integer(id)]) {
      (currentRow) throws(StorageError) in
      values = absent.indices.map { currentRow.value(Int32($0)) }
      return false
    }
    // For a row with pending changes, the values are those that the server has.
    let base = try connection.first("SELECT cells FROM larder_base WHERE row = ?1", .integer(id)) {
      (currentRow) throws(StorageError) in try currentRow.textOrNil(0).flatMap(EntityCells.init(json:))
    }
    if let base = base ?? nil {
      values = absent.map { base[table.columns[$0].name] ?? .null }
    }
    for (column, value) in zip(absent, values) { cells.set(row, EntityTable.systemCount + column, value) }
  }

  /// Updates a row that was written before, with other columns or with later values.
  private func update(
    _ cells: RowBatch, row: Int, id: Int64, connection: Connection
  ) throws(StorageError) {
    let columns =
      [SystemColumn.etag, .uri, .media].map(\.place).filter { !cells.isNull(row, $0) }
      + (EntityTable.systemCount..<cells.width).filter { !cells.isAbsent(row, $0) }
    guard !columns.isEmpty else { return }
    let sets = columns.enumerated().map { "\(TableDDL.quoted(table.columnNames[$1])) = ?\($0 + 1)" }
    let sql = "UPDATE \(TableDDL.quoted(name)) SET \(sets.joined(separator: ",")) WHERE \"@id\" = ?\(columns.count + 1)"
    try connection.forEachRow(sql, of: cells, row: row, columns: columns, integers: [id])
  }
}

/// The rows of a response that have the key of an earlier one.
struct RepeatedRows: Sendable, Hashable {
  var count: Int64 = 0
  /// The first of their keys, as a URL names the entity.
  var first: String?

  mutating func add(_ key: String) {
    count += 1
    first = first ?? key
  }

  mutating func add(_ others: RepeatedRows) {
    count += others.count
    first = first ?? others.first
  }
}

extension EntityTable {
  /// The key of a row, as a URL names the entity.
  func keyText(_ cells: RowBatch, _ row: Int) -> String {
    let values = key.map { number -> String in
      switch cells.value(row, EntityTable.systemCount + number) {
      case .text(let text):
        columns[number].storage == .string ? "'\(text.replacing("'", with: "''"))'" : text
      case .integer(let number): String(number)
      case .real(let number): String(number)
      case .blob, .null: "…"
      }
    }
    return "\(name)(\(values.joined(separator: ",")))"
  }
}

extension PackedRows {
  /// Computes the order in which the rows of a table are written. This takes time, so call it outside transactions.
  ///
  /// It is the order of the table's first index other than the key's, and the rows get their identities in that order.
  /// Consecutive rows then change few pages of that index. In the order in which a service sends rows, nearly every row
  /// would change another page of it, and each commit would write all of those pages.
  mutating func sort(by columns: [Int], of table: EntityTable) {
    sort(by: columns, unlessRepeated: table.key.map { EntityTable.systemCount + $0 })
  }
}
