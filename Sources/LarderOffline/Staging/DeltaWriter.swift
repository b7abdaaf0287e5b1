import LarderOData
import LarderStorage

/// Applies changes to the tables that readers see, inside one transaction.
struct DeltaWriter {
  let plan: ReplicaPlan
  let query: Int64
  /// The table of the query's own entities.
  let root: Int
  var registry: ReplicaRegistry
  private var bits: [Int: Int64] = [:]
  private var deltaLinks: [(link: ODataDeltaLink, isDeleted: Bool)] = []
  private var outcome = DownloadOutcome()
  /// The rows that were added or changed, by the number of their table.
  private(set) var upserted: [Int: [Int64]] = [:]
  private var hasNewTables = false
  /// The SQL that finds a row of a table, and the SQL that adds one.
  private var finds: [Int: String] = [:]
  private var inserts: [Int: String] = [:]
  private var changes: [RowChange.Shape: RowChange] = [:]
  /// The columns of a table's indexes other than the key's.
  private var indexed: [Int: Set<Int>] = [:]
  /// Identities that are reserved for new rows.
  private var free: Range<Int64> = 0..<0
  /// The positions of rows in the responses of the store's defining queries, as far as they are known.
  var places: [Int64: QueryPlaces]
  /// Rows that may have lost their last place, each once.
  var released: [Released] = []
  var isReleased: Set<Released> = []
  var denied: Set<DeniedLink> = []
  /// Rows that this delta has added and of which it contains nothing but the key.
  var onlyKeys: Set<Int64> = []
  /// The query's own entities that have left it, if their table also contains other rows of the query.
  var left: Set<Int64> = []
  /// Whether only a whole read can find out which rows the query still has.
  var isIncomplete: Bool {
    get { outcome.isIncomplete }
    set { outcome.isIncomplete = newValue }
  }

  init(
    _ plan: ReplicaPlan, query: Int64, root: Int, places: [Int64: QueryPlaces] = [:], connection: Connection
  ) throws(StorageError) {
    self.plan = plan
    self.query = query
    self.root = root
    self.places = [:]
    registry = try ReplicaRegistry(plan, connection)
    for (query, places) in places {
      let names = try connection.rows("SELECT name FROM larder_membership WHERE query = ?1", .integer(query)) {
        (row) throws(StorageError) in try row.text(0)
      }
      self.places[query] = places.bringing(Set(names.compactMap { plan.table($0)?.number }))
    }
  }

  /// Applies the rows of a batch.
  mutating func write(_ batch: PageBatch, _ connection: Connection) throws(StorageError) {
    var batch = batch
    deltaLinks += batch.deltaLinks
    var identities = [Int64](repeating: 0, count: batch.rows.count)
    for (index, row) in batch.rows.enumerated() {
      let table = batch.tables[row.table]
      try prepare(table, connection)
      identities[index] = try apply(
        &batch, index: index, givenParent: row.parent.map { identities[$0] }, connection: connection)
      if table.number == root, row.parent == nil { outcome.rows += 1 }
    }
    try release(omittedFrom: batch, identities, connection)
    try applyLinks(batch, identities, connection)
  }

  /// Applies links that were sent separately from entities, because their ends may come later. Then completes the
  /// delta.
  mutating func finish(_ connection: Connection) throws(StorageError) -> DownloadOutcome {
    for (link, isDeleted) in deltaLinks { try apply(link, isDeleted, connection) }
    try resolveReleased(connection)
    for table in outcome.changed { try registry.forgetSearch(table: table, connection) }
    if hasNewTables || !outcome.changed.isEmpty { try connection.countVersionUp() }
    try connection.logChange(outcome.changed)
    return outcome
  }

  // MARK: Entities

  private mutating func prepare(_ table: EntityTable, _ connection: Connection) throws(StorageError) {
    guard bits[table.number] == nil else { return }
    if try registry.make(table: table.number, connection) { hasNewTables = true }
    bits[table.number] = try connection.giveBit(to: query, in: table.name)
    if let other = registry.entities[table.number]?.reader, other != query { throw .inUse(connection.file ?? "") }
    finds[table.number] = "SELECT \"@id\" FROM \(name(table.number)) WHERE \(table.identityCondition)"
    inserts[table.number] = "INSERT INTO \(table.insertion(into: name(table.number)))"
    let indexes = TableDDL.indexes(of: table, in: plan, requested: try registry.requestedIndexes(table, connection))
    indexed[table.number] = Set(indexes.flatMap(\.self))
  }

