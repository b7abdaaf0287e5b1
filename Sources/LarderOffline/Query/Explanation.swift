import LarderStorage

/// How a query is run: its SQL, the parameters, and SQLite's query plan.
struct Explanation: Sendable, CustomStringConvertible {
  /// One statement. A statement of `$expand` runs once for each row of the enclosing statement.
  struct Step: Sendable {
    /// The path of names that led to the statement: empty for the query itself, `Orders/Items` for expanded rows.
    let path: [String]
    /// Whether the statement computes the number for `$count=true`, and not rows.
    let isCount: Bool
    let sql: String
    /// The parameters in their order; nil for a parameter from a row of the enclosing statement.
    let parameters: [SQLValue?]
    /// SQLite's plan, one line for each step, indented by its depth.
    let plan: [String]
  }

  let steps: [Step]

  /// Asks SQLite how it would run a plan on a connection.
  init(_ plan: ReadPlan, on connection: Connection) throws {
    var steps: [Step] = []
    try Explanation.add(plan, path: [], connection, &steps)
    self.steps = steps
  }

  private static func add(
    _ plan: ReadPlan, path: [String], _ connection: Connection, _ steps: inout [Step]
  ) throws {
    steps.append(try step(path, isCount: false, sql: plan.sql, parameters: plan.parameters, connection: connection))
    if let count = plan.count {
      steps.append(try step(path, isCount: true, sql: count.sql, parameters: count.parameters, connection: connection))
    }
    guard case .objects(let shape) = plan.content else { return }
    for expand in shape.expands { try add(expand.plan, path: path + expand.path, connection, &steps) }
  }

  private static func step(
    _ path: [String], isCount: Bool, sql: String, parameters: [ReadParameter], connection: Connection
  ) throws -> Step {
    let values = parameters.map { parameter -> SQLValue? in
      if case .value(let value) = parameter { value } else { nil }
    }
    var depths: [Int64: Int] = [:]
    var lines: [String] = []
    try connection.forEachRow("EXPLAIN QUERY PLAN " + sql, values.map { $0 ?? .null }) { row throws(StorageError) in
      let depth = (depths[try row.int64(1)] ?? -1) + 1
      depths[try row.int64(0)] = depth
      lines.append(String(repeating: "  ", count: depth) + (try row.text(3)))
      return true
    }
    return Step(path: path, isCount: isCount, sql: sql, parameters: values, plan: lines)
  }

  /// The text of all statements, one after another.
  var description: String {
    steps.map { step in
      let name = (step.path.isEmpty ? [] : [step.path.joined(separator: "/")]) + (step.isCount ? ["$count"] : [])
      let head = name.isEmpty ? "" : "-- " + name.joined(separator: " ") + "\n"
      let parameters = step.parameters.map { $0.map(Explanation.describe) ?? "(from the enclosing row)" }
      let bound = parameters.isEmpty ? "" : "\n-- parameters: " + parameters.joined(separator: ", ")
      return head + step.sql + bound + step.plan.map { "\n-- plan: " + $0 }.joined()
    }
    .joined(separator: "\n\n")
  }

  private static func describe(_ value: SQLValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let number): String(number)
    case .real(let number): String(number)
    case .text(let text): "'" + text + "'"
    case .blob(let bytes): "\(bytes.count) bytes"
    }
  }
}
