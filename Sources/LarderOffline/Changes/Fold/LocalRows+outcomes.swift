import LarderStorage

// Outcomes of requests: executed by the server, undone, or superseded by the server's version.
extension LocalRows {
  /// Removes a request that the server has executed, and makes its effects part of the base.
  ///
  /// The new base is the response, if there is one, merged over the effects of the request (a response may leave out
  /// what was sent); otherwise the old base with the effects. If the response has no ETag, the known one may be old.
  /// - Parameters:
  ///   - serverCells: the server's version of the request's own entity, including `@etag`.
  ///   - mayHideLinks: whether the response may be of a later version than the request has created.
  mutating func succeed(
    _ request: Int64, with serverCells: EntityCells? = nil, mayHideLinks: Bool = false
  ) throws(StorageError) {
    guard let entity = try queue.entity(of: request) else { return }
    if let entity, let serverCells { try replaceKey(of: entity, by: serverCells, after: request) }
    let effects = try queue.effects(of: request)
    try touch(effects)
    if let entity { try touch(entity) }
    for (reference, rowEffects) in Dictionary(grouping: effects.filter { $0.other == nil }, by: \.row)
      .sorted(by: { $0.key < $1.key }).compactMap({ pair in pair.value.first?.reference.map { ($0, pair.value) } })
    {
      let base = try keptBase(reference.row) ?? nil
      var image = PendingFold.row(base, rowEffects)
      if reference != entity, image?[.etag] != nil {
        image?.isETagOld = true
        try queue.noteOldETag(reference.row)
      }
      if rowEffects.contains(where: { $0.kind == .insert }) {
        // A download has stored the row before the response arrived. The server's version takes precedence over the
        // content that was sent.
        if let base { image?.merge(base) }
        image?.isMadeHere = base == nil
      }
      try keep(image, as: reference)
      let uploaded = UploadedRows(connection)
      if image?.isMadeHere == true { try uploaded.note(created: reference) }
      if image != nil, moves(reference, rowEffects) { try uploaded.note(moved: reference) }
      guard image == nil else { continue }
      try forget(reference)
      if let base, !base.isGone { try uploaded.note(deleted: reference, base) }
    }
    if let entity, var image = try keptBase(entity.row) ?? nil {
      image.isETagOld = image.isETagOld || image[.etag] != nil
      if let serverCells { image.take(version: serverCells, hidesLinks: mayHideLinks && hasSingleLinks(entity)) }
      try keep(image, as: entity)
    }
    for effect in effects {
      guard let other = effect.other else { continue }
      try keep(LinkReference(name: effect.name, source: effect.row, target: other), present: effect.kind == .link)
      guard effect.kind == .unlink, let link = plan.link(effect.name) else { continue }
      for (table, row) in [(link.source, effect.row), (link.target, other)] {
        try UploadedRows(connection).note(moved: RowReference(plan.tables[table].name, row))
      }
    }
    try endMedia(of: request)
    try remove([request])
    if let entity, let etag = serverCells?.text(.etag) {
      // Later requests were based on the result of this one.
      let hidesLinks = (try keptBase(entity.row) ?? nil)?.linkETag != nil
      try queue.rebase(entity.row, on: etag, sparesLinks: mayHideLinks || hidesLinks)
    }
  }

  /// Whether effects change columns that join a row to others.
  private func moves(_ reference: RowReference, _ effects: [Effect]) -> Bool {
    guard let table = plan.table(reference.table) else { return false }
    let changed = Set(effects.filter { $0.kind == .set }.flatMap(\.cells.values.keys))
    guard !changed.isEmpty else { return false }
    return plan.tables.contains { other in
      other.navigations.contains { navigation in
        guard case .columns(let pairs) = navigation.relation else { return false }
        return pairs.contains { pair in
          other === table && changed.contains(table.columns[pair.source].name)
            || navigation.target == table.number && changed.contains(table.columns[pair.target].name)
        }
      }
    }
  }

  private func keep(_ link: LinkReference, present: Bool) throws(StorageError) {
    try connection.run(
      "INSERT OR REPLACE INTO larder_base_link(name, source, target, present) VALUES(?1, ?2, ?3, ?4)",
      .text(link.name), .integer(link.source), .integer(link.target), .integer(present ? 1 : 0))
  }

