internal import LarderOData

/// Formats a tree for people: one line for each node, with its children indented.
struct SyntaxOutline {
  private(set) var lines: [String] = []

  init(_ root: JSONNode) { add(root, label: nil, level: 0) }

  private mutating func add(_ node: JSONNode, label: String?, level: Int) {
    let indent = String(repeating: "  ", count: level)
    let head = label.map { $0 + ": " } ?? ""
    switch node {
    case .object(let members):
      let kind = node["kind"]?.string
      let inline = members.filter { $0.name != "kind" && SyntaxOutline.isLeaf($0.value) }
      let words = [kind].compactMap { $0 } + inline.map { SyntaxOutline.word($0, kind: kind) }
      var line = indent + head + words.joined(separator: " ")
      if words.isEmpty, label != nil { line.removeLast(2) }
      if !words.isEmpty || label != nil { lines.append(line) }
      let inner = kind == nil && label == nil ? level : level + 1
      for member in members where !SyntaxOutline.isLeaf(member.value) {
        // Names that only say that there are parts are left out.
        let isPart = ["items", "segments", "operand", "left", "right", "options"].contains(member.name)
        if case .array(let items) = member.value {
          if isPart {
            for item in items { add(item, label: nil, level: inner) }
          } else {
            lines.append(String(repeating: "  ", count: inner) + member.name)
            for item in items { add(item, label: nil, level: inner + 1) }
          }
        } else {
          add(member.value, label: isPart ? nil : member.name, level: inner)
        }
      }
    case .array(let items):
      lines.append(indent + head + "sequence")
      for item in items { add(item, label: nil, level: level + 1) }
    default: lines.append(indent + head + SyntaxOutline.valueText(node))
    }
  }

  private static func isLeaf(_ node: JSONNode) -> Bool {
    switch node {
    case .object, .array: false
    default: true
    }
  }

  /// Formats a leaf on its node's line; the main member of a node is shown without its name.
  private static func word(_ member: JSONNode.Member, kind: String?) -> String {
    let unlabelledMembers = ["name", "text", "function", "value", "type", "serviceRoot", "root", "term"]
    return unlabelledMembers.contains(member.name)
      ? valueText(member.value) : "\(member.name)=\(valueText(member.value))"
  }

  private static func valueText(_ node: JSONNode) -> String {
    switch node {
    case .null: "null"
    case .string(let text) where text.isEmpty || text.contains(" ") || text.contains("\""):
      String(decoding: quoted(text), as: UTF8.self)
    default: node.text ?? ""
    }
  }

  private static func quoted(_ text: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.string(text)
    return writer.bytes
  }
}
