import LarderOData
import LarderStorage

/// The rows of the store and their pending changes, changed inside one transaction. Bases, effects and requests are
/// modified; then ``finish()`` folds all touched rows again.
struct LocalRows {
  /// What the transaction sees, including tables that this value has created.
  private(set) var snapshot: ReplicaSnapshot
  private var touched: Set<RowReference> = []
  private var touchedLinks: Set<LinkReference> = []
  private(set) var changed: Set<Int> = []
  /// Rows that were kept for changes, and that may no longer be needed.
  var released: Set<Int64> = []
  /// Conflicts that a download has found in this transaction.
  var noticed: [OfflineODataNoticedConflict] = []
  /// Rows with pending changes that a download has added or changed in this transaction.
  var upserted: [RowReference] = []

  /// A link between two rows.
  struct LinkReference: Hashable, Sendable {
    let name: String
    let source: Int64
    let target: Int64
  }

  init(_ snapshot: ReplicaSnapshot) { self.snapshot = snapshot }

  var plan: ReplicaPlan { snapshot.plan }
  var state: ReplicaState { snapshot.state }
  var connection: Connection { snapshot.connection }
  var queue: ChangeQueue { ChangeQueue(connection) }

  // MARK: Rows as readers see them

  /// The row as readers see it, without its NULLs; nil if it does not exist.
  func effective(_ reference: RowReference) throws(StorageError) -> EntityCells? {
    guard let table = plan.table(reference.table) else { return nil }
    return try row(table, "\"@id\" = ?1", [.integer(reference.row)])?.cells
  }

  /// The first row of a table that satisfies a condition.
  func row(
    _ table: EntityTable, _ condition: String, _ values: [SQLValue]
  ) throws(StorageError) -> (id: Int64, cells: EntityCells)? {
    var match: (Int64, EntityCells)?
    let sql = "SELECT \(table.columnList) FROM \(state.tables[table.number]) WHERE \(condition) LIMIT 1"
    try connection.forEachRow(sql, values) { (row) throws(StorageError) in
      var values: [String: SQLValue] = [:]
      for (place, name) in table.columnNames.enumerated() where place != SystemColumn.id.place {
        let value = row.value(Int32(clamping: place))
        if value != .null { values[name] = value }
      }
      if case .integer(let number)? = values[SystemColumn.type.rawValue] {
        let place = Int(clamping: number)
        let type = table.types.indices.contains(place) ? table.types[place] : table.type
        values[SystemColumn.type.rawValue] = .text(type.name)
      }
      match = (row.integer(0), EntityCells(values))
      return false
    }
    return match
  }

  /// Writes a row as readers see it; nil deletes it.
  private mutating func put(_ cells: EntityCells?, at id: Int64, _ table: EntityTable) throws(StorageError) {
    try make(table)
    changed.insert(table.number)
    let name = state.tables[table.number]
    guard let cells else { return try connection.run("DELETE FROM \(name) WHERE \"@id\" = ?1", .integer(id)) }
    let values = table.columnNames.map { column -> SQLValue in
      switch column {
      case SystemColumn.id.rawValue: .integer(id)
      case SystemColumn.type.rawValue: .integer(Int64(cells.text(.type).flatMap(table.typeNumber) ?? 0))
      case SystemColumn.queries.rawValue: .integer(cells.integer(.queries) ?? 0)
      case SystemColumn.state.rawValue: .integer(cells.integer(.state) ?? 0)
      default: cells[column] ?? .null
      }
    }
    let places = values.indices.map { "?\($0 + 1)" }.joined(separator: ",")
    let sets = table.columnNames.dropFirst().map { "\(TableDDL.quoted($0)) = excluded.\(TableDDL.quoted($0))" }
    let sql = """
      INSERT INTO \(name)(\(table.columnList)) VALUES(\(places))
      ON CONFLICT("@id") DO UPDATE SET \(sets.joined(separator: ","))
      """
    try connection.forEachRow(sql, values) { (_) throws(StorageError) in true }
  }

  /// Creates a physical table if nothing was downloaded into it yet, and drops its full-text index, which would lack
  /// the row.
  private mutating func make(_ table: EntityTable) throws(StorageError) {
    let isMissing = state.tables[table.number].hasPrefix("(")
    guard isMissing || state.search[table.number] != nil else { return }
    var registry = try ReplicaRegistry(plan, connection)
    _ = try registry.make(table: table.number, connection)
    try registry.forgetSearch(table: table.number, connection)
    try connection.countVersionUp()
    snapshot.state = registry.state(version: state.version + 1)
  }

