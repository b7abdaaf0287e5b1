import LarderOData
import LarderStorage

// Checks for data that a read needs and that the copy may not have: see ``ReadOutcome``.
//
// Which rows have a property or a link depends on the defining queries that downloaded them. If not all rows of a table
// have it, a ``ReadCheck`` examines the rows that the query reads, before the query runs.
extension ExpressionWriter {
  /// The coverage of a table; nil if nothing is to be checked: for the store's own sets, and inside checks.
  private func coverage(_ table: EntityTable) -> Coverage? {
    let context = statement.context
    return context.sources.tables[table.number] == nil && !context.isChecking ? context.coverage : nil
  }

  // MARK: Needs

  /// Records that the query reads the rows of a table. Throws, or adds a check, if the rows may not have been
  /// downloaded.
  func need(_ table: EntityTable, for use: ReadOutcome.Use) throws {
    guard let coverage = coverage(table) else { return }
    switch ReadOutcome(use, of: coverage.content(of: table)) {
    case .available, .absent: break
    case .failure(let name): throw coverage.failure(name, of: table)
    case .rowOrFailure(let name):
      let failure = coverage.failure(name, of: table)
      statement.checks.append(SelectStatement.Check(text: "SELECT 1 WHERE 1", failure: failure))
    }
  }

  /// Records that the query reads the value of a property.
  func need(_ column: ReplicaColumn, of entity: EntityScope) throws {
    try needFitting(column, of: entity)
    guard let name = ReadOutcome(.compute, of: .leftOut).failure, let partial = partial(column, of: entity.table) else {
      return
    }
    guard let failure = coverage(entity.table)?.failure(name, of: column, in: entity.table, partial) else { return }
    try addCheck(entity, failure) { writer, entity in
      try writer.lackCondition(partial, entity, declaredBy: column.declaringType)
    }
  }

  /// Adds a check that the value of a property fits its declared type, if the store may have others.
  func needFitting(_ column: ReplicaColumn, of entity: EntityScope) throws {
    let table = entity.table
    guard statement.context.state.hasRawValues, coverage(table) != nil, !table.key.contains(column.number) else {
      return
    }
    // A part of a complex value is unknown if the whole value does not fit.
    let concerned = table.columns.filter { other in
      other === column || other.storage == .complex && column.path.starts(with: other.path)
    }
    for each in concerned where each.storage != .stream && each.storage != .dynamic {
      let property = each.path.joined(separator: "/")
      try addCheck(entity, RawValue.failure(of: table.name, property), rawProperty: property) { writer, entity in
        RawValue.condition(try writer.reference(each.name, of: entity), in: each.storage)
      }
    }
  }

