import LarderOData
import LarderStorage

/// Writes the plan of rows with query options, in the order in which the standard evaluates the options (Protocol 4.01
/// §11.2.1): `$apply`, `$compute`, `$search`, `$filter`, `$count`, `$orderby`, `$skip`, `$top`, `$expand`, `$select`.
struct PlanWriter {
  let statement: SelectStatement
  /// `$it` of the enclosing options; nil at the top level.
  let it: Scope?

  /// What the plan returns for the rows.
  enum ResultKind {
    case objects
    case references
    case count
    case media
  }

  var context: QueryContext { statement.context }

  func plan(
    _ start: RowSet, _ options: ODataBoundOptions?, as resultKind: ResultKind, owner: ReadCount? = nil
  ) throws -> ReadPlan {
    reach(start)
    return try written(start, options, as: resultKind, owner).addingChecks(statement)
  }

  /// Records which rows the statement reads, for the checks of missing data.
  private func reach(_ set: RowSet) {
    if case .entity(let entity) = set.scope { statement.reached[entity.alias] = set.rows }
  }

  private func written(
    _ start: RowSet, _ options: ODataBoundOptions?, as resultKind: ResultKind, _ owner: ReadCount?
  ) throws -> ReadPlan {
    var set = start
    let options = options ?? ODataBoundOptions()
    try rejectOptions(options)
    if let steps = options.apply { set = try ApplyWriter(statement: statement, it: it).rows(steps, set) }
    try compute(options.compute, &set)
    let writer = ExpressionWriter(statement: statement, environment: environment(set.scope))
    if let search = options.search { set.rows.conditions.append(try self.search(search, set.scope, writer)) }
    if let filter = options.filter {
      set.rows.conditions.append(try condition(filter, set))
    }
    reach(set)
    if resultKind == .count { return try counted(set, options: options, writer: writer, owner: owner) }
    let total = options.count == true ? ReadCount("SELECT count(*) \(set.rows.from())") : nil
    let content = try content(set, options, resultKind)
    guard !set.isSingle else {
      let sql = try SQLText.select(statement.columns, set.rows)
      return ReadPlan(sql, content, isSingle: true, count: total, owner: owner)
    }
    return try ordered(set, options: options, writer: writer, content: content, total: total, owner: owner)
  }

  /// Writes `$filter`. Rows that one part of an `and` excludes need not have the data that the other parts use.
  private func condition(_ filter: ODataBoundExpression, _ set: RowSet) throws -> SQLText {
    let writer = ExpressionWriter(statement: statement, environment: environment(set))
    let before = statement.checks
    let condition = try writer.condition(filter)
    guard statement.checks.count > before.count, case .and(let parts) = filter.kind else { return condition }
    var rest = set
    for part in parts {
      statement.checks = []
      let text = try writer.condition(part)
      if statement.checks.isEmpty { rest.rows.conditions.append(text) }
    }
    statement.checks = before
    reach(rest)
    return try writer.condition(filter)
  }

  func environment(_ scope: Scope) -> Environment { Environment(current: scope, it: it ?? scope, this: scope) }

  /// The environment of a row set, with `$these`: the rows before the option that is being written is applied.
  private func environment(_ set: RowSet) -> Environment {
    var environment = environment(set.scope)
    if !set.isSingle { environment.these = PathPlace(rows: set.rows, scope: set.scope, isCollection: true) }
    return environment
  }

  private func rejectOptions(_ options: ODataBoundOptions) throws {
    if options.index != nil { throw OfflineODataError.unsupported("$index in a query") }
    if let version = options.schemaVersion, version != "*" {
      throw OfflineODataError.unsupported("$schemaversion=\(version): the store has one version of the schema")
    }
    if options.deltaToken != nil {
      throw OfflineODataError.unsupported("$deltatoken: the store's data has no delta links")
    }
  }

  // MARK: Steps

  /// Adds computed properties. Within groups `$these` is not available, because the rows are those of all groups.
  func compute(_ items: [ODataBoundCompute], _ set: inout RowSet, inGroups: Bool = false) throws {
    for item in items {
      let environment = inGroups ? environment(set.scope) : environment(set)
      let writer = ExpressionWriter(statement: statement, environment: environment)
      let computedScope: Scope
      if item.expression.type.isCollection || item.expression.type.item.isStructured {
        computedScope = .json(JSONPlace(base: try writer.json(item.expression), type: item.expression.type))
      } else {
        let value = try writer.operand(item.expression)
        guard value.text.sql.utf8.count <= PlanWriter.longestComputed else {
          throw OfflineODataError.unsupported("$compute with this depth of dependent properties")
        }
        computedScope = .value(value)
      }
      switch set.scope {
      case .entity(var entity):
        entity.computed[item.alias] = computedScope
        set.scope = .entity(entity)
      case .row(var members):
        members[item.alias] = computedScope
        set.scope = .row(members)
      default: throw OfflineODataError.unsupported("$compute here")
      }
      set.names.append(item.alias)
    }
  }

  /// The maximum size of a computed property in bytes. Each use of a property repeats its SQL, so it contains the text
  /// of all properties that it uses.
  private static let longestComputed = 20_000

