import LarderOData
import LarderStorage

// A function without a value for one row fails the whole query: because the standard says so (`div` and `mod` by zero,
// URL Conventions 4.01 §5.1.1.2.5, §5.1.1.2.6), or because the standard gives no value either (a sum beyond 64 bits).
// If a query fails, the store runs it again in a form whose calls report what they compute and for which rows. The
// usual form has no cost from this.

/// The details of a failed call: the expression, the rows that it was computed for, and the reason.
struct FailedCall {
  let expression: String
  /// The row of the expression's instance (with an empty variable name), and the rows of the lambda variables around
  /// it.
  let rows: [(variable: String, row: RowReference)]
  let reason: String

  // Expressions and the names of tables and variables never contain these characters.
  private static let end: Character = "\u{1}"
  private static let separator: Character = "\u{2}"

  /// Reads the message of an error; nil if the message contains no details of a call.
  init?(_ message: String) {
    guard let end = message.firstIndex(of: Self.end) else { return nil }
    let parts = message[..<end].split(separator: Self.separator, omittingEmptySubsequences: false).map(String.init)
    expression = parts[0]
    rows = stride(from: 1, to: parts.count - 2, by: 3).compactMap { place in
      Int64(parts[place + 2]).map { (parts[place], RowReference(parts[place + 1], $0)) }
    }
    reason = String(message[message.index(after: end)...])
  }

  /// The additional argument of a call that reports its expression and rows, as SQL.
  static func argument(_ expression: String, _ rows: [(variable: String, table: String, id: SQLText)]) -> SQLText {
    var text: SQLText = "\(value: .text(expression))"
    for row in rows {
      let place = "\(separator)\(row.variable)\(separator)\(row.table)\(separator)"
      text.append(" || \(value: .text(place)) || ifnull(\(row.id), '')")
    }
    text.append(" || \(value: .text(String(end)))")
    return text
  }
}

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
