import LarderOData
import LarderStorage

/// A collection that `nest` or `addnested` adds to each row, or that represents a collection in a row. A result shows
/// it by a plan of its own, which runs once for each row.
struct NestedRows {
  let origin: Origin
  /// The transformations that are applied to the collection before it is shown.
  var steps: [ODataBoundTransformation] = []
  /// The set or singleton that its entities come from.
  var source: ODataBoundSource?

  /// The source of the collection.
  enum Origin {
    /// The entities that a path leads to from a row (Data Aggregation 4.0 §3.4.3).
    case related(EntityScope, ODataBoundPath)
    /// The input rows of `nest`, of the group with these keys (§3.5.2).
    case rows(ApplySet, keys: [SQLOperand])
    /// One item, of a row of a statement (§6.2.2: it represents the instances on the path to a node).
    case item(Scope, SelectStatement)
  }

  /// Whether its rows can be joined to the row that contains the collection: no step limits or creates rows.
  var isPlain: Bool {
    guard case .related = origin else { return false }
    return steps.allSatisfy { step in
      switch step {
      case .identity, .filter, .search, .compute, .orderBy: true
      default: false
      }
    }
  }
}

/// Writes the rows of ``NestedRows`` in the statement that reads them: a statement inside the one of the enclosing
/// rows, or that statement itself.
struct NestedWriter {
  let statement: SelectStatement
  /// `$it` of the enclosing options.
  let it: Scope?

  func rows(_ nested: NestedRows) throws -> RowSet {
    let apply = ApplyWriter(statement: statement, it: it)
    switch nested.origin {
    case .related(let owner, let path):
      let writer = ExpressionWriter(statement: statement, environment: Environment(current: .entity(owner)))
      let place = try writer.place(path)
      guard let rows = place.rows, case .entity(let entity) = place.scope else {
        throw OfflineODataError.unsupported("addnested with a collection of values")
      }
      let set = RowSet(rows: rows, scope: place.scope, source: nested.source)
      return try apply.apply(nested.steps, ApplySet(set, core: entity.alias)).set
    case .rows(let input, let keys):
      var rows = input
      if let source = input.statement, source !== statement { rows = try Moving(statement, from: source).rows(input) }
      for (keyColumn, group) in zip(try apply.keyColumns(rows.keys), keys) {
        let value = try Moving.text(group.text, into: statement, from: input.statement)
        rows.set.rows.conditions.append("\(keyColumn.collated) IS \(operand: value)")
      }
      rows.keys = ComputedRow()
      rows.origin = []
      return try apply.apply(nested.steps, rows).set
    case .item(let scope, let source): return try item(scope, source)
    }
  }

  private func item(_ scope: Scope, _ source: SelectStatement) throws -> RowSet {
    let context = statement.context
    let writer = ExpressionWriter(statement: statement, environment: Environment())
    switch scope {
    case .entity(let entity):
      let alias = context.alias()
      let inner = try innerEntity(entity, as: alias)
      let rows = RelatedRows(
        tables: ["\(try context.table(entity.table.number)) AS \(alias: alias)"],
        conditions: ["\(try writer.system(.id, of: inner)) = \(try writer.system(.id, of: entity))"])
      var set = RowSet(rows: rows, scope: .entity(inner))
      set.names = inner.computed.keys.sorted()
      return set
    case .row(let members):
      let alias = context.alias("a")
      guard case .row(let computedRow) = try imported(.row(members), from: source) else { break }
      let one = SQLOperand(text: .atom("\(alias: alias).c0"), storage: .integer, type: .plain(.int64))
      var set = RowSet(rows: RelatedRows(tables: ["(SELECT 1 AS c0) AS \(alias: alias)"]), scope: .row(computedRow))
      set.names = computedRow.names
      set.identity = [OrderTerm(value: one)]
      return set
    case .value, .json, .complex, .nested: break
    }
    throw OfflineODataError.unsupported("a single value as a collection")
  }

  /// An entity of an enclosing row, read from its table in this statement.
  func innerEntity(_ entity: EntityScope, as alias: String) throws -> EntityScope {
    var inner = EntityScope(statement: statement, alias: alias, table: entity.table, type: entity.type)
    inner.inLine = entity.inLine
    for name in entity.computed.keys.sorted() {
      if let computedScope = entity.computed[name] {
        inner.computed[name] = try imported(computedScope, from: entity.statement)
      }
    }
    return inner
  }

