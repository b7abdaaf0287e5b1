import LarderOData
import LarderStorage

// Transformations that keep a part of the rows, in each group separately (Data Aggregation 4.0 §3.3).
extension ApplyWriter {
  /// The order of the rows, made total.
  private func terms(_ rows: ApplySet) throws -> [OrderTerm] {
    try OrderWriter(writer: writer(rows.set.scope)).terms([], rows.set)
  }

  /// The columns by which the groups differ.
  func partition(_ rows: ApplySet) throws -> [SQLText] {
    var projection = Projection(statement)
    _ = try projection.row(rows.keys)
    return projection.collated
  }

  /// `OVER (…)`, within each group.
  private func window(_ rows: ApplySet, _ terms: [OrderTerm]) throws -> SQLText {
    let keys = try partition(rows)
    let group: SQLText = keys.isEmpty ? "" : "PARTITION BY \(SQLText.joined(keys, ", ")) "
    return "OVER (\(group)ORDER BY \(SQLText.joined(terms.map(\.text), ", ")))"
  }

  // MARK: top, skip

  func page(_ rows: inout ApplySet, top: Int? = nil, skip: Int? = nil) throws {
    let terms = try terms(rows)
    rows.isThinned = true
    guard !rows.keys.isEmpty else {
      rows.wrap(tail: "\(OrderWriter.clause(terms))\(PlanWriter.limit(top, skip))")
      return
    }
    let number = try numbered(&rows, terms)
    if let top { rows.set.rows.conditions.append("\(number) <= \(value: .integer(Int64(top)))") }
    if let skip { rows.set.rows.conditions.append("\(number) > \(value: .integer(Int64(skip)))") }
  }

  /// The number of each row in its group.
  private func numbered(_ rows: inout ApplySet, _ terms: [OrderTerm]) throws -> SQLText {
    let name = statement.context.alias("w")
    rows.wrap(["row_number() \(try window(rows, terms)) AS \(alias: name)"])
    return .atom("\(alias: rows.core).\(alias: name)")
  }

  // MARK: Extremes

  func extremes(
    _ kind: ODataExtremes, count: ODataBoundExpression, measure: ODataBoundExpression, rows: inout ApplySet
  ) throws {
    try check(kind, count)
    let value = try writer(rows.set.scope).operand(measure)
    let these = Environment(these: environment(of: rows).these)
    let limit = try ExpressionWriter(statement: statement, environment: these).operand(count)
    var set = rows.set
    set.order = [OrderTerm(value: value, isDescending: kind.isTop)]
    let terms = try OrderWriter(writer: writer(set.scope)).terms([], set)
    rows.isThinned = true
    // The remaining rows have the order of the key: the standard leaves it to the service (§3.3.1).
    rows.set.order = []
    switch kind {
    case .topcount, .bottomcount:
      if rows.keys.isEmpty {
        rows.wrap(tail: "\(OrderWriter.clause(terms)) LIMIT max(0, CAST(\(limit.text) AS INTEGER))")
      } else {
        let number = try numbered(&rows, terms)
        rows.set.rows.conditions.append("larder_compare(\(number), \(limit.text)) <= 0")
      }
    case .topsum, .bottomsum:
      try running(&rows, value: value, terms: terms, limit: Limit(number: limit.text, isPercent: false))
    case .toppercent, .bottompercent:
      try running(&rows, value: value, terms: terms, limit: Limit(number: limit.text, isPercent: true))
    }
  }

  /// Checks the first argument: a number of rows is a positive integer, and a percentage is positive and at most 100
  /// (§3.3.1).
  private func check(_ kind: ODataExtremes, _ count: ODataBoundExpression) throws {
    var literal = count
    var isNegative = false
    if case .negate(let inner) = count.kind { (literal, isNegative) = (inner, true) }
    guard case .literal(let value) = literal.kind else { return }
    let isRight: Bool
    switch kind {
    case .topcount, .bottomcount: isRight = !isNegative && SQLLiteral.wholeNumber(value).map { $0 > 0 } ?? false
    case .toppercent, .bottompercent:
      isRight = !isNegative && SQLLiteral.decimal(value).map { $0 > 0 && !(ODataDecimal(100) < $0) } ?? true
    case .topsum, .bottomsum: isRight = value != .null
    }
    guard isRight else {
      throw OfflineODataError(
        .malformedURL,
        "\(kind.rawValue) takes \(kind.isCount ? "a positive integer" : "a number above 0, up to 100") first")
    }
  }

