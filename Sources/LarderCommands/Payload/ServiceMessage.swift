internal import LarderHTTP
internal import LarderOData

/// Reads and formats messages that a service sends with its response (`sap-message`, `sap-messages`).
enum ServiceMessage {
  /// All messages of a response; fields that cannot be read give none.
  static func all(in fields: HTTPFields) -> [ODataMessage] {
    let single = fields.values(of: .sapMessage).compactMap { try? ODataMessage(sapMessage: $0) }
    let several = fields.values(of: .sapMessages).compactMap { try? ODataMessage.messages(sapMessages: $0) }
    return single + several.flatMap { $0 }
  }

  /// A message and its details, in lines that are safe for a terminal.
  static func line(_ message: ODataMessage) -> String {
    let target = message.target.flatMap { $0.isEmpty ? nil : " (\($0))" } ?? ""
    let code = message.code.isEmpty ? "" : " [\(message.code)]"
    let first = TerminalText.line("\(message.severity?.label ?? "message"): \(message.text)\(code)\(target)")
    return ([first] + message.details.map { "  " + line($0) }).joined(separator: "\n")
  }
}
