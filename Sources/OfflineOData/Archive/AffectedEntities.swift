import OData
import Storage

/// What stands in a question for the tables of its plan, where they are no tables of the file.
struct QuerySources: Sendable {
  /// By the number of the table.
  var tables: [Int: SQLText] = [:]
  /// By the number of the links.
  var links: [Int: SQLText] = [:]
  /// Where a navigation property to entities of any type leads.
  var affected: AffectedEntities?
}

/// Entities of another plan, of several tables, that rows lead to by their columns `@table` and `@entity`.
struct AffectedEntities: Sendable {
  let plan: ReplicaPlan
  let state: ReplicaState
  let tables: [EntityTable]

  /// The navigation property in line: an alternative a table, and one for rows that lead nowhere.
  func expands(
    _ path: [String], _ content: ODataBoundExpandItem.Content, of owner: EntityScope, in statement: Statement
  ) throws -> [ReadExpand] {
    let writer = ExpressionWriter(statement: statement, environment: Environment())
    let table = statement.column(try writer.reference("@table", of: owner))
    let entity = statement.column(try writer.reference("@entity", of: owner))
    var expands = try tables.map { target in
      ReadExpand(
        path: path, isCollection: false, content: content,
        plan: try plan(target, entity, content, statement.question.options),
        only: ReadExpand.Only(column: table, text: target.name))
    }
    expands.append(
      ReadExpand(
        path: path, isCollection: false, content: content,
        plan: ReadPlan(
          sql: "SELECT 1 WHERE 0", parameters: [],
          content: .objects(ReadShape(table: nil, type: nil, members: [])), isSingle: true),
        only: ReadExpand.Only(column: table, text: nil)))
    return expands
  }

  private func plan(
    _ table: EntityTable, _ entity: Int32, _ content: ODataBoundExpandItem.Content, _ options: QueryWriter.Options
  ) throws -> ReadPlan {
    let question = Question(plan: plan, state: state, options: options)
    let statement = try Statement(question)
    let alias = question.alias("e")
    let scope = EntityScope(home: statement, alias: alias, table: table, type: table.type)
    let rows = RelatedRows(
      tables: ["\(try question.table(table.number)) AS \(alias: alias)"],
      conditions: ["\(column: SystemColumn.id.rawValue, of: alias) = \(SQLText(.outer(entity)))"])
    return try PlanWriter(statement: statement, it: nil).plan(
      RowSet(rows: rows, scope: .entity(scope), isSingle: true), nil,
      as: content == .references ? .references : .objects)
  }
}
