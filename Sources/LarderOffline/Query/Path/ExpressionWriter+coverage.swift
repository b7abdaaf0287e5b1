import LarderOData
import LarderStorage

// What a read needs of the rows that it is about, and the copy may not have: see ``ReadOutcome``.
//
// Which rows have a property or a link is known by the defining queries that brought them. Where not all rows of a table
// have it, a ``ReadCheck`` asks the rows that the read is about, before it is answered.
extension ExpressionWriter {
  /// What is known of the tables; nil where all that is asked for is there: in the store's own sets, and in checks themselves.
  private func coverage(_ table: EntityTable) -> Coverage? {
    let question = statement.question
    return question.sources.tables[table.number] == nil && !question.isChecking ? question.coverage : nil
  }

  // MARK: Needs

  /// Begins at the rows of a table; throws where none were ever to come.
  func need(_ table: EntityTable, for use: ReadOutcome.Use) throws {
    guard let coverage = coverage(table) else { return }
    switch ReadOutcome(use, of: coverage.content(of: table)) {
    case .answer, .absent: break
    case .failure(let name): throw coverage.failure(name, of: table)
    case .rowOrFailure(let name): statement.checks.append(("SELECT 1 WHERE 1", coverage.failure(name, of: table)))
    }
  }

  /// Takes the value of a property.
  func need(_ column: ReplicaColumn, of entity: EntityScope) throws {
    guard let name = ReadOutcome(.compute, of: .leftOut).failure, let partial = partial(column, of: entity.table) else {
      return
    }
    guard let failure = coverage(entity.table)?.failure(name, of: column, in: entity.table, partial) else { return }
    try note(entity, failure) { writer, entity in try writer.lack(partial, entity, declaredBy: column.declaringType) }
  }

  /// Which rows have a property; nil where all have.
  private func partial(_ column: ReplicaColumn, of table: EntityTable) -> Coverage.Partial? {
    guard column.storage != .stream, !table.key.contains(column.number) else { return nil }
    return coverage(table)?.column(column, in: table)
  }

  /// Follows a link.
  func need(_ navigation: ReplicaNavigation, of owner: EntityScope) throws {
    let table = owner.table
    guard let coverage = coverage(table), let number = table.number(of: navigation) else { return }
    if let name = ReadOutcome(.follow, of: .linkNotDownloaded).failure,
      let partial = coverage.navigation(number, in: table)
    {
      let failure = coverage.failure(name, of: navigation, in: table)
      return try note(owner, failure) { writer, owner in try writer.lack(partial, owner, navigation) }
    }
    guard case .columns(let pairs) = navigation.relation else { return }
    let target = statement.question.plan.tables[navigation.target]
    guard coverage.content(of: target) == .notCovered, let name = ReadOutcome(.follow, of: .notCovered).failure else {
      return
    }
    try note(owner, coverage.failure(name, of: target)) { writer, owner in
      try writer.lackOther(of: pairs, owner, target, declaredBy: navigation.declaringType)
    }
  }

  /// The place of a column that is 0 in rows that lack a property; nil where all rows have it.
  func presence(of column: ReplicaColumn, _ entity: EntityScope) throws -> Int32? {
    try isPresent(column, entity).map { statement.column($0) }
  }

  /// The condition that a row has a property; nil where all rows have it.
  func isPresent(_ column: ReplicaColumn, _ entity: EntityScope) throws -> SQLText? {
    guard ReadOutcome(.show, of: .leftOut) == .absent, let partial = partial(column, of: entity.table) else {
      return nil
    }
    return .atom("(NOT \(operand: try lack(partial, entity, declaredBy: entity.table.type)))")
  }

  // MARK: Checks

  /// Adds the check that no row has what is lacking, of those that are known to be read: else of all.
  private func note(
    _ entity: EntityScope, _ failure: OfflineODataError, _ lack: (ExpressionWriter, EntityScope) throws -> SQLText
  ) throws {
    let question = statement.question
    let text: SQLText
    if entity.home !== statement {
      text = "SELECT 1 WHERE \(operand: try lack(self, entity))"
    } else if let rows = statement.reached[entity.alias] {
      text = "SELECT 1 \(rows.from(try lack(self, entity)))"
    } else {
      let any = EntityScope(home: statement, alias: question.alias(), table: entity.table, type: entity.type)
      let rows = RelatedRows(tables: ["\(try question.table(entity.table.number)) AS \(alias: any.alias)"])
      text = "SELECT 1 \(rows.from(try lack(self, any)))"
    }
    statement.checks.append((text, failure))
  }

