@_spi(Stores) internal import LarderHTTP
internal import LarderOData

/// Formats rows of the error archive for people.
enum ErrorsText {
  /// One line for each row: its number, the service's response, the request.
  static func table(_ rows: [JSONNode], style: TextStyle) -> String {
    guard !rows.isEmpty else { return "" }
    let headings = ["ID", "status", "request", "entity", "tag", "message"]
    let cells = rows.map { row in
      [
        row["RequestID"]?.text ?? "", isHeld(row) ? "held" : isUnclear(row) ? "unclear" : status(row),
        row["RequestMethod"]?.text ?? "",
        TerminalText.line(entity(row)), TerminalText.line(row["CustomTag"]?.text ?? "-"),
        TerminalText.line(reason(row)),
      ]
    }
    let widths = headings.indices.map { column in Columns.width(([headings] + cells).map { $0[column] }) }
    func line(_ cells: [String]) -> String {
      cells.enumerated().map { column, cell in
        column == 0
          ? Columns.padLeft(cell, widths[column])
          : column == headings.count - 1 ? cell : Columns.pad(cell, widths[column])
      }.joined(separator: "  ") + "\n"
    }
    return style.bold(line(headings)) + cells.map(line).joined()
  }

  /// One row on a line: `7  PATCH Orders(5): 412 the entity has changed`.
  static func summary(_ row: JSONNode) -> String {
    let number = row["RequestID"]?.text ?? ""
    let method = row["RequestMethod"]?.text ?? ""
    return "request \(number), \(method) \(entity(row)): \(status(row)) \(reason(row))"
  }

  /// All properties of one row, one on each line, then the content that was sent.
  static func details(_ row: JSONNode, style: TextStyle) -> String {
    let members = (row.members ?? []).filter { $0.name != "RequestBody" && shows($0.value) }
    let width = Columns.width(members.map(\.name))
    var text = members.map { member in
      style.bold(Columns.pad(TerminalText.line(member.name), width)) + "  "
        + TerminalText.line(PrintedRows.text(member.value, null: "-")) + "\n"
    }.joined()
    let parameters = parameters(row)
    if !parameters.isEmpty {
      text += style.bold("Parameters") + "\n" + parameters.map { "  " + TerminalText.line($0) + "\n" }.joined()
    }
    if let body = row["RequestBody"]?.string, !body.isEmpty {
      let shown = PayloadPrinter.json(Array(body.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? body
      text += style.bold("RequestBody") + "\n"
      text += shown.split(whereSeparator: \.isNewline).map { "  " + String($0) + "\n" }.joined()
    }
    return text
  }

  /// Why the request is in the archive, on one line.
  static func reason(_ row: JSONNode) -> String {
    let message = row["Message"]?.string ?? ""
    return message.split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  static func isHeld(_ row: JSONNode) -> Bool { row["Held"] == .boolean(true) }

  /// Whether it is unknown if the request took effect.
  private static func isUnclear(_ row: JSONNode) -> Bool { row["Reason"]?.string == "UnknownOutcome" }

  private static func status(_ row: JSONNode) -> String { row["HTTPStatusCode"]?.text ?? "-" }

  /// The entity of a request. For a request without one, such as the call of an action, the path without parameters.
  static func entity(_ row: JSONNode) -> String {
    row["EntityPath"]?.string ?? String(url(row).prefix { $0 != "?" })
  }

  private static func url(_ row: JSONNode) -> String { row["RequestURL"]?.string ?? "" }

  /// The parameters in a request's URL, each as a name and its value, decoded.
  private static func parameters(_ row: JSONNode) -> [String] {
    url(row).drop { $0 != "?" }.dropFirst().split(separator: "&").map { parameter in
      parameter.split(separator: "=", maxSplits: 1).map(decoded).joined(separator: " = ")
    }
  }

  /// A text without percent-encoding (RFC 3986 §2.1); unchanged if it is not valid.
  private static func decoded(_ text: Substring) -> String {
    PercentEncoding.decode(String(text)) ?? String(text)
  }

  private static func shows(_ value: JSONNode) -> Bool { value != .null && value != .boolean(false) }
}
