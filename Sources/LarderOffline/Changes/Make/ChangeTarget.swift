import LarderOData
import LarderStorage

/// The target of a change's path among the rows of the store.
struct ChangeTarget {
  enum End {
    /// An entity set, or a collection-valued navigation property.
    case collection
    case entity
    case property
    /// The raw value of a property, or the bytes of a media entity.
    case value
    /// The bytes of a stream property.
    case stream
    /// The links of a navigation property: `$ref`.
    case reference
    case operation(ODataDeclaredOperation)
  }

  var end = End.collection
  /// The table of the entities at the end of the path.
  var table: EntityTable?
  /// The last entity on the path; nil if there is none before the end.
  var entity: RowReference?
  var cells: EntityCells?
  /// The navigation property after the entity, if the end is a collection or references.
  var navigation: ReplicaNavigation?
  /// For references: the entity whose link is meant, if the path names it.
  var item: RowReference?
  /// The type to which the path casts the end.
  var cast: EdmStructure?
  /// The path of properties after the entity.
  var path: [String] = []
  /// The path segments after the entity, as text.
  var suffix: [String] = []
}

/// Walks a bound path from row to row.
struct ChangeWalk {
  let rows: LocalRows
  private var target = ChangeTarget()
  /// The state before the last navigation property, to which `$ref` returns.
  private var before: (target: ChangeTarget, navigation: ReplicaNavigation)?
  private var plan: ReplicaPlan { rows.plan }

  init(_ rows: LocalRows) { self.rows = rows }

  /// The target of a path. Throws `notFound` if an entity on the path is not in the store.
  static func target(of path: ODataBoundPath, _ rows: LocalRows) throws -> ChangeTarget {
    var walk = ChangeWalk(rows)
    for segment in path.segments { try walk.step(segment) }
    return walk.target
  }

  /// Whether an entity on a path is missing because a pending change deletes it.
  static func isDeletedHere(_ path: ODataBoundPath, _ rows: LocalRows) throws -> Bool {
    var walk = ChangeWalk(rows)
    for segment in path.segments {
      if case .key(let parts) = segment.kind, let table = walk.target.table {
        let key = try walk.key(parts, table)
        if try find(key, table, rows) == nil { return try !rows.deletions(of: key, in: table).isEmpty }
      }
      try walk.step(segment)
    }
    return false
  }

  private mutating func step(_ segment: ODataBoundSegment) throws {
    switch segment.kind {
    case .source(let source): try begin(source)
    case .key(let parts): try choose(parts)
    case .navigation(let navigation): try follow(navigation)
    case .cast(let type):
      target.cast = type
      target.suffix.append(type.name)
    case .property(let property):
      try needEntity()
      target.path.append(property.name)
      target.suffix.append(property.name)
      target.end = property.property.type.primitive == .stream ? .stream : .property
    case .dynamic(let name):
      try needEntity()
      target.path.append(name)
      target.suffix.append(name)
      target.end = .property
    case .value:
      try needEntity()
      target.suffix.append("$value")
      target.end = .value
    case .ref: try reference()
    case .operation(let operation, _):
      target.suffix.append(operation.name)
      target.end = .operation(operation)
    case .operationImport(_, let operation, _): target.end = .operation(operation)
    default: throw OfflineODataError(.unsupportedChange, "a segment of the path cannot be changed")
    }
  }

  private mutating func begin(_ source: ODataNavigationSource) throws {
    guard let table = plan.table(source.name) else {
      throw OfflineODataError(.unsupportedChange, "'\(source.name)' has no table in the store")
    }
    target.table = table
    guard source.singleton != nil else { return }
    guard let storedRow = try rows.row(table, "1", []) else { throw OfflineODataError(.entityNotFound, source.name) }
    setEntity(RowReference(table.name, storedRow.id), storedRow.cells)
  }

  private mutating func setEntity(_ entity: RowReference?, _ cells: EntityCells?) {
    target.entity = entity
    target.cells = cells
    target.end = .entity
    target.path = []
    target.suffix = []
    target.navigation = nil
  }

  private func needEntity() throws {
    guard target.entity != nil else {
      throw OfflineODataError(.entityNotFound, "the navigation property has no entity")
    }
  }

  private mutating func choose(_ parts: [ODataBoundKeyPart]) throws {
    guard let table = target.table else {
      throw OfflineODataError(.unsupportedChange, "a key where the path has no collection")
    }
    let key = try key(parts, table)
    if let navigation = target.navigation { before = (target, navigation) }
    guard let (reference, storedRow) = try ChangeWalk.find(key, table, rows) else {
      let path = try? rows.path(of: RowReference(table.name, 0), key)
      throw OfflineODataError(.entityNotFound, path ?? table.name)
    }
    let cast = target.cast
    setEntity(reference, storedRow)
    target.cast = cast
  }

  /// The cells by which a row of the table at this point of the path is found.
  private func key(_ parts: [ODataBoundKeyPart], _ table: EntityTable) throws -> EntityCells {
    let cells = try ChangeWalk.key(parts, table, plan.model) { column in impliedKey(column) }
    var key = EntityCells()
    for (column, value) in zip(table.key, cells) { key[table.columns[column].name] = value }
    if table.isContained { key[.parent] = .integer(target.entity?.row) }
    return key
  }

