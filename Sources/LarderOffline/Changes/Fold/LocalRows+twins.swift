import LarderStorage

// Twins: one entity stored as two rows. One was created here, the other was downloaded before the response to the
// creation arrived. Only that response shows that they are the same entity.
extension LocalRows {
  /// Merges the twin of a row into it. The row created here stays and gets the pending changes of the twin, and the
  /// twin's version becomes its base.
  ///
  /// - Parameters:
  ///   - cells: the cells of the row created here, with the key that the service has assigned.
  ///   - request: the request that created it.
  mutating func absorbTwin(
    of reference: RowReference, _ table: EntityTable, _ cells: EntityCells, madeBy request: Int64
  ) throws(StorageError) {
    guard let twin = try twin(of: reference, table, cells, request) else { return }
    try absorb(twin, into: reference, table)
  }

  /// Merges two rows, and also their contained rows with the same keys.
  private mutating func absorb(
    _ twin: RowReference, into reference: RowReference, _ table: EntityTable
  ) throws(StorageError) {
    for navigation in table.navigations where navigation.relation == .containment {
      let inner = plan.tables[navigation.target]
      for (theirs, ours) in try sameChildren(of: twin.row, and: reference.row, inner) {
        try absorb(RowReference(inner.name, theirs), into: RowReference(inner.name, ours), inner)
      }
    }
    var image = try base(of: twin)
    // It has the container of the row created here.
    if image?[.parent] != nil, let parent = try effective(reference)?[.parent] { image?[.parent] = parent }
    try connection.run("DELETE FROM larder_base WHERE row = ?1", .integer(twin.row))
    try show(nil, as: twin)
    try DownloadMarks.move(of: table, from: twin.row, to: reference.row, connection)
    try moveTies(of: table, from: twin.row, to: reference.row)
    try moveChanges(from: twin, to: reference)
    forgetTouch(twin)
    try touch(reference)
    if let image { try keep(image, as: reference) }
  }

  /// Pairs of rows with equal keys that are contained in two entities.
  private func sameChildren(
    of one: Int64, and other: Int64, _ table: EntityTable
  ) throws(StorageError) -> [(Int64, Int64)] {
    let name = state.tables[table.number]
    guard !name.hasPrefix("("), !table.key.isEmpty else { return [] }
    let key = table.key.map { TableDDL.quoted(table.columns[$0].name) }
    let same = key.map { "a.\($0) = b.\($0)" }.joined(separator: " AND ")
    return try connection.rows(
      "SELECT a.\"@id\", b.\"@id\" FROM \(name) AS a JOIN \(name) AS b ON b.\"@parent\" = ?2 AND \(same) WHERE a.\"@parent\" = ?1",
      .integer(one), .integer(other)
    ) { (row) throws(StorageError) in (try row.int64(0), try row.int64(1)) }
  }

  /// The other row with a key: a visible row, or a row that was deleted here. It was added after the first send.
  private func twin(
    of reference: RowReference, _ table: EntityTable, _ cells: EntityCells, _ request: Int64
  ) throws(StorageError) -> RowReference? {
    let names = TableDDL.identity(of: table)
    let identity = names.map { cells[$0] ?? .null }
    if let twin = try row(table, table.identityCondition, identity), twin.id != reference.row {
      return RowReference(table.name, twin.id)
    }
    let newcomers = try connection.first(
      "SELECT json_extract(attempt, '$.newcomers') FROM larder_request WHERE id = ?1", .integer(request)
    ) { (row) throws(StorageError) in try row.int64OrNil(0) }
    guard case .some(.some(let first)) = newcomers else { return nil }
    let later = try connection.rows(
      "SELECT row, cells FROM larder_base WHERE row >= ?1 AND row <> ?2 AND name = ?3 AND cells IS NOT NULL",
      .integer(first), .integer(reference.row), .text(table.name)
    ) { (twin) throws(StorageError) in (try twin.int64(0), EntityCells(json: try twin.text(1))) }
    return later.first { _, base in base.map { base in names.allSatisfy { base[$0] == cells[$0] } } ?? false }
      .map { RowReference(table.name, $0.0) }
  }

