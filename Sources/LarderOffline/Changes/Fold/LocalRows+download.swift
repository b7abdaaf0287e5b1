import LarderStorage

// Downloads while there are pending changes: the downloaded rows become the bases, and the effects of the changes are
// folded over them again.
extension LocalRows {
  /// For each query, the numbers of the navigation properties of a table that it reads.
  typealias ReadNavigations = [Int64: (EntityTable) -> [Int]]

  /// The bases and links that were stored before a download.
  struct Unfolded {
    var bases: [(reference: RowReference, cells: EntityCells?)] = []
    var links: [(link: LinkReference, isThere: Bool)] = []
  }

  /// Makes the tables show the server's versions for the rest of this transaction, so that a delta can be applied to
  /// them.
  mutating func unfold() throws(StorageError) -> Unfolded {
    var unfolded = Unfolded()
    unfolded.bases = try keptBases().filter { plan.table($0.reference.table) != nil }
    // Deleted rows are removed first, because others may have their keys.
    for (reference, cells) in unfolded.bases where cells == nil || cells?.isGone == true {
      try show(nil, as: reference)
    }
    for (reference, cells) in unfolded.bases {
      if let cells, !cells.isGone { try show(cells, as: reference) }
    }
    unfolded.links = try keptLinks()
    for (link, isThere) in unfolded.links {
      if let table = plan.link(link.name) { try set(link, to: isThere, table) }
    }
    return unfolded
  }

  private func keptLinks() throws(StorageError) -> [(link: LinkReference, isThere: Bool)] {
    try connection.rows("SELECT name, source, target, present FROM larder_base_link") { (row) throws(StorageError) in
      (
        LinkReference(name: try row.text(0), source: try row.int64(1), target: try row.int64(2)),
        try row.int64(3) != 0
      )
    }
  }

  /// Takes the current rows of the tables as the new bases, and folds. Returns the rows whose server's version has
  /// changed.
  ///
  /// - Parameters:
  ///   - query: the query whose changes were read; nil for none. Rows that it does not bring keep the marks of their
  ///     bases (``EntityCells/takeMarks(_:)``), because their current versions were not read.
  ///   - navigations: for each query, the numbers of the navigation properties of a table that it reads.
  mutating func refold(
    _ unfolded: Unfolded, _ registry: ReplicaRegistry, read query: Int64? = nil, navigations: ReadNavigations = [:]
  ) throws(StorageError) -> [RowReference] {
    follow(registry)
    var conflicts: [RowReference] = []
    let pending = Set(unfolded.bases.map(\.reference))
    let keyless = try findKeyless()
    for (reference, base) in unfolded.bases {
      var old = base
      let serverImage: EntityCells?
      switch keyless[reference] {
      case .matched(let image)?:
        old = image
        serverImage = image
      case .unknown?: serverImage = try keptBase(reference.row) ?? nil
      case nil:
        var image = try shown(reference, old, pending)
        if let old, old.isKept || !old.unread.isEmpty {
          if try !isRead(image, reference, by: query) {
            image?.takeMarks(old)
          } else if try hidesLinks(old, image, reference, by: query, navigations: navigations) {
            image?.linkETag = old.linkETag
          }
        }
        serverImage = image
      }
      if try rebase(reference, from: old, to: serverImage) { conflicts.append(reference) }
    }
    for (link, _) in unfolded.links { try rebase(link, to: try isPresent(link)) }
    released.formUnion(try connection.markedRows())
    try finish()
    try recordArrivals()
    return conflicts
  }

  /// Folds after a whole read. Its tables contain the server's rows, and rows of other queries as readers saw them.
  ///
  /// - Parameters:
  ///   - bits: the bit of the query in each table that was read, by the table's number.
  ///   - told: for each link table that was read, the name of the table that lists the entities whose links were
  ///     reported.
  ///   - query: the query.
  ///   - navigations: for each query, the numbers of the navigation properties of a table that it reads.
  ///   - keepsAbsent: whether rows that are not in the read stay as they are, because it left out entities.
  mutating func refold(
    readWith bits: [Int: Int64], told: [Int: String], query: Int64, navigations: ReadNavigations,
    keepsAbsent: Bool = false
  ) throws(StorageError) -> [RowReference] {
    var conflicts: [RowReference] = []
    let keyless = try findKeyless()
    let bases = try keptBases()
    let pending = Set(bases.map(\.reference))
    for (reference, old) in bases {
      guard let table = plan.table(reference.table), let bit = bits[table.number] else { continue }
      if let keyless = keyless[reference] {
        let serverImage = if case .matched(let image) = keyless { image } else { old }
        if try rebase(reference, from: old, to: serverImage) { conflicts.append(reference) }
        continue
      }
      let mask = Int64(1) << bit
      var serverImage = try shown(reference, old, pending)
      let isRead = (serverImage?.integer(.queries) ?? 0) & mask != 0
      // Else its base is the version that was downloaded before, or by other queries.
      if !isRead { serverImage = old?.isGone == true ? nil : old }
      if !isRead, !keepsAbsent {
        let queries = serverImage?.integer(.queries) ?? 0
        serverImage?[.queries] = .integer(queries & ~mask)
        // A row that was created here and is not in this read does not match the query. No read contains a row that is
        // kept for changes.
        let isKept = queries == 0 ? try connection.isMarked(reference.row) : false
        if queries & ~mask == 0, !isKept { serverImage = nil }
      } else if isRead, let old, try hidesLinks(old, serverImage, reference, by: query, navigations: navigations) {
        serverImage?.linkETag = old.linkETag
      }
      if try rebase(reference, from: old, to: serverImage) { conflicts.append(reference) }
    }
    for (link, isThere) in try keptLinks() {
      guard let table = plan.link(link.name), let told = told[table.number] else { continue }
      let wasTold = try connection.first(
        "SELECT 1 FROM \(TableDDL.quoted(told)) WHERE side = 0 AND id = ?1 OR side = 1 AND id = ?2 LIMIT 1",
        .integer(link.source), .integer(link.target)
      ) { (_) throws(StorageError) in true }
      let isShown = try isPresent(link)
      try rebase(link, to: wasTold == true ? isShown : isThere)
    }
    released.formUnion(try connection.markedRows())
    try finish()
    try recordArrivals()
    return conflicts
  }

