import LarderOData
import LarderStorage

/// A rejected creation in the error archive that becomes another request, because the service already has an entity
/// with its key.
struct RejectedCreation {
  private let id: Int64
  private let entry: QueueEntry
  private let body: QueuedEntity
  private let entity: RowReference
  private let table: EntityTable
  private let context: ChangeContext

  private var plan: ReplicaPlan { context.plan }

  /// Throws `unsupportedChange` if the request is not a creation in the archive.
  init(_ entry: QueueEntry, _ context: ChangeContext) throws {
    guard entry.state == .archived, entry.request.operation == .create, case .entity(let body) = entry.request.body,
      let entity = entry.request.entity, let table = context.plan.table(entity.table)
    else {
      throw OfflineODataError(
        .unsupportedChange,
        "request \(entry.id) is not a rejected creation: retry it unchanged, or correct it with another change")
    }
    (id, self.entry, self.body, self.entity, self.table) = (entry.id, entry, body, entity, table)
    self.context = context
  }

  // MARK: An update

  /// Turns the creation into an update of the entity that the service has under its key.
  func becomeUpdate(_ rows: inout LocalRows) throws {
    guard var serverVersion = entry.failure?.theirs, entry.failure?.showsTheirs == true else {
      throw OfflineODataError(
        .unsupportedChange, "request \(id) as an update: the service's version of the entity is not known")
    }
    guard body.links.allSatisfy(\.entities.isEmpty) else {
      throw OfflineODataError(.unsupportedChange, "request \(id) as an update: it also creates related entities")
    }
    let rules = context.rules(table)
    if let reason = rules.restrictions.updateRestriction(by: .patch) {
      throw OfflineODataError.restricted(.updateRestricted, table.name, by: reason)
    }
    var effects = try rows.queue.effects(of: id)
    guard let place = effects.firstIndex(where: { $0.kind == .insert && $0.reference == entity }) else { return }
    let created = effects[place].cells
    var update = body
    update.properties = try body.properties.filter { try !isFixed($0, serverVersion, rules) }
    var request = entry.request
    request.operation = plan.model.version >= .v4 ? .patch : .merge
    request.target = QueuedTarget(entity)
    request.body = .entity(update)
    request.ifMatch = nil
    request.baseETag = serverVersion.text(.etag)
    let sent = Set(update.properties.map(\.name))
    let bound = Set(update.links.map(\.name))
    var cells = EntityCells()
    for column in table.columns where sent.contains(column.path.first ?? "") || isTie(column, of: bound) {
      cells[column.name] = created[column.name] ?? .null
    }
    effects[place] = Effect(.set, table.name, entity.row, cells: cells)
    for column in table.key.map({ table.columns[$0].name }) {
      serverVersion[column] = serverVersion[column] ?? created[column]
    }
    if let parent = created[.parent] { serverVersion[.parent] = parent }
    try rows.setBase(entity, to: serverVersion)
    try rows.queue.replace(id, by: request, effects: effects)
  }

  /// Whether an update cannot set the property, and the service has the same value. Throws if the service has another
  /// value.
  private func isFixed(_ property: QueuedProperty, _ serverVersion: EntityCells, _ rules: ChangeRules) throws -> Bool {
    guard let column = table.column([property.name]) else { return false }
    if table.key.contains(column.number) { return true }
    guard let reason = rules.fixed[property.name] else { return false }
    let value = try column.value(of: serverVersion[column.name] ?? .null, model: plan.model)
    guard SentContent.equal(property.value.value, value) else {
      throw OfflineODataError.restricted(.readOnlyProperty, "\(table.type.name)/\(property.name)", by: reason)
    }
    return true
  }

  private func isTie(_ column: ReplicaColumn, of links: Set<String>) -> Bool {
    table.navigations.contains { navigation in
      guard links.contains(navigation.property.name), case .columns(let pairs) = navigation.relation,
        plan.isDependent(navigation, table)
      else { return false }
      return pairs.contains { $0.source == column.number }
    }
  }

  // MARK: Another key

  /// Gives the creation another key, written as in the parentheses of a path.
  func setKey(_ key: String, _ rows: inout LocalRows) throws {
    guard let values = EntityID.cells(key, in: table, model: plan.model) else {
      let form = table.type.key.count == 1 ? "VALUE" : table.type.key.map { "\($0.name)=VALUE" }.joined(separator: ",")
      throw OfflineODataError(.missingKeyProperty, "'\(key)' is not a key of \(table.name): write \(form)")
    }
    guard var old = try rows.effective(entity) else { return }
    var new = old
    for (number, value) in zip(table.key, values) { new[table.columns[number].name] = value }
    let identity = TableDDL.identity(of: table).map { new[$0] ?? .null }
    if let existing = try rows.row(table, table.identityCondition, identity) {
      guard existing.id == entity.row else {
        throw OfflineODataError(.entityExists, try rows.path(of: entity, new))
      }
      return
    }
    // A download may have stored the service's entity with the old key in this row.
    if let serverVersion = try rows.keptBase(entity.row) ?? nil {
      let row = RowReference(table.name, try rows.connection.takeIdentities(1))
      try rows.show(nil, as: entity)
      try rows.show(serverVersion, as: row)
      old = serverVersion
    }
    try rows.keep(nil, as: entity)
    try rows.touch(entity)
    try rows.replaceKey(from: old, to: new, of: entity, table, after: id)
    var request = entry.request
    var newBody = body
    for (number, value) in zip(table.key, values) {
      let column = table.columns[number]
      guard column.path.count == 1, let name = column.path.first else { continue }
      newBody.properties.removeAll { $0.name == name }
      let newValue = try column.value(of: value, model: plan.model)
      newBody.properties.append(QueuedProperty(name: name, value: QueuedValue(newValue)))
    }
    request.body = .entity(newBody)
    var effects = try rows.queue.effects(of: id)
    for place in effects.indices where effects[place].kind == .insert && effects[place].reference == entity {
      for (number, value) in zip(table.key, values) { effects[place].cells[table.columns[number].name] = value }
    }
    try rows.queue.replace(id, by: request, effects: effects)
  }
}
