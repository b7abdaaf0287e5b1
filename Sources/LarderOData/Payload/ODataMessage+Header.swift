// Reads the headers `sap-message` (V2: one leading message, JSON or XML) and `sap-messages` (V4: a JSON array).
extension ODataMessage {
  /// Reads the value of `sap-message`: one message, with the messages below it in `details`. JSON, or XML of the
  /// `notification` form.
  package init(sapMessage header: String) throws(PayloadError) {
    let bytes = Array(header.utf8)
    if bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "<") {
      guard let node = SAPNotification.read(header) else {
        throw PayloadError(.unexpected(expected: "a 'notification' element"), offset: 0, path: "sap-message")
      }
      self.init(node: node)
      return
    }
    let node = try ODataMessage.tree(bytes, "sap-message")
    guard case .object = node else {
      throw PayloadError(.unexpected(expected: "an object"), offset: 0, path: "sap-message")
    }
    self.init(node: node)
  }

  /// Reads the value of `sap-messages`: messages in their order.
  package static func messages(sapMessages header: String) throws(PayloadError) -> [ODataMessage] {
    guard let items = try tree(Array(header.utf8), "sap-messages").items else {
      throw PayloadError(.unexpected(expected: "an array"), offset: 0, path: "sap-messages")
    }
    return items.map(ODataMessage.init(node:))
  }

  private static func tree(_ bytes: [UInt8], _ name: String) throws(PayloadError) -> JSONNode {
    do throws(JSONError) { return try JSONNode(bytes, limits: JSONLimits(depth: 32)) } catch {
      throw PayloadError(.json(error.problem), offset: error.offset, path: name)
    }
  }

  init(node: JSONNode) {
    let severity = node["severity"]?.text ?? node["numericSeverity"]?.text ?? node["@Common.numericSeverity"]?.text
    let details = node["details"]
    self.init(
      code: node["code"]?.text ?? "", text: node["message"]?.text ?? "", severity: severity.map(Severity.init(_:)),
      target: node["target"]?.text ?? node["propertyref"]?.text,
      additionalTargets: (node["additionalTargets"]?.items ?? []).compactMap(\.text),
      isTransition: node["transition"]?.text == "true",
      longTextURL: node["longtextUrl"]?.text ?? node["longtext_url"]?.text,
      details: (details?.items ?? details?["detail"]?.items ?? []).map(ODataMessage.init(node:)))
  }
}

/// Reads the XML form of `sap-message`: elements with text, attributes without meaning, no mixed content, up to
/// eight levels of details.
private enum SAPNotification {
  /// The notification as the object of the JSON form; nil for other text.
  static func read(_ text: String) -> JSONNode? {
    var rest = text[...]
    if let start = rest.firstRange(of: "<notification")?.lowerBound { rest = rest[start...] } else { return nil }
    guard let body = element(&rest), body.name == "notification" else { return nil }
    return .object(members(body.content, depth: 0))
  }

  private static func members(_ content: Substring, depth: Int) -> [JSONNode.Member] {
    var rest = content
    var members: [JSONNode.Member] = []
    var details: [JSONNode] = []
    while let child = element(&rest) {
      switch child.name {
      case "details" where depth < 8: members.append(.init("details", .array(list(child.content, depth: depth + 1))))
      case "detail" where depth < 8: details.append(.object(self.members(child.content, depth: depth + 1)))
      default: members.append(.init(child.name, .string(decode(child.content))))
      }
    }
    if !details.isEmpty { members.append(.init("details", .array(details))) }
    return members
  }

  private static func list(_ content: Substring, depth: Int) -> [JSONNode] {
    var rest = content
    var items: [JSONNode] = []
    while let child = element(&rest) { items.append(.object(members(child.content, depth: depth))) }
    return items
  }

  /// Takes the next element from the text.
  private static func element(_ rest: inout Substring) -> (name: String, content: Substring)? {
    guard let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") else { return nil }
    let tag = rest[rest.index(after: open)..<close]
    let isEmpty = tag.hasSuffix("/")
    let name = tag.prefix { $0 != " " && $0 != "/" && $0 != "\n" && $0 != "\t" && $0 != "\r" }
    guard !name.isEmpty else { return nil }
    rest = rest[rest.index(after: close)...]
    if isEmpty { return (String(name), "") }
    guard let end = rest.firstRange(of: "</\(name)>") else { return nil }
    let content = rest[..<end.lowerBound]
    rest = rest[end.upperBound...]
    return (String(name), content)
  }

  private static func decode(_ text: Substring) -> String {
    guard text.utf8.contains(UInt8(ascii: "&")) else { return String(text) }
    var out = ""
    var rest = text
    while let amp = rest.firstIndex(of: "&") {
      out += rest[..<amp]
      rest = rest[rest.index(after: amp)...]
      guard let end = rest.firstIndex(of: ";"), let character = reference(rest[..<end]) else {
        out += "&"
        continue
      }
      out.append(character)
      rest = rest[rest.index(after: end)...]
    }
    return out + rest
  }

  private static func reference(_ name: Substring) -> Character? {
    switch name {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default: break
    }
    guard name.hasPrefix("#") else { return nil }
    let isHex = name.hasPrefix("#x")
    let code = UInt32(name.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10)
    return code.flatMap(UnicodeScalar.init(_:)).map(Character.init(_:))
  }
}
