import LarderOData
import LarderService
import LarderStorage

// Deletes entities (OData Protocol 4.01 §11.4.5), with the effects on related entities that the model declares (CSDL
// 4.01 §8.6).
extension ChangeMaker {
  mutating func delete(
    _ request: ODataSingleRequest, _ target: ChangeTarget, _ place: (path: String, query: String?)
  ) throws -> AppliedChange {
    switch target.end {
    case .entity: break
    case .property, .value: return try deleteValue(request, target, place)
    case .stream: return try deleteMedia(request, target, place)
    case .reference: return try unlink(request, target, place)
    default: throw OfflineODataError(.unsupportedChange, "only entities, properties and links can be deleted")
    }
    let subject = try subject(target)
    if let reason = context.rules(subject.table).restrictions.deleteRestriction {
      throw OfflineODataError.restricted(.deleteRestricted, subject.table.name, by: reason)
    }
    effects = [Effect(.delete, subject.table.name, subject.reference.row)]
    try deleteRelated(to: subject.reference, subject.cells)
    try record(draft(.delete, request: request, target: target, place: place), target)
    return AppliedChange(status: 204)
  }

  /// Adds the effects of a deletion on related entities. The service applies the same effects itself.
  ///
  /// Throws `deleteRestricted` if a related entity remains that must not exist (`None`).
  private mutating func deleteRelated(to reference: RowReference, _ cells: EntityCells) throws {
    var pendingRows = [(reference, cells)]
    var deletedRows: Set<Int64> = [reference.row]
    var blocking: [(row: RowReference, cells: EntityCells, navigation: String)] = []
    var released: [(row: RowReference, cells: EntityCells, navigation: ReplicaNavigation, owner: RowReference)] = []
    while let (owner, cells) = pendingRows.popLast() {
      guard let table = plan.table(owner.table) else { continue }
      let type = cells.text(.type).flatMap(model.structure) ?? table.type
      for navigation in table.navigations where type.isOrDerives(from: navigation.declaringType) {
        guard let action = action(of: navigation) else { continue }
        let name = plan.tables[navigation.target].name
        for row in try rows.related(to: owner, cells, by: navigation) {
          let related = RowReference(name, row.id)
          switch action {
          case "Cascade":
            guard deletedRows.insert(row.id).inserted else { continue }
            effects.append(Effect(.delete, name, row.id))
            pendingRows.append((related, row.cells))
          case "None": blocking.append((related, row.cells, "\(table.name)/\(navigation.property.name)"))
          default: released.append((related, row.cells, navigation, owner))
          }
        }
      }
    }
    if let one = blocking.first(where: { !deletedRows.contains($0.row.row) }) {
      let path = try rows.path(of: one.row, one.cells) ?? one.row.table
      throw OfflineODataError.restricted(.deleteRestricted, "\(one.navigation) leads to \(path)", by: "OnDelete None")
    }
    for one in released where !deletedRows.contains(one.row.row) {
      try release(one.row, from: one.owner, one.navigation)
    }
  }

  /// The action of a navigation property on deletion; nil if it has none, or an unknown one. Before V4 `None` has no
  /// effect.
  private func action(of navigation: ReplicaNavigation) -> String? {
    guard navigation.relation != .containment, let action = navigation.property.onDelete?.action else { return nil }
    switch action {
    case "Cascade", "SetNull", "SetDefault": return action
    case "None": return model.version >= .v4 ? action : nil
    default: return nil
    }
  }

  /// Sets the foreign key of an entity that refers to a deleted one to null, or to its default. Columns that also refer
  /// to other entities are not changed.
  private mutating func release(
    _ row: RowReference, from owner: RowReference, _ navigation: ReplicaNavigation
  ) throws {
    guard let source = plan.table(owner.table), let target = plan.table(row.table) else { return }
    switch navigation.relation {
    case .containment, .container: return
    case .links(let number, let isForward):
      let (from, to) = isForward ? (owner.row, row.row) : (row.row, owner.row)
      effects.append(Effect(.unlink, plan.links[number].name, from, other: to))
    case .columns(let pairs):
      guard !plan.isDependent(navigation, source) else { return }
      var cells = EntityCells()
      for pair in pairs where !target.key.contains(pair.target) {
        let column = target.columns[pair.target]
        let tiesOthers = target.navigations.contains { other in
          guard case .columns(let others) = other.relation, other.target != source.number else { return false }
          return plan.isDependent(other, target) && others.contains { $0.source == pair.target }
        }
        if !tiesOthers { cells[column.name] = try released(column, navigation) }
      }
      if !cells.isEmpty { effects.append(Effect(.set, target.name, row.row, cells: cells)) }
    }
  }

  private func released(_ column: ReplicaColumn, _ navigation: ReplicaNavigation) throws -> SQLValue {
    guard navigation.property.onDelete?.action == "SetDefault", let text = column.property?.defaultValue,
      let primitive = model.underlying(column.type).type.primitive,
      let value = try? ODataValue(text: text, type: primitive)
    else { return .null }
    return try column.storage.sqlValue(of: value, type: column.type, model: model)
  }
}
