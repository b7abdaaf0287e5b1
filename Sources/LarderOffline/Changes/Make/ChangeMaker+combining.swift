import LarderStorage

// Merges requests into pending ones, so that the service receives only their combined effect.
extension ChangeMaker {
  /// Merges a request into the last one of its entity, if their kinds allow it and no other request lies between them.
  /// Returns the id of that one; nil if they stay separate.
  mutating func merge(_ new: QueuedRequest) throws -> Int64? {
    guard let entity = new.entity, !new.isUnmodifiable, new.headers.isEmpty,
      let last = try rows.lastRequest(of: entity.row), let before = try rows.queue.entry(last),
      // A request that was sent may have taken effect, and sent in changed form it would be another request.
      before.state == .queued, before.attempt == nil, before.unit == before.id, before.request.entity == entity,
      !before.request.isUnmodifiable, before.request.headers.isEmpty, before.request.category == new.category,
      before.request.customTag == new.customTag, try isAlone(last),
      // The merged request cannot be sent before requests that it depends on and that were created after it.
      earlier.allSatisfy({ $0 <= last })
    else { return nil }
    guard case .entity(let added) = new.body, case .entity(var body) = before.request.body,
      new.operation == .patch || new.operation == .merge, added.links.isEmpty, added.annotations == nil,
      [.create, .patch, .merge, .replace].contains(before.request.operation), effects.count == 1
    else { return nil }
    for property in added.properties {
      body.properties.removeAll { $0.name == property.name }
      body.properties.append(property)
    }
    var request = before.request
    request.body = .entity(body)
    var merged = try rows.queue.effects(of: last)
    guard let place = merged.lastIndex(where: { $0.reference == entity && $0.kind != .delete }) else { return nil }
    merged[place].cells.merge(effects[0].cells)
    try rows.touch(entity)
    try rows.queue.replace(last, by: request, effects: merged)
    for id in earlier where id < last { try rows.queue.add(last, after: id) }
    try rows.queue.add(last, naming: try rows.referred(by: new, effects))
    return last
  }

  /// Removes the creation of an entity and its changes instead of adding its deletion: the service never sees it. Returns
  /// the id of the creation; nil if the deletion must be sent, because the creation may have been.
  mutating func vanish(_ deletion: QueuedRequest) throws -> Int64? {
    guard deletion.operation == .delete, !isChangeSet, !deletion.isUnmodifiable, deletion.headers.isEmpty,
      let entity = deletion.entity
    else { return nil }
    let entries = try rows.queue.entries(of: entity.row)
    guard let creation = entries.first, creation.request.makesEntity else { return nil }
    for entry in entries {
      guard entry.state == .queued, entry.attempt == nil, entry.failure == nil, !entry.request.isUnmodifiable,
        try rows.queue.members(ofUnit: entry.unit).count == 1,
        try rows.queue.effects(of: entry.id).allSatisfy({ $0.reference == entity })
      else { return nil }
    }
    let ids = Set(entries.map(\.id))
    // Others may have been created for it.
    guard try rows.queue.withDependents(ids).allSatisfy(ids.contains) else { return nil }
    _ = try rows.undo(ids)
    return creation.id
  }

  /// Whether the request is not part of a change set, and no request depends on it.
  private func isAlone(_ id: Int64) throws(StorageError) -> Bool {
    try rows.connection.first(
      """
      SELECT 1 FROM larder_dependency WHERE earlier = ?1
        UNION ALL SELECT 1 FROM larder_request WHERE id IN (\(ChangeQueue.ofUnit)) AND id <> ?1 LIMIT 1
      """, .integer(id)
    ) { (_) throws(StorageError) in true } == nil
  }
}