  func name(_ table: Int) -> String {
    registry.entities[table].map { TableDDL.quoted(ReplicaRegistry.name("e", $0)) }
      ?? TableDDL.empty(plan.tables[table])
  }

  /// The name of a link table for a statement. The table may not exist yet.
  func linkName(_ link: Int) -> String { links(link) ?? TableDDL.emptyLinks }

  private func links(_ link: Int) -> String? {
    registry.links[link].map { TableDDL.quoted(ReplicaRegistry.name("l", $0)) }
  }

  /// Applies one row. Returns the entity's identity; 0 if there is none.
  private mutating func apply(
    _ batch: inout PageBatch, index: Int, givenParent: Int64?, connection: Connection
  ) throws(StorageError) -> Int64 {
    let row = batch.rows[index]
    let table = batch.tables[row.table]
    let url = batch.ids[index]
    var parent = givenParent
    if parent == nil, table.isContained, let url { parent = try finder.findContainer(of: url, connection)?.id }
    let arguments = table.identity(batch.cells[row.table], row.number, below: parent)
    var id: Int64?
    if let arguments { id = try find(table.number, arguments, connection) }
    if id == nil, let url {
      let entity = try finder.find(url, connection)
      if entity?.table == table.number { id = entity?.id }
    }
    let flags = row.flags
    if flags.contains(.reference) { return id ?? 0 }
    if !flags.isDisjoint(with: [.deleted, .left]) {
      var number = table.number
      // The id alone may say that the entity belongs to another set. Its key is then not one of this set.
      if let url, let other = named(by: url), other !== table {
        number = other.number
        id = try finder.find(url, connection).flatMap { $0.table == number ? $0.id : nil }
      }
      guard let id else { return 0 }
      if flags.contains(.deleted) { try delete(number, id, connection) } else { try leave(number, id, connection) }
      return number == table.number ? id : 0
    }
    if let id {
      if givenParent == nil, table.number == root { left.remove(id) }
      try release(changed: batch, index, id, connection)
      try update(batch.cells[row.table], row: row.number, of: table, id: id, connection: connection)
      return id
    }
    let isOnlyKey = isOnlyKey(batch.cells[row.table], row.number, of: table)
    let new = try insert(&batch.cells[row.table], row: row.number, of: table, parent: parent, connection: connection)
    if isOnlyKey { onlyKeys.insert(new) }
    return new
  }

  /// Whether a row has nothing but its key, although the query returns more.
  private func isOnlyKey(_ cells: RowBatch, _ row: Int, of table: EntityTable) -> Bool {
    let selected = places[query]?.selected[table.number]
    var hasOthers = false
    for column in table.columns where column.property != nil && !table.key.contains(column.number) {
      guard selected?.contains(column.number) ?? true else { continue }
      guard cells.isAbsent(row, EntityTable.systemCount + column.number) else { return false }
      hasOthers = true
    }
    return hasOthers
  }

  /// The entity set that an entity-id names before a key; nil for an id of another form.
  private func named(by url: String) -> EntityTable? {
    EntityID.segments(url).last.flatMap { $0.key == nil ? nil : plan.table($0.name) }
  }

  private func find(
    _ table: Int, _ arguments: [SQLValue], _ connection: Connection
  ) throws(StorageError) -> Int64? {
    guard let sql = finds[table] else { return nil }
    var id: Int64?
    try connection.forEachRow(sql, arguments) { (row) throws(StorageError) in
      id = row.integer(0)
      return false
    }
    return id
  }

  /// Updates the properties of an entity that the payload had. Writes nothing if they are equal.
  private mutating func update(
    _ cells: RowBatch, row: Int, of table: EntityTable, id: Int64, connection: Connection
  ) throws(StorageError) {
    let shape = RowChange.Shape(table, cells, row)
    if changes[shape] == nil {
      changes[shape] = RowChange(
        shape, table, name: name(table.number), indexed: indexed[table.number] ?? [])
    }
    let bit: Int64 = 1 << (bits[table.number] ?? 0)
    guard let rowOutcome = try changes[shape]?.apply(cells, row, id: id, bit: bit, connection), rowOutcome != .same
    else { return }
    outcome.changed.insert(table.number)
    if rowOutcome == .upserted { upserted[table.number, default: []].append(id) }
  }

