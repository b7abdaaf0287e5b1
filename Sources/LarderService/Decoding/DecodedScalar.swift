package import LarderOData

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One value for decoders. Its declared type, not its text, decides which Swift types can hold it.
///
/// Without a declared type, strings are texts and numbers are numbers (JSON Format 4.01 §4.6.3).
package enum DecodedScalar {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  /// The digits of an `Edm.Decimal`.
  case decimal(String)
  /// The digits of a number without a declared type.
  case number(String)
  case text(String)
  /// A date, or a date with a time.
  case timestamp(String)
  case duration(String)
  case guid(String)
  /// The text of a type without a Swift counterpart: `Edm.TimeOfDay`.
  case spelled(String)
  case bytes([UInt8])
  /// A member of an enumeration, by its number, if it is known, and its name.
  case member(Int64?, String)
  /// An object or array, and its type.
  case node(JSONNode, ValueType)
  /// Another value that is not a scalar.
  case compound

  /// Reads a value in V4 JSON.
  package init(_ node: JSONNode, _ type: ValueType) {
    switch (node, type) {
    case (.null, _): self = .null
    case (.boolean(let flag), _): self = .boolean(flag)
    case (.array, _), (.object, _): self = .node(node, type)
    case (.number(let digits), .enumeration(let names)):
      let number = Int64(digits)
      self = .member(number, number.flatMap(names.name) ?? digits)
    case (.string(let name), .enumeration(let names)): self = .member(names.value(name), name)
    case (.number(let digits), .primitive(.decimal)): self = .decimal(digits)
    case (.number(let digits), _):
      if let number = Int64(digits) { self = .integer(number) } else { self = .number(digits) }
    case (.string(let text), .primitive(.binary)):
      if case .binary(let bytes)? = try? ODataValue(text: text, type: .binary) {
        self = .bytes(bytes)
      } else {
        self = .text(text)
      }
    case (.string(let text), .primitive(let type)): self.init(text, type)
    case (.string(let text), _): self = .text(text)
    }
  }

  /// Reads the text of a value. Numbers that JSON would round are written as strings.
  package init(_ text: String, _ type: EdmPrimitiveType) {
    switch type {
    case .decimal: self = .decimal(text)
    case .byte, .sbyte, .int16, .int32, .int64: self = .number(text)
    case .single, .double:
      switch text {
      case "INF": self = .real(.infinity)
      case "-INF": self = .real(-.infinity)
      case "NaN": self = .real(.nan)
      default: self = .number(text)
      }
    case .date, .dateTimeOffset, .dateTime: self = .timestamp(text)
    case .duration, .time: self = .duration(text)
    case .guid: self = .guid(text)
    case .timeOfDay: self = .spelled(text)
    default: self = .text(text)
    }
  }

  // MARK: As Swift's types

  var boolean: Bool? { if case .boolean(let flag) = self { flag } else { nil } }

  /// The text of every value that JSON writes as a string, and the digits of a decimal.
  var string: String? {
    switch self {
    case .text(let text), .timestamp(let text), .duration(let text), .guid(let text), .spelled(let text),
      .decimal(let text), .member(_, let text):
      text
    case .null, .boolean, .integer, .real, .number, .bytes, .node, .compound: nil
    }
  }

  /// The value as an integer, if the type can hold it.
  func integer<Number: FixedWidthInteger>() -> Number? {
    switch self {
    case .integer(let number), .member(let number?, _): Number(exactly: number)
    case .real(let number): Number(exactly: number)
    case .decimal(let digits), .number(let digits):
      Number(digits)
        ?? ODataDecimal(digits).flatMap { decimal in
          decimal.whole(scale: 0).flatMap { ODataDecimal($0, exponent: 0) == decimal ? Number(exactly: $0) : nil }
        }
    default: nil
    }
  }

  /// The nearest `Double`.
  var double: Double? {
    switch self {
    case .real(let number): number
    case .integer(let number): Double(number)
    case .decimal(let digits), .number(let digits): Double(digits).flatMap { $0.isFinite ? $0 : nil }
    default: nil
    }
  }

  /// The nearest `Float`; nil if there is none.
  var float: Float? {
    double.flatMap { number in
      let float = Float(number)
      return float.isFinite || !number.isFinite ? float : nil
    }
  }

  /// The value as a Foundation type or a `Duration`; nil for other types.
  func foundation(_ type: Any.Type) -> Any? {
    switch (self, type) {
    case (.timestamp(var text), is Date.Type): text.withUTF8 { ScalarText.date($0) }
    case (.decimal(var digits), is Decimal.Type), (.number(var digits), is Decimal.Type):
      digits.withUTF8 { ScalarText.decimal($0) }
    case (.integer(let number), is Decimal.Type): Decimal(number)
    case (.real(let number), is Decimal.Type): number.isFinite ? Decimal(exactly: ODataDecimal(number)) : nil
    case (.guid(var text), is UUID.Type), (.text(var text), is UUID.Type):
      text.withUTF8 { ScalarText.uuid($0) }
    case (.bytes(let bytes), is Data.Type): Data(bytes)
    case (.text(let text), is Data.Type): Data(base64Encoded: text)
    case (.text(let text), is URL.Type): URL(string: text)
    case (.duration(let text), is Duration.Type): ODataDuration(text).map { Duration($0) }
    default: nil
    }
  }

  /// A description of the kind of value, without the value itself.
  package var kind: String {
    switch self {
    case .null: "null"
    case .boolean: "a boolean"
    case .integer: "an integer"
    case .real: "a floating-point number"
    case .decimal: "a decimal"
    case .number: "a number"
    case .text: "a text"
    case .timestamp: "a date"
    case .duration: "a duration"
    case .guid: "a guid"
    case .spelled: "a time of day"
    case .bytes: "bytes"
    case .member: "a member of an enumeration"
    case .node(.array, _): "a collection"
    case .node, .compound: "an object or a collection"
    }
  }
}
