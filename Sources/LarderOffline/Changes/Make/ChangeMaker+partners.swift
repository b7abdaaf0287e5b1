import LarderOData
import LarderStorage

// A navigation property and its partner are two ends of one relationship (CSDL 4.01 §8.3): an entity that gets another
// related entity at an end that leads to one loses the former one, and so does that. The service does the same, so no
// request is sent for it.
extension ChangeMaker {
  /// Adds the effects on former related entities to the effects of a change.
  func withFormerLinks(_ effects: [Effect]) throws -> [Effect] {
    var all: [Effect] = []
    for effect in effects {
      all.append(effect)
      switch effect.kind {
      case .link: all += try unlinked(by: effect, after: all)
      case .insert, .set: all += try released(by: effect, after: all)
      case .unlink, .delete: break
      }
    }
    return all
  }

  /// The removals of the links that a new link replaces.
  private func unlinked(by link: Effect, after effects: [Effect]) throws -> [Effect] {
    guard let table = plan.link(link.name), let target = link.other, table.isSingle.source || table.isSingle.target
    else { return [] }
    func isReplaced(_ source: Int64, _ other: Int64) -> Bool {
      source == link.row
        ? table.isSingle.target && other != target : table.isSingle.source && other == target
    }
    var former: [[Int64]] = []
    try rows.connection.forEachRow(
      "SELECT source, target FROM \(rows.state.links[table.number]) WHERE source = ?1 OR target = ?2",
      [.integer(link.row), .integer(target)]
    ) { (row) throws(StorageError) in
      former.append([row.integer(0), row.integer(1)])
      return true
    }
    for effect in effects where effect.kind == .link && effect.name == link.name {
      if let other = effect.other, !former.contains([effect.row, other]) { former.append([effect.row, other]) }
    }
    return former.filter { isReplaced($0[0], $0[1]) }.map { Effect(.unlink, link.name, $0[0], other: $0[1]) }
  }

  /// The changes of other entities whose foreign key has the value that one gets, if only one may have it.
  private func released(by change: Effect, after effects: [Effect]) throws -> [Effect] {
    guard let table = plan.table(change.name) else { return [] }
    var all: [Effect] = []
    for navigation in table.navigations {
      guard case .columns(let pairs) = navigation.relation, plan.isDependent(navigation, table),
        plan.isDependentSingle(navigation, table)
      else { continue }
      let columns = pairs.map { table.columns[$0.source] }
      guard columns.contains(where: { change.cells[$0.name] != nil }),
        columns.allSatisfy({ $0.property?.isNullable != false && !table.key.contains($0.number) })
      else { continue }
      var current =
        change.kind == .set ? try rows.effective(RowReference(table.name, change.row)) ?? EntityCells() : EntityCells()
      for effect in effects where effect.name == table.name && effect.row == change.row { current.merge(effect.cells) }
      let values = columns.map { current[$0.name] ?? .null }
      guard !values.contains(.null) else { continue }
      let condition = columns.enumerated().map { "\(TableDDL.quoted($1.name)) = ?\($0 + 1)" }.joined(separator: " AND ")
      var former = try rows.rows(table, condition, values).map(\.id)
      former += effects.filter { effect in
        effect.name == table.name && effect.kind == .insert && columns.map { effect.cells[$0.name] } == values
      }.map(\.row)
      let cells = EntityCells(
        Dictionary(columns.map { ($0.name, SQLValue.null) }, uniquingKeysWith: { first, _ in first }))
      for row in former where row != change.row { all.append(Effect(.set, table.name, row, cells: cells)) }
    }
    return all
  }
}

extension ReplicaPlan {
  /// Whether at most one entity may refer to each entity by the foreign key of a navigation property.
  fileprivate func isDependentSingle(_ navigation: ReplicaNavigation, _ table: EntityTable) -> Bool {
    guard case .columns(let pairs) = navigation.relation else { return false }
    let reversed = Set(pairs.map { ReplicaRelation.Pair(source: $0.target, target: $0.source) })
    let back = tables[navigation.target].navigations.first { back in
      guard back.target == table.number, case .columns(let others) = back.relation else { return false }
      return Set(others) == reversed && !isDependent(back, tables[navigation.target])
    }
    return back.map { !$0.isCollection } ?? model.isSourceSingle(navigation.property)
  }
}
