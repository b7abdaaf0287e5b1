import LarderOData
import LarderStorage

/// The rows between two transformations of `$apply`.
struct ApplySet {
  /// The tables, the conditions, the scope of a row, and the order.
  var set: RowSet
  /// The alias that all columns of a row are read from, except those of entities that the row refers to by their
  /// identity.
  var core: String
  /// The joins of those entities: ` LEFT JOIN … ON …`, after the table of the alias.
  var joins: SQLText = ""
  /// The values by which the enclosing transformations have grouped the rows, one member for each transformation. A
  /// transformation works on each group separately.
  var keys = ComputedRow()
  /// The rows at the time of grouping; empty if they are not grouped.
  var origin: [ApplySet] = []
  /// Whether a group may have lost all its rows since the grouping.
  var isThinned = false
  /// The statement that the rows belong to, if they are kept for a statement inside it; nil otherwise.
  var statement: SelectStatement?

  init(_ set: RowSet, core: String) {
    self.set = set
    self.core = core
  }

  /// Makes the rows a subquery, so that later steps do not change the result of earlier ones: a limit, a window.
  ///
  /// - Parameter extra: additional columns, each with its name.
  mutating func wrap(_ extra: [SQLText] = [], tail: SQLText = "") {
    let columns = SQLText.joined(["\(alias: core).*"] + extra, ", ")
    table("SELECT \(columns) \(set.rows.from())\(tail)")
  }

  /// Replaces the rows' tables by a statement that has the same columns.
  mutating func table(_ select: SQLText) {
    set.rows = RelatedRows(tables: ["(\(select)) AS \(alias: core)\(joins)"])
  }
}

/// The values of rows as the columns of a subquery, and the same values as read from the subquery.
struct Projection {
  let statement: SelectStatement
  /// The alias of the subquery.
  let alias: String
  /// The columns, `c0` first.
  private(set) var columns: [SQLOperand] = []
  /// The joins of entities that columns refer to by their identity.
  private(set) var joins: SQLText = ""

  init(_ statement: SelectStatement) {
    self.statement = statement
    alias = statement.context.alias("a")
  }

  var context: QueryContext { statement.context }

  private var writer: ExpressionWriter { ExpressionWriter(statement: statement, environment: Environment()) }

  /// `x AS c0, y AS c1 …`
  var list: [SQLText] {
    columns.enumerated().map { "\($0.element.text) AS \(alias: Projection.name($0.offset))" }
  }

  static func name(_ column: Int) -> String { "c" + String(column) }

  /// The columns with their collations, for comparisons.
  var collated: [SQLText] { columns.map(\.collated) }

  func reference(_ column: Int) -> SQLText { .atom("\(alias: alias).\(alias: Projection.name(column))") }

  mutating func operand(_ operand: SQLOperand) -> SQLOperand {
    var projected = operand
    projected.text = reference(columns.count)
    projected.hasCollation = false
    projected.literal = nil
    columns.append(operand)
    return projected
  }

  mutating func text(_ text: SQLText) -> SQLText {
    operand(SQLOperand(text: text, storage: nil, type: ODataBoundType(.untyped, isNullable: true))).text
  }

  mutating func terms(_ terms: [OrderTerm]) -> [OrderTerm] {
    terms.map { OrderTerm(value: operand($0.value), isDescending: $0.isDescending) }
  }

  mutating func scope(_ scope: Scope) throws -> Scope {
    switch scope {
    case .value(let value): return .value(operand(value))
    case .json(let json): return .json(JSONPlace(base: text(json.json), type: json.type))
    case .entity(let entity): return .entity(try self.entity(entity))
    case .complex(let complex): return .row(try row(RowParts(statement).row(of: complex)))
    case .row(let members): return .row(try row(members))
    case .nested(let nested): return .nested(try self.nested(nested))
    }
  }

  /// Projects the values that a collection reads from its row.
  private mutating func nested(_ nested: NestedRows) throws -> NestedRows {
    let origin: NestedRows.Origin
    switch nested.origin {
    case .related(let owner, let path): origin = .related(try entity(owner), path)
    case .rows(let input, let keys): origin = .rows(input, keys: keys.map { operand($0) })
    case .item(let item, let source): origin = .item(try scope(item), source)
    }
    return NestedRows(origin: origin, steps: nested.steps, source: nested.source)
  }

