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
  private(set) var tables: [Int: TableGeneration] = [:]
  private(set) var links: [Int: LinkTarget] = [:]
  /// The rows of the query's own table in batches that have the key of an earlier row.
  private var repeated = RepeatedRows()

  init(plan: ReplicaPlan, query: Int64, root: Int) {
    self.plan = plan
    self.query = query
    self.root = root
  }

  struct LinkTarget: Sendable {
    let insert: String
    let noteComplete: String
  }

  /// Writes the rows of a batch. Returns the number of rows and links that no earlier page had.
  mutating func write(_ batch: PageBatch, _ connection: Connection) throws(StorageError) -> Int {
    for table in batch.tables { try prepare(table: table.number, connection) }
    for link in batch.links.map(\.link) + batch.completeLinks.map(\.link) + batch.outerLinks.map(\.link) {
      try prepare(links: link, connection)
    }
    // A row that occurs twice is detected when it is written. Its table is then written row by row.
    for _ in 0...batch.tables.count {
      var failed: Int?
      do throws(StorageError) {
        let written = try connection.savepoint { (connection) throws(StorageError) in
          try attempt(batch, connection, &failed)
        }
        repeated.add(written.repeated)
        return written.new
      } catch {
        guard error.category == .constraint, let failed else { throw error }
        tables[failed]?.mode = .careful
      }
    }
    throw .damaged(connection.file ?? "", "A page cannot be written")
  }

  private func attempt(
    _ batch: PageBatch, _ connection: Connection, _ failed: inout Int?
  ) throws(StorageError) -> (new: Int, repeated: RepeatedRows) {
    var batch = batch
    var repeated = RepeatedRows()
    var identities = [Int64](repeating: 0, count: batch.rows.count)
    let targets = batch.tables.map { tables[$0.number] }
    var hasFlags = [Bool](repeating: false, count: targets.count)
    for row in batch.rows where !row.flags.isEmpty { hasFlags[row.table] = true }
    let isPlain = zip(targets, hasFlags).map { target, hasFlags in target?.isPlain(hasFlags: hasFlags) ?? false }
    var new = 0
    var newOfRoot = 0
    var free = try connection.takeIdentities(batch.rows.count)
    for (index, row) in batch.rows.enumerated() {
      guard let target = targets[row.table] else { continue }
      var isNew = true
      if isPlain[row.table] {
        target.setIdentity(free, of: row.number, in: &batch.cells[row.table])
        identities[index] = free
      } else {
        let parent = row.parent.map { identities[$0] } ?? batch.outerParents[index]
        if target.table.isContained {
          // An entity-id may name the parent, but a whole read of one parent's entities would remove those of the
          // others.
          guard let parent else {
            throw .notSupported(
              connection.file ?? "",
              "Entities of \(target.table.name) can only be downloaded by expanding the entities that contain them")
          }
          batch.set(index, .parent, .integer(parent))
        }
        (identities[index], isNew) = try target.prepare(
          &batch.cells[row.table], row.number, below: parent, flags: row.flags, free: free,
          isCareful: target.mode == .careful || hasFlags[row.table], connection)
      }
      if isNew { new += 1 }
      if !isNew, target.table.number == root, row.flags.isEmpty {
        repeated.add(target.table.keyText(batch.cells[row.table], row.number))
      }
      if isNew, target.table.number == root { newOfRoot += 1 }
      free += 1
    }
    for (index, target) in targets.enumerated() {
      guard let target, target.mode != .careful, !hasFlags[index] else { continue }
      failed = target.table.number
      try target.insert(batch.cells[index], connection)
      failed = nil
    }
    new += try writeLinks(batch, identities, connection)
    try noteInlines(batch, identities, connection)
    try count(newOfRoot, connection)
    return (new, repeated)
  }

  /// All rows so far of the query's own table that have the key of an earlier row.
  var allRepeated: RepeatedRows {
    var all = repeated
    if let packed = tables[root]?.repeated { all.add(packed) }
    return all
  }

  /// Counts new rows of the query's own table.
  private func count(_ new: Int, _ connection: Connection) throws(StorageError) {
    guard new > 0 else { return }
    try connection.run(
      "UPDATE larder_download SET rows = rows + ?1 WHERE query = ?2", .integer(Int64(new)), .integer(query))
  }

  /// Writes the next of a table's packed rows. Returns the number of rows that no earlier page had.
  mutating func write(
    _ rows: inout PackedRows, of table: EntityTable, _ connection: Connection
  ) throws(StorageError) -> Int {
    let new = try tables[table.number]?.write(&rows, connection) ?? 0
    if table.number == root { try count(new, connection) }
    return new
  }

  static let noteInline = """
    INSERT INTO larder_inline(query, link, name, path, parent) SELECT ?1, ?2, ?3, ?4, ?5
    WHERE NOT EXISTS(SELECT 1 FROM larder_inline WHERE query = ?1 AND link = ?2)
    """

  /// Records inline collections that continue elsewhere. A page that is read again records nothing twice.
  private func noteInlines(
    _ batch: PageBatch, _ identities: [Int64], _ connection: Connection
  ) throws(StorageError) {
    for inline in batch.inlines {
      let table = batch.table(of: inline.parent)
      try connection.run(
        Self.noteInline, .integer(inline.isCandidate ? -query : query), .text(inline.link), .text(table.name),
        .text(table.navigations[inline.navigation].path.joined(separator: "/")), .integer(identities[inline.parent]))
    }
  }

  /// Writes the links and returns the number of new ones.
  private func writeLinks(
    _ batch: PageBatch, _ identities: [Int64], _ connection: Connection
  ) throws(StorageError) -> Int {
    var new = 0
    func insert(_ link: Int, _ source: Int64, _ target: Int64) throws(StorageError) {
      guard let links = links[link], source != 0, target != 0 else { return }
      try connection.run(links.insert, .integer(source), .integer(target))
      new += connection.changes
    }
    for complete in batch.completeLinks {
      guard let target = links[complete.link], identities[complete.row] != 0 else { continue }
      try connection.run(
        target.noteComplete, .integer(complete.isSource ? 0 : 1), .integer(identities[complete.row]))
    }
    for link in batch.links where link.isAdded {
      try insert(link.link, identities[link.source], identities[link.target])
    }
    for link in batch.outerLinks {
      let inner = identities[link.inner]
      try insert(link.link, link.isForward ? link.outer : inner, link.isForward ? inner : link.outer)
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
    tables[number] = TableGeneration(
      plan.tables[number], name: name, current: hasRows == nil ? nil : current, bit: bit,
      others: try connection.bits(in: plan.tables[number].name) & ~(1 << bit),
      index: TableDDL.indexes(
        of: plan.tables[number], in: plan, requested: try registry.requestedIndexes(plan.tables[number], connection)
      )
      .first ?? [])
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
