import LarderStorage

/// The queue of pending requests, read and written inside a transaction.
struct ChangeQueue {
  let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  // MARK: Reading

  private static let columns = "id, unit, state, request, attempt, failure"

  /// All requests, in the order in which they were created.
  func entries() throws(StorageError) -> [QueueEntry] {
    try entries("SELECT \(Self.columns) FROM larder_request ORDER BY id", [])
  }

  /// The requests in a state, in their order.
  func entries(_ state: RequestState) throws(StorageError) -> [QueueEntry] {
    try entries(
      "SELECT \(Self.columns) FROM larder_request WHERE state = ?1 ORDER BY id", [.integer(Int64(state.rawValue))])
  }

  /// The creations whose outcome is uncertain, also those that are held, in their order.
  func uncertainCreations() throws(StorageError) -> [QueueEntry] {
    try entries(
      """
      SELECT \(Self.columns) FROM larder_request
        WHERE (state = 1 OR state = 3 AND json_extract(attempt, '$.wasUncertain'))
          AND json_extract(request, '$.operation') = ?1 ORDER BY id
      """, [.text(QueuedRequest.Operation.create.rawValue)])
  }

  /// The requests that create or change an entity, in their order.
  func entries(of row: Int64) throws(StorageError) -> [QueueEntry] {
    try entries("SELECT \(Self.columns) FROM larder_request WHERE entity = ?1 ORDER BY id", [.integer(row)])
  }

  /// Whether a request of an entity is in the archive. This is checked before each change, when reading all requests
  /// would be too slow.
  func hasFailed(_ row: Int64) throws(StorageError) -> Bool {
    try connection.first("SELECT 1 FROM larder_request WHERE entity = ?1 AND state = 2 LIMIT 1", .integer(row)) {
      (_) throws(StorageError) in true
    } ?? false
  }

  /// Whether a conflict was found for a pending or held request of an entity.
  func hasNoticed(_ row: Int64) throws(StorageError) -> Bool {
    let sql = "SELECT 1 FROM larder_request WHERE entity = ?1 AND state IN (0, 3) AND failure IS NOT NULL LIMIT 1"
    return try connection.first(sql, .integer(row)) { (_) throws(StorageError) in true } ?? false
  }

  /// The number of the last request.
  func last() throws(StorageError) -> Int64 {
    try connection.first("SELECT max(id) FROM larder_request") { (row) throws(StorageError) in row.integer(0) } ?? 0
  }

  /// A request; nil if it no longer exists.
  func entry(_ id: Int64) throws(StorageError) -> QueueEntry? {
    try entries("SELECT \(Self.columns) FROM larder_request WHERE id = ?1", [.integer(id)]).first
  }

  /// The queued and sent requests of a unit, in their order.
  func entries(inUnit id: Int64) throws(StorageError) -> [QueueEntry] {
    try entries(
      "SELECT \(Self.columns) FROM larder_request WHERE id IN (\(Self.ofUnit)) AND state IN (0, 1) ORDER BY id",
      [.integer(id)])
  }

  /// Selects the ids of the requests of unit `?1`: its first request, and the others, which are found by an index.
  static let ofUnit = """
    SELECT id FROM larder_request WHERE id = ?1 AND unit = ?1 \
    UNION ALL SELECT id FROM larder_request WHERE unit = ?1 AND unit <> id AND unit <> 0
    """

  /// The ids of all requests of a unit, in any state, in their order.
  func members(ofUnit id: Int64) throws(StorageError) -> [Int64] {
    try connection.integers("SELECT id FROM larder_request WHERE id IN (\(Self.ofUnit)) ORDER BY id", .integer(id))
  }

  /// The units that a unit depends on and that still exist.
  func units(before id: Int64) throws(StorageError) -> [Int64] {
    try connection.integers(
      """
      SELECT DISTINCT e.unit FROM larder_dependency d JOIN larder_request e ON e.id = d.earlier
        WHERE d.request IN (\(Self.ofUnit)) AND e.unit <> ?1
      """, .integer(id)
    )
  }

  /// The entity that a request creates or changes. The outer optional is nil if the request no longer exists.
  func entity(of id: Int64) throws(StorageError) -> RowReference?? {
    let sql = """
      SELECT json_extract(request, '$.entity.table'), json_extract(request, '$.entity.row') FROM larder_request
        WHERE id = ?1
      """
    return try connection.first(sql, .integer(id)) { (row) throws(StorageError) in
      guard let name = try row.textOrNil(0), let entity = try row.int64OrNil(1) else { return nil }
      return RowReference(name, entity)
    }
  }

