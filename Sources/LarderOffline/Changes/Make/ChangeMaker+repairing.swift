import LarderOData
import LarderStorage

// A change of an entity whose request the service has rejected repairs that request: it is sent again with both
// changes.
extension ChangeMaker {
  /// Merges a change into the rejected request of its entity, and puts that back into the queue.
  ///
  /// A request that the service may have executed is not changed: the next upload looks it up first, and merges the
  /// change into it only if it was not executed.
  ///
  /// - Returns: the id of the request; nil if the change is recorded separately. It is held then, unless it has made
  ///   the rejected request unnecessary, or was also merged into it so that the service accepts that request.
  mutating func repair(_ new: QueuedRequest) throws -> Int64? {
    // The changes of a transaction stay together.
    guard !isChangeSet, !new.isUnmodifiable, let entity = new.entity,
      try rows.queue.hasFailed(entity.row)
    else { return nil }
    let requests = try rows.queue.entries(of: entity.row)
    guard let failed = requests.first(where: { $0.state == .archived }), !failed.request.isUnmodifiable,
      try !goesWithUndecided(failed)
    else { return nil }
    if failed.isLookedUpAgain {
      try rows.requeue([failed.id])
      try rows.queue.note(.isCorrected, of: failed.id)
      return nil
    }
    if new.operation == .delete { return try delete(entity, failed, requests) }
    let later = requests.filter { $0.id > failed.id }
    // Earlier requests of its transaction are sent before it anyway.
    let before = try rows.queue.members(ofUnit: failed.unit).filter { $0 <= failed.id }
    let behind = Set(try rows.queue.withDependents([failed.id])).subtracting(before)
    // The requests that the change depends on may themselves depend on the rejected one.
    guard let added = new.asEntity, var repair = Repair(failed, rows, plan), earlier.isDisjoint(with: behind) else {
      return nil
    }
    var isWhole = true
    for entry in later where isWhole { isWhole = try rows.isAbsorbable(entry, into: failed, behind) }
    if isWhole {
      for entry in later {
        guard let body = entry.request.asEntity else { continue }
        repair.take(body, entry.request, try rows.queue.effects(of: entry.id))
        try rows.absorb(entry.id, into: failed.id)
      }
    }
    repair.take(added, new, effects)
    try rows.touch(repair.effects)
    try rows.touch(entity)
    try rows.queue.replace(failed.id, by: repair.request, effects: repair.effects)
    for id in earlier where id != failed.id { try rows.queue.add(failed.id, after: id) }
    try rows.queue.add(failed.id, naming: try rows.referred(by: new, effects))
    try rows.requeue([failed.id])
    try rows.hold(failed.id)
    // The requests in between would overwrite the new values, so the change is also recorded after them.
    return isWhole ? failed.id : nil
  }

  /// Whether only a person can decide about a retry, because the request, or one that would be sent again with it, may
  /// have taken effect, or because one of another entity that would be sent again has a conflict.
  private func goesWithUndecided(_ failed: QueueEntry) throws(StorageError) -> Bool {
    let archive = try ArchivedRequests(rows.queue)
    return archive.failures([failed.id]).contains { id in
      let entry = archive.entries[id]
      let isOther = entry?.request.entity != failed.request.entity
      if entry?.isLookedUpAgain == true { return false }
      let mayHaveTakenEffect = entry?.failure?.mayHaveTakenEffect ?? (entry?.failure?.kind == .unknownOutcome)
      return mayHaveTakenEffect || isOther && entry?.failure?.kind == .conflict
    }
  }

  /// Deletes an entity whose request was rejected. If it was never created at the service, it is removed with its
  /// requests; otherwise its rejected updates are removed as unnecessary.
  private mutating func delete(
    _ entity: RowReference, _ failed: QueueEntry, _ requests: [QueueEntry]
  ) throws -> Int64? {
    let requestIDs = Set(requests.map(\.id))
    if failed.request.makesEntity {
      let others = try rows.queue.withDependents(requestIDs).filter { !requestIDs.contains($0) }
      guard others.isEmpty else {
        throw OfflineODataError(
          .changesPending,
          "the creation of the entity was rejected, and other changes depend on it or belong to its transaction: delete ErrorArchive(\(failed.id)) to undo all of them"
        )
      }
      try rows.undo(requestIDs)
      return failed.id
    }
    for entry in requests where entry.state == .archived || entry.state == .held {
      guard entry.request.asEntity != nil, try rows.standsAlone(entry), entry.failure?.kind != .unknownOutcome else {
        continue
      }
      try rows.drop(entry.id)
    }
    try rows.release()
    return nil
  }
}

extension LocalRows {
  /// Merges the later changes of its entity into a request that the service has not executed, because one of them may
  /// correct it. They stay in the queue from the first one on that cannot be merged.
  mutating func mergeCorrections(into failed: QueueEntry) throws {
    guard let entity = failed.request.entity, !failed.request.isUnmodifiable, var repair = Repair(failed, self, plan)
    else { return }
    let behind = Set(try queue.withDependents([failed.id]))
    for entry in try queue.entries(of: entity.row) where entry.id > failed.id {
      guard entry.state == .queued, let body = entry.request.asEntity, try isAbsorbable(entry, into: failed, behind)
      else { break }
      repair.take(body, entry.request, try queue.effects(of: entry.id))
      try absorb(entry.id, into: failed.id)
    }
    try touch(repair.effects)
    try touch(entity)
    try queue.replace(failed.id, by: repair.request, effects: repair.effects)
  }