  /// Replaces the base of a row. Returns whether the server has changed the version that a change was based on.
  private mutating func rebase(
    _ reference: RowReference, from old: EntityCells?, to serverImage: EntityCells?
  ) throws(StorageError) -> Bool {
    var base = serverImage
    if let serverImage {
      base?.isMadeHere = (old?.isMadeHere ?? true) && (serverImage.integer(.queries) ?? 0) == 0
    } else if let old {
      base = old
      base?.isGone = true
    }
    try keep(base, as: reference)
    try touch(reference)
    var isChanged = false
    if let old, !old.isGone {
      // A change of the store may have given the same version a new ETag.
      isChanged =
        serverImage.map { image in
          old.differs(from: image) || !old.isETagOld && old.text(.etag) != image.text(.etag)
        } ?? !old.isMadeHere
    }
    if serverImage != nil, isChanged || base?.isMadeHere == false && (old?.isMadeHere ?? true) || old?.isGone == true {
      upserted.append(reference)
    }
    try notice(reference, from: old, to: serverImage, isChanged: isChanged)
    guard isChanged, old?.isKept == true else { return isChanged }
    return try pendingState(of: reference.row) != 0
  }

  private func isRead(
    _ image: EntityCells?, _ reference: RowReference, by query: Int64?
  ) throws(StorageError) -> Bool {
    guard let query, let bit = try connection.bit(of: query, in: reference.table) else { return false }
    return (image?.integer(.queries) ?? 0) & 1 << bit != 0
  }

  /// Whether the links of a row whose base has a ``EntityCells/linkETag`` are still not known after a read: the query
  /// leaves out a link to a single entity that another query shows.
  private func hidesLinks(
    _ old: EntityCells, _ image: EntityCells?, _ reference: RowReference, by query: Int64?,
    navigations: ReadNavigations
  ) throws(StorageError) -> Bool {
    guard old.linkETag != nil, !old.isGone, let query, let table = plan.table(reference.table) else { return false }
    let hidden = singleLinks(of: table).subtracting(navigations[query]?(table) ?? [])
    for (other, numbers) in navigations where other != query && !hidden.isDisjoint(with: numbers(table)) {
      if try isRead(image, reference, by: other) { return true }
    }
    return false
  }

  private mutating func rebase(_ link: LinkReference, to isThere: Bool) throws(StorageError) {
    try connection.run(
      "UPDATE larder_base_link SET present = ?4 WHERE name = ?1 AND source = ?2 AND target = ?3", .text(link.name),
      .integer(link.source), .integer(link.target), .integer(isThere ? 1 : 0))
    try touch(link)
  }

  /// The row as the tables show it.
  private mutating func shown(
    _ reference: RowReference, _ base: EntityCells?, _ pending: Set<RowReference>
  ) throws(StorageError) -> EntityCells? {
    if let storedCells = try effective(reference) { return storedCells }
    return try adoptServerRow(reference, base, pending)
  }

  /// A server's row with the same key that was stored under an identity of its own, because this row was deleted or
  /// created here and the download did not see it. It gets this row's identity.
  private mutating func adoptServerRow(
    _ reference: RowReference, _ base: EntityCells?, _ pending: Set<RowReference>
  ) throws(StorageError) -> EntityCells? {
    guard let table = plan.table(reference.table), !table.key.isEmpty else { return nil }
    var cells = base
    if cells == nil {
      cells = try queue.effects("row = ?1 AND kind = 0", [.integer(reference.row)]).last?.cells
    }
    guard let cells else { return nil }
    let identity = TableDDL.identity(of: table).map { cells[$0] ?? .null }
    guard let storedCells = try row(table, table.identityCondition, identity),
      !pending.contains(RowReference(table.name, storedCells.id))
    else { return nil }
    try connection.run(
      "UPDATE \(state.tables[table.number]) SET \"@id\" = ?1 WHERE \"@id\" = ?2", .integer(reference.row),
      .integer(storedCells.id))
    // The base determines whether the row has changed.
    try DownloadMarks.forget(storedCells.id, of: table, connection)
    try moveTies(of: table, from: storedCells.id, to: reference.row)
    return try effective(reference)
  }
}