  private mutating func make(_ link: LinkTable) throws(StorageError) {
    guard state.links[link.number].hasPrefix("(") else { return }
    var registry = try ReplicaRegistry(plan, connection)
    _ = try registry.make(links: link.number, connection)
    try connection.countVersionUp()
    snapshot.state = registry.state(version: state.version + 1)
  }

  /// Uses the names of tables that other code has created in this transaction.
  mutating func follow(_ registry: ReplicaRegistry) { snapshot.state = registry.state(version: state.version) }

  // MARK: Touching

  /// Marks a row to be folded at the end. Its base is stored if it was not yet.
  mutating func touch(_ reference: RowReference) throws(StorageError) {
    guard touched.insert(reference).inserted else { return }
    guard try keptBase(reference.row) == nil else { return }
    try keep(try marked(try effective(reference), reference), as: reference)
  }

  /// The cells of a row that becomes a base, with the columns for which no values were read.
  private func marked(_ cells: EntityCells?, _ reference: RowReference) throws(StorageError) -> EntityCells? {
    guard var cells, let queries = cells.integer(.queries) else { return cells }
    cells.unread = try connection.unreadColumns(of: reference.table, queries: queries)
    return cells
  }

  /// Marks a row whose cells are known to be folded at the end; nil for a row that does not exist yet.
  mutating func touch(_ reference: RowReference, now cells: EntityCells?) throws(StorageError) {
    guard touched.insert(reference).inserted else { return }
    try connection.run(
      "INSERT OR IGNORE INTO larder_base(row, name, cells) VALUES(?1, ?2, ?3)", .integer(reference.row),
      .text(reference.table), .text(try marked(cells, reference)?.json))
  }

  /// Marks a link to be folded at the end.
  mutating func touch(_ link: LinkReference) throws(StorageError) {
    guard touchedLinks.insert(link).inserted else { return }
    let isThere = try isPresent(link)
    try connection.run(
      "INSERT OR IGNORE INTO larder_base_link(name, source, target, present) VALUES(?1, ?2, ?3, ?4)", .text(link.name),
      .integer(link.source), .integer(link.target), .integer(isThere ? 1 : 0))
  }

  /// Unmarks a deleted row that no pending change refers to.
  mutating func forgetTouch(_ reference: RowReference) { touched.remove(reference) }

  /// Marks the rows and links of effects.
  mutating func touch(_ effects: [Effect]) throws(StorageError) {
    for effect in effects {
      if let other = effect.other {
        try touch(LinkReference(name: effect.name, source: effect.row, target: other))
        if let link = plan.link(effect.name) {
          try touch(RowReference(plan.tables[link.source].name, effect.row))
        }
      } else {
        try touch(RowReference(effect.name, effect.row))
      }
    }
  }

  // MARK: Recording

  /// Adds a request with its effects. Returns its id.
  ///
  /// - Parameters:
  ///   - unit: the unit of the first request of its transaction; nil for the first request, and for one without a
  ///     transaction.
  ///   - earlier: requests that it depends on, besides the last one of each row that it changes.
  mutating func record(
    _ request: QueuedRequest, unit: Int64? = nil, effects: [Effect], after earlier: Set<Int64> = []
  ) throws(StorageError) -> Int64 {
    try touch(effects)
    if let entity = request.entity { try touch(entity) }
    var earlier = earlier
    let rows = effects.filter { $0.other == nil }.map(\.row) + (request.entity.map { [$0.row] } ?? [])
    for row in Set(rows) {
      if let last = try lastRequest(of: row) { earlier.insert(last) }
      if request.operation == .delete { earlier.formUnion(try linking(row)) }
    }
    for effect in effects {
      earlier.formUnion(try before(effect))
      if effect.kind == .delete { earlier.formUnion(try requests(naming: effect.row)) }
    }
    let named = try referred(by: request, effects)
    let id = try queue.add(request, unit: unit, effects: effects, after: earlier)
    try queue.add(id, naming: named)
    return id
  }

  /// The requests that a change of a link depends on: those that create its ends, and the last one that added or
  /// removed it.
  private func before(_ effect: Effect) throws(StorageError) -> [Int64] {
    guard let other = effect.other else { return [] }
    let sql = """
      SELECT request FROM larder_effect WHERE row IN (?1, ?2) AND kind = 0 AND other IS NULL
      UNION SELECT max(request) FROM larder_effect WHERE row = ?1 AND other = ?2 AND name = ?3 HAVING max(request) > 0
      """
    return try connection.integers(sql, .integer(effect.row), .integer(other), .text(effect.name))
  }

