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