  /// The limit for the sum of the rows that are kept.
  private struct Limit {
    let number: SQLText
    let isPercent: Bool

    /// The condition that a sum has reached the limit; `total` is the sum of all values.
    func isReached(_ sum: SQLText, _ total: SQLText) -> SQLText {
      guard isPercent else { return .atom("ifnull(larder_compare(\(sum), \(number)) >= 0, 0)") }
      let comparison: SQLText = "larder_compare(larder_mul(\(sum), 100), larder_mul(\(total), \(number)))"
      // With a negative total, the ratio grows as the sum falls; with a total of 0, there is no ratio.
      return .atom(
        "ifnull(CASE larder_compare(\(total), 0) WHEN 1 THEN \(comparison) >= 0 WHEN -1 THEN \(comparison) <= 0 END, 0)"
      )
    }
  }

  /// Keeps rows in their order until the sum of their values reaches the limit. The query goes from row to row, because
  /// the sum must be exact.
  private func running(
    _ rows: inout ApplySet, value: SQLOperand, terms: [OrderTerm], limit: Limit
  ) throws {
    let (all, walk, totals) = (
      statement.context.alias("q"), statement.context.alias("r"), statement.context.alias("s")
    )
    let (number, group, amount) = (
      statement.context.alias("w"), statement.context.alias("w"), statement.context.alias("w")
    )
    let keys = try partition(rows)
    let order = SQLText.joined(keys + terms.map(\.text), ", ")
    let rank: SQLText = keys.isEmpty ? "1" : "dense_rank() OVER (ORDER BY \(SQLText.joined(keys, ", ")))"
    let numbered: SQLText =
      "SELECT \(alias: rows.core).*, row_number() OVER (ORDER BY \(order)) AS \(alias: number), \(rank) AS \(alias: group), ifnull(\(value.text), 0) AS \(alias: amount) \(rows.set.rows.from())"
    let here: SQLText = "\(alias: all).\(alias: amount)"
    let fresh = limit.isReached("0", "\(alias: totals).t")
    let isSame: SQLText = "\(alias: all).\(alias: group) = \(alias: walk).g"
    let columns: SQLText = "\(alias: all).\(alias: number), \(alias: all).\(alias: group)"
    let total: SQLText = "JOIN \(alias: totals) ON \(alias: totals).g = \(alias: all).\(alias: group)"
    let text: SQLText =
      "WITH RECURSIVE \(alias: all) AS (\(numbered)), \(alias: totals)(g, t) AS (SELECT \(alias: group), larder_sum(\(alias: amount)) FROM \(alias: all) GROUP BY \(alias: group)), \(alias: walk)(n, g, s, x) AS (SELECT \(columns), \(here), \(fresh) FROM \(alias: all) \(total) WHERE \(alias: all).\(alias: number) = 1 UNION ALL SELECT \(columns), CASE WHEN \(isSame) THEN larder_add(\(alias: walk).s, \(here)) ELSE \(here) END, CASE WHEN \(isSame) THEN \(alias: walk).x OR \(limit.isReached("\(alias: walk).s", "\(alias: totals).t")) ELSE \(fresh) END FROM \(alias: walk) JOIN \(alias: all) ON \(alias: all).\(alias: number) = \(alias: walk).n + 1 \(total)) SELECT \(alias: all).* FROM \(alias: all) JOIN \(alias: walk) ON \(alias: walk).n = \(alias: all).\(alias: number) WHERE NOT \(alias: walk).x"
    rows.table(text)
  }
}

extension ODataExtremes {
  /// Whether the first argument is a number of rows.
  fileprivate var isCount: Bool { self == .topcount || self == .bottomcount }

  /// Whether the rows with the greatest values come first.
  fileprivate var isTop: Bool { self == .topcount || self == .topsum || self == .toppercent }
}