  /// Undoes requests, with their transactions and all requests that depend on them. The rows are computed again from
  /// the base and the remaining effects. Returns the ids of the undone requests.
  @discardableResult
  mutating func undo(_ requests: some Sequence<Int64>) throws(StorageError) -> [Int64] {
    let ids = try queue.withDependents(Set(requests))
    for id in ids {
      guard let entry = try queue.entry(id) else { continue }
      try touch(try queue.effects(of: id))
      if let entity = entry.request.entity { try touch(entity) }
      let generations = try connection.integers("SELECT generation FROM larder_media WHERE request = ?1", .integer(id))
      for generation in generations { try StoredStreams.drop(generation, connection) }
      try connection.run("DELETE FROM larder_media WHERE request = ?1", .integer(id))
    }
    try remove(ids)
    return ids
  }

  /// Removes requests from the queue. Rows that were kept for them are released.
  mutating func remove(_ requests: some Sequence<Int64>) throws(StorageError) {
    for request in requests {
      released.formUnion(try connection.markedRows(namedBy: request))
      try queue.remove([request])
    }
  }

  /// Stores the server's current version of a row, whether or not it has pending changes; nil if the server does not
  /// have the row.
  ///
  /// - Parameter hidesLinks: whether the links of that version were not read.
  mutating func setBase(
    _ reference: RowReference, to cells: EntityCells?, hidesLinks: Bool = true
  ) throws(StorageError) {
    try touch(reference)
    let old = try keptBase(reference.row) ?? nil
    guard let cells else {
      if var old {
        if !old.isGone, !old.isMadeHere { try UploadedRows(connection).note(deleted: reference, old) }
        old.isGone = true
        try keep(old, as: reference)
      }
      return
    }
    var image = old ?? EntityCells()
    image.isGone = false
    image.take(version: cells, hidesLinks: hidesLinks && hasSingleLinks(reference))
    try keep(image, as: reference)
  }

  /// Whether a row can have links to a single entity that none of its columns contains.
  private func hasSingleLinks(_ reference: RowReference) -> Bool {
    plan.table(reference.table).map { !singleLinks(of: $0).isEmpty } ?? false
  }

  /// The numbers of the navigation properties of a table that lead to a single entity, and that no column contains.
  func singleLinks(of table: EntityTable) -> Set<Int> {
    let numbers = table.navigations.indices.filter { number in
      let navigation = table.navigations[number]
      return switch navigation.relation {
      case .links, .columns: !navigation.isCollection && !plan.isDependent(navigation, table)
      case .containment, .container: false
      }
    }
    return Set(numbers)
  }

  /// Makes the uploaded bytes those of the stream at the server.
  private func endMedia(of request: Int64) throws(StorageError) {
    let sent = try connection.rows(
      "SELECT generation, entity, property, content_type, bytes FROM larder_media WHERE request = ?1", .integer(request)
    ) { (row) throws(StorageError) in
      (
        StoredStreams.Name(entity: try row.int64(1), property: try row.text(2)),
        StoredStreams.Head(
          contentType: try row.textOrNil(3), etag: nil, byteCount: try row.int64(4), generation: try row.int64(0))
      )
    }
    // The pending entry is removed first, because it takes precedence over the one that is replaced.
    try connection.run("DELETE FROM larder_media WHERE request = ?1", .integer(request))
    for (name, head) in sent where try !StoredStreams.finish(name, source: "", head, connection) {
      throw .givenUp(connection.file ?? "")
    }
  }

  /// Removes the links of a row at one of their ends. The rows at the other end are examined by the next delta: nothing
  /// may hold them any more.
  private func removeLinks(
    of reference: RowReference, _ link: LinkTable, from near: String, to far: String, _ table: Int
  ) throws(StorageError) {
    let removed = "FROM \(state.links[link.number]) WHERE \(near) = ?1"
    try UploadedRows(connection).note(movedIn: plan.tables[table].name, "SELECT \(far) \(removed)", reference.row)
    try connection.run("DELETE \(removed)", .integer(reference.row))
  }

  /// Removes the links of an entity that was deleted permanently, and the entities that it contains.
  mutating func forget(_ reference: RowReference) throws(StorageError) {
    var pendingRows = [reference]
    while let next = pendingRows.popLast() {
      guard let table = plan.table(next.table) else { continue }
      if next != reference, try keptBase(next.row) == nil { try show(nil, as: next) }
      for link in plan.links where !state.links[link.number].hasPrefix("(") {
        if link.source == table.number { try removeLinks(of: next, link, from: "source", to: "target", link.target) }
        if link.target == table.number { try removeLinks(of: next, link, from: "target", to: "source", link.source) }
      }
      for navigation in table.navigations where navigation.relation == .containment {
        let children = try connection.integers(
          "SELECT \"@id\" FROM \(state.tables[navigation.target]) WHERE \"@parent\" = ?1", .integer(next.row)
        )
        pendingRows += children.map { RowReference(plan.tables[navigation.target].name, $0) }
      }
    }
  }
}