  /// The requests that add or remove links of a row.
  private func linking(_ row: Int64) throws(StorageError) -> [Int64] {
    try connection.integers(
      """
      SELECT request FROM larder_effect WHERE row = ?1 AND other IS NOT NULL
      UNION SELECT request FROM larder_effect WHERE other = ?1
      """, .integer(row)
    )
  }

  /// The last pending request of a row, without those that only link it; nil if there is none.
  func lastRequest(of row: Int64) throws(StorageError) -> Int64? {
    let sql = """
      SELECT max(coalesce((SELECT max(id) FROM larder_request WHERE entity = ?1), 0),
        coalesce((SELECT max(request) FROM larder_effect WHERE row = ?1 AND other IS NULL), 0))
      """
    let last = try connection.first(sql, .integer(row)) { (result) throws(StorageError) in try result.int64(0) } ?? 0
    return last == 0 ? nil : last
  }

  // MARK: Bases

  /// The server's version of a row: the row itself if it has no pending changes; nil if the server does not have it.
  func base(of reference: RowReference) throws(StorageError) -> EntityCells? {
    guard let base = try keptBase(reference.row) else { return try effective(reference) }
    return base.flatMap { $0.isGone ? nil : $0 }
  }

  /// The stored base of a row; nil if none is stored.
  func keptBase(_ row: Int64) throws(StorageError) -> EntityCells?? {
    try connection.first("SELECT cells FROM larder_base WHERE row = ?1", .integer(row)) {
      (found) throws(StorageError) in try found.textOrNil(0).flatMap(EntityCells.init(json:))
    }
  }

  /// All stored bases.
  func keptBases() throws(StorageError) -> [(reference: RowReference, cells: EntityCells?)] {
    try connection.rows("SELECT name, row, cells FROM larder_base ORDER BY row") { (row) throws(StorageError) in
      (RowReference(try row.text(0), try row.int64(1)), try row.textOrNil(2).flatMap(EntityCells.init(json:)))
    }
  }

  func keep(_ cells: EntityCells?, as reference: RowReference) throws(StorageError) {
    try connection.run(
      "INSERT OR REPLACE INTO larder_base(row, name, cells) VALUES(?1, ?2, ?3)", .integer(reference.row),
      .text(reference.table), .text(cells?.json))
  }

  func isPresent(_ link: LinkReference) throws(StorageError) -> Bool {
    guard let table = plan.link(link.name) else { return false }
    return try connection.first(
      "SELECT 1 FROM \(state.links[table.number]) WHERE source = ?1 AND target = ?2", .integer(link.source),
      .integer(link.target)
    ) { (_) throws(StorageError) in true } ?? false
  }

  // MARK: The end

  /// Folds all marked rows and links, and records in the log which tables have changed. Returns the numbers of these.
  @discardableResult
  mutating func finish() throws(StorageError) -> Set<Int> {
    var writes: [(EntityTable, Int64, EntityCells)] = []
    // Deleted rows are removed first, because others may have their keys.
    for reference in touched.sorted(by: { $0.row < $1.row }) {
      guard let table = plan.table(reference.table), let (old, new) = try folded(reference, table) else { continue }
      if let new {
        if new != old { writes.append((table, reference.row, new)) }
      } else if old != nil {
        try put(nil, at: reference.row, table)
      }
    }
    for (table, id, cells) in writes { try put(cells, at: id, table) }
    for link in touchedLinks { try fold(link) }
    try deleteKept(released.union(touched.map(\.row)))
    released = []
    let isQueueChanged = !touched.isEmpty || !touchedLinks.isEmpty
    touched = []
    touchedLinks = []
    try connection.logChange(isQueueChanged ? changed.union([ReplicaChanges.requests]) : changed)
    return changed
  }