  /// Whether a later change of the entity can be merged into the rejected request.
  ///
  /// - Parameter behind: the requests that depend on that one, directly or indirectly.
  fileprivate func isAbsorbable(
    _ entry: QueueEntry, into failed: QueueEntry, _ behind: Set<Int64>
  ) throws(StorageError) -> Bool {
    let request = entry.request
    let isAlone = try standsAlone(entry)
    guard request.asEntity?.links.isEmpty == true, !request.makesEntity, !request.isUnmodifiable,
      request.headers.isEmpty, request.category == failed.request.category, entry.state != .sent,
      entry.unit == failed.unit || isAlone
    else { return false }
    let effects = try queue.effects(of: entry.id)
    guard effects.count == 1, effects[0].kind == .set else { return false }
    // A request that depends on others created since cannot be sent before them. If it depends on one that depends on
    // the rejected request, both would wait forever.
    for id in try queue.dependencies(of: entry.id) where id > failed.id || behind.contains(id) {
      guard try queue.entry(id)?.request.entity == request.entity else { return false }
    }
    return true
  }

  /// Whether a request is not part of a transaction. A request of a transaction is neither merged nor dropped.
  fileprivate func standsAlone(_ entry: QueueEntry) throws(StorageError) -> Bool {
    try queue.members(ofUnit: entry.unit).count == 1
  }
}

/// A rejected request into which later changes are merged.
private struct Repair {
  private(set) var request: QueuedRequest
  private(set) var effects: [Effect]
  private var body: QueuedEntity
  private let place: Int
  private let table: EntityTable
  private let plan: ReplicaPlan

  /// Nil for a request that is not a creation or update of an entity.
  init?(_ failed: QueueEntry, _ rows: LocalRows, _ plan: ReplicaPlan) {
    guard let entity = failed.request.entity, let table = plan.table(entity.table), let body = failed.request.asEntity,
      let effects = try? rows.queue.effects(of: failed.id),
      let place = effects.lastIndex(where: { $0.reference == entity && $0.kind != .delete })
    else { return nil }
    (request, self.effects, self.body, self.place) = (failed.request, effects, body, place)
    (self.table, self.plan) = (table, plan)
    if !request.isOfEntity {
      request.operation = plan.model.version >= .v4 ? .patch : .merge
      request.target = QueuedTarget(entity)
    }
    // Properties that the model no longer has are not sent.
    if failed.failure?.kind == .unfitting, !table.types.contains(where: \.isOpen) {
      self.body.properties.removeAll { table.column([$0.name]) == nil }
    }
  }

  mutating func take(_ added: QueuedEntity, _ new: QueuedRequest, _ more: [Effect]) {
    if new.operation == .replace, !request.makesEntity {
      // A replacement sets all properties.
      (request.operation, body) = (.replace, added)
    } else {
      for property in added.properties {
        body.properties.removeAll { $0.name == property.name }
        body.links = body.links.filter { !foreignKey(of: $0).contains(property.name) }
        body.properties.append(property)
      }
      for link in added.links { take(link, beside: added.properties) }
      for annotation in added.annotations ?? [] {
        body.annotations = (body.annotations ?? []).filter { $0.term != annotation.term } + [annotation]
      }
    }
    request.body = .entity(body)
    if let tag = new.customTag { request.customTag = tag }
    if let category = new.category { request.category = category }
    if let preference = new.returnPreference { request.returnPreference = preference }
    if new.ifMatch == "*" { request.ifMatch = "*" }
    for header in new.headers {
      request.headers.removeAll { $0.name.lowercased() == header.name.lowercased() }
      request.headers.append(header)
    }
    for effect in more {
      if effect.reference == effects[place].reference, effect.kind == .set {
        effects[place].cells.merge(effect.cells)
      } else {
        effects.append(effect)
      }
    }
  }

  private mutating func take(_ link: QueuedLink, beside properties: [QueuedProperty]) {
    let names = foreignKey(of: link)
    body.properties.removeAll { old in names.contains(old.name) && !properties.contains { $0.name == old.name } }
    if link.isCollection, let existingIndex = body.links.firstIndex(where: { $0.name == link.name }) {
      body.links[existingIndex].bindings += link.bindings
    } else {
      body.links.removeAll { $0.name == link.name }
      body.links.append(link)
    }
  }

  /// The names of the properties that contain the same information as a link.
  private func foreignKey(of link: QueuedLink) -> Set<String> {
    guard let navigation = table.navigation(link.path), case .columns(let pairs) = navigation.relation,
      plan.isDependent(navigation, table)
    else { return [] }
    return Set(pairs.map { table.columns[$0.source].path.joined(separator: "/") })
  }
}

extension QueuedRequest {
  /// Whether its body is an entity.
  fileprivate var isOfEntity: Bool { [.create, .patch, .merge, .replace].contains(operation) }

  /// The values that it sets in its entity, as the body of an entity; nil if it does something else.
  fileprivate var asEntity: QueuedEntity? {
    switch (operation, body) {
    case (.create, .entity(let entity)), (.patch, .entity(let entity)), (.merge, .entity(let entity)),
      (.replace, .entity(let entity)):
      return entity
    case (.replaceProperty, .properties(let properties)), (.patchProperty, .properties(let properties)):
      guard properties.count == 1, properties[0].name == target.path else { return nil }
      // If a complex value is changed partially, the rest of it is not known here.
      if operation == .patchProperty, case .complex = properties[0].value.value { return nil }
      return QueuedEntity(row: self.entity, properties: properties)
    case (.deleteProperty, .none) where !target.path.contains("/"):
      return QueuedEntity(
        row: self.entity, properties: [QueuedProperty(name: target.path, value: QueuedValue(.null))])
    default: return nil
    }
  }
}
