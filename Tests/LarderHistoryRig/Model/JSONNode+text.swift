package import LarderOData

extension JSONNode {
  /// The node as JSON text.
  package var jsonText: String {
    switch self {
    case .null: "null"
    case .boolean(let flag): flag ? "true" : "false"
    case .number(let digits): digits
    case .string(let text): JSONNode.quoted(text)
    case .array(let items): "[" + items.map(\.jsonText).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { JSONNode.quoted($0.name) + ":" + $0.value.jsonText }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case let control where control.value < 0x20: result += " "
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// A value as the oracle compares it.
  package var plainText: String { text ?? (self == .null ? "null" : jsonText) }
}
