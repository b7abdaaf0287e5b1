@_spi(Stores) import LarderCore
import LarderOData
import LarderService
import LarderStorage

// Updates of entities without ETags. They are sent with `If-Match: *`, so that a service does not create the entity anew if
// another client has deleted it (OData Protocol 4.01 §11.4.4). Some services reject that condition. Others return ETags only
// with single entities: there it would take the place of the ETag that they require.
extension OpenStore {
  /// The setting that contains the last time when the service rejected `If-Match: *`.
  private static let rejectionSetting = "any-version-rejected"
  /// The maximum number of entities that are read because the earlier ones no longer exist.
  private static let maximumLookUps = 3

  /// Whether the service is not known to reject `If-Match: *`. After a day it is sent again.
  func acceptsAnyVersion(_ snapshot: ReplicaSnapshot) -> Bool {
    guard case .integer(let time)? = try? snapshot.connection.setting(Self.rejectionSetting) else { return true }
    return !OptionRejection.isRecent(Double(time), now: Double(environment.unixSeconds))
  }

  fileprivate func recordAnyVersionRejection() async throws {
    try await replica.set(Self.rejectionSetting, to: .integer(environment.unixSeconds))
  }

  /// Whether an update may create the entity of a row that does not exist.
  private func canCreate(_ row: RowReference, _ plan: ReplicaPlan) -> Bool {
    guard plan.model.version >= .v4, let table = plan.table(row.table) else { return false }
    if case .singleton = table.place { return false }
    guard let context = try? changing(plan) else { return false }
    return !context.rules(table).restrictions.deniesUpserts
  }

  /// Whether an update of a row is sent with `*`.
  func wantsAnyVersion(_ row: RowReference, _ plan: ReplicaPlan) -> Bool {
    upload.withLock { $0.hasETags[row.table] } == false && canCreate(row, plan)
  }

  /// Finds out whether the entities without ETags that units update have none, with one look-up for each table.
  func findETags(_ ids: [Int64]) async throws {
    guard replica.model.version >= .v4 else { return }
    let rowsByTable = try await read { [self] snapshot -> [String: [(row: RowReference, path: String)]] in
      guard acceptsAnyVersion(snapshot) else { return [:] }
      let queue = ChangeQueue(snapshot.connection)
      var rows: [String: [(row: RowReference, path: String)]] = [:]
      for entry in try ids.flatMap({ try queue.entries(inUnit: $0) }) {
        guard entry.request.canCreateEntity, entry.request.resourceETag == nil, entry.request.ifMatch == nil,
          let row = entry.request.entity, upload.withLock({ $0.hasETags[row.table] }) == nil,
          canCreate(row, snapshot.plan), let path = try? RowPath(snapshot: snapshot).location(of: row).path
        else { continue }
        rows[row.table, default: []].append((row, path))
      }
      return rows
    }
    for (table, rows) in rowsByTable.sorted(by: { $0.key < $1.key }) {
      var hasETags: Bool?
      for (row, path) in rows.prefix(Self.maximumLookUps) {
        switch await lookUp(path, { try await EntityLookup(store: self).entity(path, of: row) }) {
        case .existing(let serverResponse)?:
          hasETags = serverResponse.etag != nil
        case .gone?:
          hasETags = false
          continue
        case .other?, .inconclusive?, nil: break
        }
        break
      }
      if let hasETags { upload.withLock { $0.hasETags[table] = hasETags } }
    }
  }

  func isSentWithoutCondition(_ request: Int64) -> Bool {
    upload.withLock { $0.sentWithoutCondition.contains(request) }
  }
  fileprivate func noteWithoutCondition(_ request: Int64) {
    upload.withLock { _ = $0.sentWithoutCondition.insert(request) }
  }
}

extension PreparedRequest {
  /// Whether it is sent with `*` only because the entity has no ETag, and not at the caller's request.
  var hasOwnAnyVersion: Bool {
    request.ifMatch == "*" && entry.request.ifMatch != "*" && entry.request.resourceETag == nil
      && entry.request.canCreateEntity
  }
}

