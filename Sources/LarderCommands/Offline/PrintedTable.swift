internal import LarderOData

/// Formats rows as a table for people, or for spreadsheets.
enum PrintedTable {
  /// A table with aligned columns, numbers to the right; null is shown as `-`.
  static func text(_ result: PrintedRows, style: TextStyle) -> String {
    let rows = result.rows.map { row in row.map { TerminalText.line(PrintedRows.text($0, null: "-")) } }
    let widths = result.columns.indices.map { column in
      Columns.width(([result.columns] + rows).map { $0[column] })
    }
    let isNumber = result.columns.indices.map { column in
      let cells = result.rows.compactMap { $0[column] }.filter { $0 != .null }
      return !cells.isEmpty && cells.allSatisfy { if case .number = $0 { true } else { false } }
    }
    func line(_ cells: [String]) -> String {
      let padded = cells.enumerated().map { column, cell in
        isNumber[column]
          ? Columns.padLeft(cell, widths[column])
          : column == cells.count - 1 ? cell : Columns.pad(cell, widths[column])
      }
      return padded.joined(separator: "  ") + "\n"
    }
    guard !result.columns.isEmpty else { return "" }
    return style.bold(line(result.columns.map(TerminalText.line))) + rows.map(line).joined()
  }

  /// Comma-separated values (RFC 4180) with a line of names; null is empty, and an empty text is `""`.
  static func csv(_ result: PrintedRows) -> String {
    guard !result.columns.isEmpty else { return "" }
    var text = record(result.columns)
    for row in result.rows {
      text += record(row.map { cell in cell.flatMap { $0 == .null ? nil : PrintedRows.text($0, null: "") } })
    }
    return text
  }

  private static func record(_ cells: [String?]) -> String { cells.map(field).joined(separator: ",") + "\r\n" }

  /// Quotes a field. A quote may be followed by a combining mark, so scalars are compared, not characters.
  private static func field(_ text: String?) -> String {
    guard let text else { return "" }
    guard text.isEmpty || text.utf8.contains(where: { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }) else {
      return text
    }
    var quoted = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar == "\"" { quoted.append(scalar) }
      quoted.append(scalar)
    }
    return "\"" + String(quoted) + "\""
  }
}