  /// The condition that a row lacks a property.
  private func lack(
    _ partial: Coverage.Partial, _ entity: EntityScope, declaredBy type: EdmStructure
  ) throws -> SQLText {
    var conditions = try lack(partial.bits, partial.rows, entity)
    if let numbers = narrowing(type, in: entity.table) { conditions.append(try typeCondition(numbers, entity)) }
    return SQLText.joined(conditions.map(\.operand), " AND ")
  }

  /// The condition that a row lacks the links of a navigation property.
  private func lack(
    _ partial: Coverage.Partial, _ owner: EntityScope, _ navigation: ReplicaNavigation
  ) throws -> SQLText {
    let question = statement.question
    var conditions = [try lack(partial, owner, declaredBy: navigation.declaringType)]
    if case .links(let number, let isForward) = navigation.relation, !navigation.isCollection {
      // There is one at most.
      let near: SQLText = isForward ? "source" : "target"
      conditions.append(
        "NOT EXISTS (SELECT 1 FROM \(try question.links(number)) WHERE \(near) = \(try system(.id, of: owner)))")
    }
    if let inverse = partial.inverse {
      let table = question.plan.tables[inverse.table]
      let other = EntityScope(home: statement, alias: question.alias(), table: table, type: table.type)
      let rows = RelatedRows(tables: ["\(try question.table(table.number)) AS \(alias: other.alias)"])
      let lacking = SQLText.joined(try lack(inverse.bits, inverse.rows, other).map(\.operand), " AND ")
      conditions.append("EXISTS (SELECT 1 \(rows.from(lacking)))")
    }
    return SQLText.joined(conditions.map(\.operand), " AND ")
  }

  /// The conditions that a row was neither made here, nor brought by certain queries, nor is one of certain rows.
  private func lack(_ bits: Int64, _ rows: [Coverage.Rows], _ entity: EntityScope) throws -> [SQLText] {
    var conditions: [SQLText] = ["\(try system(.state, of: entity)) & \(number: Int(LocalState.made)) = 0"]
    if bits != 0 { conditions.append("\(try system(.queries, of: entity)) & \(value: .integer(bits)) = 0") }
    for rows in rows {
      guard let identities = identities(of: rows) else { continue }
      conditions.append("\(try system(.id, of: entity)) NOT IN (\(identities))")
    }
    return conditions
  }

  /// The condition that a row of a set that no query brings is wanted, and is not there.
  private func lackOther(
    of pairs: [ReplicaRelation.Pair], _ owner: EntityScope, _ target: EntityTable, declaredBy type: EdmStructure
  ) throws -> SQLText {
    let question = statement.question
    var conditions: [SQLText] = []
    if let numbers = narrowing(type, in: owner.table) { conditions.append(try typeCondition(numbers, owner)) }
    guard Set(target.key).isSubset(of: pairs.map(\.target)) else {
      // Any may refer to one that the service has.
      conditions.append("\(try system(.state, of: owner)) & \(number: Int(LocalState.made)) = 0")
      return SQLText.joined(conditions.map(\.operand), " AND ")
    }
    let alias = question.alias()
    var equal: [SQLText] = []
    for pair in pairs {
      let here = try reference(owner.table.columns[pair.source].name, of: owner)
      conditions.append("\(here) IS NOT NULL")
      equal.append("\(column: target.columns[pair.target].name, of: alias) = \(here)")
    }
    let rows = RelatedRows(tables: ["\(try question.table(target.number)) AS \(alias: alias)"], conditions: equal)
    conditions.append("NOT EXISTS (SELECT 1 \(rows.from()))")
    return SQLText.joined(conditions.map(\.operand), " AND ")
  }

  /// The identities of the rows that a path and a condition choose in the copy; nil where that is not carried over.
  private func identities(of rows: Coverage.Rows) -> SQLText? {
    let question = statement.question
    question.isChecking = true
    defer { question.isChecking = false }
    guard let place = try? ResourceWriter(question).place(rows.path), case .entity(let entity) = place.scope,
      var found = place.rows
    else { return nil }
    let inner = ExpressionWriter(statement: entity.home, environment: Environment().on(place.scope))
    if let filter = rows.filter {
      guard let condition = try? inner.condition(filter) else { return nil }
      found.conditions.append(condition)
    }
    return (try? inner.system(.id, of: entity)).map { "SELECT \($0) \(found.from())" }
  }
}
