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
    case item(Scope, Statement)
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
  let statement: Statement
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
      if let home = input.home, home !== statement { rows = try Moving(statement, from: home).rows(input) }
      for (own, group) in zip(try apply.keyColumns(rows.keys), keys) {
        let value = try Moving.text(group.text, into: statement, from: input.home)
        rows.set.rows.conditions.append("\(own.collated) IS \(operand: value)")
      }
      rows.keys = ComputedRow()
      rows.origin = []
      return try apply.apply(nested.steps, rows).set
    case .item(let scope, let home): return try item(scope, home)
    }
  }

  private func item(_ scope: Scope, _ home: Statement) throws -> RowSet {
    let question = statement.question
    let writer = ExpressionWriter(statement: statement, environment: Environment())
    switch scope {
    case .entity(let entity):
      let alias = question.alias()
      let inner = try beside(entity, as: alias)
      let rows = RelatedRows(
        tables: ["\(try question.table(entity.table.number)) AS \(alias: alias)"],
        conditions: ["\(try writer.system(.id, of: inner)) = \(try writer.system(.id, of: entity))"])
      var set = RowSet(rows: rows, scope: .entity(inner))
      set.names = inner.computed.keys.sorted()
      return set
    case .row(let members):
      let alias = question.alias("a")
      guard case .row(let made) = try brought(.row(members), from: home) else { break }
      let one = SQLOperand(text: .atom("\(alias: alias).c0"), storage: .integer, type: .plain(.int64))
      var set = RowSet(rows: RelatedRows(tables: ["(SELECT 1 AS c0) AS \(alias: alias)"]), scope: .row(made))
      set.names = made.names
      set.identity = [OrderTerm(value: one)]
      return set
    case .value, .json, .complex, .nested: break
    }
    throw OfflineODataError.unsupported("a single value as a collection")
  }

  /// An entity of an enclosing row, read from its table in this statement.
  func beside(_ entity: EntityScope, as alias: String) throws -> EntityScope {
    var inner = EntityScope(home: statement, alias: alias, table: entity.table, type: entity.type)
    inner.inLine = entity.inLine
    for name in entity.computed.keys.sorted() {
      if let made = entity.computed[name] { inner.computed[name] = try brought(made, from: entity.home) }
    }
    return inner
  }

  /// A computed value of an enclosing row's entity, as this statement can use it.
  private func brought(_ scope: Scope, from home: Statement) throws -> Scope {
    if home === statement { return scope }
    switch scope {
    case .value(var value):
      value.text = try statement.imported(value.text, from: home)
      value.hasCollation = false
      return .value(value)
    case .json(let json):
      return .json(JSONPlace(base: try statement.imported(json.json, from: home), type: json.type))
    case .row(var made):
      made.marker = try made.marker.map { try statement.imported($0, from: home) }
      for name in made.names { if let member = made[name] { made[name] = try brought(member, from: home) } }
      return .row(made)
    // The values that these need are imported when a path uses them.
    case .entity, .complex, .nested: return scope
    }
  }
}

/// Moves rows with all their tables from one statement into a statement inside it. Only values from enclosing rows must
/// be passed in another way.
struct Moving {
  private let statement: Statement
  private let home: Statement

  init(_ statement: Statement, from home: Statement) {
    self.statement = statement
    self.home = home
  }

  /// Moves a text that does not refer to a row of its statement.
  private func text(_ text: SQLText) throws -> SQLText {
    try text.mapping { parameter in
      guard case .outer = parameter else { return parameter }
      return try statement.imported(SQLText(parameter), from: home).parameters.first ?? parameter
    }
  }

  /// A value of a row: a parameter if the row belongs to an enclosing statement.
  static func text(_ text: SQLText, into statement: Statement, from home: Statement?) throws -> SQLText {
    guard let home, home !== statement else { return text }
    return try statement.imported(text, from: home)
  }

  func rows(_ rows: ApplySet) throws -> ApplySet {
    var there = rows
    there.home = statement
    there.joins = try text(rows.joins)
    there.set.rows.tables = try rows.set.rows.tables.map { try text($0) }
    there.set.rows.conditions = try rows.set.rows.conditions.map { try text($0) }
    there.set.scope = try scope(rows.set.scope)
    there.set.order = try rows.set.order.map { try term($0) }
    there.set.identity = try rows.set.identity.map { try term($0) }
    there.keys = try row(rows.keys)
    there.origin = []
    return there
  }

  private func term(_ term: OrderTerm) throws -> OrderTerm {
    OrderTerm(value: try value(term.value), isDescending: term.isDescending)
  }

  private func value(_ value: SQLOperand) throws -> SQLOperand {
    var value = value
    value.text = try text(value.text)
    return value
  }

  private func row(_ made: ComputedRow) throws -> ComputedRow {
    var there = made
    there.marker = try made.marker.map { try text($0) }
    there.kind?.number = try made.kind.map { try text($0.number) } ?? "0"
    for name in made.names { if let member = made[name] { there[name] = try scope(member) } }
    return there
  }

  private func entity(_ entity: EntityScope) throws -> EntityScope {
    guard entity.home === home else { return entity }
    var there = EntityScope(home: statement, alias: entity.alias, table: entity.table, type: entity.type)
    there.guardedBy = entity.guardedBy
    there.inLine = entity.inLine
    for (name, made) in entity.computed { there.computed[name] = try scope(made) }
    return there
  }

  private func scope(_ scope: Scope) throws -> Scope {
    switch scope {
    case .value(let value): return .value(try self.value(value))
    case .json(let json):
      var there = JSONPlace(base: try text(json.base), key: try json.key.map { try text($0) }, type: json.type)
      there.steps = json.steps
      there.onlyTypes = json.onlyTypes
      return .json(there)
    case .row(let made): return .row(try row(made))
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
