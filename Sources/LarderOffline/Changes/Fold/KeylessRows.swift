import LarderStorage

/// The keyless rows of a store, by the entities that they belong to. This type does no I/O.
struct KeylessRows {
  typealias Row = (reference: RowReference, cells: EntityCells)

  /// The rows of a table that belong to the same entities.
  private struct Group: Hashable {
    var table: String
    var ties: [SQLValue]
  }

  /// A column that determines to which entity a row belongs, and its value.
  private struct Tie: Hashable {
    var table: String
    var column: String
    var value: SQLValue
  }

  private let plan: ReplicaPlan
  private var cells: [RowReference: EntityCells] = [:]
  /// The rows in the order in which they were created, and the number of those that are done.
  private var order: [RowReference] = []
  private var doneCount = 0
  private var groups: [Group: [RowReference]] = [:]
  private var tied: [Tie: [RowReference]] = [:]
  /// The columns of each table that determine to which entities its rows belong.
  private var ties: [String: [String]] = [:]

  /// - Parameter bases: the bases of the store, in the order in which their rows were created.
  init(_ bases: [(reference: RowReference, cells: EntityCells?)], _ plan: ReplicaPlan) {
    self.plan = plan
    for (reference, base) in bases {
      guard let base, base.isKeyless, !base.isGone, let table = plan.table(reference.table) else { continue }
      if ties[table.name] == nil { ties[table.name] = plan.ties(of: table) }
      order.append(reference)
      add(reference, base)
    }
  }

  private mutating func add(_ reference: RowReference, _ new: EntityCells) {
    cells[reference] = new
    groups[group(reference, new), default: []].append(reference)
    for column in ties[reference.table] ?? [] {
      guard let value = new[column], value != .null else { continue }
      tied[Tie(table: reference.table, column: column, value: value), default: []].append(reference)
    }
  }

  private func group(_ reference: RowReference, _ cells: EntityCells) -> Group {
    Group(table: reference.table, ties: (ties[reference.table] ?? []).map { cells[$0] ?? .null })
  }

  /// Takes the rows that belong to the same entities as the first one that is left; nil if none is left.
  mutating func takeGroup() -> (table: EntityTable, rows: [Row])? {
    while doneCount < order.count {
      let first = order[doneCount]
      doneCount += 1
      guard let cells = cells[first], let table = plan.table(first.table),
        let members = groups.removeValue(forKey: group(first, cells))
      else { continue }
      return (table, members.sorted { $0.row < $1.row }.map { ($0, self.cells[$0] ?? EntityCells()) })
    }
    return nil
  }

  /// Replaces the key of a row by the service's in the rows that belong to it. Returns their new cells.
  mutating func replaceKey(of row: Row, by new: EntityCells, _ table: EntityTable) -> [Row] {
    var changed: [RowReference: EntityCells] = [:]
    for other in plan.tables where ties[other.name] != nil {
      let keys = plan.foreignKeys(of: other, to: table)
      for (foreign, key) in keys {
        guard let old = row.cells[key], let new = new[key], old != new else { continue }
        for reference in tied[Tie(table: other.name, column: foreign, value: old)] ?? []
        where cells[reference]?[foreign] == old {
          changed[reference, default: cells[reference] ?? EntityCells()][foreign] = new
        }
      }
    }
    var remaining: [RowReference: EntityCells] = [:]
    for (key, members) in Dictionary(grouping: changed.keys, by: { group($0, cells[$0] ?? EntityCells()) }) {
      // Rows of a group that was taken stay done.
      guard let all = groups[key] else { continue }
      for reference in members { remaining[reference] = changed[reference] }
      groups[key] = all.filter { changed[$0] == nil }
    }
    let rows = changed.sorted { $0.key.row < $1.key.row }.map { (reference: $0.key, cells: $0.value) }
    for (reference, new) in rows {
      if remaining[reference] != nil { add(reference, new) } else { cells[reference] = new }
    }
    return rows
  }
}

extension ReplicaPlan {
  /// The columns of a table that determine to which entities its rows belong.
  func ties(of table: EntityTable) -> [String] {
    var names: Set<String> = table.isContained ? [SystemColumn.parent.rawValue] : []
    for other in tables { names.formUnion(foreignKeys(of: table, to: other).map(\.foreign)) }
    return names.sorted()
  }
}
