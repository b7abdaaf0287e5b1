import LarderOData

/// One spelling for each value, whatever the server's: exact, never through a floating-point number.
enum ResultText {
  /// Members sorted, nulls left out, rows in any order: equal for rows that say the same.
  ///
  /// - Parameter isRounded: whether made numbers (`Made0`) are left out, for they may be a little apart.
  static func canonical(_ node: JSONNode, isRounded: Bool = false) -> String {
    switch node {
    case .array(let items):
      let texts = items.map { canonical($0, isRounded: isRounded) }
      return "[" + (items.contains { $0.members != nil } ? texts.sorted() : texts).joined(separator: ",") + "]"
    case .object(let members):
      let compared = isRounded ? members.filter { !$0.name.hasPrefix("Made") } : members
      let texts = compared.filter { $0.value != .null && $0.value != .array([]) }.map {
        "\($0.name):\(canonical($0.value, isRounded: isRounded))"
      }
      return "{" + texts.sorted().joined(separator: ",") + "}"
    default: return scalar(node)
    }
  }

  static func scalar(_ node: JSONNode) -> String {
    switch node {
    case .number(let text): number(text)
    case .string(let text): "'" + string(text) + "'"
    case .boolean(let flag): flag ? "true" : "false"
    case .null: "null"
    case .array, .object: canonical(node)
    }
  }

  /// For messages.
  static func short(_ node: JSONNode) -> String {
    let text = canonical(node)
    return text.count <= 300 ? text : text.prefix(300) + "…"
  }

  /// Sign, digits without zeros at their ends, and the exponent of the last.
  static func number(_ text: String) -> String {
    var digits: [Character] = []
    var exponent = 0
    var isNegative = false
    var behindPoint = false
    var rest = Substring(text)
    if rest.first == "-" {
      isNegative = true
      rest = rest.dropFirst()
    }
    while let character = rest.first {
      rest = rest.dropFirst()
      if character == "." {
        behindPoint = true
      } else if character == "e" || character == "E" {
        exponent += Int(rest.hasPrefix("+") ? rest.dropFirst() : rest) ?? 0
        break
      } else {
        digits.append(character)
        if behindPoint { exponent -= 1 }
      }
    }
    while digits.first == "0" { digits.removeFirst() }
    while digits.last == "0" {
      digits.removeLast()
      exponent += 1
    }
    return digits.isEmpty ? "0" : "\(isNegative ? "-" : "")\(String(digits))e\(exponent)"
  }

  /// Normalises timestamps, times and durations, which have several spellings.
  private static func string(_ text: String) -> String {
    let bytes = Array(text.utf8)
    guard let first = bytes.first else { return text }
    if first == 0x50 || first == 0x2D && bytes.dropFirst().first == 0x50 { return duration(text) ?? text }
    if first == 0x2F, text.hasPrefix("/Date("), text.hasSuffix("+0000)/") { return text.dropLast(7) + ")/" }
    guard bytes.count >= 8, first >= 0x30, first <= 0x39 || first == 0x2D, bytes.contains(0x3A) else {
      return last(text, "=")
    }
    return timestamp(text)
  }

  private static func last(_ text: String, _ filler: Character) -> String {
    var text = Substring(text)
    while text.last == filler { text = text.dropLast() }
    return String(text)
  }

  /// Zeros at the end of a fraction go, `+00:00` is `Z`.
  private static func timestamp(_ text: String) -> String {
    var zone = ""
    var body = text
    if body.hasSuffix("Z") {
      zone = "Z"
      body.removeLast()
    } else if let sign = body.lastIndex(where: { $0 == "+" || $0 == "-" }), body[sign...].contains(":") {
      zone = String(body[sign...])
      body = String(body[..<sign])
      if zone == "+00:00" || zone == "-00:00" { zone = "Z" }
    }
    if let point = body.lastIndex(of: ".") {
      let fraction = last(String(body[body.index(after: point)...]), "0")
      body = String(body[..<point]) + (fraction.isEmpty ? "" : ".\(fraction)")
    }
    return body + zone
  }

  /// Microseconds in all; nil where it is no duration.
  private static func duration(_ text: String) -> String? {
    guard let value = ODataDuration(text) else { return nil }
    return "duration \(value)"
  }
}
