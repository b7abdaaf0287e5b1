import Storage

/// Writes the rows of a whole read into the next generation of their tables.
///
/// Identities are those that rows with the same key have already. How they are found gets dearer with what turns up:
/// nothing to look for in a first download; the current generation by key; both, row by row, where a row comes twice.
struct GenerationWriter: Sendable {
  let plan: ReplicaPlan
  let query: Int64
  private(set) var tables: [Int: TableTarget] = [:]
  private(set) var links: [Int: LinkTarget] = [:]

  init(plan: ReplicaPlan, query: Int64) {
    self.plan = plan
    self.query = query
  }

  struct LinkTarget: Sendable {
    let insert: String
    let told: String
  }

  /// Writes a chunk; answers how many rows no page before had.
  mutating func write(_ chunk: RowChunk, _ connection: Connection) throws(StorageError) -> Int {
    for slot in chunk.slots { try prepare(table: slot.table.number, connection) }
    for link in chunk.links.map(\.link) + chunk.told.map(\.link) + chunk.outerLinks.map(\.link) {
      try prepare(links: link, connection)
    }
    // A row that comes twice shows when it is written: then its table is written with more care.
    for _ in 0...chunk.slots.count {
      var failed: Int?
      do throws(StorageError) {
        return try connection.savepoint { (connection) throws(StorageError) in
          try attempt(chunk, connection, &failed)
        }
      } catch {
        guard error.category == .constraint, let failed else { throw error }
        tables[failed]?.mode = .careful
      }
    }
    throw .damaged(connection.file ?? "", "A page cannot be written")
  }

  private func attempt(
    _ chunk: RowChunk, _ connection: Connection, _ failed: inout Int?
  ) throws(StorageError) -> Int {
    var chunk = chunk
    var identities = chunk.slots.map { [Int64](repeating: 0, count: $0.rowCount) }
    var new = 0
    var next = try connection.takeIdentities(chunk.order.count)
    for place in chunk.order {
      let slot = Int(place.slot)
      let row = Int(place.row)
      guard let target = tables[chunk.slots[slot].table.number] else { continue }
      let parent =
        chunk.slots[slot].parents[row].map { identities[Int($0.slot)][Int($0.row)] }
        ?? chunk.slots[slot].outerParents[row]
      if target.isContained, parent == nil {
        // An entity-id may tell the parent; a whole read of one parent's entities alone would lose those of the others.
        throw .notSupported(
          connection.file ?? "", "\(target.table.name) is read by expanding it from the entities that contain it")
      }
      if target.isContained, let parent { chunk.slots[slot].batch.set(row, SystemColumn.parent.place, integer: parent) }
      let isCareful = target.mode == .careful || chunk.slots[slot].hasFlags
      let written = try target.write(&chunk.slots[slot], row, parent, next, isCareful: isCareful, connection)
      identities[slot][row] = written.id
      if written.isNew { new += 1 }
      next += 1
    }
    for slot in chunk.slots {
      guard let target = tables[slot.table.number], target.mode != .careful, !slot.hasFlags else { continue }
      failed = slot.table.number
      try connection.run(target.insert, rows: slot.batch)
      failed = nil
    }
    try writeLinks(chunk, identities, connection)
    try noteInlines(chunk, identities, connection)
    return new
  }

  /// Notes collections in line that go on elsewhere; a page that is read again notes nothing twice.
  private func noteInlines(
    _ chunk: RowChunk, _ identities: [[Int64]], _ connection: Connection
  ) throws(StorageError) {
    for inline in chunk.inlines {
      let table = chunk.slots[Int(inline.parent.slot)].table
      try connection.run(
        """
        INSERT INTO larder_inline(query, link, name, path, parent) SELECT ?1, ?2, ?3, ?4, ?5
        WHERE NOT EXISTS(SELECT 1 FROM larder_inline WHERE query = ?1 AND link = ?2)
        """, .integer(query), .text(inline.link), .text(table.name),
        .text(table.navigations[inline.navigation].path.joined(separator: "/")),
        .integer(identities[Int(inline.parent.slot)][Int(inline.parent.row)]))
    }
  }

  private func writeLinks(
    _ chunk: RowChunk, _ identities: [[Int64]], _ connection: Connection
  ) throws(StorageError) {
    func identity(_ place: RowChunk.Place) -> SQLValue { .integer(identities[Int(place.slot)][Int(place.row)]) }
    let none = SQLValue.integer(0)
    for told in chunk.told {
      guard let target = links[told.link], identity(told.row) != none else { continue }
      try connection.run(target.told, .integer(told.isSource ? 0 : 1), identity(told.row))
    }
    for link in chunk.links {
      let ends = (identity(link.source), identity(link.target))
      guard let target = links[link.link], ends.0 != none, ends.1 != none, link.isAdded else { continue }
      try connection.run(target.insert, ends.0, ends.1)
    }
    for link in chunk.outerLinks {
      guard let target = links[link.link], identity(link.inner) != none else { continue }
      let inner = identity(link.inner)
      let outer = SQLValue.integer(link.outer)
      try connection.run(target.insert, link.isForward ? outer : inner, link.isForward ? inner : outer)
    }
  }

  // MARK: Tables

