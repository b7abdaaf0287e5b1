import Foundation
import LarderOData

/// Values as servers spell them that have no business to, in the words of the standard.
enum ServiceSpelling {
  static func bytes(_ node: JSONNode) -> [UInt8] {
    var generator = JSONWriter()
    generator.node(node)
    return generator.bytes
  }

  /// The result of `…/Name/$value` in another spelling; unchanged if there is none.
  static func raw(
    _ query: String, _ result: QueryResult, _ spell: (String, String) -> String?
  ) -> QueryResult {
    guard query.hasSuffix("/$value"), case .content(let bytes) = result else { return result }
    let name = query.split(separator: "/").dropLast().last.map(String.init) ?? ""
    return spell(String(decoding: bytes, as: UTF8.self), name).map { .content(Array($0.utf8)) } ?? result
  }

  /// A decimal of more than 28 digits in that many, as Python's arithmetic rounds it; nil where it has no more.
  static func in28Digits(_ text: String) -> ODataDecimal? {
    guard let exact = ODataDecimal(text), let point = text.firstIndex(of: "e"),
      let exponent = Int(text[text.index(after: point)...])
    else { return nil }
    let tooMany = text[..<point].count(where: \.isNumber) - 28
    return tooMany > 0 ? exact.rounded(scale: -exponent - tooMany, .halfToEven) : nil
  }

  /// The name of an enumeration's member, or the names of its flags.
  static func member(_ text: String, of name: String, _ model: EdmModel) -> String? {
    let types = Set(properties(of: name, model).compactMap(\.name))
    guard types.count == 1, let declared = types.first.flatMap({ model.enumType($0) }), let number = Int64(text) else {
      return nil
    }
    if let one = declared.members.first(where: { $0.value == number }) { return one.name }
    return declared.members.filter { $0.value != 0 && number & $0.value == $0.value }.map(\.name).joined(separator: ",")
  }

  /// Converts a property's value from V2's spelling to V4's: numbers without quotes, timestamps as text.
  static func fromV2(_ value: JSONNode, of name: String, _ model: EdmModel) -> JSONNode {
    guard case .string(let text) = value, let type = type(of: name, model) else { return value }
    if text.hasPrefix("/Date("), let milliseconds = Int64(text.dropFirst(6).prefix { $0 == "-" || $0.isNumber }),
      let timestamp = ODataDateTime(millisecondsSince1970: milliseconds)
    {
      switch type {
      case .date: return .string(timestamp.date.description)
      case .dateTimeOffset: return .string(timestamp.description + "Z")
      default: return .string(timestamp.description)
      }
    }
    switch type {
    case .decimal, .int64, .double, .single, .int32, .int16, .byte, .sbyte:
      return ODataDecimal(text) == nil ? value : .number(text)
    default: return value
    }
  }

  /// The type of all properties of a name; nil where they differ.
  private static func type(of name: String, _ model: EdmModel) -> EdmPrimitiveType? {
    let types = Set(properties(of: name, model).map(\.primitive))
    return types.count == 1 ? types.first ?? nil : nil
  }

  private static func properties(of name: String, _ model: EdmModel) -> [EdmTypeReference] {
    let names = model.schemas.flatMap { $0.entityTypes.map(\.qualifiedName) + $0.complexTypes.map(\.qualifiedName) }
    return names.compactMap { model.structure($0)?.property(name)?.type }
  }

  /// `2026-01-15 08:00:00+00:00`, `1 day, 0:01:00`, `nan` and `inf` of Python; nil for other texts.
  static func fromPython(_ text: String, of name: String, _ model: EdmModel) -> String? {
    let type = type(of: name, model)
    if type == .single || type == .double { return ["nan": "NaN", "inf": "INF", "-inf": "-INF"][text] }
    guard type == .duration || type == .dateTimeOffset else { return nil }
    let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
    if parts.count == 2, ODataDate(parts[0]) != nil {
      let timestamp = parts.joined(separator: "T")
      return ODataDateTimeOffset(timestamp) != nil ? timestamp : nil
    }
    var days = 0
    var clock = text
    if let comma = text.firstRange(of: ", "), let count = Int(text.prefix { $0 == "-" || $0.isNumber }) {
      days = count
      clock = String(text[comma.upperBound...])
    }
    let numbers = clock.split(separator: ":")
    guard numbers.count == 3, let hours = Int(numbers[0]), let minutes = Int(numbers[1]),
      let seconds = Int(numbers[2].prefix { $0 != "." })
    else { return nil }
    // Python counts back in days and on in hours.
    let fraction = numbers[2].split(separator: ".").dropFirst().first.map { $0.prefix(6) } ?? ""
    let micros = Int(fraction.padding(toLength: 6, withPad: "0", startingAt: 0)) ?? 0
    let whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    let total = whole * 1_000_000 + micros
    let duration = ODataDuration(
      seconds: Int64(total / 1_000_000), picoseconds: Int64(total % 1_000_000) * 1_000_000)
    return duration?.description
  }
}
