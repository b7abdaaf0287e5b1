import LarderStorage

/// Writes the rows of a whole read into the next generation of their tables.
///
/// Rows keep the identities of existing rows with the same key. Finding them costs more as more cases occur: nothing in
/// a first download; a look-up by key in the current generation; look-ups in both generations, row by row, if a row
/// occurs twice.
struct GenerationWriter: Sendable {
  let plan: ReplicaPlan
  let query: Int64
  /// The table of the query's own entities.
  let root: Int
  private(set) var tables: [Int: TableTarget] = [:]
  private(set) var links: [Int: LinkTarget] = [:]

  init(plan: ReplicaPlan, query: Int64, root: Int) {
    self.plan = plan
    self.query = query
    self.root = root
  }

  struct LinkTarget: Sendable {
    let insert: String
    let noteComplete: String
  }

  /// Writes a chunk. Returns the number of rows and links that no earlier page had.
  mutating func write(_ chunk: RowChunk, _ connection: Connection) throws(StorageError) -> Int {
    for slot in chunk.slots { try prepare(table: slot.table.number, connection) }
    for link in chunk.links.map(\.link) + chunk.completeLinks.map(\.link) + chunk.outerLinks.map(\.link) {
      try prepare(links: link, connection)
    }
    // A row that occurs twice is detected when it is written. Its table is then written row by row.
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
    let targets = chunk.slots.map { tables[$0.table.number] }
    let isPlain = zip(chunk.slots, targets).map { slot, target in target?.isPlain(slot) ?? false }
    var new = 0
    var newOfRoot: Int64 = 0
    var next = try connection.takeIdentities(chunk.order.count)
    for place in chunk.order {
      let slot = Int(place.slot)
      let row = Int(place.row)
      guard let target = targets[slot] else { continue }
      if isPlain[slot] {
        chunk.slots[slot].batch.set(row, SystemColumn.id.place, integer: next)
        chunk.slots[slot].batch.set(row, SystemColumn.queries.place, integer: 1 << target.bit)
        identities[slot][row] = next
        new += 1
        if chunk.slots[slot].table.number == root { newOfRoot += 1 }
      } else {
        let written = try write(&chunk.slots[slot], row, target, identities, next, connection)
        identities[slot][row] = written.id
        if written.isNew { new += 1 }
        if written.isNew, chunk.slots[slot].table.number == root { newOfRoot += 1 }
      }
      next += 1
    }
    for slot in chunk.slots {
      guard let target = tables[slot.table.number], target.mode != .careful, !slot.hasFlags else { continue }
      failed = slot.table.number
      try connection.run(target.insert, rows: slot.batch)
      failed = nil
    }
    new += try writeLinks(chunk, identities, connection)
    try noteInlines(chunk, identities, connection)
    if newOfRoot > 0 {
      try connection.run(
        "UPDATE larder_download SET rows = rows + ?1 WHERE query = ?2", .integer(newOfRoot), .integer(query))
    }
    return new
  }

  /// Writes or prepares a row that may have an identity already.
  private func write(
    _ slot: inout RowSlot, _ row: Int, _ target: TableTarget, _ identities: [[Int64]], _ free: Int64,
    _ connection: Connection
  ) throws(StorageError) -> (id: Int64, isNew: Bool) {
    let parent = slot.parents[row].map { identities[Int($0.slot)][Int($0.row)] } ?? slot.outerParents[row]
    if target.isContained {
      // An entity-id may name the parent, but a whole read of one parent's entities would remove those of the others.
      guard let parent else {
        throw .notSupported(
          connection.file ?? "",
          "Entities of \(target.table.name) can only be downloaded by expanding the entities that contain them")
      }
      slot.batch.set(row, SystemColumn.parent.place, integer: parent)
    }
    let isCareful = target.mode == .careful || slot.hasFlags
    return try target.write(&slot, row, parent, free, isCareful: isCareful, connection)
  }

  static let noteInline = """
    INSERT INTO larder_inline(query, link, name, path, parent) SELECT ?1, ?2, ?3, ?4, ?5
    WHERE NOT EXISTS(SELECT 1 FROM larder_inline WHERE query = ?1 AND link = ?2)
    """