  /// Begins the next generation of a table, or goes on with it.
  mutating func prepare(table number: Int, _ connection: Connection) throws(StorageError) {
    guard tables[number] == nil else { return }
    var registry = try ReplicaRegistry(plan, connection)
    let isResumed = registry.entities[number]?.next != nil && registry.entities[number]?.reader == query
    let name = try registry.makeNext(table: number, reader: query, connection)
    if !isResumed { try connection.countVersionUp() }
    guard let entry = registry.entities[number] else { return }
    let bit = try connection.giveBit(to: query, in: plan.tables[number].name)
    let current = ReplicaRegistry.name("e", entry)
    let hasRows = try connection.first("SELECT 1 FROM \(TableDDL.quoted(current)) LIMIT 1") {
      (_) throws(StorageError) in
      true
    }
    tables[number] = TableTarget(
      plan.tables[number], name: name, current: hasRows == nil ? nil : current, bit: bit,
      others: try connection.bits(in: plan.tables[number].name) & ~(1 << bit))
  }

  mutating func prepare(links number: Int, _ connection: Connection) throws(StorageError) {
    guard links[number] == nil else { return }
    var registry = try ReplicaRegistry(plan, connection)
    let isResumed = registry.links[number]?.next != nil && registry.links[number]?.reader == query
    let name = try registry.makeNext(links: number, reader: query, connection)
    if !isResumed { try connection.countVersionUp() }
    links[number] = LinkTarget(
      insert: "INSERT OR IGNORE INTO \(TableDDL.quoted(name))(source, target) VALUES(?1, ?2)",
      told: "INSERT OR IGNORE INTO \(TableDDL.quoted(name + "_told"))(side, id) VALUES(?1, ?2)")
  }
}

/// The next generation of one table, and how rows get there.
struct TableTarget: Sendable {
  enum Mode: Sendable { case fresh, known, careful }

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

  var isContained: Bool { table.isContained }

  init(_ table: EntityTable, name: String, current: String?, bit: Int64, others: Int64) {
    self.table = table
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
    mode = current == nil ? .fresh : .known
  }

  /// The condition that finds a row by what identifies it.
  static func condition(_ table: EntityTable) -> String {
    if case .singleton = table.place, table.key.isEmpty { return "1" }
    return TableDDL.identity(of: table).enumerated().map { "\(TableDDL.quoted($1)) = ?\($0 + 1)" }
      .joined(separator: " AND ")
  }

  /// What a row is found by; nil where it cannot be told apart from others.
  static func arguments(_ slot: RowSlot, _ row: Int, _ parent: Int64?) -> [SQLValue]? {
    if case .singleton = slot.table.place, slot.table.key.isEmpty { return [] }
    guard let identity = slot.identity(row) else { return nil }
    guard slot.table.isContained else { return identity }
    return parent.map { [.integer($0)] + identity }
  }

  private func find(
    _ sql: String, _ arguments: [SQLValue], _ connection: Connection
  ) throws(StorageError) -> (id: Int64, queries: Int64)? {
    var found: (Int64, Int64)?
    try connection.forEachRow(sql, arguments) { (row) throws(StorageError) in
      found = (row.integer(0), row.integer(1))
      return false
    }
    return found
  }

  /// Gives a row its identity, and writes it where rows are written one by one.
  func write(
    _ slot: inout RowSlot, _ row: Int, _ parent: Int64?, _ free: Int64, isCareful: Bool, _ connection: Connection
  ) throws(StorageError) -> (id: Int64, isNew: Bool) {
    slot.batch.set(row, SystemColumn.queries.place, integer: 1 << bit)
    // A singleton without a key is one row: a second is the same.
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
    if let arguments, let findCurrent, let known = try find(findCurrent, arguments, connection) {
      id = known.id
      let shared = known.queries & others
      if shared != 0, !isReference {
        slot.batch.set(row, SystemColumn.queries.place, integer: 1 << bit | shared)
        try keepAbsent(&slot, row, known.id, connection)
      }
    } else if isReference {
      // Of an entity that the store has not a link tells nothing.
      return (0, false)
    }
    slot.batch.set(row, SystemColumn.id.place, integer: id)
    guard isCareful, slot.flags[row].isDisjoint(with: [.reference, .deleted, .left]) else { return (id, true) }
    try run(replace, columns.indices.map { slot.batch.value(row, $0) }, connection)
    return (id, true)
  }

  /// Takes what another query has brought of the entity, and this one leaves out.
  private func keepAbsent(
    _ slot: inout RowSlot, _ row: Int, _ id: Int64, _ connection: Connection
  ) throws(StorageError) {
    guard let current, !slot.isComplete(row) else { return }
    let absent = table.columns.indices.filter { !slot.isPresent(row, $0) }
    let names = TableDDL.list(absent.map { table.columns[$0].name })
    var values: [SQLValue] = []
    try connection.forEachRow("SELECT \(names) FROM \(TableDDL.quoted(current)) WHERE \"@id\" = ?1", [.integer(id)]) {
      (found) throws(StorageError) in
      values = absent.indices.map { found.value(Int32($0)) }
      return false
    }
    for (column, value) in zip(absent, values) { slot.batch.set(row, RowSlot.systemCount + column, value) }
  }

  /// A row that came before, here with other columns or with later values.
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