  mutating func row(_ members: ComputedRow) throws -> ComputedRow {
    var projected = members
    projected.marker = members.marker.map { text($0) }
    projected.kind?.number = members.kind.map { text($0.number) } ?? "0"
    for name in members.names {
      if let member = members[name] { projected[name] = try scope(member) }
    }
    return projected
  }

  private mutating func entity(_ entity: EntityScope) throws -> EntityScope {
    let id = text(try writer.system(.id, of: entity))
    var projected = try joined(id, table: entity.table, type: entity.type)
    projected.guardedBy = entity.guardedBy
    projected.inLine = entity.inLine
    for name in entity.computed.keys.sorted() {
      if let computedScope = entity.computed[name] { projected.computed[name] = try scope(computedScope) }
    }
    return projected
  }

  /// Joins the entity that has an identity.
  mutating func joined(_ id: SQLText, table: EntityTable, type: EdmStructure) throws -> EntityScope {
    let name = statement.context.alias()
    let physical = try statement.context.table(table.number)
    joins.append(" LEFT JOIN \(physical) AS \(alias: name) ON \(alias: name).\"@id\" = \(id)")
    return EntityScope(statement: statement, alias: name, table: table, type: type)
  }
}

/// Converts entities and complex values to rows of their properties, if they cannot be kept as they are.
struct RowParts {
  private let statement: SelectStatement

  init(_ statement: SelectStatement) { self.statement = statement }

  private var writer: ExpressionWriter { ExpressionWriter(statement: statement, environment: Environment()) }

  func row(of scope: Scope) throws -> ComputedRow? {
    switch scope {
    case .row(let members): return members
    case .entity(let entity): return try row(of: entity)
    case .complex(let complex): return try row(of: complex)
    case .value, .json, .nested: return nil
    }
  }

  func row(of complex: ComplexScope) throws -> ComputedRow {
    guard let marker = complex.owner.table.column(complex.path, on: complex.owner.type) else {
      throw OfflineODataError.unsupported("'\(complex.path.joined(separator: "/"))'")
    }
    var computedRow = try row(complex.owner, at: complex.path)
    var text = try writer.reference(marker, of: complex.owner)
    if complex.isCast, let type = complex.type {
      text = .atom("CASE WHEN \(try writer.typeCondition(of: complex, type)) THEN \(text) END")
    }
    computedRow.marker = text
    return computedRow
  }

  func row(of entity: EntityScope) throws -> ComputedRow {
    var computedRow = try row(entity, at: [])
    if !computedRow.kinds.isEmpty {
      computedRow.kind = ComputedRow.Kind(number: try writer.system(.type, of: entity), count: entity.table.types.count)
    }
    for name in entity.computed.keys.sorted() { computedRow[name] = entity.computed[name] }
    computedRow.inLine = entity.inLine
    return computedRow
  }

  private func row(_ entity: EntityScope, at path: [String]) throws -> ComputedRow {
    var computedRow = ComputedRow()
    let types = ColumnTypes(statement.context.plan.model)
    for column in entity.table.columns where column.path.count == path.count + 1 && column.path.starts(with: path) {
      guard let name = column.path.last, computedRow[name] == nil else { continue }
      let isDeclared = entity.type.isOrDerives(from: column.declaringType)
      guard isDeclared || column.declaringType.isOrDerives(from: entity.type) else { continue }
      let text = try writer.reference(column, of: entity)
      switch column.storage {
      // The details of a stream are read with the entity.
      case .stream: continue
      case .dynamic: throw OfflineODataError.unsupported("$apply on entities of an open type as a whole")
      case .complex:
        computedRow[name] = .row(try row(of: ComplexScope(owner: entity, path: column.path, type: nil)))
      case .json: computedRow[name] = .json(JSONPlace(base: text, type: types.type(column)))
      default:
        computedRow[name] = .value(
          SQLOperand(
            text: text, storage: column.storage, type: types.type(column), hasCollation: entity.statement === statement,
            canBeNaN: column.storage == .real))
      }
      if !isDeclared { computedRow.kinds[name] = Set(entity.table.typeNumbers(derivedFrom: column.declaringType)) }
    }
    return computedRow
  }
}