  func search(
    _ search: ODataSearchExpression, _ scope: Scope, _ writer: ExpressionWriter
  ) throws -> SQLText {
    guard case .entity(let entity) = scope else {
      throw OfflineODataError.unsupported("$search on rows that are not entities")
    }
    return try SearchWriter(writer: writer).condition(search, entity)
  }

  private func counted(
    _ set: RowSet, options: ODataBoundOptions, writer: ExpressionWriter, owner: ReadCount?
  ) throws -> ReadPlan {
    var text: SQLText = "SELECT count(*) \(set.rows.from())"
    if options.top != nil || options.skip != nil {
      // V2 counts the rows of the page.
      text = "SELECT count(*) FROM (SELECT 1 \(set.rows.from())\(PlanWriter.limit(options.top, options.skip)))"
    }
    return try ReadPlan(text.checked(), .count, isSingle: true, owner: owner)
  }

  private func content(_ set: RowSet, _ options: ODataBoundOptions, _ resultKind: ResultKind) throws -> ReadContent {
    let shapes = ShapeWriter(statement: statement, it: it)
    switch resultKind {
    case .references:
      guard case .entity(let entity) = set.scope else {
        throw OfflineODataError.unsupported("$ref on rows that are not entities")
      }
      return .references(try shapes.reference(entity, set.source))
    case .media:
      guard case .entity(let entity) = set.scope else { break }
      return .media(try shapes.reference(entity, set.source, withMedia: true), property: nil)
    case .objects, .count: break
    }
    return .objects(try shapes.shape(set, options))
  }

  private func ordered(
    _ set: RowSet, options: ODataBoundOptions, writer: ExpressionWriter, content: ReadContent,
    total: ReadCount?, owner: ReadCount?
  ) throws -> ReadPlan {
    var set = set
    let terms = try OrderWriter(writer: writer).terms(options.orderBy, set)
    let pageSize = statement.outer == nil ? context.options.pageSize : nil
    var delivered = 0
    var order: UInt64 = 0
    if pageSize != nil || options.skipToken != nil {
      order = OrderWriter.digest(options.orderBy, terms, of: name(set.scope))
    }
    if let text = options.skipToken {
      guard let token = SkipToken(text), token.order == order, token.values.count == terms.count else {
        throw OfflineODataError(.invalidSkipToken)
      }
      delivered = token.delivered
      var rowsAfter = OrderWriter.rowsAfter(token.values, terms)
      if !set.rows.conditions.isEmpty, !terms.allSatisfy(\.value.hasCollation) {
        // A computed term may fail at rows that the query excludes, because SQLite may evaluate it before the other
        // conditions.
        rowsAfter = .atom("CASE WHEN \(ExpressionWriter.chain(set.rows.conditions, " AND ")) THEN \(rowsAfter) END")
      }
      set.rows.conditions.append(rowsAfter)
    }
    let top = options.top.map { max(0, $0 - delivered) }
    let skip = options.skipToken == nil ? options.skip : nil
    var page: ReadPage?
    var limit = top
    if let pageSize, pageSize > 0, pageSize < Int.max, top ?? Int.max > pageSize {
      let token = terms.map { statement.column($0.value.text) }
      page = ReadPage(size: pageSize, token: token, order: order, delivered: delivered)
      limit = pageSize + 1
    }
    var text = try SQLText.select(statement.columns, set.rows)
    text.append(OrderWriter.clause(terms))
    text.append(PlanWriter.limit(limit, skip))
    return try ReadPlan(text.checked(), content, isSingle: false, count: total, page: page, owner: owner)
  }

  private func name(_ scope: Scope) -> String {
    if case .entity(let entity) = scope { entity.table.name } else { "" }
  }

  static func limit(_ top: Int?, _ skip: Int?) -> SQLText {
    switch (top, skip) {
    case (nil, nil): ""
    case (let top?, nil): " LIMIT \(value: .integer(Int64(top)))"
    case (let top, let skip?): " LIMIT \(value: .integer(Int64(top ?? -1))) OFFSET \(value: .integer(Int64(skip)))"
    }
  }
}

extension SQLText {
  /// `SELECT … FROM … WHERE …`
  static func select(_ columns: [SQLText], _ rows: RelatedRows) throws -> SQLText {
    let list: SQLText = columns.isEmpty ? "1" : SQLText.joined(columns, ", ")
    return try SQLText("SELECT \(list) \(rows.from())").checked()
  }

  /// Checks the size of the text. Some operands occur in a text more than once, so each level of nesting would double
  /// it.
  func checkLength() throws {
    guard sql.utf8.count < 8 << 20 else {
      throw OfflineODataError.unsupported("an expression of this length")
    }
  }

  /// The text, if SQLite can parse it. Throws if it is nested too deeply.
  func checked() throws -> SQLText {
    guard depth <= SQLText.deepest else {
      throw OfflineODataError.unsupported("an expression with this depth of nesting")
    }
    return self
  }
}

extension ReadPlan {
  convenience init(
    _ text: SQLText, _ content: ReadContent, isSingle: Bool, count: ReadCount? = nil, page: ReadPage? = nil,
    owner: ReadCount? = nil
  ) {
    self.init(
      sql: text.sql, parameters: text.parameters, content: content, isSingle: isSingle, count: count, page: page,
      owner: owner)
  }
}

extension ReadCount {
  init(_ text: SQLText) { self.init(sql: text.sql, parameters: text.parameters) }
}