  /// A computed value of an enclosing row's entity, as this statement can use it.
  private func imported(_ scope: Scope, from source: SelectStatement) throws -> Scope {
    if source === statement { return scope }
    switch scope {
    case .value(var value):
      value.text = try statement.imported(value.text, from: source)
      value.hasCollation = false
      return .value(value)
    case .json(let json):
      return .json(JSONPlace(base: try statement.imported(json.json, from: source), type: json.type))
    case .row(var computedRow):
      computedRow.marker = try computedRow.marker.map { try statement.imported($0, from: source) }
      for name in computedRow.names {
        if let member = computedRow[name] { computedRow[name] = try imported(member, from: source) }
      }
      return .row(computedRow)
    // The values that these need are imported when a path uses them.
    case .entity, .complex, .nested: return scope
    }
  }
}

/// Moves rows with all their tables from one statement into a statement inside it. Only values from enclosing rows must
/// be passed in another way.
struct Moving {
  private let statement: SelectStatement
  private let source: SelectStatement

  init(_ statement: SelectStatement, from source: SelectStatement) {
    self.statement = statement
    self.source = source
  }

  /// Moves a text that does not refer to a row of its statement.
  private func text(_ text: SQLText) throws -> SQLText {
    try text.mapping { parameter in
      guard case .outer = parameter else { return parameter }
      return try statement.imported(SQLText(parameter), from: source).parameters.first ?? parameter
    }
  }

  /// A value of a row: a parameter if the row belongs to an enclosing statement.
  static func text(_ text: SQLText, into statement: SelectStatement, from source: SelectStatement?) throws -> SQLText {
    guard let source, source !== statement else { return text }
    return try statement.imported(text, from: source)
  }

  func rows(_ rows: ApplySet) throws -> ApplySet {
    var moved = rows
    moved.statement = statement
    moved.joins = try text(rows.joins)
    moved.set.rows.tables = try rows.set.rows.tables.map { try text($0) }
    moved.set.rows.conditions = try rows.set.rows.conditions.map { try text($0) }
    moved.set.scope = try scope(rows.set.scope)
    moved.set.order = try rows.set.order.map { try term($0) }
    moved.set.identity = try rows.set.identity.map { try term($0) }
    moved.keys = try row(rows.keys)
    moved.origin = []
    return moved
  }

  private func term(_ term: OrderTerm) throws -> OrderTerm {
    OrderTerm(value: try value(term.value), isDescending: term.isDescending)
  }

  private func value(_ value: SQLOperand) throws -> SQLOperand {
    var value = value
    value.text = try text(value.text)
    return value
  }

  private func row(_ computedRow: ComputedRow) throws -> ComputedRow {
    var moved = computedRow
    moved.marker = try computedRow.marker.map { try text($0) }
    moved.kind?.number = try computedRow.kind.map { try text($0.number) } ?? "0"
    for name in computedRow.names { if let member = computedRow[name] { moved[name] = try scope(member) } }
    return moved
  }

  private func entity(_ entity: EntityScope) throws -> EntityScope {
    guard entity.statement === source else { return entity }
    var moved = EntityScope(statement: statement, alias: entity.alias, table: entity.table, type: entity.type)
    moved.guardedBy = entity.guardedBy
    moved.inLine = entity.inLine
    for (name, computedScope) in entity.computed { moved.computed[name] = try scope(computedScope) }
    return moved
  }

  private func scope(_ scope: Scope) throws -> Scope {
    switch scope {
    case .value(let value): return .value(try self.value(value))
    case .json(let json):
      var moved = JSONPlace(base: try text(json.base), key: try json.key.map { try text($0) }, type: json.type)
      moved.steps = json.steps
      moved.onlyTypes = json.onlyTypes
      return .json(moved)
    case .row(let computedRow): return .row(try row(computedRow))
    case .entity(let entity): return .entity(try self.entity(entity))
    case .complex(let complex):
      return .complex(
        ComplexScope(
          owner: try entity(complex.owner), path: complex.path, type: complex.type, isCast: complex.isCast))
    case .nested(let nested):
      let origin: NestedRows.Origin
      switch nested.origin {
      case .related(let owner, let path): origin = .related(try entity(owner), path)
      case .rows(let input, let keys): origin = .rows(try rows(input), keys: try keys.map { try value($0) })
      case .item(let item, _): origin = .item(try self.scope(item), statement)
      }
      return .nested(NestedRows(origin: origin, steps: nested.steps, source: nested.source))
    }
  }
}
