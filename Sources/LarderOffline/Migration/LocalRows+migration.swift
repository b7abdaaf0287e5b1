import LarderStorage

// A new model while there are pending changes.
extension LocalRows {
  /// Converts pending changes to a new model. A request that does not fit it goes to the error archive with its content.
  /// Returns the number of these.
  mutating func fit(to change: ModelTransition) throws(StorageError) -> Int {
    let environment = connection.environment
    var unfitting: Set<Int64> = []
    for entry in try queue.entries() {
      var conversion = RequestConversion(change) { LocalKey.value($0, row: $1, environment) }
      let request = conversion.convert(entry.request)
      let effects = try queue.effects(of: entry.id)
      let converted = effects.map { conversion.convert($0) }
      if request != entry.request || converted != effects {
        try queue.replace(entry.id, by: request, effects: converted)
      }
      if let failure = entry.failure, let entity = entry.request.entity, let table = change.table(entity.table) {
        try queue.set(failure: failure.versions(table.version), of: entry.id)
      }
      for effect in converted { if let reference = effect.reference { try touch(reference) } }
      guard !conversion.lost.isEmpty, entry.state != .archived else { continue }
      unfitting.insert(entry.id)
      try queue.set(.archived, of: entry.id)
      var failure = ArchivedFailure(
        kind: .unfitting, message: LostContent.text(conversion.lost), method: entry.request.operation.rawValue,
        url: entry.request.target.path, time: Double(environment.unixSeconds))
      // The service may have executed it before its response was lost.
      let wasUncertain = try queue.wasUncertain(entry.id)
      if entry.state == .sent || wasUncertain { failure.mayHaveTakenEffect = true }
      try queue.set(failure: failure, of: entry.id)
      if let entity = entry.request.entity { try touch(entity) }
    }
    try hold(behind: unfitting)
    return unfitting.count
  }
}

extension ModelTransition {
  /// The service's version of a row with pending changes, under the new model.
  func base(
    _ reference: RowReference, _ cells: EntityCells?, localKey: (ReplicaColumn, Int64) -> SQLValue?
  ) -> EntityCells? {
    guard let cells, let table = table(reference.table) else { return cells }
    var version = table.version(cells)
    guard table.isKeyChanged, table.hasNoKey(version) else { return version }
    // The service has the entity under a key that is not known. Its changes are in the archive and keep the row.
    version = withKey(version, of: reference.row, table, localKey)
    (version.isGone, version.isKeyless) = (true, true)
    return version
  }

  /// Cells with a key of the store, if they have none.
  func withKey(
    _ cells: EntityCells, of row: Int64, _ table: TableChange, _ localKey: (ReplicaColumn, Int64) -> SQLValue?
  ) -> EntityCells {
    guard table.hasNoKey(cells) else { return cells }
    var cells = cells
    for column in table.new.key.map({ table.new.columns[$0] }) where cells[column.name] ?? .null == .null {
      cells[column.name] = localKey(column, row)
    }
    return cells
  }
}

extension TableChange {
  fileprivate func hasNoKey(_ cells: EntityCells) -> Bool {
    new.key.contains { cells[new.columns[$0].name] ?? .null == .null }
  }
}

extension ArchivedFailure {
  /// The failure with converted versions of its entity.
  fileprivate func versions(_ convert: (EntityCells) -> EntityCells) -> ArchivedFailure {
    var failure = self
    (failure.base, failure.mine, failure.theirs) = (base.map(convert), mine.map(convert), theirs.map(convert))
    return failure
  }
}
