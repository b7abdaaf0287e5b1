import LarderStorage

/// A piece of SQL with the values of its parameters, in their order.
///
/// Code builds it by string interpolation from literals of this library: other pieces, quoted names, and values, which
/// become parameters. Text from outside cannot enter in any other way.
struct SQLText: Sendable, Hashable, ExpressibleByStringInterpolation {
  private(set) var sql: String
  private(set) var parameters: [ReadParameter]
  /// Whether it can be an operand of every operator without parentheses: a name, a call, something in parentheses.
  private(set) var isAtom: Bool

  init(stringLiteral sql: String) {
    self.sql = sql
    parameters = []
    isAtom = false
  }

  init(stringInterpolation: StringInterpolation) {
    sql = stringInterpolation.sql
    parameters = stringInterpolation.parameters
    isAtom = false
  }

  /// A parameter.
  init(_ parameter: ReadParameter) {
    sql = "?"
    parameters = [parameter]
    isAtom = true
  }

  /// A parameter with a value.
  init(_ value: SQLValue) { self.init(.value(value)) }

  /// The name of a physical table, quoted by the registry.
  init(table: String) {
    sql = table
    parameters = []
    isAtom = true
  }

  /// Marks a call or a name, which never needs parentheses.
  static func atom(_ text: SQLText) -> SQLText {
    var text = text
    text.isAtom = true
    return text
  }

  /// Whether a part of it names a collation.
  var hasInnerCollation: Bool { sql.contains(" COLLATE ") }

  /// The text in parentheses unless it needs none.
  var operand: SQLText { isAtom ? self : .atom("(\(self))") }

  /// Joins pieces with a separator.
  static func joined(_ parts: [SQLText], _ separator: SQLText) -> SQLText {
    var all: SQLText = ""
    for (place, part) in parts.enumerated() {
      if place > 0 { all.append(separator) }
      all.append(part)
    }
    if parts.count == 1 { all.isAtom = parts[0].isAtom }
    return all
  }

  /// Returns the text with other parameters.
  func mapping(_ change: (ReadParameter) throws -> ReadParameter) rethrows -> SQLText {
    var text = self
    text.parameters = try parameters.map(change)
    return text
  }

  mutating func append(_ other: SQLText) {
    sql += other.sql
    parameters += other.parameters
    isAtom = false
  }

  struct StringInterpolation: StringInterpolationProtocol {
    var sql = ""
    var parameters: [ReadParameter] = []

    init(literalCapacity: Int, interpolationCount: Int) {
      sql.reserveCapacity(literalCapacity + 16 * interpolationCount)
    }

    mutating func appendLiteral(_ literal: String) { sql += literal }

    /// Inserts a piece as it is.
    mutating func appendInterpolation(_ text: SQLText) {
      sql += text.sql
      parameters += text.parameters
    }

    /// Inserts a piece as an operand, in parentheses if it needs them.
    mutating func appendInterpolation(operand text: SQLText) { appendInterpolation(text.operand) }

    /// Inserts a quoted name.
    mutating func appendInterpolation(name: String) { sql += TableDDL.quoted(name) }

    /// Inserts a column of a table's alias.
    mutating func appendInterpolation(column: String, of alias: String) { sql += alias + "." + TableDDL.quoted(column) }

    /// Inserts an alias that this library created.
    mutating func appendInterpolation(alias: String) { sql += alias }

    /// Inserts a number.
    mutating func appendInterpolation(number: Int) { sql += String(number) }

    /// Inserts a value as a parameter.
    mutating func appendInterpolation(value: SQLValue) {
      sql += "?"
      parameters.append(.value(value))
    }
  }
}

extension SQLText {
  /// How much of the stack of SQLite's parser a text may use. The stack has 100 entries; the enclosing clauses need
  /// some of them.
  static let deepest = 84

  /// About how many entries of the parser's stack the text uses.
  var depth: Int {
    var costs: [Int] = []
    var now = 0
    var most = 0
    for opening in openings {
      if let cost = opening {
        costs.append(cost)
        now += cost
        most = max(most, now)
      } else if let last = costs.popLast() {
        now -= last
      }
    }
    return most
  }

  /// The cost of each start of a level, and nil for each end of a level.
  private var openings: [Int?] {
    let bytes = Array(sql.utf8)
    let (select, begin, end) = (Array("SELECT".utf8), Array("CASE".utf8), Array("END".utf8))
    var depths: [Int?] = []
    var isQuoted = false
    var isInWord = false
    for (place, byte) in bytes.enumerated() {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      guard !isQuoted else { continue }
      let isLetter = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A || byte == UInt8(ascii: "_")
      switch byte {
      case UInt8(ascii: "("):
        // The parser keeps the name of a call on the stack, and the token before it.
        depths.append(bytes[(place + 1)...].starts(with: select) ? 9 : isInWord ? 5 : 3)
      case UInt8(ascii: ")"): depths.append(nil)
      case UInt8(ascii: "C") where !isInWord && bytes[place...].starts(with: begin): depths.append(8)
      case UInt8(ascii: "E") where !isInWord && bytes[place...].starts(with: end): depths.append(nil)
      default: break
      }
      isInWord = isLetter
    }
    return depths
  }
}

/// The source of a parameter's value.
enum ReadParameter: Sendable, Hashable {
  case value(SQLValue)
  /// The value of a column in the current row of the enclosing plan, by the position of the column.
  case outer(Int32)
}

extension [ReadParameter] {
  /// The values of a plan's parameters for a row of the enclosing plan.
  func values(at row: borrowing Row) -> [SQLValue] {
    var values: [SQLValue] = []
    values.reserveCapacity(count)
    for parameter in self {
      switch parameter {
      case .value(let value): values.append(value)
      case .outer(let column): values.append(row.value(column))
      }
    }
    return values
  }

  /// The values of the parameters of a plan without an enclosing plan.
  func values() throws -> [SQLValue] {
    try map { parameter in
      guard case .value(let value) = parameter else {
        throw OfflineODataError(
          .internalFailure, "a plan without an enclosing plan has a parameter from the enclosing row")
      }
      return value
    }
  }
}
