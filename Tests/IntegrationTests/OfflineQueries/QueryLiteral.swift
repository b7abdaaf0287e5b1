import LarderOData

/// The kind of an expression's value, as far as operators and functions distinguish it.
enum ValueKind: Sendable, Hashable {
  case string, integer, decimal, double, boolean, date, timestamp, time, duration, guid, binary
  /// Qualified name of the type.
  case enumeration(String)

  init?(_ type: EdmTypeReference, model: EdmModel) {
    let type = model.underlying(type).type
    if let name = type.name, model.enumType(name) != nil {
      self = .enumeration(name)
      return
    }
    switch type.primitive {
    case .string: self = .string
    case .byte, .sbyte, .int16, .int32, .int64: self = .integer
    case .decimal: self = .decimal
    case .double, .single: self = .double
    case .boolean: self = .boolean
    case .date: self = .date
    case .dateTime, .dateTimeOffset: self = .timestamp
    case .timeOfDay: self = .time
    case .duration: self = .duration
    case .guid: self = .guid
    case .binary: self = .binary
    default: return nil
    }
  }

  var isNumber: Bool { self == .integer || self == .decimal || self == .double }
  /// Whether `lt` and `gt` are defined for it.
  var isOrdered: Bool {
    switch self {
    case .boolean, .guid, .binary, .enumeration: false
    default: true
    }
  }
}

/// Creates URL literals from JSON values.
enum QueryLiteral {
  /// The literal, percent-encoded; nil where the value is none of the kind.
  static func text(_ value: JSONNode, _ kind: ValueKind, type: EdmPrimitiveType?, version: ODataVersion) -> String? {
    switch (value, kind) {
    case (.null, _): return "null"
    case (.boolean(let value), .boolean): return value ? "true" : "false"
    case (.number(let text), _) where kind.isNumber: return number(text, type, version)
    case (.string(let text), _) where kind.isNumber: return number(text, type, version)
    case (.string(let text), .string): return quoted(text)
    case (.string(let text), .timestamp): return timestamp(text, version)
    case (.string(let text), .date), (.string(let text), .time): return encoded(text)
    case (.string(let text), .duration): return "duration'\(encoded(text))'"
    case (.string(let text), .guid): return version < .v4 ? "guid'\(text)'" : text
    case (.string(let text), .binary): return "binary'\(encoded(text))'"
    case (.string(let text), .enumeration(let name)): return "\(name)'\(encoded(text))'"
    default: return nil
    }
  }

  static func quoted(_ text: String) -> String {
    "'" + encoded(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")) + "'"
  }

  /// Everything except letters, digits and characters without a meaning in URLs.
  static func encoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, 0x27, 0x3A:
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default: result += escaped(byte)
      }
    }
    return result
  }

  static func escaped(_ byte: UInt8) -> String {
    let hex = String(byte, radix: 16, uppercase: true)
    return "%" + (hex.count < 2 ? "0" : "") + hex
  }

  private static func number(_ text: String, _ type: EdmPrimitiveType?, _ version: ODataVersion) -> String? {
    guard text != "INF", text != "-INF", text != "NaN" else { return version < .v4 ? nil : text }
    let plain = encoded(text)
    guard version < .v4 else { return plain }
    switch type {
    case .decimal?: return plain + "M"
    case .int64?: return plain + "L"
    case .double?: return plain + "d"
    case .single?: return plain + "f"
    default: return plain
    }
  }

  /// V2's `/Date(ms)/` becomes `datetime'…'`.
  private static func timestamp(_ text: String, _ version: ODataVersion) -> String? {
    guard version < .v4 else { return encoded(text) }
    guard text.hasPrefix("/Date("), let milliseconds = Int64(text.dropFirst(6).prefix { $0 == "-" || $0.isNumber })
    else { return nil }
    return "datetime'\(civil(milliseconds))'"
  }

  /// `yyyy-mm-ddThh:mm:ss` of a number of milliseconds since 1970.
  private static func civil(_ milliseconds: Int64) -> String {
    var days = milliseconds / 86_400_000
    var rest = milliseconds % 86_400_000
    if rest < 0 {
      rest += 86_400_000
      days -= 1
    }
    // The proleptic Gregorian calendar, in eras of 400 years that begin on 1 March.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    let month = part < 10 ? part + 3 : part - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }
    let seconds = rest / 1000
    return "\(year)-\(two(month))-\(two(dayOfYear - (153 * part + 2) / 5 + 1))"
      + "T\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
  }
}