  /// The row as readers see it now and after the fold; nil if no base is stored, because the row has no pending
  /// changes.
  private func folded(
    _ reference: RowReference, _ table: EntityTable
  ) throws(StorageError) -> (old: EntityCells?, new: EntityCells?)? {
    guard let base = try keptBase(reference.row) else { return nil }
    let old = try effective(reference)
    let flags = try pendingState(of: reference.row)
    guard flags != 0 else {
      if base?.isKept != true {
        try connection.run("DELETE FROM larder_base WHERE row = ?1", .integer(reference.row))
      }
      var image = PendingFold.row(base, [])?.withoutMarks
      if var lastVersion = base, lastVersion.isGone, try connection.keepNamed(reference.row) {
        // The service no longer returns the row, but another change cannot be sent without it.
        lastVersion.isGone = false
        lastVersion[.queries] = .integer(0)
        image = lastVersion.withoutMarks
      }
      image?[.state] = .integer(base?.isMadeHere == true ? LocalState.made : 0)
      return (old, image?.withoutNulls)
    }
    let effects = try queue.effects("row = ?1 AND other IS NULL", [.integer(reference.row)])
    guard var image = PendingFold.row(base, effects)?.withoutMarks.withoutNulls else { return (old, nil) }
    let isMade = base == nil || base?.isMadeHere == true
    image[.state] = .integer(flags | (isMade ? LocalState.made : 0))
    if !effects.isEmpty {
      // A row that does not change for readers keeps the ETag that they know.
      let unchangedETag =
        old?.content == image.content ? old?.text(.etag).flatMap { LocalETag.isLocal($0) ? $0 : nil } : nil
      let etag = if let unchangedETag { unchangedETag } else { try LocalETag.make(connection) }
      image[.etag] = .text(etag)
    }
    return (old, image)
  }

  /// The bits of ``LocalState`` that the requests of a row give it; 0 if there is none.
  func pendingState(of row: Int64) throws(StorageError) -> Int64 {
    let sql = """
      SELECT state FROM larder_request WHERE entity = ?1
      UNION SELECT state FROM larder_request WHERE id IN (SELECT request FROM larder_effect WHERE row = ?1)
      """
    var bits: Int64 = 0
    try connection.forEachRow(sql, [.integer(row)]) { (result) throws(StorageError) in
      let state = RequestState(rawValue: Int(result.integer(0))) ?? .queued
      if state != .archived { bits |= LocalState.pending }
      if state == .archived || state == .held { bits |= LocalState.failed }
      return true
    }
    return bits
  }

  private mutating func fold(_ link: LinkReference) throws(StorageError) {
    guard let table = plan.link(link.name) else { return }
    let key = [SQLValue.text(link.name), .integer(link.source), .integer(link.target)]
    let same = "name = ?1 AND source = ?2 AND target = ?3"
    let base = try connection.first(
      "SELECT present FROM larder_base_link WHERE \(same)", key[0], key[1], key[2]
    ) { (row) throws(StorageError) in try row.int64(0) != 0 }
    guard let base else { return }
    let effects = try queue.effects("row = ?2 AND name = ?1 AND other = ?3", key)
    if effects.isEmpty {
      try connection.run("DELETE FROM larder_base_link WHERE \(same)", key[0], key[1], key[2])
    }
    try set(link, to: PendingFold.link(base, effects), table)
  }

  /// Shows or hides a link for readers.
  mutating func set(_ link: LinkReference, to isThere: Bool, _ table: LinkTable) throws(StorageError) {
    guard try isPresent(link) != isThere else { return }
    try make(table)
    let name = state.links[table.number]
    let sql =
      isThere
      ? "INSERT OR IGNORE INTO \(name)(source, target) VALUES(?1, ?2)"
      : "DELETE FROM \(name) WHERE source = ?1 AND target = ?2"
    try connection.run(sql, .integer(link.source), .integer(link.target))
    changed.formUnion([table.source, table.target])
  }
}

// Writes that bypass the fold, for downloads and for the end of a deletion.
extension LocalRows {
  /// Writes a row without folding.
  mutating func show(_ cells: EntityCells?, as reference: RowReference) throws(StorageError) {
    guard let table = plan.table(reference.table) else { return }
    try put(cells, at: reference.row, table)
  }
}

/// ETags of rows with local changes. No server generates such ETags, so they cannot be mistaken for a server's.
enum LocalETag {
  private static let prefix = "W/\"larder-"

  static func isLocal(_ etag: String) -> Bool { etag.hasPrefix(prefix) }

  /// An ETag that no row has had before.
  static func make(_ connection: Connection) throws(StorageError) -> String {
    "\(prefix)\(try connection.takeIdentities(1))\""
  }
}

extension EntityCells {
  /// The cells without NULLs, as they are read from a table.
  var withoutNulls: EntityCells { EntityCells(values.filter { $0.value != .null }) }
}

extension ReplicaPlan {
  /// The link table with a name.
  func link(_ name: String) -> LinkTable? { links.first { $0.name == name } }
}