  private func entries(_ sql: String, _ values: [SQLValue]) throws(StorageError) -> [QueueEntry] {
    var all: [QueueEntry] = []
    try connection.forEachRow(sql, values) { (row) throws(StorageError) in
      guard let request = JSONSettings.decode(QueuedRequest.self, try row.text(3)) else {
        throw .damaged(connection.file ?? "", "A queued request cannot be read")
      }
      all.append(
        QueueEntry(
          id: try row.int64(0), unit: try row.int64(1),
          state: RequestState(rawValue: Int(try row.int64(2))) ?? .queued, request: request,
          attempt: try row.textOrNil(4),
          failure: try row.textOrNil(5).flatMap { JSONSettings.decode(ArchivedFailure.self, $0) }))
      return true
    }
    return all
  }

  /// A condition for bases that are ``EntityCells/isKeyless``. It cannot match a text, in which quotation marks are
  /// escaped.
  static let isKeyless = "instr(cells, '\"@keyless\":1') > 0"

  /// A condition for bases that are ``EntityCells/isGone``.
  static let isGone = "instr(cells, '\"@gone\":1') > 0"

  /// The requests that name a row whose key the service has assigned and that is not known yet.
  func keyless() throws(StorageError) -> [Int64] {
    let rows = try connection.integers(
      "SELECT row FROM larder_base WHERE \(Self.isKeyless) AND NOT \(Self.isGone)")
    var requests: [Int64] = []
    for row in rows {
      requests += try connection.integers(
        "SELECT id FROM larder_request WHERE entity = ?1 UNION SELECT request FROM larder_reference WHERE row = ?1",
        .integer(row))
    }
    return requests
  }

  /// The requests that each request depends on.
  func dependencies() throws(StorageError) -> [Int64: [Int64]] {
    let pairs = try connection.rows("SELECT request, earlier FROM larder_dependency ORDER BY request, earlier") {
      (row) throws(StorageError) in (try row.int64(0), try row.int64(1))
    }
    return Dictionary(grouping: pairs, by: \.0).mapValues { $0.map(\.1) }
  }

  /// The requests that a request depends on, in their order.
  func dependencies(of id: Int64) throws(StorageError) -> [Int64] {
    try connection.integers(
      "SELECT earlier FROM larder_dependency WHERE request = ?1 ORDER BY earlier", .integer(id))
  }

  /// The requests with their transactions, and with all that depend on any of these, directly or indirectly, with their
  /// transactions; in their order.
  func withDependents(_ ids: Set<Int64>) throws(StorageError) -> [Int64] {
    try reached(from: ids, by: "SELECT request FROM larder_dependency WHERE earlier = ?1")
  }

  /// The requests with all that have them among their dependents, see ``withDependents(_:)``; in their order.
  func withEarlier(_ ids: Set<Int64>) throws(StorageError) -> [Int64] {
    try reached(from: ids, by: "SELECT earlier FROM larder_dependency WHERE request = ?1")
  }

  /// The archived requests that may have taken effect, which cannot be determined: unclear requests, conflicts where
  /// another client may have changed the entity after them, and requests that were uncertain when they were held.
  func undecided() throws(StorageError) -> Set<Int64> {
    Set(
      try connection.integers(
        """
        SELECT id FROM larder_request WHERE state = 2
          AND (json_extract(failure, '$.kind') = ?1 OR json_extract(failure, '$.mayHaveTakenEffect'))
          OR state = 3 AND json_extract(attempt, '$.wasUncertain')
        """, .text(ArchivedFailure.Kind.unknownOutcome.rawValue)))
  }

  private func reached(from ids: Set<Int64>, by step: String) throws(StorageError) -> [Int64] {
    var dependentIDs = ids
    var units: Set<Int64> = []
    var unvisited = Array(ids)
    while let next = unvisited.popLast() {
      var dependents = try connection.integers(step, .integer(next))
      let unit = try connection.integers("SELECT unit FROM larder_request WHERE id = ?1", .integer(next)).first
      if let unit, units.insert(unit).inserted { dependents += try members(ofUnit: unit) }
      for id in dependents where dependentIDs.insert(id).inserted { unvisited.append(id) }
    }
    return dependentIDs.sorted()
  }

  /// Whether a held request was uncertain when it was held.
  func wasUncertain(_ id: Int64) throws(StorageError) -> Bool {
    let sql = "SELECT 1 FROM larder_request WHERE id = ?1 AND state = 3 AND json_extract(attempt, '$.wasUncertain')"
    return try connection.first(sql, .integer(id)) { (_) throws(StorageError) in true } ?? false
  }

