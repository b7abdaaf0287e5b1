import LarderStorage

/// A piece of SQL with the values of its parameters, in their order.
///
/// Built from literals of this library's own code by interpolation: other pieces, quoted names, and values, which become
/// parameters. Text from outside has no other way in.
struct SQLText: Sendable, Hashable, ExpressibleByStringInterpolation {
  private(set) var sql: String
  private(set) var parameters: [ReadParameter]
  /// Whether it can be an operand of every operator as it stands: a name, a call, something in parentheses.
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

  /// A call or a name: stands in parentheses nowhere.
  static func atom(_ text: SQLText) -> SQLText {
    var text = text
    text.isAtom = true
    return text
  }

  /// Whether a part of it names a collation.
  var hasInnerCollation: Bool { sql.contains(" COLLATE ") }

  /// The text in parentheses unless it needs none.
  var operand: SQLText { isAtom ? self : .atom("(\(self))") }

  /// Pieces with something between them.
  static func joined(_ parts: [SQLText], _ separator: SQLText) -> SQLText {
    var all: SQLText = ""
    for (place, part) in parts.enumerated() {
      if place > 0 { all.append(separator) }
      all.append(part)
    }
    if parts.count == 1 { all.isAtom = parts[0].isAtom }
    return all
  }

  /// The same text with other parameters.
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

    /// A piece as it stands.
    mutating func appendInterpolation(_ text: SQLText) {
      sql += text.sql
      parameters += text.parameters
    }

    /// A piece as an operand.
    mutating func appendInterpolation(operand text: SQLText) { appendInterpolation(text.operand) }

    /// A name, quoted.
    mutating func appendInterpolation(name: String) { sql += SQLText.quoted(name) }

    /// A column of a table's alias.
    mutating func appendInterpolation(column: String, of alias: String) { sql += alias + "." + SQLText.quoted(column) }

    /// An alias, which this library made.
    mutating func appendInterpolation(alias: String) { sql += alias }

    /// A number.
    mutating func appendInterpolation(number: Int) { sql += String(number) }

    /// A value: a parameter.
    mutating func appendInterpolation(value: SQLValue) {
      sql += "?"
      parameters.append(.value(value))
    }
  }

  static func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }
}

extension SQLText {
  /// What a text may take of the stack of SQLite's parser, which has 100 places; the clauses around need some.
  static let deepest = 84

  /// About how many places of the parser's stack the text takes.
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

  /// What begins a level, with its cost, and nil for what ends one.
  private var openings: [Int?] {
    let bytes = Array(sql.utf8)
    let (select, begin, end) = (Array("SELECT".utf8), Array("CASE".utf8), Array("END".utf8))
    var found: [Int?] = []
    var isQuoted = false
    var isInWord = false
    for (place, byte) in bytes.enumerated() {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      guard !isQuoted else { continue }
      let isLetter = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A || byte == UInt8(ascii: "_")
      switch byte {
      case UInt8(ascii: "("):
        // A call holds its name, and what stands before it.
        found.append(bytes[(place + 1)...].starts(with: select) ? 9 : isInWord ? 5 : 3)
      case UInt8(ascii: ")"): found.append(nil)
      case UInt8(ascii: "C") where !isInWord && bytes[place...].starts(with: begin): found.append(8)
      case UInt8(ascii: "E") where !isInWord && bytes[place...].starts(with: end): found.append(nil)
      default: break
      }
      isInWord = isLetter
    }
    return found
  }
}
