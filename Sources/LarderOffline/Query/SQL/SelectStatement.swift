import LarderOData
import LarderStorage

/// The state that all statements of one plan share while they are written.
final class QueryContext {
  let plan: ReplicaPlan
  let state: ReplicaState
  let options: QueryWriter.Options
  /// What the defining queries have downloaded; nil if nothing is to be checked.
  let coverage: Coverage?
  /// Whether the SQL that is being written reads which data the rows have, and not the data itself.
  var isChecking = false
  /// The SQL that replaces tables which are not in the file.
  var sources = QuerySources()
  private var aliases = 0
  /// The tables that `$search` searches without a full-text index.
  var unindexed: Set<Int> = []
  /// Runs the query again after a call has failed, to name the row.
  var rowNaming: RowNaming?
  /// Whether the query calls a function that has no value for some rows.
  var canFail = false
  /// Whether the query uses the current time.
  private(set) var usesCurrentTime = false
  /// The number of statements written so far. The binder limits `$expand` inside `$expand`; this number limits
  /// `$levels`.
  private var statements = 0

  private static let maximumStatements = 2000
  /// The number of expressions that are begun and not ended.
  private var depth = 0
  /// Prevents a stack overflow.
  private var stack = StackGuard()

  /// SQLite's parser accepts fewer nested levels than this, so a deeper expression need not be written.
  private static let maximumDepth = 96

  init(plan: ReplicaPlan, state: ReplicaState, options: QueryWriter.Options, coverage: Coverage?) {
    self.plan = plan
    self.coverage = coverage
    self.state = state
    self.options = options
  }

  /// The value of `now()`.
  var now: String {
    usesCurrentTime = true
    return options.now
  }

  /// Returns a new alias for a table in a statement.
  func alias(_ prefix: String = "t") -> String {
    defer { aliases += 1 }
    return prefix + String(aliases)
  }

  /// The physical table of an entity table.
  func table(_ number: Int) throws -> SQLText {
    if let source = sources.tables[number] { return source }
    guard state.tables.indices.contains(number) else {
      throw OfflineODataError.unsupported("a table that is not in the store")
    }
    return SQLText(table: state.tables[number])
  }

  /// The physical table of the links with a number.
  func links(_ number: Int) throws -> SQLText {
    if let source = sources.links[number] { return source }
    guard state.links.indices.contains(number) else {
      throw OfflineODataError.unsupported("links that are not in the store")
    }
    return SQLText(table: state.links[number])
  }

  /// Writes an expression inside another, and throws if the expressions are nested too deeply.
  func nested<Value>(_ write: () throws -> Value) throws -> Value {
    guard depth < QueryContext.maximumDepth, !stack.isSpent(at: depth, usual: QueryContext.maximumDepth) else {
      throw OfflineODataError.unsupported("an expression with this depth of nesting")
    }
    depth += 1
    defer { depth -= 1 }
    return try write()
  }

  func begin() throws {
    statements += 1
    guard statements <= QueryContext.maximumStatements else {
      throw OfflineODataError.unsupported(
        "$expand with more than \(QueryContext.maximumStatements) levels and branches")
    }
    guard !stack.isSpent(at: statements, usual: QueryContext.maximumStatements) else {
      throw OfflineODataError.unsupported("$expand with this depth of nesting")
    }
  }
}

/// One statement while it is written: what it selects, and the enclosing statement whose rows it runs for.
final class SelectStatement {
  let context: QueryContext
  /// The enclosing statement. This statement runs once for each of its rows.
  let outer: SelectStatement?
  private(set) var columns: [SQLText] = []
  /// The number of levels of `$levels=max` that are left for an item of `$expand`.
  var levels: [ODataBoundPath: Int] = [:]
  /// For an alias, the rows that the statement reads under it, or a superset of them, with all tables that join them.
  var reached: [String: RelatedRows] = [:]
  /// The checks to run before the statement. A row of one of these queries means that data is not in the copy, or does
  /// not fit its declared type.
  var checks: [Check] = []

  struct Check {
    var text: SQLText
    let failure: OfflineODataError
    /// For values that do not fit, the path of the property. The query returns the name of the entity.
    var rawProperty: String?
  }
  private var places: [SQLText: Int32] = [:]

  init(_ context: QueryContext, outer: SelectStatement? = nil) throws {
    self.context = context
    self.outer = outer
    try context.begin()
  }

  /// Returns the position of a column, and adds the column if it is not selected yet.
  func column(_ text: SQLText) -> Int32 {
    if let place = places[text] { return place }
    let place = Int32(clamping: columns.count)
    places[text] = place
    columns.append(text)
    return place
  }

  /// Returns a text of an enclosing statement as it can be used in this one: the value becomes a parameter.
  func imported(_ text: SQLText, from source: SelectStatement) throws -> SQLText {
    if source === self { return text }
    guard let outer else { throw OfflineODataError.unsupported("$it or $this outside the rows that it names") }
    return SQLText(.outer(outer.column(try outer.imported(text, from: source))))
  }
}
