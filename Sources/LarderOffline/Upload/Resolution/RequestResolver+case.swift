import LarderOData
import LarderStorage

// What the store knows about an uncertain request, read before the look-up.
extension RequestResolver {
  func prepare(_ entry: QueueEntry, _ attempt: UploadAttempt) async throws(OfflineODataError) -> UncertainRequest {
    try await store.read { snapshot in
      var uncertain = UncertainRequest(entry: entry, attempt: attempt)
      let paths = RowPath(snapshot: snapshot)
      guard let entity = entry.request.entity else {
        uncertain.path = entry.request.target.row.flatMap { try? paths.location(of: $0) }?.path
        return uncertain
      }
      let rows = LocalRows(snapshot)
      uncertain.path = (try? paths.location(of: entity))?.path
      // A download may have stored the version that resulted from the change.
      uncertain.base = try entry.failure?.base ?? rows.base(of: entity)
      if entry.request.operation == .create {
        uncertain.collection = attempt.url.prefix { $0 != "?" }.description
        uncertain.path = try clientKey(entry, entity: entity, plan: snapshot.plan, paths: paths).map {
          "\(uncertain.collection)(\($0))"
        }
        uncertain.wasDownloaded = try rows.keptBase(entity.row).flatMap { $0 }?.isMadeHere == false
      }
      uncertain.entry.request.body = paths.asSent(entry.request.body, of: entity)
      if case .entity(let body) = uncertain.entry.request.body {
        uncertain.contents = [body]
        uncertain.links = try paths.ends(of: body.links, at: entity, uncertain.base)
      }
      if let name = entry.request.linkName, let end = try paths.end(of: entry.request, name, uncertain.base) {
        uncertain.links = [end]
        if let keys = paths.foreignKey(entry.request.asBodyLink(name, end), of: entity) {
          uncertain.contents = [QueuedEntity(properties: keys)]
        }
      }
      addLaterChanges(
        &uncertain, sent: entry.request.body, entity: entity,
        unit: try ChangeQueue(snapshot.connection).entries(inUnit: entry.unit), paths: paths)
      return uncertain
    }
  }

  /// Records the effect of later requests of the transaction on the entity. The service has executed all of them, or
  /// none.
  private func addLaterChanges(
    _ uncertain: inout UncertainRequest, sent: QueuedBody, entity: RowReference, unit: [QueueEntry],
    paths: RowPath
  ) {
    guard case .entity(let body) = sent else { return }
    switch LaterChanges.of(body, unit.filter { $0.id > uncertain.entry.id }.map(\.request)) {
    case .gone: uncertain.isDeletedLater = true
    case .unclear: break
    case .like(let latest):
      if latest != body, case .entity(let latest) = paths.asSent(.entity(latest), of: entity) {
        uncertain.contents.append(latest)
      }
    }
  }

  /// The key of a creation, if the caller set all of its properties.
  private func clientKey(
    _ entry: QueueEntry, entity: RowReference, plan: ReplicaPlan, paths: RowPath
  ) throws -> String? {
    guard case .entity(let body) = entry.request.body, let table = plan.table(entity.table) else { return nil }
    let names = table.type.key.map(\.name)
    var parts: [String] = []
    for name in names {
      guard let property = body.properties.first(where: { $0.name == name }) else { return nil }
      var value = property.value.value
      if let key = property.key {
        guard let given = paths.given(key) else { return nil }
        value = given
      }
      let type = table.column([name])?.type.name
      let literal = try value.urlLiteral(dialect: plan.model.version.dialect, enumerationType: type)
      parts.append(names.count > 1 ? "\(name)=\(literal)" : literal)
    }
    return parts.isEmpty ? nil : parts.joined(separator: ",")
  }
}