  private mutating func insert(
    _ cells: inout RowBatch, row: Int, of table: EntityTable, parent: Int64?, connection: Connection
  ) throws(StorageError) -> Int64 {
    // Without its container, the place of a contained entity is unknown.
    if table.isContained, parent == nil || parent == 0 {
      throw .notSupported(
        connection.file ?? "", "An entity of \(table.name) was received without the entity that contains it")
    }
    if free.isEmpty {
      let first = try connection.takeIdentities(Self.reserve)
      free = first..<(first + Int64(Self.reserve))
    }
    let id = free.removeFirst()
    cells.set(row, SystemColumn.id.place, integer: id)
    cells.set(row, SystemColumn.parent.place, .integer(table.isContained ? parent : nil))
    cells.set(row, SystemColumn.queries.place, integer: 1 << (bits[table.number] ?? 0))
    try connection.forEachRow(inserts[table.number] ?? "", of: cells, row: row, columns: Array(0..<cells.width))
    outcome.changed.insert(table.number)
    upserted[table.number, default: []].append(id)
    return id
  }

  /// The number of identities that are reserved at a time.
  private static let reserve = 100

  /// Handles an entity that the delta reports as gone from the query. It stays if it may be elsewhere in the query's
  /// result.
  private mutating func leave(_ table: Int, _ id: Int64, _ connection: Connection) throws(StorageError) {
    if table == root, let places = places[query], places.places(in: table).count > 1 {
      left.insert(id)
      return release(Released(query: query, table: table, row: id))
    }
    guard let bit = try connection.bit(of: query, in: plan.tables[table].name) else { return }
    try leave(Released(query: query, table: table, row: id), 1 << bit, connection)
  }

  /// Removes a row from a query and releases the rows that it holds there. Deletes it if no other query has it.
  mutating func leave(_ row: Released, _ bit: Int64, _ connection: Connection) throws(StorageError) {
    let (table, id) = (row.table, row.row)
    if let other = registry.entities[table]?.reader, other != query { throw .inUse(connection.file ?? "") }
    try release(below: table, id, of: row.query, connection)
    try connection.run(
      "UPDATE \(name(table)) SET \"@queries\" = \"@queries\" & ~?1 WHERE \"@id\" = ?2 AND \"@queries\" & ?1 <> 0",
      .integer(bit), .integer(id))
    if connection.changes > 0 { outcome.changed.insert(table) }
    let isLeft = try connection.first(
      "SELECT 1 FROM \(name(table)) WHERE \"@id\" = ?1 AND \"@queries\" = 0", .integer(id)
    ) { (_) throws(StorageError) in true }
    guard isLeft == true, try !connection.keepNamed(id) else { return }
    try delete(table, id, connection)
  }

  /// Deletes an entity whose deletion this store has uploaded: the delta need not mention it.
  mutating func delete(_ reference: RowReference, _ connection: Connection) throws(StorageError) {
    guard let table = plan.table(reference.table) else { return }
    try delete(table.number, reference.row, connection)
  }

  /// Deletes an entity with its links and contained entities, and releases the rows that it holds for any query.
  private mutating func delete(_ table: Int, _ id: Int64, _ connection: Connection) throws(StorageError) {
    var pending = [(table: table, id: id)]
    while let next = pending.popLast() {
      try release(below: next.table, next.id, connection)
      try connection.run("DELETE FROM \(name(next.table)) WHERE \"@id\" = ?1", .integer(next.id))
      if connection.changes > 0 { outcome.changed.insert(next.table) }
      for link in plan.links where link.source == next.table || link.target == next.table {
        guard let name = links(link.number) else { continue }
        if link.source == next.table { try connection.run("DELETE FROM \(name) WHERE source = ?1", .integer(next.id)) }
        if link.target == next.table { try connection.run("DELETE FROM \(name) WHERE target = ?1", .integer(next.id)) }
      }
      for navigation in plan.tables[next.table].navigations where navigation.relation == .containment {
        guard registry.entities[navigation.target] != nil else { continue }
        let children = try connection.integers(
          "SELECT \"@id\" FROM \(name(navigation.target)) WHERE \"@parent\" = ?1", .integer(next.id)
        )
        pending += children.map { (navigation.target, $0) }
      }
    }
  }

  // MARK: Links