  /// The row with a key, or the row that had the key before the server assigned another.
  static func find(
    _ key: EntityCells, _ table: EntityTable, _ rows: LocalRows
  ) throws(StorageError) -> (RowReference, EntityCells)? {
    let values = TableDDL.identity(of: table).map { key[$0] ?? .null }
    if let storedRow = try rows.row(table, table.identityCondition, values) {
      return (RowReference(table.name, storedRow.id), storedRow.cells)
    }
    guard let id = try rows.formerly(key, in: table) else { return nil }
    let reference = RowReference(table.name, id)
    return try rows.effective(reference).map { (reference, $0) }
  }

  /// The cells of a key, in the table's order.
  static func key(
    _ parts: [ODataBoundKeyPart], _ table: EntityTable, _ model: EdmModel,
    implied: (ReplicaColumn) -> SQLValue? = { _ in nil }
  ) throws -> [SQLValue] {
    let references = table.type.key
    return try table.key.enumerated().map { place, number in
      let column = table.columns[number]
      let names = references.indices.contains(place) ? [references[place].name, references[place].path] : []
      let part = parts.first { names.contains($0.part.name) } ?? (parts.count == 1 ? parts[0] : nil)
      switch part?.value?.kind {
      case .literal(let value)? where value != .null:
        return try column.storage.sqlValue(of: value, type: column.type, model: model)
      case .enumeration(_, let number)?: return .integer(number)
      default:
        guard let value = implied(column) else { throw OfflineODataError(.missingKeyProperty, column.name) }
        return value
      }
    }
  }

  /// The value of a key property that a referential constraint takes from the previous entity.
  private func impliedKey(_ column: ReplicaColumn) -> SQLValue? {
    guard let navigation = target.navigation, case .columns(let pairs) = navigation.relation,
      let owner = target.entity.flatMap({ plan.table($0.table) }),
      let pair = pairs.first(where: { $0.target == column.number })
    else { return nil }
    return target.cells?[owner.columns[pair.source].name]
  }

  private mutating func follow(_ step: ODataDeclaredNavigation) throws {
    try needEntity()
    guard let reference = target.entity, let table = plan.table(reference.table) else { return }
    let type = target.cast ?? target.cells?.text(.type).flatMap(plan.model.structure)
    guard let navigation = table.navigation(target.path + [step.name], on: type) else {
      throw OfflineODataError(.unsupportedChange, "\(table.name)/\(step.name)")
    }
    target.suffix.append(step.name)
    target.cast = nil
    before = (target, navigation)
    target.table = plan.tables[navigation.target]
    target.path = []
    if navigation.isCollection {
      target.end = .collection
      target.navigation = navigation
      return
    }
    let related = try rows.related(to: reference, target.cells ?? EntityCells(), by: navigation).first
    let name = plan.tables[navigation.target].name
    setEntity(related.map { RowReference(name, $0.id) }, related?.cells)
  }

  private mutating func reference() throws {
    guard let before else {
      throw OfflineODataError(.unsupportedChange, "$ref after an entity that no navigation property leads to")
    }
    let item = target.end.isEntity && before.navigation.isCollection ? target.entity : nil
    target = before.target
    target.navigation = before.navigation
    target.table = plan.tables[before.navigation.target]
    target.item = item
    target.end = .reference
  }
}

extension ChangeTarget.End {
  var isEntity: Bool { if case .entity = self { true } else { false } }
}

extension LocalRows {
  /// The rows that are the targets of a navigation property.
  func related(
    to reference: RowReference, _ cells: EntityCells, by navigation: ReplicaNavigation
  ) throws(StorageError) -> [(id: Int64, cells: EntityCells)] {
    guard let source = plan.table(reference.table) else { return [] }
    let target = plan.tables[navigation.target]
    switch navigation.relation {
    case .columns(let pairs):
      let values = pairs.map { cells[source.columns[$0.source].name] ?? .null }
      guard !values.contains(.null) else { return [] }
      let condition = pairs.enumerated().map { "\(TableDDL.quoted(target.columns[$1.target].name)) = ?\($0 + 1)" }
      return try rows(target, condition.joined(separator: " AND "), values)
    case .links(let number, let isForward):
      let (ownColumn, otherColumn) = isForward ? ("source", "target") : ("target", "source")
      return try rows(
        target, "\"@id\" IN (SELECT \(otherColumn) FROM \(state.links[number]) WHERE \(ownColumn) = ?1)",
        [.integer(reference.row)])
    case .containment: return try rows(target, "\"@parent\" = ?1", [.integer(reference.row)])
    case .container: return try rows(target, "\"@id\" = ?1", [cells[.parent] ?? .null])
    }
  }

  func rows(
    _ table: EntityTable, _ condition: String, _ values: [SQLValue]
  ) throws(StorageError) -> [(id: Int64, cells: EntityCells)] {
    var ids: [Int64] = []
    try connection.forEachRow(
      "SELECT \"@id\" FROM \(state.tables[table.number]) WHERE \(condition) ORDER BY 1", values
    ) { (row) throws(StorageError) in
      ids.append(row.integer(0))
      return true
    }
    var storedRows: [(Int64, EntityCells)] = []
    for id in ids { if let row = try row(table, "\"@id\" = ?1", [.integer(id)]) { storedRows.append(row) } }
    return storedRows
  }
}
