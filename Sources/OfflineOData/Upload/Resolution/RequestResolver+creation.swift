import OData
import ODataService
import Storage

// What became of a creation whose answer was lost.
extension RequestResolver {
  func creation(_ known: Case) async throws -> RequestEnd {
    guard case .entity(let body) = known.entry.request.body else { return unknown(known) }
    let isV4 = store.replica.model.version >= .v4
    let expand = DeepInsert.expand(known.entry.request, isV4: isV4)
    guard let path = known.path else { return try await creationWithoutKey(known, body, expand) }
    switch try await lookup.entity(path, expand: expand) {
    case .gone: return .queued
    case .refused: return unknown(known)
    case .there(let answer):
      // The key is the caller's own: what is under it and is a form of what was sent is that.
      let isMine = answer.entity.map { found in
        SentContent.matches(body, found) || known.takesForms && SentContent.isForm(found, of: body)
      }
      return end(LookupJudgement.ofCreation(answer, isMine: isMine ?? false), known, .there(answer))
    }
  }

  /// One that the service gives its key: by its content, among the entities that the store did not know.
  private func creationWithoutKey(_ known: Case, _ body: QueuedEntity, _ expand: String) async throws -> RequestEnd {
    var found = try await candidates(known, body)
    if found?.isOne != true, try await settle(known) { found = try await candidates(known, body) }
    switch found {
    case nil, .unclear?: return unknown(known)
    case .none?: return .queued
    case .one(let only)?:
      var answer = ServerAnswer(entity: only, etag: only.etag, location: only.id ?? only.editLink)
      if !expand.isEmpty, let path = answer.location,
        case .there(let whole) = try await lookup.entity(path, expand: expand)
      {
        answer = whole
      }
      return .done(answer)
    }
  }

  private enum Candidates {
    case none
    case one(ODataEntity)
    /// Several, or what may be it in another form.
    case unclear

    var isOne: Bool { if case .one = self { true } else { false } }
  }

  /// Nil where the service does not say.
  private func candidates(_ known: Case, _ body: QueuedEntity) async throws -> Candidates? {
    let version = store.replica.model.version
    guard let filter = LookupFilter.text(body, version: version) else { return nil }
    let all = try await entities(known, filter, limit: 500)
    guard let same = try await unknownToStore(all?.filter { SentContent.matches(body, $0) }, known) else { return nil }
    if !same.isEmpty {
      // Several that are alike, and not more than were sent: which of them is whose does not matter.
      guard try await same.count <= alike(known, body) else { return .unclear }
      guard let place = store.claim(same.map(\.key), for: known.entry.id) else { return Candidates.none }
      return .one(same[place].entity)
    }
    for filter in LookupFilter.loose(body, version: version) {
      guard let all = try await entities(known, filter, limit: 1000) else { continue }
      let similar = try await unknownToStore(all.filter { SentContent.resembles(body, $0) }, known) ?? []
      return similar.isEmpty ? Candidates.none : .unclear
    }
    return nil
  }

  /// Entities where the creation was sent to; where the service does not answer that, in the entity's set.
  private func entities(_ known: Case, _ filter: String?, limit: Int) async throws -> [ODataEntity]? {
    if let all = try await lookup.entities(known.collection, filter: filter, limit: limit) { return all }
    guard let table = known.entry.request.entity.flatMap({ store.replica.plan.table($0.table) }),
      case .entitySet(let set) = table.place, set != known.collection
    else { return nil }
    return try await lookup.entities(set, filter: filter, limit: limit)
  }

  /// How many creations wait whose answers were lost and that sent the same, this one among them.
  private func alike(_ known: Case, _ body: QueuedEntity) async throws(OfflineODataError) -> Int {
    try await store.read { connection, _, _ in
      try ChangeQueue(connection).entries(.sent).filter { entry in
        guard entry.request.operation == .create, entry.request.target == known.entry.request.target,
          case .entity(let other) = entry.request.body
        else { return false }
        return other.properties == body.properties
      }.count
    }
  }

  /// Waits where the service may still be at what it was sent; answers whether it has waited.
  private func settle(_ known: Case) async throws -> Bool {
    guard !known.isAnswered else { return false }
    let clock = store.conversation.options.clock
    let settled = known.attempt.sent.map { Double($0) + journal.options.settlingTime.seconds } ?? 0
    let left = settled - Double(clock.unixTime())
    // A clock that was put back is no reason to wait for long.
    guard left > 0, left <= journal.options.settlingTime.seconds + 1 else { return false }
    try await clock.sleep(.seconds(left))
    return true
  }

  /// The entities whose keys no row of the store had when the request was first sent, of those in the same entity where one
  /// contains them. A download since may have brought what it made. With names that no other entity of any set has.
  private func unknownToStore(
    _ found: [ODataEntity]?, _ known: Case
  ) async throws -> [(entity: ODataEntity, key: String)]? {
    guard let found, let entity = known.entry.request.entity else { return nil }
    return try await store.read { connection, state, plan in
      guard let table = plan.table(entity.table) else { return nil }
      let rows = LocalRows(plan, state, connection)
      let parent = table.isContained ? try container(of: entity, known.entry, rows) : nil
      return try found.compactMap { candidate in
        let answer = ServerAnswer(entity: candidate, location: candidate.id ?? candidate.editLink)
        guard var cells = answer.cells(in: table, plan) else { return nil }
        if let parent { cells[.parent] = .integer(parent) }
        let text = "\(table.name) \(parent ?? 0) \(LocalRows.keyText(cells, table))"
        let identity = TableDDL.identity(of: table).map { cells[$0] ?? .null }
        guard let found = try rows.row(table, TableTarget.condition(table), identity) else { return (candidate, text) }
        return known.attempt.newcomers.map { found.id >= $0 } == true ? (candidate, text) : nil
      }
    }
  }
}

extension RequestResolver {
  /// The identity of the entity that contains one which a request makes.
  private func container(
    of entity: RowReference, _ entry: QueueEntry, _ rows: LocalRows
  ) throws(StorageError) -> Int64? {
    if let parent = try rows.effective(entity)?.integer(.parent) { return parent }
    return try rows.queue.effects(of: entry.id).first { $0.reference == entity }?.cells.integer(.parent)
  }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1_000_000_000_000_000_000
  }
}
