import LarderOData
import LarderStorage

/// Writes `$search` (URL Conventions 4.01 §5.1.7). The standard lets the service decide what matches. If the table has
/// a full-text index, its words are compared without regard to case and accents; otherwise every string is searched,
/// without regard to the case of ASCII letters.
struct SearchWriter {
  let writer: ExpressionWriter

  func condition(_ search: ODataSearchExpression, _ entity: EntityScope) throws -> SQLText {
    let context = writer.statement.context
    for column in entity.table.columns where column.storage == .string { try writer.need(column, of: entity) }
    if context.state.search.indices.contains(entity.table.number),
      let index = context.state.search[entity.table.number]
    {
      return try indexed(search, entity, SQLText(table: index))
    }
    context.unindexed.insert(entity.table.number)
    let columns = entity.table.columns.filter { $0.storage == .string }
    return try scanned(search, entity, columns)
  }

  // MARK: With an index

  private func indexed(_ search: ODataSearchExpression, _ entity: EntityScope, _ index: SQLText) throws -> SQLText {
    // FTS5 supports NOT only between two expressions, so SQL combines the parts of a search that contains NOT.
    if let query = SearchWriter.query(search) {
      let id = try writer.system(.id, of: entity)
      return .atom("(\(id) IN (SELECT rowid FROM \(index) WHERE \(index) MATCH \(value: .text(query))))")
    }
    return try combined(search) { try indexed($0, entity, index) }
  }

  /// The search as an FTS5 query; nil if it contains NOT. Each word is quoted, so that no part of it is FTS5 syntax.
  static func query(_ search: ODataSearchExpression) -> String? {
    switch search {
    case .word(let text), .phrase(let text): return TableDDL.quoted(text)
    case .incomplete(let text): return TableDDL.quoted(text) + " *"
    case .not: return nil
    case .and(let parts): return chain(parts, " AND ")
    case .or(let parts): return chain(parts, " OR ")
    }
  }

  private static func chain(_ parts: [ODataSearchExpression], _ separator: String) -> String? {
    var texts: [String] = []
    for part in parts {
      guard let text = query(part) else { return nil }
      texts.append(text)
    }
    return "(" + texts.joined(separator: separator) + ")"
  }

  private func combined(
    _ search: ODataSearchExpression, _ write: (ODataSearchExpression) throws -> SQLText
  ) throws -> SQLText {
    switch search {
    case .not(let inner): return .atom("(NOT \(operand: try write(inner)))")
    case .and(let parts): return ExpressionWriter.chain(try parts.map { try write($0).operand }, " AND ").operand
    case .or(let parts): return ExpressionWriter.chain(try parts.map { try write($0).operand }, " OR ").operand
    case .word, .phrase, .incomplete: return try write(search)
    }
  }

  // MARK: Without an index

  private func scanned(
    _ search: ODataSearchExpression, _ entity: EntityScope, _ columns: [ReplicaColumn]
  ) throws -> SQLText {
    switch search {
    case .word(let text), .phrase(let text), .incomplete(let text):
      guard !columns.isEmpty else { return .atom("0") }
      let pattern = SQLText(.text("%" + SearchWriter.escaped(text) + "%"))
      let parts: [SQLText] = try columns.map { column in
        "ifnull(\(try writer.reference(column, of: entity)) LIKE \(pattern) ESCAPE '\\', 0)"
      }
      return ExpressionWriter.chain(parts, " OR ").operand
    case .not, .and, .or: return try combined(search) { try scanned($0, entity, columns) }
    }
  }

  private static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar == "%" || scalar == "_" || scalar == "\\" { result.append("\\") }
      result.append(scalar)
    }
    return String(result)
  }
}
