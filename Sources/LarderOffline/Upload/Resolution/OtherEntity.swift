import LarderOData
import LarderService
import LarderStorage

// Services can return another entity than the one that was requested: records that were merged, or a redirect. Its
// values and its ETag must not be stored with the row of the requested one, or that row would get its key.
extension OpenStore {
  /// The path of the entity that a response contains in place of a row's entity; nil if it contains the row's entity,
  /// or no key.
  func otherEntity(
    in response: ServerResponse, than row: RowReference?
  ) async throws(OfflineODataError) -> String? {
    guard let row else { return nil }
    return try await read { snapshot in try LocalRows(snapshot).otherEntity(in: response, than: row) }
  }
}

extension LocalRows {
  fileprivate func otherEntity(in response: ServerResponse, than row: RowReference) throws -> String? {
    guard let table = plan.table(row.table), isFoundByKey(table), let received = response.cells(in: table, plan),
      let own = try keptBase(row.row) ?? effective(row)
    else { return nil }
    var isEqual = true
    for column in table.key.map({ table.columns[$0] }) {
      guard let cell = received[column.name], let ownCell = own[column.name], cell != .null, ownCell != .null else {
        return nil
      }
      guard cell != ownCell else { continue }
      let (value, ownValue) = (
        try column.value(of: cell, model: plan.model), try column.value(of: ownCell, model: plan.model)
      )
      guard SentContent.isForm(value, of: ownValue) else { return path(of: received, table) }
      isEqual = false
    }
    guard !isEqual else { return nil }
    // The service may write the key in another form, but not if that is the key of another row.
    var form = own
    for name in table.key.map({ table.columns[$0].name }) { form[name] = received[name] }
    let identity = TableDDL.identity(of: table).map { form[$0] ?? .null }
    guard let other = try self.row(table, table.identityCondition, identity), other.id != row.row else { return nil }
    return path(of: received, table)
  }

  /// Whether the path of an entity contains its key. The others are whichever entity the service returns.
  private func isFoundByKey(_ table: EntityTable) -> Bool {
    guard !table.key.isEmpty else { return false }
    return switch table.place {
    case .entitySet, .type: true
    case .singleton: false
    case .containment: RowPath(snapshot: snapshot).isCollection(table)
    }
  }

  private func path(of received: EntityCells, _ table: EntityTable) -> String {
    let predicate = (try? table.keyPredicate(received, plan.model)) ?? ""
    return "\(table.name)(\(predicate))"
  }
}

extension ResponseEvaluation {
  /// The result of a request that the service has executed and whose response contains another entity than the one that
  /// it changes; nil if it contains that, or the values that were sent: then the entity has another key by now.
  func otherEntityOutcome(
    _ serverResponse: ServerResponse, _ member: PreparedRequest, in unit: PreparedUnit
  ) async throws -> RequestOutcome? {
    let request = member.entry.request
    guard !request.makesEntity, let row = request.entity,
      let other = try await store.otherEntity(in: serverResponse, than: row)
    else { return nil }
    // An action returns any entity. Nothing contradicts the status of a response without values.
    guard case .entity(let body) = request.body, let received = serverResponse.entity else {
      return .done(await complete(ServerResponse(), member, in: unit))
    }
    let sentBody = try await store.read { snapshot in RowPath(snapshot: snapshot).asSent(.entity(body), of: row) }
    if case .entity(let sentBody) = sentBody,
      SentContent.matches(sentBody, received) || SentContent.isForm(received, of: sentBody)
    {
      return nil
    }
    let failure = await contradiction(
      .unknownOutcome, member,
      "The request succeeded, but the response does not contain its entity. Check the service, then retry or discard the "
        + "request.")
    return .archived(failure.seeing(other))
  }

  /// The failure of a request whose successful response contradicts it.
  func contradiction(_ kind: ArchivedFailure.Kind, _ member: PreparedRequest, _ message: String) async
    -> ArchivedFailure
  {
    let sent = await sent(member.request)
    var failure = ArchivedFailure(
      kind: kind, message: message, method: sent.method, url: sent.url,
      time: Double(store.conversation.options.environment.unixSeconds))
    (failure.body, failure.domain) = (sent.body, "larder")
    return failure
  }
}

extension ArchivedFailure {
  /// The failure of a request for whose entity the service returns another one.
  func seeing(_ path: String) -> ArchivedFailure {
    var failure = self
    // A message of the service may end without a period.
    if let last = failure.message.last, !".!?".contains(last) { failure.message += "." }
    failure.message += " The service returned another entity in its place: \(path)."
    return failure
  }
}
