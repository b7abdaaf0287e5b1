import LarderOData
import LarderStorage

/// A table and an entity type that rows of the queue or the archive refer to.
struct AffectedKind: Hashable, Sendable {
  let table: EntityTable
  let type: EdmStructure

  /// The value of the rows' column `@kind` for this kind.
  var text: String { "\(table.name) \(type.name)" }

  /// The entity set or singleton that names in options are bound from; nil for contained entities.
  var source: String? {
    switch table.place {
    case .entitySet(let name), .singleton(let name): name
    case .containment, .type: nil
    }
  }

  static func == (left: AffectedKind, right: AffectedKind) -> Bool {
    left.table.number == right.table.number && left.type == right.type
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(table.number)
    hasher.combine(type)
  }
}

/// Entities of another plan, of several tables and types. Rows refer to them with their columns `@kind` and `@entity`.
struct AffectedEntities: Sendable {
  let plan: ReplicaPlan
  let state: ReplicaState
  let coverage: Coverage?
  /// The kinds of entities that the rows refer to.
  let kinds: [AffectedKind]
  /// Binds options to the types of the entities.
  let options: AffectedOptions

  /// One item of `$expand` for the affected entities, either for one type or for all.
  private struct Choice {
    /// The type that the item names; nil for all types.
    let cast: EdmStructure?
    let content: ODataBoundExpandItem.Content
    let fitting: AffectedOptions.Fitting?

    func includes(_ kind: AffectedKind) -> Bool { cast.map(kind.type.isOrDerives(from:)) ?? true }
  }

  /// Expands the navigation property inline: one alternative for each kind of entity, and one for rows without an
  /// entity.
  ///
  /// If there are several items, an entity uses the first one that names its type or names no type.
  func expands(
    _ path: [String], _ items: [ODataBoundExpandItem], of owner: EntityScope, in statement: SelectStatement
  ) throws -> [ReadExpand] {
    let writer = ExpressionWriter(statement: statement, environment: Environment())
    let kind = statement.column(try writer.reference("@kind", of: owner))
    let entity = statement.column(try writer.reference("@entity", of: owner))
    let choices = try items.map(choice)
    var expands = try kinds.map { affectedKind in
      let only = ReadExpand.Only(column: kind, text: affectedKind.text)
      guard let choice = choices.first(where: { $0.includes(affectedKind) }) else { return none(path, only) }
      let bound = choice.fitting?.options[affectedKind]
      return ReadExpand(
        path: path, isCollection: false, content: choice.content,
        plan: try plan(
          affectedKind, entity: entity, content: choice.content, bound: bound, options: statement.context.options),
        only: only,
        options: bound)
    }
    expands.append(none(path, ReadExpand.Only(column: kind, text: nil)))
    return expands
  }

  private func choice(_ item: ODataBoundExpandItem) throws -> Choice {
    var cast: EdmStructure?
    if case .dynamic(let name)? = item.path.segments.last?.kind { cast = try options.entityType(name) }
    let fitting = try item.unbound.map { try options.fitting($0, to: kinds, below: cast, in: plan) }
    return Choice(cast: cast, content: item.content, fitting: fitting)
  }

  private func none(_ path: [String], _ only: ReadExpand.Only) -> ReadExpand {
    ReadExpand(
      path: path, isCollection: false, content: .entities,
      plan: ReadPlan(
        sql: "SELECT 1 WHERE 0", parameters: [],
        content: .objects(ReadShape(table: nil, type: nil, members: [])), isSingle: true),
      only: only)
  }

  private func plan(
    _ kind: AffectedKind, entity: Int32, content: ODataBoundExpandItem.Content, bound: ODataBoundOptions?,
    options: QueryWriter.Options
  ) throws -> ReadPlan {
    let context = QueryContext(plan: plan, state: state, options: options, coverage: coverage)
    let statement = try SelectStatement(context)
    let alias = context.alias("e")
    let scope = EntityScope(statement: statement, alias: alias, table: kind.table, type: kind.type)
    let rows = RelatedRows(
      tables: ["\(try context.table(kind.table.number)) AS \(alias: alias)"],
      conditions: ["\(column: SystemColumn.id.rawValue, of: alias) = \(SQLText(.outer(entity)))"])
    return try PlanWriter(statement: statement, it: nil).plan(
      RowSet(rows: rows, scope: .entity(scope), isSingle: true), bound,
      as: content == .references ? .references : .objects)
  }
}