  /// The effects of a request, in order.
  func effects(of request: Int64) throws(StorageError) -> [Effect] {
    try effects("request = ?1", [.integer(request)])
  }

  /// The tables and links whose rows a request changes.
  func names(of request: Int64) throws(StorageError) -> [String] {
    try connection.rows("SELECT DISTINCT name FROM larder_effect WHERE request = ?1", .integer(request)) {
      (row) throws(StorageError) in try row.text(0)
    }
  }

  func effects(_ condition: String, _ values: [SQLValue]) throws(StorageError) -> [Effect] {
    var all: [Effect] = []
    let sql = "SELECT kind, name, row, other, cells FROM larder_effect WHERE \(condition) ORDER BY request, seq"
    try connection.forEachRow(sql, values) { (row) throws(StorageError) in
      guard let kind = Effect.Kind(rawValue: Int(try row.int64(0))) else {
        throw .damaged(connection.file ?? "", "An effect cannot be read")
      }
      let cells = try row.textOrNil(4).flatMap(EntityCells.init(json:)) ?? EntityCells()
      all.append(
        Effect(kind, try row.text(1), try row.int64(2), other: try row.int64OrNil(3), cells: cells))
      return true
    }
    return all
  }

  // MARK: Writing

  /// Adds a request with its effects. Returns its id. The caller must fold the rows.
  ///
  /// - Parameter unit: the unit of the first request of its transaction; nil for the first request, and for one without
  ///   a transaction.
  func add(
    _ request: QueuedRequest, unit: Int64? = nil, effects: [Effect], after earlier: Set<Int64>
  ) throws(StorageError) -> Int64 {
    try connection.run(
      "INSERT INTO larder_request(unit, state, name, entity, request) VALUES(?1, 0, ?2, ?3, ?4)",
      .integer(unit ?? 0), .text(request.entity?.table), .integer(request.entity?.row),
      .text(JSONSettings.encode(request)))
    let id = connection.lastInsertedRow
    if unit == nil { try connection.run("UPDATE larder_request SET unit = id WHERE id = ?1", .integer(id)) }
    try add(effects, to: id)
    for before in earlier.sorted() where before != id { try add(id, after: before) }
    return id
  }

  /// Records that a request depends on an earlier one.
  func add(_ id: Int64, after earlier: Int64) throws(StorageError) {
    try connection.run(
      "INSERT OR IGNORE INTO larder_dependency(request, earlier) VALUES(?1, ?2)", .integer(id), .integer(earlier))
  }

  private func add(_ effects: [Effect], to request: Int64) throws(StorageError) {
    for (seq, effect) in effects.enumerated() {
      try connection.run(
        "INSERT INTO larder_effect(request, seq, kind, name, row, other, cells) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        .integer(request), .integer(Int64(seq)), .integer(Int64(effect.kind.rawValue)), .text(effect.name),
        .integer(effect.row), .integer(effect.other), .text(effect.cells.isEmpty ? nil : effect.cells.json))
    }
  }

  /// Replaces a request that was not sent, and its effects.
  func replace(_ id: Int64, by request: QueuedRequest, effects: [Effect]) throws(StorageError) {
    try replace(id, by: request)
    try connection.run("DELETE FROM larder_effect WHERE request = ?1", .integer(id))
    try add(effects, to: id)
  }

  /// Replaces a request. Its effects stay.
  func replace(_ id: Int64, by request: QueuedRequest) throws(StorageError) {
    try connection.run(
      "UPDATE larder_request SET request = ?1 WHERE id = ?2", .text(JSONSettings.encode(request)), .integer(id))
  }

  /// Sets the ETag of the service's version in the pending and held requests of a row. If a conflict was found for one of them,
  /// they keep the ETag of the version that they are based on.
  ///
  /// - Parameter sparesLinks: whether requests that change single links (``QueuedRequest/changesSingleLink``) keep the
  ///   ETag that they were based on. A later version may contain another client's link, which is not visible in the
  ///   values: if the condition fails, the store looks up the link.
  func rebase(_ row: Int64, on etag: String?, sparesLinks: Bool = false) throws(StorageError) {
    guard try !hasNoticed(row) else { return }
    try connection.run(
      """
      UPDATE larder_request SET request = json_remove(CASE WHEN ?2 IS NULL THEN json_remove(request, '$.baseETag')
        ELSE json_set(request, '$.baseETag', ?2) END, '$.isETagOld')
        WHERE entity = ?1 AND state <> 2
          AND (json_extract(request, '$.baseETag') IS NOT ?2 OR json_extract(request, '$.isETagOld'))
          AND NOT (?3 AND instr(request, '"formerEnd":') > 0)
      """, .integer(row), .text(etag), .integer(sparesLinks ? 1 : 0))
  }

