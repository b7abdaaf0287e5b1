import LarderOData
import LarderStorage

/// What stands in a question for the tables of its plan, where they are no tables of the file.
struct QuerySources: Sendable {
  /// By the number of the table.
  var tables: [Int: SQLText] = [:]
  /// By the number of the links.
  var links: [Int: SQLText] = [:]
  /// Where a navigation property to entities of any type leads.
  var affected: AffectedEntities?
}

/// A table and a type of entities that rows lead to.
struct AffectedKind: Hashable, Sendable {
  let table: EntityTable
  let type: EdmStructure

  /// What the rows say in their column `@kind`.
  var text: String { "\(table.name) \(type.name)" }

  /// The set that names in options are bound from; nil for contained entities.
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

/// Entities of another plan, of several tables and types, that rows lead to by their columns `@kind` and `@entity`.
struct AffectedEntities: Sendable {
  let plan: ReplicaPlan
  let state: ReplicaState
  let coverage: Coverage?
  /// What the rows lead to.
  let kinds: [AffectedKind]
  /// Binds options to the types of the entities.
  let options: AffectedOptions

  /// An item of `$expand` that is one of them, for entities of some types or of all.
  private struct Choice {
    /// The type that the item asks for.
    let cast: EdmStructure?
    let content: ODataBoundExpandItem.Content
    let fitting: AffectedOptions.Fitting?

    func takes(_ kind: AffectedKind) -> Bool { cast.map(kind.type.isOrDerives(from:)) ?? true }
  }

  /// The navigation property in line: an alternative for each kind, and one for rows that lead nowhere.
  ///
  /// Of several items an entity shows the first that asks for its type, or for none.
  func expands(
    _ path: [String], _ items: [ODataBoundExpandItem], of owner: EntityScope, in statement: Statement
  ) throws -> [ReadExpand] {
    let writer = ExpressionWriter(statement: statement, environment: Environment())
    let kind = statement.column(try writer.reference("@kind", of: owner))
    let entity = statement.column(try writer.reference("@entity", of: owner))
    let choices = try items.map(choice)
    var expands = try kinds.map { known in
      let only = ReadExpand.Only(column: kind, text: known.text)
      guard let choice = choices.first(where: { $0.takes(known) }) else { return none(path, only) }
      let bound = choice.fitting?.options[known]
      return ReadExpand(
        path: path, isCollection: false, content: choice.content,
        plan: try plan(known, entity, choice.content, bound, statement.question.options), only: only, options: bound)
    }
    expands.append(none(path, ReadExpand.Only(column: kind, text: nil)))
    return expands
  }

  private func choice(_ item: ODataBoundExpandItem) throws -> Choice {
    var cast: EdmStructure?
    if case .dynamic(let name)? = item.path.segments.last?.kind { cast = try options.entityType(name) }
    let fitting = try item.kept.map { try options.fitting($0, to: kinds, below: cast, in: plan) }
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
    _ kind: AffectedKind, _ entity: Int32, _ content: ODataBoundExpandItem.Content, _ bound: ODataBoundOptions?,
    _ options: QueryWriter.Options
  ) throws -> ReadPlan {
    let question = Question(plan: plan, state: state, options: options, coverage: coverage)
    let statement = try Statement(question)
    let alias = question.alias("e")
    let scope = EntityScope(home: statement, alias: alias, table: kind.table, type: kind.type)
    let rows = RelatedRows(
      tables: ["\(try question.table(kind.table.number)) AS \(alias: alias)"],
      conditions: ["\(column: SystemColumn.id.rawValue, of: alias) = \(SQLText(.outer(entity)))"])
    return try PlanWriter(statement: statement, it: nil).plan(
      RowSet(rows: rows, scope: .entity(scope), isSingle: true), bound,
      as: content == .references ? .references : .objects)
  }
}
