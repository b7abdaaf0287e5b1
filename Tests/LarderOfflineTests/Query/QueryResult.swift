import LarderOData
import LarderStorage

@testable import LarderOffline

/// The result of a plan, read by the tests themselves.
struct QueryResult: Sendable, Hashable, CustomStringConvertible {
  var rows: [QueryRow] = []
  /// The number for `$count=true` or `/$count`.
  var count: Int64?
  /// The text of a single value.
  var value: SQLValue?
  var cells: [[SQLValue]] = []

  init(_ plan: ReadPlan, row: [SQLValue], _ connection: Connection) throws(StorageError) {
    if let count = plan.count {
      self.count = try connection.number(count.sql, QueryResult.values(count.parameters, row))
    }
    var cells: [[SQLValue]] = []
    try connection.forEachRow(plan.sql, QueryResult.values(plan.parameters, row)) { (row) throws(StorageError) in
      cells.append((0..<Int32(row.columnCount)).map { row.value($0) })
      return true
    }
    self.cells = cells
    for cells in cells { try add(plan.content, cells, connection) }
  }

  private mutating func add(
    _ content: ReadContent, _ cells: [SQLValue], _ connection: Connection
  ) throws(StorageError) {
    switch content {
    case .objects(let shape), .references(let shape): rows.append(try QueryRow(shape, cells, connection))
    case .count: if case .integer(let number) = cells[0] { count = number }
    case .value(let member, _):
      if case .column(let place, _) = member.kind { value = cells[Int(place)] }
      if case .complex = member.kind { rows.append(QueryRow(members: [member], cells)) }
    case .media(let shape, _): rows.append(try QueryRow(shape, cells, connection))
    }
  }

  /// Rows in brackets, expanded entities after a colon.
  var description: String {
    let inner = rows.map { row in
      let expands = row.expands.sorted { $0.key < $1.key }.map { " \($0.key):\($0.value)" }.joined()
      return "\(row.id ?? 0)\(expands)"
    }
    return (count.map { "#\($0)" } ?? "") + "[" + inner.joined(separator: ", ") + "]"
  }

  static func values(_ parameters: [ReadParameter], _ row: [SQLValue]) -> [SQLValue] {
    parameters.map { parameter in
      switch parameter {
      case .value(let value): value
      case .outer(let place): row[Int(place)]
      }
    }
  }
}

/// One object of a result.
struct QueryRow: Sendable, Hashable {
  var id: Int64?
  /// The members by name; parts of complex values by their path.
  var values: [String: SQLValue] = [:]
  var expands: [String: QueryResult] = [:]

  init(_ shape: ReadShape, _ cells: [SQLValue], _ connection: Connection) throws(StorageError) {
    if let place = shape.id, case .integer(let number) = cells[Int(place)] { id = number }
    var type = 0
    if let place = shape.typeNumber, case .integer(let number) = cells[Int(place)] { type = Int(number) }
    add(shape.members, cells, type, "")
    for expand in shape.expands where expand.types?.contains(type) ?? true {
      expands[expand.path.joined(separator: "/")] = try QueryResult(expand.plan, row: cells, connection)
    }
  }

  init(members: [ReadMember], _ cells: [SQLValue]) { add(members, cells, 0, "") }

  private mutating func add(_ members: [ReadMember], _ cells: [SQLValue], _ type: Int, _ prefix: String) {
    for member in members where member.types?.contains(type) ?? true {
      switch member.kind {
      case .column(let place, _): values[prefix + member.name] = cells[Int(place)]
      case .complex(let place, let inner):
        values[prefix + member.name] = cells[Int(place)]
        if cells[Int(place)] != .null { add(inner, cells, type, prefix + member.name + "/") }
      case .dynamic(let place, let only):
        values[prefix + "@dynamic" + (only.map { $0.sorted().joined(separator: ",") } ?? "")] = cells[Int(place)]
      case .link(let shape):
        if let place = shape.id { values[prefix + member.name + "@link"] = cells[Int(place)] }
      }
    }
  }
}

extension Connection {
  func number(_ sql: String, _ values: [SQLValue]) throws(StorageError) -> Int64 {
    var number: Int64 = -1
    try forEachRow(sql, values) { (row) throws(StorageError) in
      number = try row.int64(0)
      return true
    }
    return number
  }
}