  /// Records inline collections that continue elsewhere. A page that is read again records nothing twice.
  private func noteInlines(
    _ chunk: RowChunk, _ identities: [[Int64]], _ connection: Connection
  ) throws(StorageError) {
    for inline in chunk.inlines {
      let table = chunk.slots[Int(inline.parent.slot)].table
      try connection.run(
        Self.noteInline, .integer(query), .text(inline.link), .text(table.name),
        .text(table.navigations[inline.navigation].path.joined(separator: "/")),
        .integer(identities[Int(inline.parent.slot)][Int(inline.parent.row)]))
    }
  }

  /// Writes the links and returns the number of new ones.
  private func writeLinks(
    _ chunk: RowChunk, _ identities: [[Int64]], _ connection: Connection
  ) throws(StorageError) -> Int {
    var new = 0
    func identity(_ place: RowChunk.Place) -> SQLValue { .integer(identities[Int(place.slot)][Int(place.row)]) }
    let none = SQLValue.integer(0)
    for complete in chunk.completeLinks {
      guard let target = links[complete.link], identity(complete.row) != none else { continue }
      try connection.run(target.noteComplete, .integer(complete.isSource ? 0 : 1), identity(complete.row))
    }
    for link in chunk.links {
      let ends = (identity(link.source), identity(link.target))
      guard let target = links[link.link], ends.0 != none, ends.1 != none, link.isAdded else { continue }
      try connection.run(target.insert, ends.0, ends.1)
      new += connection.changes
    }
    for link in chunk.outerLinks {
      guard let target = links[link.link], identity(link.inner) != none else { continue }
      let inner = identity(link.inner)
      let outer = SQLValue.integer(link.outer)
      try connection.run(target.insert, link.isForward ? outer : inner, link.isForward ? inner : outer)
      new += connection.changes
    }
    return new
  }

  // MARK: Tables

  /// Begins the next generation of a table, or continues it.
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
      others: try connection.bits(in: plan.tables[number].name) & ~(1 << bit),
      index: TableDDL.indexes(
        of: plan.tables[number], in: plan, requested: try registry.requestedIndexes(plan.tables[number], connection)
      )
      .first ?? [])
  }

  // MARK: Runs

  /// Converts plain rows to a run. Prepares the table.
  mutating func run(of packed: PackedSlot, _ connection: Connection) throws(StorageError) -> RowRun? {
    try prepare(table: packed.table.number, connection)
    return tables[packed.table.number].map { RowRun(packed, order: $0.order) }
  }

  /// Writes the next rows of a run. Returns the number of rows that no earlier page had.
  mutating func write(_ run: inout RowRun?, _ connection: Connection) throws(StorageError) -> Int {
    guard let number = run?.table, let target = tables[number] else {
      run = nil
      return 0
    }
    let new =
      target.mode == .careful
      ? try run?.writeCarefully(to: target, connection) : try run?.write(to: target, connection)
    // A row occurs twice: from now on, its table is written row by row.
    if let new {
      if number == root, new > 0 {
        try connection.run(
          "UPDATE larder_download SET rows = rows + ?1 WHERE query = ?2", .integer(Int64(new)), .integer(query))
      }
      return new
    }
    tables[number]?.mode = .careful
    return 0
  }

  mutating func prepare(links number: Int, _ connection: Connection) throws(StorageError) {
    guard links[number] == nil else { return }
    var registry = try ReplicaRegistry(plan, connection)
    let isResumed = registry.links[number]?.next != nil && registry.links[number]?.reader == query
    let name = try registry.makeNext(links: number, reader: query, connection)
    if !isResumed { try connection.countVersionUp() }
    links[number] = LinkTarget(
      insert: "INSERT OR IGNORE INTO \(TableDDL.quoted(name))(source, target) VALUES(?1, ?2)",
      noteComplete: "INSERT OR IGNORE INTO \(TableDDL.quoted(name + "_told"))(side, id) VALUES(?1, ?2)")
  }
}