  /// The name of a row's entity, for errors.
  private func name(of entity: EntityScope) throws -> SQLText {
    let table = entity.table
    guard !table.key.isEmpty else { return SQLText(.text(table.name)) }
    var parts: [SQLText] = []
    for number in table.key {
      let column = table.columns[number]
      let cell = try reference(column.name, of: entity)
      let value: SQLText = column.storage == .string ? "quote(\(cell))" : "ifnull(\(cell), '')"
      let name = table.key.count == 1 ? "" : column.path.joined(separator: "/") + "="
      parts.append("\(SQLText(.text(name))) || \(value)")
    }
    return "\(SQLText(.text(table.name + "("))) || \(SQLText.joined(parts, " || ',' || ")) || ')'"
  }

  /// Which rows have a property; nil if all rows have it.
  private func partial(_ column: ReplicaColumn, of table: EntityTable) -> Coverage.Partial? {
    guard column.storage != .stream, !table.key.contains(column.number) else { return nil }
    return coverage(table)?.column(column, in: table)
  }

  /// Records that the query follows a link.
  func need(_ navigation: ReplicaNavigation, of owner: EntityScope) throws {
    let table = owner.table
    guard let coverage = coverage(table), let number = table.number(of: navigation) else { return }
    try needFittingEnds(of: navigation, owner)
    if let name = ReadOutcome(.follow, of: .linkNotDownloaded).failure,
      let partial = coverage.navigation(number, in: table)
    {
      let failure = coverage.failure(name, of: navigation, in: table)
      return try addCheck(owner, failure) { writer, owner in try writer.lackCondition(partial, owner, navigation) }
    }
    guard case .columns(let pairs) = navigation.relation else { return }
    let target = statement.context.plan.tables[navigation.target]
    guard coverage.content(of: target) == .notCovered, let name = ReadOutcome(.follow, of: .notCovered).failure else {
      return
    }
    try addCheck(owner, coverage.failure(name, of: target)) { writer, owner in
      try writer.lackOther(of: pairs, owner, target, declaredBy: navigation.declaringType)
    }
  }

  /// Adds checks that the columns of a referential constraint fit their types at both ends: a row with another value may
  /// be related to any row.
  private func needFittingEnds(of navigation: ReplicaNavigation, _ owner: EntityScope) throws {
    let context = statement.context
    guard context.state.hasRawValues, case .columns(let pairs) = navigation.relation else { return }
    let target = context.plan.tables[navigation.target]
    let any = EntityScope(statement: statement, alias: context.alias(), table: target, type: target.type)
    for pair in pairs {
      try needFitting(owner.table.columns[pair.source], of: owner)
      try needFitting(target.columns[pair.target], of: any)
    }
  }

  /// The position of a column that is 0 in rows that lack a property; nil if all rows have it.
  func presence(of column: ReplicaColumn, _ entity: EntityScope) throws -> Int32? {
    try isPresent(column, entity).map { statement.column($0) }
  }

  /// The condition that a row has a property; nil if all rows have it.
  func isPresent(_ column: ReplicaColumn, _ entity: EntityScope) throws -> SQLText? {
    guard ReadOutcome(.show, of: .leftOut) == .absent, let partial = partial(column, of: entity.table) else {
      return nil
    }
    return .atom("(NOT \(operand: try lackCondition(partial, entity, declaredBy: entity.table.type)))")
  }

  // MARK: Checks

  /// Adds a check that no row lacks the data. It examines the rows that the statement reads if they are known, and
  /// otherwise all rows of the table.
  private func addCheck(
    _ entity: EntityScope, _ failure: OfflineODataError, rawProperty: String? = nil,
    _ lackCondition: (ExpressionWriter, EntityScope) throws -> SQLText
  ) throws {
    let context = statement.context
    func shown(_ entity: EntityScope) throws -> SQLText { try rawProperty == nil ? "1" : name(of: entity) }
    let text: SQLText
    if entity.statement !== statement {
      text = "SELECT \(try shown(entity)) WHERE \(operand: try lackCondition(self, entity))"
    } else if let rows = statement.reached[entity.alias] {
      text = "SELECT \(try shown(entity)) \(rows.from(try lackCondition(self, entity)))"
    } else {
      let any = EntityScope(statement: statement, alias: context.alias(), table: entity.table, type: entity.type)
      let rows = RelatedRows(tables: ["\(try context.table(entity.table.number)) AS \(alias: any.alias)"])
      text = "SELECT \(try shown(any)) \(rows.from(try lackCondition(self, any)))"
    }
    statement.checks.append(SelectStatement.Check(text: text, failure: failure, rawProperty: rawProperty))
  }

  /// The condition that a row lacks a property.
  private func lackCondition(
    _ partial: Coverage.Partial, _ entity: EntityScope, declaredBy type: EdmStructure
  ) throws -> SQLText {
    var conditions = try lackCondition(partial.bits, partial.rows, entity)
    if let numbers = narrowingTypes(type, in: entity.table) { conditions.append(try typeCondition(numbers, entity)) }
    return SQLText.joined(conditions.map(\.operand), " AND ")
  }

  /// The condition that a row lacks the links of a navigation property.
  private func lackCondition(
    _ partial: Coverage.Partial, _ owner: EntityScope, _ navigation: ReplicaNavigation
  ) throws -> SQLText {
    let context = statement.context
    var conditions = [try lackCondition(partial, owner, declaredBy: navigation.declaringType)]
    if case .links(let number, let isForward) = navigation.relation, !navigation.isCollection {
      // A to-one property has at most one link, so nothing is missing if the copy has one.
      let near: SQLText = isForward ? "source" : "target"
      conditions.append(
        "NOT EXISTS (SELECT 1 FROM \(try context.links(number)) WHERE \(near) = \(try system(.id, of: owner)))")
    }
    if let inverse = partial.inverse {
      let table = context.plan.tables[inverse.table]
      let other = EntityScope(statement: statement, alias: context.alias(), table: table, type: table.type)
      let rows = RelatedRows(tables: ["\(try context.table(table.number)) AS \(alias: other.alias)"])
      let isUnknown = SQLText.joined(try lackCondition(inverse.bits, inverse.rows, other).map(\.operand), " AND ")
      conditions.append("EXISTS (SELECT 1 \(rows.from(isUnknown)))")
    }
    return SQLText.joined(conditions.map(\.operand), " AND ")
  }

  /// The conditions that a row was not created locally, was not downloaded by certain queries, and is not one of
  /// certain rows.
  private func lackCondition(_ bits: Int64, _ rows: [Coverage.Rows], _ entity: EntityScope) throws -> [SQLText] {
    var conditions: [SQLText] = ["\(try system(.state, of: entity)) & \(number: Int(LocalState.made)) = 0"]
    if bits != 0 { conditions.append("\(try system(.queries, of: entity)) & \(value: .integer(bits)) = 0") }
    for rows in rows {
      guard let identities = identities(of: rows) else { continue }
      conditions.append("\(try system(.id, of: entity)) NOT IN (\(identities))")
    }
    return conditions
  }

  /// The condition that a row refers to an entity that the copy does not have, in a set that no query downloads.
  private func lackOther(
    of pairs: [ReplicaRelation.Pair], _ owner: EntityScope, _ target: EntityTable, declaredBy type: EdmStructure
  ) throws -> SQLText {
    let context = statement.context
    var conditions: [SQLText] = []
    if let numbers = narrowingTypes(type, in: owner.table) { conditions.append(try typeCondition(numbers, owner)) }
    guard Set(target.key).isSubset(of: pairs.map(\.target)) else {
      // The reference does not contain the key, so every downloaded row may refer to an entity that only the service
      // has.
      conditions.append("\(try system(.state, of: owner)) & \(number: Int(LocalState.made)) = 0")
      return SQLText.joined(conditions.map(\.operand), " AND ")
    }
    let alias = context.alias()
    var equal: [SQLText] = []
    for pair in pairs {
      let here = try reference(owner.table.columns[pair.source].name, of: owner)
      conditions.append("\(here) IS NOT NULL")
      equal.append("\(column: target.columns[pair.target].name, of: alias) = \(here)")
    }
    let rows = RelatedRows(tables: ["\(try context.table(target.number)) AS \(alias: alias)"], conditions: equal)
    conditions.append("NOT EXISTS (SELECT 1 \(rows.from()))")
    return SQLText.joined(conditions.map(\.operand), " AND ")
  }

  /// The identities of the rows that a path and a condition choose in the copy; nil if the path or condition is not
  /// supported.
  private func identities(of rows: Coverage.Rows) -> SQLText? {
    let context = statement.context
    context.isChecking = true
    defer { context.isChecking = false }
    guard let place = try? ResourceWriter(context).place(rows.path), case .entity(let entity) = place.scope,
      var matchingRows = place.rows
    else { return nil }
    let inner = ExpressionWriter(statement: entity.statement, environment: Environment().on(place.scope))
    if let filter = rows.filter {
      guard let condition = try? inner.condition(filter) else { return nil }
      matchingRows.conditions.append(condition)
    }
    if let link = rows.link {
      // A link that was changed here may lead to an entity that the query has brought in another way.
      guard let state = try? inner.system(.state, of: entity), let queries = try? inner.system(.queries, of: entity)
      else { return nil }
      matchingRows.conditions += ["\(state) = 0", "\(queries) & \(value: .integer(1 << link.bit)) <> 0"]
      let owners = PathPlace(rows: matchingRows, scope: place.scope, isCollection: place.isCollection)
      guard let targets = try? inner.navigate(link.navigation, owners), case .entity(let target) = targets.scope,
        let targetRows = targets.rows
      else { return nil }
      return (try? inner.system(.id, of: target)).map { "SELECT \($0) \(targetRows.from())" }
    }
    return (try? inner.system(.id, of: entity)).map { "SELECT \($0) \(matchingRows.from())" }
  }
}
