import LarderOData
import LarderStorage

// `concat`, and the levels of `rollup` (Data Aggregation 4.0 §3.2.2, §3.2.3.2).
extension ApplyWriter {
  /// Returns the rows of all sets: those of the first set first, each set in its order. A row has only the members of
  /// its set.
  func union(_ sets: [ApplySet]) throws -> ApplySet {
    guard sets.count > 1 else {
      if let only = sets.first { return only }
      throw OfflineODataError.unsupported("concat without a sequence")
    }
    var union = RowUnion(statement, scopes: sets.map(\.set.scope))
    let scope = try union.merged(sets.map(\.set.scope))
    let keys = try union.merged(sets.map { .row($0.keys) })
    let number = union.column(sets.indices.map { SQLText(.integer(Int64($0))) }, .integer)
    let place = union.column(
      try sets.map { set in
        let terms = try OrderWriter(writer: writer(set.set.scope)).terms([], set.set)
        return .atom("row_number() OVER (ORDER BY \(SQLText.joined(terms.map(\.text), ", ")))")
      }, .integer)
    let order = [number, place].map { OrderTerm(value: $0) }
    var set = RowSet(rows: RelatedRows(), scope: scope)
    set.order = order
    set.identity = order
    set.source = sets[0].set.source
    if case .row(let computedRow) = scope { set.names = computedRow.shown }
    if case .entity = scope { set.names = sets[0].set.names }
    var result = ApplySet(set, core: union.alias)
    result.joins = union.joins
    if case .row(let computedRow) = keys { result.keys = computedRow }
    result.origin = sets[0].origin
    result.isThinned = sets.contains(where: \.isThinned)
    result.table(union.select(sets.map { $0.set.rows.from() }))
    return result
  }
}

/// Combines rows of several sets in the columns of one subquery.
struct RowUnion {
  private let statement: SelectStatement
  let alias: String
  private(set) var joins: SQLText = ""
  /// The text of each column, in each set.
  private var columns: [[SQLText]] = []
  /// For each set, the numbers of its kinds of rows.
  private var kinds: [Range<Int>] = []
  /// Whether some rows lack members that others have.
  private var isMixed = false

  init(_ statement: SelectStatement, scopes: [Scope]) {
    self.statement = statement
    alias = statement.context.alias("a")
    var start = 0
    for scope in scopes {
      var count = 1
      switch scope {
      case .row(let row): count = row.kind?.count ?? 1
      case .entity(let entity): count = entity.table.types.count
      default: break
      }
      kinds.append(start..<start + count)
      start += count
    }
  }

  /// `SELECT … UNION ALL SELECT …`
  func select(_ from: [SQLText]) -> SQLText {
    let parts = from.enumerated().map { place, from -> SQLText in
      let list = columns.enumerated().map { "\($0.element[place]) AS \(alias: Projection.name($0.offset))" as SQLText }
      return "SELECT \(SQLText.joined(list, ", ")) \(from)"
    }
    return SQLText.joined(parts, " UNION ALL ")
  }

  mutating func column(_ texts: [SQLText], _ storage: ColumnStorage?, _ type: ODataBoundType? = nil) -> SQLOperand {
    columns.append(texts)
    return SQLOperand(
      text: .atom("\(alias: alias).\(alias: Projection.name(columns.count - 1))"), storage: storage,
      type: type ?? .plain(.int64), canBeNaN: storage == .real)
  }

  /// The scope of the combined rows.
  mutating func merged(_ scopes: [Scope]) throws -> Scope {
    if let entities = RowUnion.sameEntities(scopes) { return .entity(try merged(entities)) }
    isMixed = false
    let rows = try scopes.map { scope -> ComputedRow in
      guard let row = try RowParts(statement).row(of: scope) else {
        throw OfflineODataError.unsupported("concat of values that are not rows")
      }
      return row
    }
    var computedRow = try merged(rows.map { $0 }, at: "")
    if isMixed {
      let numbers = zip(rows, kinds).map { row, kinds -> SQLText in
        let start = SQLText(.integer(Int64(kinds.lowerBound)))
        return row.kind.map { "\($0.number) + \(start)" } ?? start
      }
      computedRow.kind = ComputedRow.Kind(number: column(numbers, .integer).text, count: kinds.last?.upperBound ?? 0)
    }
    return .row(computedRow)
  }

  /// The entities of all sets, if they belong to one table and have the same type and the same computed members; nil
  /// otherwise.
  private static func sameEntities(_ scopes: [Scope?]) -> [EntityScope]? {
    let entities = scopes.compactMap { scope -> EntityScope? in
      if case .entity(let entity)? = scope { entity } else { nil }
    }
    guard let first = entities.first, entities.count == scopes.count else { return nil }
    let names = Set(first.computed.keys)
    let isSame = entities.allSatisfy {
      $0.table === first.table && $0.type == first.type && Set($0.computed.keys) == names
    }
    return isSame ? entities : nil
  }