  /// Moves the links of a row, and the rows that it contains, to another identity.
  func moveTies(of table: EntityTable, from old: Int64, to new: Int64) throws(StorageError) {
    for link in plan.links where !state.links[link.number].hasPrefix("(") {
      let name = state.links[link.number]
      if link.source == table.number {
        try connection.run(
          "UPDATE OR REPLACE \(name) SET source = ?1 WHERE source = ?2", .integer(new), .integer(old))
      }
      if link.target == table.number {
        try connection.run(
          "UPDATE OR REPLACE \(name) SET target = ?1 WHERE target = ?2", .integer(new), .integer(old))
      }
    }
    for navigation in table.navigations where navigation.relation == .containment {
      let name = state.tables[navigation.target]
      guard !name.hasPrefix("(") else { continue }
      try connection.run("UPDATE \(name) SET \"@parent\" = ?1 WHERE \"@parent\" = ?2", .integer(new), .integer(old))
      // The stored bases and effects contain the parent, too.
      for kept in ["larder_base", "larder_effect"] {
        try connection.run(
          """
          UPDATE \(kept) SET cells = json_set(cells, '$."@parent"', ?1)
            WHERE name = ?3 AND json_extract(cells, '$."@parent"') = ?2
          """, .integer(new), .integer(old), .text(plan.tables[navigation.target].name))
      }
    }
  }

  /// Moves the pending changes of a row to another row.
  private mutating func moveChanges(from old: RowReference, to new: RowReference) throws(StorageError) {
    let ids = (SQLValue.integer(new.row), SQLValue.integer(old.row))
    for table in ["larder_base_link SET source = ?1 WHERE source", "larder_base_link SET target = ?1 WHERE target"] {
      try connection.run("UPDATE OR REPLACE \(table) = ?2", ids.0, ids.1)
    }
    for table in [
      "larder_effect SET row = ?1 WHERE row", "larder_effect SET other = ?1 WHERE other",
      "larder_media SET entity = ?1 WHERE entity", "larder_local SET row = ?1 WHERE row",
    ] {
      try connection.run("UPDATE \(table) = ?2", ids.0, ids.1)
    }
    try connection.run("UPDATE OR REPLACE larder_reference SET row = ?1 WHERE row = ?2", ids.0, ids.1)
    for entry in try queue.entries() {
      let request = entry.request.replacing(old, by: new)
      guard request != entry.request else { continue }
      try queue.replace(entry.id, by: request)
      try connection.run(
        "UPDATE larder_request SET entity = ?1 WHERE id = ?2", .integer(request.entity?.row), .integer(entry.id))
    }
    // Changes of one entity are sent one after another.
    let all = try connection.integers(
      "SELECT id FROM larder_request WHERE entity = ?1 UNION SELECT request FROM larder_effect WHERE row = ?1",
      ids.0
    )
    for (earlier, later) in zip(all, all.dropFirst()) {
      try queue.add(later, after: earlier)
      try hold(later)
    }
  }
}

extension QueuedRequest {
  /// The request with one row replaced by another in all places.
  fileprivate func replacing(_ old: RowReference, by new: RowReference) -> QueuedRequest {
    func put(_ row: RowReference?) -> RowReference? { row == old ? new : row }
    func put(_ reference: QueuedReference) -> QueuedReference {
      reference == .row(old) ? .row(new) : reference
    }
    func put(_ property: QueuedProperty) -> QueuedProperty {
      var property = property
      if property.key?.row == old { property.key?.row = new }
      return property
    }
    func put(_ entity: QueuedEntity) -> QueuedEntity {
      var entity = entity
      entity.row = put(entity.row)
      entity.reference = entity.reference.map(put)
      entity.properties = entity.properties.map(put)
      for place in entity.links.indices {
        entity.links[place].bindings = entity.links[place].bindings.map(put)
        entity.links[place].entities = entity.links[place].entities.map(put)
      }
      return entity
    }
    var request = self
    request.entity = put(entity)
    request.target.row = put(target.row)
    switch body {
    case .entity(let entity): request.body = .entity(put(entity))
    case .properties(let properties): request.body = .properties(properties.map(put))
    case .parameters(let parameters): request.body = .parameters(put(parameters))
    case .reference(let reference): request.body = .reference(put(reference))
    case .none, .bytes, .media: break
    }
    return request
  }
}
