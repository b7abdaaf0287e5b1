import LarderStorage

/// The next generation of one table, and how rows are written to it.
struct TableTarget: Sendable {
  enum Mode: Sendable { case fresh, existing, careful }

  let table: EntityTable
  let name: String
  let bit: Int64
  /// The bits of other queries in the table.
  let others: Int64
  var mode: Mode
  let insert: String
  private let replace: String
  private let findCurrent: String?
  private let findNext: String
  private let current: String?
  private let columns: [String]
  /// The columns of the first index other than the key's, as indexes in a row; empty if there is no such index.
  let order: [Int]

  var isContained: Bool { table.isContained }

  init(_ table: EntityTable, name: String, current: String?, bit: Int64, others: Int64, index: [Int]) {
    self.table = table
    order = TableTarget.hasPlainKey(table) ? index.map { RowSlot.systemCount + $0 } : []
    self.name = name
    self.bit = bit
    self.others = others
    self.current = current
    columns = SystemColumn.allCases.map(\.rawValue) + table.columns.map(\.name)
    let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ",")
    let names = TableDDL.list(columns)
    insert = "INSERT INTO \(TableDDL.quoted(name))(\(names)) VALUES(\(places))"
    replace = "INSERT OR REPLACE INTO \(TableDDL.quoted(name))(\(names)) VALUES(\(places))"
    findNext = "SELECT \"@id\", \"@queries\" FROM \(TableDDL.quoted(name)) WHERE \(TableTarget.condition(table))"
    findCurrent = current.map {
      "SELECT \"@id\", \"@queries\" FROM \(TableDDL.quoted($0)) WHERE \(TableTarget.condition(table))"
    }
    mode = current == nil ? .fresh : .existing
  }

  /// Whether all rows are new and need no look-up.
  func isPlain(_ slot: RowSlot) -> Bool {
    mode == .fresh && !isContained && !slot.hasFlags && !slot.table.key.isEmpty
  }

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

  /// The condition that finds a row by its identifying columns.
  static func condition(_ table: EntityTable) -> String {
    if case .singleton = table.place, table.key.isEmpty { return "1" }
    return TableDDL.identity(of: table).enumerated().map { "\(TableDDL.quoted($1)) = ?\($0 + 1)" }
      .joined(separator: " AND ")
  }

  /// The values that a row is found by; nil if it cannot be distinguished from others.
  static func arguments(_ slot: RowSlot, _ row: Int, _ parent: Int64?) -> [SQLValue]? {
    if case .singleton = slot.table.place, slot.table.key.isEmpty { return [] }
    guard let identity = slot.identity(row) else { return nil }
    guard slot.table.isContained else { return identity }
    return parent.map { [.integer($0)] + identity }
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

  /// Gives a row its identity, and writes it if rows are written one by one.
  func write(
    _ slot: inout RowSlot, _ row: Int, _ parent: Int64?, _ free: Int64, isCareful: Bool, _ connection: Connection
  ) throws(StorageError) -> (id: Int64, isNew: Bool) {
    slot.batch.set(row, SystemColumn.queries.place, integer: 1 << bit)
    // A singleton without a key is one row: a second row is the same.
    let isCareful = isCareful || slot.table.key.isEmpty
    guard mode != .fresh || isCareful else {
      slot.batch.set(row, SystemColumn.id.place, integer: free)
      return (free, true)
    }
    let arguments = Self.arguments(slot, row, parent)
    let isReference = slot.flags[row].contains(.reference)
    var id = free
    if let arguments, isCareful, let next = try find(findNext, arguments, connection) {
      if !isReference { try update(slot, row, next.id, connection) }
      return (next.id, false)
    }
    if let arguments, let findCurrent, let currentRow = try find(findCurrent, arguments, connection) {
      id = currentRow.id
      let shared = currentRow.queries & others
      if shared != 0, !isReference {
        slot.batch.set(row, SystemColumn.queries.place, integer: 1 << bit | shared)
        try keepAbsent(&slot, row, currentRow.id, connection)
      }
    } else if isReference {
      // A link to an entity that the store does not have says nothing.
      return (0, false)
    }
    slot.batch.set(row, SystemColumn.id.place, integer: id)
    guard isCareful, slot.flags[row].isDisjoint(with: [.reference, .deleted, .left]) else { return (id, true) }
    try run(replace, columns.indices.map { slot.batch.value(row, $0) }, connection)
    return (id, true)
  }

  /// Takes the columns that another query has brought of the entity and this one omits.
  private func keepAbsent(
    _ slot: inout RowSlot, _ row: Int, _ id: Int64, _ connection: Connection
  ) throws(StorageError) {
    guard let current, !slot.isComplete(row) else { return }
    let absent = table.columns.indices.filter { !slot.isPresent(row, $0) }
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
    if let cells = base ?? nil {
      values = absent.map { cells[table.columns[$0].name] ?? .null }
    }
    for (column, value) in zip(absent, values) { slot.batch.set(row, RowSlot.systemCount + column, value) }
  }

  /// Updates a row that was written before, with other columns or with later values.
  private func update(
    _ slot: RowSlot, _ row: Int, _ id: Int64, _ connection: Connection
  ) throws(StorageError) {
    let change = TableTarget.change(slot, row)
    guard !change.names.isEmpty else { return }
    let sets = change.names.enumerated().map { "\(TableDDL.quoted($1)) = ?\($0 + 1)" }.joined(separator: ",")
    try run(
      "UPDATE \(TableDDL.quoted(name)) SET \(sets) WHERE \"@id\" = ?\(change.names.count + 1)",
      change.values + [.integer(id)], connection)
  }

  /// The columns that the payload had of a row, with their values.
  static func change(_ slot: RowSlot, _ row: Int) -> (names: [String], values: [SQLValue]) {
    var names: [String] = []
    var values: [SQLValue] = []
    for column in [SystemColumn.etag, .uri, .media] where !slot.batch.isNull(row, column.place) {
      names.append(column.rawValue)
      values.append(slot.batch.value(row, column.place))
    }
    for column in slot.table.columns where slot.isPresent(row, column.number) {
      names.append(column.name)
      values.append(slot.batch.value(row, RowSlot.systemCount + column.number))
    }
    return (names, values)
  }

  private func run(_ sql: String, _ values: [SQLValue], _ connection: Connection) throws(StorageError) {
    try connection.forEachRow(sql, values) { (_) throws(StorageError) in true }
  }
}