  private mutating func merged(_ entities: [EntityScope]) throws -> EntityScope {
    let writer = ExpressionWriter(statement: statement, environment: Environment())
    let first = entities[0]
    let id = column(try entities.map { try writer.system(.id, of: $0) }, .integer)
    let name = statement.context.alias()
    let physical = try statement.context.table(first.table.number)
    joins.append(" LEFT JOIN \(physical) AS \(alias: name) ON \(alias: name).\"@id\" = \(id.text)")
    var joined = EntityScope(statement: statement, alias: name, table: first.table, type: first.type)
    joined.guardedBy = first.guardedBy
    joined.inLine = first.inLine
    for key in first.computed.keys.sorted() {
      joined.computed[key] = try merged(entities.map { $0.computed[key] }, named: key)
    }
    return joined
  }

  // MARK: Members

  private mutating func merged(_ rows: [ComputedRow?], at name: String) throws -> ComputedRow {
    var computedRow = ComputedRow()
    if !name.isEmpty, rows.contains(where: { $0 == nil || $0?.marker != nil }) {
      computedRow.marker = column(rows.map { row in row.map { $0.marker ?? "''" } ?? "NULL" }, .complex).text
    }
    for row in rows.compactMap({ $0 }) {
      computedRow.inLine.formUnion(row.inLine)
      for member in row.names where computedRow[member] == nil {
        let all = rows.map { $0?[member] }
        computedRow[member] = try merged(all, named: member)
        guard let kindsWithMember = kindsWithMember(member, rows) else { continue }
        computedRow.kinds[member] = kindsWithMember
        isMixed = true
      }
    }
    return computedRow
  }

  /// The kinds of rows that have a member; nil if all rows that have the object also have the member.
  private func kindsWithMember(_ member: String, _ rows: [ComputedRow?]) -> Set<Int>? {
    var kindsWithMember: Set<Int> = []
    var isAll = true
    for (row, range) in zip(rows, kinds) {
      guard let row else { continue }
      if row[member] == nil {
        isAll = false
      } else if let kindsOfRow = row.kinds[member] {
        isAll = false
        kindsWithMember.formUnion(kindsOfRow.map { $0 + range.lowerBound })
      } else {
        kindsWithMember.formUnion(range)
      }
    }
    return isAll ? nil : kindsWithMember
  }

  private mutating func merged(_ scopes: [Scope?], named name: String) throws -> Scope {
    let presentScopes = scopes.compactMap { $0 }
    if presentScopes.contains(where: { if case .nested = $0 { true } else { false } }) {
      throw OfflineODataError.unsupported("concat of results of nest or addnested ('\(name)')")
    }
    if presentScopes.count == scopes.count, let entities = RowUnion.sameEntities(scopes) {
      return .entity(try merged(entities))
    }
    let values = presentScopes.compactMap { scope -> SQLOperand? in
      if case .value(let value) = scope { value } else { nil }
    }
    if values.count == presentScopes.count, let first = values.first {
      return .value(try merged(scopes, first: first, values: values, name: name))
    }
    let texts = presentScopes.compactMap { scope -> JSONPlace? in if case .json(let json) = scope { json } else { nil }
    }
    if texts.count == presentScopes.count, let first = texts.first {
      let all = scopes.map { scope -> SQLText in if case .json(let json)? = scope { json.json } else { "NULL" } }
      return .json(JSONPlace(base: column(all, nil).text, type: first.type))
    }
    let rows = try scopes.map { scope in try scope.flatMap { try RowParts(statement).row(of: $0) } }
    guard rows.compactMap({ $0 }).count == presentScopes.count else {
      throw OfflineODataError.unsupported("concat of results with '\(name)' of different kinds")
    }
    return .row(try merged(rows, at: name))
  }

  /// Combines the values of all sets in one form.
  private mutating func merged(
    _ scopes: [Scope?], first: SQLOperand, values: [SQLOperand], name: String
  ) throws -> SQLOperand {
    let storages = Set(values.map(\.storage))
    let writer = ExpressionWriter(statement: statement, environment: Environment())
    var storage = first.storage
    if storages.count > 1 {
      guard storages.allSatisfy({ $0?.isNumber == true }) else {
        throw OfflineODataError.unsupported("concat of results with '\(name)' of different types")
      }
      storage = storages.contains(.real) ? .real : .decimal
    }
    let texts = scopes.map { scope -> SQLText in
      guard case .value(let value)? = scope else { return "NULL" }
      if value.storage == storage { return value.text }
      return storage == .real ? writer.real(value).text : writer.decimal(value).text
    }
    let isMixed = storages.count > 1
    return column(texts, storage, isMixed ? .plain(storage == .real ? .double : .decimal) : first.type)
  }
}
