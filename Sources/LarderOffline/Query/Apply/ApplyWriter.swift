import LarderOData
import LarderStorage

/// Writes `$apply` (Data Aggregation 4.0): replaces the input rows by the rows that the transformations return.
///
/// The result has the form of a path's rows: ``RowSet/rows`` with a subquery among its tables; ``RowSet/scope`` with a
/// member for each property (``Scope/row(_:)``), or still the entity if the transformations keep it; ``RowSet/names``
/// for the result, ``RowSet/order`` if the rows have an order, and ``RowSet/identity`` to make every order total. The
/// other query options are then applied to these rows.
///
/// Transformations that only choose rows or add properties change conditions and names. Those that create rows, or
/// count them, enclose the previous SQL in a statement (``ApplySet/wrap(_:tail:)``, ``Projection``). Inside `groupby`
/// the transformations work on all groups at once: the keys are carried along, and they partition windows and
/// aggregates.
struct ApplyWriter {
  let statement: SelectStatement
  /// `$it` of the enclosing options; nil at the top level.
  let it: Scope?

  func rows(_ steps: [ODataBoundTransformation], _ set: RowSet) throws -> RowSet {
    guard steps.contains(where: { $0 != .identity }) else { return set }
    if case .entity(let entity) = set.scope { return try apply(steps, ApplySet(set, core: entity.alias)).set }
    // Rows of several tables, as in `$crossjoin`: the leading conditions are those of a join, and the later
    // transformations need a single table.
    let conditions = steps.prefix { $0.isCondition }
    let joined = try apply(Array(conditions), ApplySet(set, core: ""))
    let rest = Array(steps.dropFirst(conditions.count))
    return rest.isEmpty ? joined.set : try apply(rest, try project(joined).rows).set
  }

  func writer(_ scope: Scope) -> ExpressionWriter {
    ExpressionWriter(statement: statement, environment: Environment(current: scope, it: it ?? scope, this: scope))
  }

  /// The environment of conditions on rows. It has `$these` unless the rows are those of several groups.
  func environment(of rows: ApplySet) -> Environment {
    var environment = writer(rows.set.scope).environment
    if rows.keys.isEmpty {
      environment.these = PathPlace(rows: rows.set.rows, scope: rows.set.scope, isCollection: true)
    }
    return environment
  }

  func apply(_ steps: [ODataBoundTransformation], _ start: ApplySet) throws -> ApplySet {
    var rows = start
    for step in steps { try apply(step, &rows) }
    return rows
  }

  private func apply(_ step: ODataBoundTransformation, _ rows: inout ApplySet) throws {
    switch step {
    case .identity: break
    case .filter(let condition):
      let writer = ExpressionWriter(statement: statement, environment: environment(of: rows))
      rows.set.rows.conditions.append(try writer.condition(condition))
      rows.isThinned = true
    case .search(let search):
      let planner = PlanWriter(statement: statement, it: it)
      rows.set.rows.conditions.append(try planner.search(search, rows.set.scope, writer(rows.set.scope)))
      rows.isThinned = true
    case .compute(let items):
      try PlanWriter(statement: statement, it: it).compute(items, &rows.set, inGroups: !rows.keys.isEmpty)
    case .orderBy(let items):
      let writer = writer(rows.set.scope)
      let terms = try items.map { OrderTerm(value: try writer.operand($0.expression), isDescending: $0.isDescending) }
      rows.set.order = terms + rows.set.order
    case .top(let count): try page(&rows, top: count)
    case .skip(let count): try page(&rows, skip: count)
    case .extremes(let kind, let count, let measure): try extremes(kind, count: count, measure: measure, rows: &rows)
    case .aggregate(let items): rows = try aggregate(items, rows)
    case .groupBy(let elements, let inner): rows = try groupBy(elements, inner, rows)
    case .concat(let sequences): rows = try union(sequences.map { try apply($0, rows) })
    case .join(let path, let alias, let isOuter, let inner):
      rows = try join(path, as: alias, isOuter: isOuter, inner, rows)
    case .nest(let sequences): rows = try nest(sequences, rows)
    case .addNested(let path, let sequences): try addNested(path, sequences, &rows)
    case .relatives(let relation, let hierarchy, let inner, let distance, let keepsStart):
      try relatives(
        relation, reference: hierarchy, steps: inner, distance: distance, keepsStart: keepsStart, rows: &rows)
      rows.isThinned = true
    case .traverse(let hierarchy, let isPostorder, let inner, let order):
      try traverse(hierarchy, isPostorder: isPostorder, steps: inner, order: order, rows: &rows)
    case .custom(let path):
      let name = path.segments.last.map { describe($0.kind) } ?? "a function"
      throw OfflineODataError.unsupported("\(name) as a transformation of $apply")
    }
  }

  /// The rows as a subquery with a column for each of their values.
  ///
  /// - Parameter ordinal: adds a number to each row, and returns it.
  func project(_ rows: ApplySet, ordinal: Bool = false) throws -> (rows: ApplySet, ordinal: SQLOperand?) {
    var projection = Projection(statement)
    var there = rows
    there.set.scope = try projection.scope(rows.set.scope)
    there.keys = try projection.row(rows.keys)
    there.set.order = projection.terms(rows.set.order)
    there.set.identity = projection.terms(rows.set.identity)
    var number: SQLOperand?
    if ordinal {
      number = projection.operand(
        SQLOperand(text: .atom("row_number() OVER ()"), storage: .integer, type: .plain(.int64), isNullable: false))
    }
    there.core = projection.alias
    there.joins = projection.joins
    there.table("SELECT \(SQLText.joined(projection.list, ", ")) \(rows.set.rows.from())")
    return (there, number)
  }
}

extension ODataBoundTransformation {
  /// Whether the transformation keeps or removes each row independently, and changes none.
  fileprivate var isCondition: Bool {
    switch self {
    case .identity, .filter: true
    default: false
    }
  }
}
