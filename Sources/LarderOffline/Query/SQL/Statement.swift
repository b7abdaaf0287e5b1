import LarderOData
import LarderStorage

/// What all statements of one plan share.
final class Question {
  let plan: ReplicaPlan
  let state: ReplicaState
  let options: QueryWriter.Options
  /// What the defining queries have brought; nil where nobody asks.
  let coverage: Coverage?
  /// Whether what is written asks for what is known of rows, and not for what they have.
  var isChecking = false
  /// What stands for tables that are none of the file.
  var sources = QuerySources()
  private var aliases = 0
  /// The tables that `$search` has found without a full-text index.
  var unindexed: Set<Int> = []
  /// What asks the question once more where a call has failed.
  var naming: RowNaming?
  /// Whether it calls a function that has no value for some rows.
  var mayFail = false
  /// Whether the time has been asked for.
  private(set) var asksTime = false
  /// Statements written so far: `$expand` inside `$expand` is bounded by the binder, `$levels` by this.
  private var statements = 0

  private static let mostStatements = 2000
  /// Expressions begun and not ended.
  private var depth = 0
  /// Keeps the stack from its end.
  private var stack = StackGuard()

  /// SQLite reads fewer levels: what is deeper need not be written.
  private static let deepest = 96

  init(plan: ReplicaPlan, state: ReplicaState, options: QueryWriter.Options, coverage: Coverage?) {
    self.plan = plan
    self.coverage = coverage
    self.state = state
    self.options = options
  }

  /// What `now()` is.
  var now: String {
    asksTime = true
    return options.now
  }

  /// A new name for a table in a statement.
  func alias(_ prefix: String = "t") -> String {
    defer { aliases += 1 }
    return prefix + String(aliases)
  }

  /// The physical table of an entity table.
  func table(_ number: Int) throws -> SQLText {
    if let source = sources.tables[number] { return source }
    guard state.tables.indices.contains(number) else {
      throw OfflineODataError.unsupported("a table that the store has not")
    }
    return SQLText(table: state.tables[number])
  }

  /// The physical table of links.
  func links(_ number: Int) throws -> SQLText {
    if let source = sources.links[number] { return source }
    guard state.links.indices.contains(number) else {
      throw OfflineODataError.unsupported("links that the store has not")
    }
    return SQLText(table: state.links[number])
  }

  /// Writes an expression inside another.
  func nested<Value>(_ write: () throws -> Value) throws -> Value {
    guard depth < Question.deepest, !stack.isSpent(at: depth, usual: Question.deepest) else {
      throw OfflineODataError.unsupported("an expression nested as deeply as this one")
    }
    depth += 1
    defer { depth -= 1 }
    return try write()
  }

  func begin() throws {
    statements += 1
    guard statements <= Question.mostStatements else {
      throw OfflineODataError.unsupported("$expand with more than \(Question.mostStatements) levels and branches")
    }
    guard !stack.isSpent(at: statements, usual: Question.mostStatements) else {
      throw OfflineODataError.unsupported("$expand nested as deeply as here")
    }
  }
}

/// One statement while it is written: what it selects, and the statement whose rows it is run for.
final class Statement {
  let question: Question
  /// The statement that this one is run once a row of.
  let outer: Statement?
  private(set) var columns: [SQLText] = []
  /// How many levels of `$levels=max` are left for an item of `$expand`.
  var levels: [ODataBoundPath: Int] = [:]
  /// The rows that stand under an alias, or more, with all tables that join them.
  var reached: [String: RelatedRows] = [:]
  /// What has to be in the copy for the statement to be answered: a row of one of these is what is not.
  var checks: [(text: SQLText, failure: OfflineODataError)] = []
  private var places: [SQLText: Int32] = [:]

  init(_ question: Question, outer: Statement? = nil) throws {
    self.question = question
    self.outer = outer
    try question.begin()
  }

  /// The place of a column, added where it is not there yet.
  func column(_ text: SQLText) -> Int32 {
    if let place = places[text] { return place }
    let place = Int32(clamping: columns.count)
    places[text] = place
    columns.append(text)
    return place
  }

  /// A text of a statement around this one as it can stand here: its value comes as a parameter.
  func imported(_ text: SQLText, from home: Statement) throws -> SQLText {
    if home === self { return text }
    guard let outer else { throw OfflineODataError.unsupported("$it or $this outside the rows that it names") }
    return SQLText(.outer(outer.column(try outer.imported(text, from: home))))
  }
}
