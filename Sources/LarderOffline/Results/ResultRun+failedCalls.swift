import LarderOData
import LarderStorage

// A function without a value for one row fails the whole query: because the standard says so (`div` and `mod` by zero,
// URL Conventions 4.01 §5.1.1.2.5, §5.1.1.2.6), or because the standard gives no value either (a sum beyond 64 bits).
// If a query fails, the store runs it again in a form whose calls report what they compute and for which rows. The
// usual form has no cost from this.

extension ExpressionWriter {
  /// Writes a call of a function that has no value for some rows.
  ///
  /// - Parameter expression: what the call computes.
  func fallible(
    _ function: SQLText, _ arguments: [SQLText], of expression: ODataBoundExpression
  ) throws -> SQLText {
    statement.context.canFail = true
    var arguments = arguments
    if statement.context.options.namesRows {
      arguments.append(FailedCall.argument(text(expression), try rows()))
    }
    return .atom("\(function)(\(SQLText.joined(arguments, ", ")))")
  }

  /// An expression as written in URLs.
  private func text(_ expression: ODataBoundExpression) -> String {
    let version = statement.context.plan.model.version
    var tree = expression.syntax(version.dialect)
    // Variables can be printed only inside their lambdas.
    var (before, after) = ("", "")
    for variable in environment.variables.keys.sorted() {
      let lambda = ODataPathSegment(.any(ODataLambda(variable: variable, predicate: tree)))
      tree = ODataExpression(.path(ODataPath([ODataPathSegment(.name("x")), lambda])))
      (before, after) = ("x/any(\(variable):" + before, after + ")")
    }
    let printed = try? ODataPrinter(version: version, isPercentEncoded: false).print(tree)
    guard let printed, printed.hasPrefix(before) else { return "an expression" }
    return String(printed.dropFirst(before.count).dropLast(after.count))
  }

  /// The rows that an expression is computed for.
  private func rows() throws -> [(variable: String, table: String, id: SQLText)] {
    let variables = environment.variables.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    return try ((environment.current.map { [("", $0)] } ?? []) + variables).compactMap { variable, scope in
      var owner: EntityScope?
      if case .entity(let entity) = scope { owner = entity }
      if case .complex(let complex) = scope { owner = complex.owner }
      guard let owner else { return nil }
      return (variable, owner.table.name, try system(.id, of: owner))
    }
  }
}

extension ResultRun {
  /// Runs a part of a query. If a function has no value for a row, the error names the row and the expression.
  func namingRows<Value>(_ connection: Connection, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as StorageError where error.isOfFunction {
      guard let naming = plan.naming else { throw error }
      do {
        // The new plan reads the same rows in the same order, up to the row that fails.
        _ = try ResultRun(plan: try naming.plan(), url: url, form: form, model: model).json(connection) { _ in }
      } catch let named as StorageError {
        if named.category == .interrupted { throw named }
        if let call = FailedCall(named.message) { throw naming.error(call, connection) }
      }
      throw error
    }
  }
}

extension StorageError {
  /// Whether a function of the store had no value for its arguments. An error in reading a row has the same category,
  /// but no result code of SQLite.
  var isOfFunction: Bool { category == .unexpectedValue && code != 0 }

  /// Whether the query's statement is larger than SQLite accepts ("Limits in SQLite"). The file is not damaged. SQLite
  /// has no result code for this, only these messages.
  var isOfLimits: Bool {
    category == .misuse
      && [
        "Expression tree is too large", "parser stack overflow", "too many terms in", "at most 64 tables in a join",
        "too many columns",
        "too many SQL variables", "too many arguments on function", "too many FROM clause terms",
      ].contains { message.contains($0) }
  }
}