  private mutating func applyLinks(
    _ batch: PageBatch, _ identities: [Int64], _ connection: Connection
  ) throws(StorageError) {
    for complete in batch.completeLinks {
      try removeLinks(complete.link, of: identities[complete.row], isSource: complete.isSource, connection)
    }
    for link in batch.links {
      let (source, target) = (identities[link.source], identities[link.target])
      guard source != 0, target != 0 else { continue }
      try set(link.link, from: source, to: target, isAdded: link.isAdded, connection)
    }
  }

  /// Removes the links of a row.
  private mutating func removeLinks(
    _ link: Int, of id: Int64, isSource: Bool, _ connection: Connection
  ) throws(StorageError) {
    guard let name = links(link) else { return }
    let condition = "\(isSource ? "source" : "target") = ?1"
    let others = try connection.integers(
      "SELECT \(isSource ? "target" : "source") FROM \(name) WHERE \(condition)", .integer(id))
    for other in others { release(endsOf: link, isSource ? id : other, isSource ? other : id) }
    try connection.run("DELETE FROM \(name) WHERE \(condition)", .integer(id))
    if connection.changes > 0 { changed(link) }
  }

  private mutating func set(
    _ link: Int, from source: Int64, to target: Int64, isAdded: Bool, _ connection: Connection
  ) throws(StorageError) {
    if isAdded, try registry.make(links: link, connection) { hasNewTables = true }
    if let other = registry.links[link]?.reader, other != query { throw .inUse(connection.file ?? "") }
    guard let name = links(link) else { return }
    let sql =
      isAdded
      ? "INSERT OR IGNORE INTO \(name)(source, target) VALUES(?1, ?2)"
      : "DELETE FROM \(name) WHERE source = ?1 AND target = ?2"
    if !isAdded { release(endsOf: link, source, target) }
    try connection.run(sql, .integer(source), .integer(target))
    if connection.changes > 0 { changed(link) }
  }

  private mutating func changed(_ link: Int) {
    outcome.changed.formUnion([plan.links[link].source, plan.links[link].target])
  }

  /// Deletes contained entities that are missing from a complete inline collection. Those of other queries stay.
  mutating func removeContained(
    except keptIDs: Set<Int64>, in table: Int, below parent: Int64, _ connection: Connection
  ) throws(StorageError) {
    guard registry.entities[table] != nil else { return }
    let bit = try connection.bit(of: query, in: plan.tables[table].name).map { Int64(1) << $0 } ?? 0
    let there = try connection.integers(
      "SELECT \"@id\" FROM \(name(table)) WHERE \"@parent\" = ?1", .integer(parent))
    for id in there where !keptIDs.contains(id) {
      try leave(Released(query: query, table: table, row: id), bit, connection)
    }
  }

  private mutating func apply(
    _ link: ODataDeltaLink, _ isDeleted: Bool, _ connection: Connection
  ) throws(StorageError) {
    guard let source = try resolve(link.source, connection) else { return }
    let path = link.relationship.split(separator: "/").filter { !$0.contains(".") }.map(String.init)
    let table = plan.tables[source.table]
    guard let number = table.navigations.firstIndex(where: { $0.path == path }) else { return }
    let navigation = table.navigations[number]
    let target = try link.target.flatMap { (url) throws(StorageError) in try resolve(url, connection) }
    switch navigation.relation {
    case .links(let number, let isForward):
      if target == nil || !navigation.isCollection, isDeleted || !navigation.isCollection {
        // A to-one navigation property has one link at most.
        try removeLinks(number, of: source.id, isSource: isForward, connection)
      }
      guard let target else { return }
      try set(
        number, from: isForward ? source.id : target.id, to: isForward ? target.id : source.id, isAdded: !isDeleted,
        connection)
    case .containment: if isDeleted, let target { try delete(target.table, target.id, connection) }
    case .columns:
      guard let target else { return }
      if isDeleted {
        deny(table, number, from: source.id, to: target.id)
      } else {
        allow(table, number, from: source.id, to: target.id)
      }
    case .container: break
    }
  }

  /// The entity with an id; nil if the store does not have it.
  func resolve(_ url: String, _ connection: Connection) throws(StorageError) -> (table: Int, id: Int64)? {
    try finder.find(url, connection)
  }

  private var finder: EntityFinder { EntityFinder(plan: plan, registry: registry, preferredTable: root) }
}