  /// Records that the ETag of the pending requests of a row may be old: see ``QueuedRequest/isETagOld``.
  func noteOldETag(_ row: Int64) throws(StorageError) {
    try connection.run(
      """
      UPDATE larder_request SET request = json_set(request, '$.isETagOld', json('true'))
        WHERE entity = ?1 AND state <> 2 AND json_extract(request, '$.baseETag') IS NOT NULL
      """, .integer(row))
  }

  func set(_ state: RequestState, of id: Int64) throws(StorageError) {
    try connection.run(
      "UPDATE larder_request SET state = ?1 WHERE id = ?2", .integer(Int64(state.rawValue)), .integer(id))
  }

  /// Holds a request that is queued or uncertain. An uncertain one is uncertain again when it is released.
  func hold(_ id: Int64) throws(StorageError) {
    try connection.run(
      """
      UPDATE larder_request SET state = 3,
        attempt = CASE state WHEN 1 THEN json_set(attempt, '$.wasUncertain', json('true')) ELSE attempt END
        WHERE id = ?1 AND state IN (0, 1)
      """, .integer(id))
  }

  /// What is recorded with the last send of an uncertain request.
  enum AttemptMark: String {
    /// The service has reported a failure of its change set.
    case isRejected
    /// The service has accepted it, and may execute it later.
    case isAccepted
    /// A later change of its entity may correct it.
    case isCorrected
  }

  /// Records a mark with an uncertain request.
  func note(_ mark: AttemptMark, of id: Int64) throws(StorageError) {
    try connection.run(
      """
      UPDATE larder_request SET attempt = json_set(attempt, '$.\(mark.rawValue)', json('true')) WHERE id = ?1 AND state = 1
      """, .integer(id))
  }

  /// Releases a held request.
  func letGo(_ id: Int64) throws(StorageError) {
    try connection.run(
      """
      UPDATE larder_request SET state = coalesce(json_extract(attempt, '$.wasUncertain'), 0),
        attempt = json_remove(attempt, '$.wasUncertain') WHERE id = ?1 AND state = 3
      """, .integer(id))
  }

  /// For a request that was sent: the first identity that was given to a row after that, and the row in which a download
  /// contained the creation.
  func arrival(of id: Int64) throws(StorageError) -> (newcomers: Int64, row: Int64?)? {
    try connection.first(
      """
      SELECT json_extract(attempt, '$.newcomers'), json_extract(attempt, '$.arrived') FROM larder_request
        WHERE id = ?1 AND json_extract(attempt, '$.newcomers') IS NOT NULL
      """, .integer(id)
    ) { (row) throws(StorageError) in (try row.int64(0), try row.int64OrNil(1)) }
  }

  /// Records in which row a download contained an uncertain creation; nil if it is no longer known.
  func set(arrival row: Int64?, of id: Int64) throws(StorageError) {
    // Nil is not kept as a null.
    try connection.run(
      """
      UPDATE larder_request SET attempt = CASE WHEN ?2 IS NULL THEN json_remove(attempt, '$.arrived')
        ELSE json_set(attempt, '$.arrived', ?2) END WHERE id = ?1
      """, .integer(id), row.map { .integer($0) } ?? .null)
  }

  /// Stores the journal entry of a send.
  func set(attempt: String?, of id: Int64) throws(StorageError) {
    try connection.run("UPDATE larder_request SET attempt = ?1 WHERE id = ?2", .text(attempt), .integer(id))
  }

  /// Stores why a request is in the archive. Its state is set separately.
  func set(failure: ArchivedFailure?, of id: Int64) throws(StorageError) {
    try connection.run(
      "UPDATE larder_request SET failure = ?1 WHERE id = ?2", .text(failure.map { JSONSettings.encode($0) }),
      .integer(id))
  }

  /// Removes requests with their effects and dependencies.
  func remove(_ ids: some Sequence<Int64>) throws(StorageError) {
    for id in ids {
      try connection.run("DELETE FROM larder_request WHERE id = ?1", .integer(id))
      try connection.run("DELETE FROM larder_effect WHERE request = ?1", .integer(id))
      try connection.run("DELETE FROM larder_dependency WHERE request = ?1 OR earlier = ?1", .integer(id))
      try connection.run("DELETE FROM larder_reference WHERE request = ?1", .integer(id))
    }
  }
}
