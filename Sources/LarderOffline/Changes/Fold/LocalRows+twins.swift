import LarderStorage

// One entity that has come to be two rows: made here, and brought by a download before the service's answer to its making,
// which alone says that they are one.
extension LocalRows {
  /// Makes one row of two: the one made here stays, with what waits on the other, and the other's image is its base.
  ///
  /// - Parameters:
  ///   - cells: of the row made here, with the key that the service has given.
  ///   - request: the one that made it.
  mutating func absorbTwin(
    of reference: RowReference, _ table: EntityTable, _ cells: EntityCells, madeBy request: Int64
  ) throws(StorageError) {
    guard let twin = try twin(of: reference, table, cells, request) else { return }
    try absorb(twin, into: reference, table)
  }

  /// Makes one row of two; of what both contain, those of one key too.
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
    // It stands where the row made here stands.
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

  /// The rows of a table that two others contain under the same keys.
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

  /// The other row of a key: one that readers see, or one that is deleted here. It came after the first send.
  private func twin(
    of reference: RowReference, _ table: EntityTable, _ cells: EntityCells, _ request: Int64
  ) throws(StorageError) -> RowReference? {
    let names = TableDDL.identity(of: table)
    let identity = names.map { cells[$0] ?? .null }
    if let twin = try row(table, TableTarget.condition(table), identity), twin.id != reference.row {
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

  /// Hands the links of a row and what it contains to another identity.
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
      // What is folded says it, too.
      for kept in ["larder_base", "larder_effect"] {
        try connection.run(
          """
          UPDATE \(kept) SET cells = json_set(cells, '$."@parent"', ?1)
            WHERE name = ?3 AND json_extract(cells, '$."@parent"') = ?2
          """, .integer(new), .integer(old), .text(plan.tables[navigation.target].name))
      }
    }
  }

  /// Hands what waits on a row to another.
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
    // Changes of one entity go one after another.
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
  /// With another row wherever one is named.
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
    case .reference(let reference): request.body = .reference(put(reference))
    case .none, .bytes, .media: break
    }
    return request
  }
}
