import LarderOData
import LarderStorage

/// What a new model means for stored rows and changes: where the cells of each table go, and which of them are converted.
/// This type does no I/O.
struct ModelTransition: Sendable {
  let old: ReplicaPlan
  let new: ReplicaPlan
  let values: ValueConversion

  init(from old: ReplicaPlan, to new: ReplicaPlan) {
    (self.old, self.new) = (old, new)
    values = ValueConversion(from: old.model, to: new.model)
  }

  /// No change: content that does not fit the model is lost.
  init(within plan: ReplicaPlan) {
    (old, new) = (plan, plan)
    values = ValueConversion(within: plan.model)
  }

  /// The change of a table that both models have; nil if one of them does not have it.
  func table(_ name: String) -> TableChange? {
    guard let oldTable = old.table(name), let newTable = new.table(name), oldTable.isContained == newTable.isContained
    else { return nil }
    return TableChange(from: oldTable, to: newTable, values)
  }
}

/// The change of one table.
struct TableChange: Sendable {
  let old: EntityTable
  let new: EntityTable
  let values: ValueConversion
  /// For each column of the new table, the column that had its property before; nil for a new property.
  let sources: [ReplicaColumn?]
  private let oldColumns: [String: ReplicaColumn]
  private let targets: [String: ReplicaColumn]

  init(from old: EntityTable, to new: EntityTable, _ values: ValueConversion) {
    (self.old, self.new, self.values) = (old, new, values)
    let oldByPath = Dictionary(grouping: old.columns, by: \.path)
    let newByPath = Dictionary(grouping: new.columns, by: \.path)
    sources = new.columns.map { column in
      let candidates = oldByPath[column.path] ?? []
      if candidates.count == 1, newByPath[column.path]?.count == 1 { return candidates[0] }
      return candidates.first { values.newName($0.declaringType.name) == column.declaringType.name }
    }
    var targets: [String: ReplicaColumn] = [:]
    for (column, source) in zip(new.columns, sources) { if let source { targets[source.name] = column } }
    self.targets = targets
    oldColumns = Dictionary(old.columns.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The column that has the property of a column of the old table; nil if the new model does not have it.
  func target(_ column: String) -> ReplicaColumn? { targets[column] }

  /// Whether a column has the cells of its source unchanged. Types of complex values are names, which may have changed.
  func keepsCells(_ source: ReplicaColumn, _ column: ReplicaColumn) -> Bool {
    guard source.storage == column.storage else { return false }
    switch column.storage {
    case .dynamic, .stream: return true
    case .complex: return !values.hasNewNames
    default: return values.isSame(source.type, column.type)
    }
  }

  /// Whether the key has other properties, or values that are written differently.
  var isKeyChanged: Bool {
    let key = new.key.map { number in sources[number].map { (source) in (source, new.columns[number]) } }
    return old.key.map { old.columns[$0].name } != key.map { $0?.0.name }
      || key.contains { pair in pair.map { !keepsCells($0.0, $0.1) } ?? true }
  }

  /// The new name of a row's type.
  func newType(_ name: String) -> String {
    let renamed = values.newName(name)
    return new.typeNumber(renamed) == nil && name == old.type.name ? new.type.name : renamed
  }

  /// A cell in another column; nil if it cannot be converted.
  func convert(_ cell: SQLValue, from source: ReplicaColumn, to column: ReplicaColumn) -> SQLValue? {
    if cell == .null || keepsCells(source, column) { return cell }
    switch (source.storage, column.storage) {
    case (.complex, .complex):
      guard case .text(let name) = cell, !name.isEmpty else { return cell }
      let renamed = values.newName(name)
      return values.new.structure(renamed) == nil ? nil : .text(renamed)
    case (.complex, _), (_, .complex), (.stream, _), (_, .stream), (.dynamic, _), (_, .dynamic): return nil
    default: break
    }
    guard let value = try? source.value(of: cell, model: values.old),
      let converted = values.convert(value, from: source.type, to: column.type)
    else { return nil }
    return try? column.storage.sqlValue(of: converted, type: column.type, model: values.new)
  }

  /// Cells under the new model, and what has become of those that have none there.
  func convert(_ cells: EntityCells) -> (cells: EntityCells, lost: [LostContent]) {
    var converted = EntityCells()
    var lost: [LostContent] = []
    for (name, cell) in cells.values {
      if name == SystemColumn.type.rawValue, case .text(let type) = cell {
        converted[.type] = .text(newType(type))
        continue
      }
      guard let source = oldColumns[name] else {
        // The columns of the store, and the marks of a base.
        converted[name] = cell
        continue
      }
      guard let column = targets[name] else {
        if cell != .null { lost.append(.removed("\(old.name)/\(name)")) }
        continue
      }
      guard let value = convert(cell, from: source, to: column) else {
        lost.append(.retyped("\(old.name)/\(name)", from: source.type.description, to: column.type.description))
        continue
      }
      converted[column.name] = value
    }
    return (converted, lost)
  }

  /// The version of a row that the service has, under the new model. Columns whose values are not known are marked as
  /// ``EntityCells/unread``.
  func version(_ cells: EntityCells) -> EntityCells {
    var converted = convert(cells).cells
    var unread = Set(cells.unread.compactMap { targets[$0]?.name })
    for (column, source) in zip(new.columns, sources) {
      let isKnown = source.map { cells[$0.name] ?? .null == .null || converted[column.name] != nil } ?? false
      if !isKnown { unread.insert(column.name) }
    }
    converted.unread = unread
    return converted
  }
}

/// Content of a pending change that the new model does not take.
enum LostContent: Hashable, Sendable {
  case removed(String)
  case retyped(String, from: String, to: String)
  /// A null for a property that no longer takes it.
  case null(String)
  /// The key of a set, by which the request names an entity.
  case key(String)

  /// The reason that the error archive shows.
  static func text(_ all: some Sequence<LostContent>) -> String {
    var removed: Set<String> = []
    var reasons: Set<String> = []
    for content in all {
      switch content {
      case .removed(let name): removed.insert(name)
      case .retyped(let name, let from, let to):
        reasons.insert(
          from == to
            ? "The value of \(name) does not fit its type \(to)."
            : "The type of \(name) has changed from \(from) to \(to), and the value cannot be converted exactly.")
      case .null(let name): reasons.insert("\(name) can no longer be null.")
      case .key(let name): reasons.insert("The key of \(name) has changed.")
      }
    }
    if !removed.isEmpty {
      reasons.insert("The service's model no longer has \(removed.sorted().joined(separator: ", ")).")
    }
    return reasons.sorted().joined(separator: " ")
  }
}
