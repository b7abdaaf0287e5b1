@_spi(Stores) import LarderCore

extension StructuredField {
  /// Prints a list (RFC 9651 §4.1.1); nil if a value cannot be printed (§4.1.6, §4.1.7: not ASCII, no token).
  package static func text(of list: [Member]) -> String? {
    var text = ""
    for (index, member) in list.enumerated() {
      if index > 0 { text += ", " }
      switch member {
      case .item(let item):
        guard append(item, to: &text) else { return nil }
      case .innerList(let items, let parameters):
        text += "("
        for (place, item) in items.enumerated() {
          if place > 0 { text += " " }
          guard append(item, to: &text) else { return nil }
        }
        text += ")"
        guard append(parameters, to: &text) else { return nil }
      }
    }
    return text
  }

  /// Appends an item with its parameters; false if it cannot be printed.
  package static func append(_ item: Item, to text: inout String) -> Bool {
    append(item.value, to: &text) && append(item.parameters, to: &text)
  }

  private static func append(_ parameters: Parameters, to text: inout String) -> Bool {
    for parameter in parameters {
      guard isKey(parameter.name) else { return false }
      text += ";"
      text += parameter.name
      if parameter.value == .boolean(true) { continue }
      text += "="
      guard append(parameter.value, to: &text) else { return false }
    }
    return true
  }

  /// Appends a bare item; false if it cannot be printed.
  package static func append(_ value: Value, to text: inout String) -> Bool {
    switch value {
    case .integer(let number):
      guard isPrintable(number) else { return false }
      text += String(number)
    case .decimal(let thousandths): return append(thousandths: thousandths, to: &text)
    case .string(let string):
      guard string.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return false }
      append(quoted: string, to: &text)
    case .token(let token):
      guard isToken(token) else { return false }
      text += token
    case .bytes(let bytes): text += ":" + Base64.text(bytes, isURLSafe: false) + ":"
    case .boolean(let value): text += value ? "?1" : "?0"
    case .date(let seconds):
      guard isPrintable(seconds) else { return false }
      text += "@"
      text += String(seconds)
    case .displayString(let string): append(display: string, to: &text)
    }
    return true
  }

  /// Whether a text may be printed as a token (RFC 9651 §3.3.4).
  package static func isToken(_ text: String) -> Bool {
    guard let first = text.utf8.first else { return false }
    guard first == 0x2A || (0x41...0x5A).contains(first) || (0x61...0x7A).contains(first) else { return false }
    return text.utf8.allSatisfy { $0 == 0x3A || $0 == 0x2F || HTTPFieldName.isTokenByte($0) }
  }

  private static func isKey(_ text: String) -> Bool {
    guard let first = text.utf8.first, first == 0x2A || (0x61...0x7A).contains(first) else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case 0x61...0x7A, 0x30...0x39, 0x5F, 0x2D, 0x2E, 0x2A: true
      default: false
      }
    }
  }

  /// Whether a number has at most 15 digits.
  private static func isPrintable(_ number: Int64) -> Bool {
    number > -1_000_000_000_000_000 && number < 1_000_000_000_000_000
  }

  private static func append(thousandths: Int64, to text: inout String) -> Bool {
    guard isPrintable(thousandths) else { return false }
    if thousandths < 0 { text += "-" }
    let (whole, fraction) = thousandths.magnitude.quotientAndRemainder(dividingBy: 1000)
    text += String(whole)
    var digits = String(fraction + 1000).dropFirst()
    while digits.count > 1, digits.last == "0" { digits.removeLast() }
    text += "." + digits
    return true
  }

  private static func append(quoted string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { text += "\\" }
      text.unicodeScalars.append(scalar)
    }
    text += "\""
  }

  private static func append(display string: String, to text: inout String) {
    text += "%\""
    for byte in string.utf8 {
      switch byte {
      case 0x22, 0x25, 0x00...0x1F, 0x7F...0xFF:
        text += "%" + Hexadecimal.text(CollectionOfOne(byte))
      default: text.unicodeScalars.append(Unicode.Scalar(byte))
      }
    }
    text += "\""
  }
}