extension ResponseEvaluation {
  private static func isAboutCondition(_ error: ODataServiceError) -> Bool {
    [400, 412, 428, 501].contains(error.httpStatus)
  }

  /// The result of a request that may have been rejected because of its `If-Match: *`; nil if that is not the reason. If
  /// the entity exists and has no ETag, the request is sent once without the condition.
  func anyVersionOutcome(_ member: PreparedRequest, _ error: ODataServiceError) async throws -> RequestOutcome? {
    guard member.hasOwnAnyVersion, Self.isAboutCondition(error) else { return nil }
    let theirs = try await ConflictResolution(journal: journal).fetched(of: member.entry)
    switch theirs {
    case .existing(let serverResponse) where serverResponse.etag == nil:
      store.noteWithoutCondition(member.entry.id)
      return .again(.unknown, nil)
    case .existing:
      let failure = try await failure(of: member, error)
      return try await ConflictResolution(journal: journal).unconditional(member.entry, failure: failure)
    case .gone: return try await conflictOutcome(member, error, theirs: theirs)
    case .other, .unknown: return nil
    }
  }

  /// The results of a transaction that may have been rejected because of the `If-Match: *` of its updates; nil if that is
  /// not the reason.
  func outcomesWithoutAnyVersion(
    _ unit: PreparedUnit, _ response: UnitResponse
  ) async throws -> [(entry: QueueEntry, outcome: RequestOutcome)]? {
    guard unit.members.count > 1, unit.members.contains(where: \.hasOwnAnyVersion) else { return nil }
    guard let errors = errors(of: unit, response),
      errors.allSatisfy({ Self.isAboutCondition($0) || $0.httpStatus == 424 })
    else { return nil }
    var isReason = false
    for (member, error) in zip(unit.members, errors) where member.hasOwnAnyVersion && Self.isAboutCondition(error) {
      switch try await ConflictResolution(journal: journal).fetched(of: member.entry) {
      case .existing(let serverResponse): isReason = isReason || serverResponse.etag == nil
      // The condition has done what it is for. The error may be the one of the whole change set.
      case .gone: return nil
      case .other, .unknown: break
      }
    }
    guard isReason else { return nil }
    for member in unit.members where member.hasOwnAnyVersion { store.noteWithoutCondition(member.entry.id) }
    var outcomes: [(entry: QueueEntry, outcome: RequestOutcome)] = []
    for (member, error) in zip(unit.members, errors) {
      let outcome = try await verifyingRollback(.archived(try await failure(of: member, error)), member, unit)
      let isDone = if case .done = outcome { true } else { false }
      outcomes.append((member.entry, isDone ? outcome : .again(.unknown, nil)))
    }
    return outcomes
  }

  /// Records that the service rejects `If-Match: *`: it rejected the request with it, and has executed it without.
  func learnAnyVersion(_ member: PreparedRequest) async throws {
    guard store.isSentWithoutCondition(member.entry.id), member.request.ifMatch == nil else { return }
    try await store.recordAnyVersionRejection()
  }

  /// The result of an update to which the service responded that it has created the entity (201): another client has
  /// deleted it, and it has only the properties that the update sets. Nil if the entity has its other values.
  func recreatedOutcome(
    _ response: ODataSingleResponse, _ serverResponse: ServerResponse, _ member: PreparedRequest
  ) async throws -> RequestOutcome? {
    guard response.httpStatus == 201, [.patch, .merge, .replace].contains(member.entry.request.operation) else {
      return nil
    }
    let resolution = ConflictResolution(journal: journal)
    var theirs = RequestOutcome.ServerVersion.existing(serverResponse)
    if serverResponse.entity == nil { theirs = try await resolution.fetched(of: member.entry) }
    if case .existing(let serverResponse) = theirs, try await !resolution.hasOtherRest(serverResponse, member.entry) {
      return nil
    }
    var failure = await contradiction(
      .conflict, member,
      "The service has created the entity (201): another client had deleted it, and it now has only the properties that "
        + "this change sets.")
    failure.httpStatus = 201
    return .archived(failure, theirs: theirs)
  }
}
