/// A scalar as written in the payload, with its type if that is known; it is decoded only on request.
///
/// Valid only during the handler's call that receives it: the bytes belong to the reader.
package struct PayloadScalar {
  /// The kinds of JSON scalars.
  package enum Kind: UInt8, Sendable { case null, `true`, `false`, number, string }

  /// The kind of JSON scalar.
  package let kind: Kind
  /// Whether the bytes of a string contain backslashes.
  package let isEscaped: Bool
  /// The bytes as written in the payload, without quotes.
  package let bytes: UnsafeBufferPointer<UInt8>
  /// The type: the declared one, or that of the payload.
  package let type: PayloadScalarType
  /// The dialect of dates and numbers.
  package let dialect: ODataDialect

  /// Creates a scalar.
  package init(
    kind: Kind, isEscaped: Bool = false, bytes: UnsafeBufferPointer<UInt8>, type: PayloadScalarType = .untyped,
    dialect: ODataDialect
  ) {
    self.kind = kind
    self.isEscaped = isEscaped
    self.bytes = bytes
    self.type = type
    self.dialect = dialect
  }

  /// Whether the scalar is `null`.
  package var isNull: Bool { kind == .null }

  /// The text without escapes; for numbers and literals their characters.
  package var string: String { JSONText.decode(bytes, isEscaped: isEscaped) }

  /// Appends the text without escapes; for numbers and literals their characters.
  package func write(into text: inout [UInt8]) {
    if isEscaped { JSONText.unescape(bytes, into: &text) } else { text.append(contentsOf: bytes) }
  }

  /// The value, decoded as a type that is more specific than the payload's.
  package func value(as type: EdmPrimitiveType) throws(ODataValueError) -> ODataValue {
    try PayloadScalar(kind: kind, isEscaped: isEscaped, bytes: bytes, type: .primitive(type), dialect: dialect).value()
  }

  /// The value of an integer, also of one in quotes; nil for other scalars and if it does not fit.
  package var int64: Int64? {
    guard kind == .number || kind == .string, !isEscaped, !bytes.isEmpty else { return nil }
    var index = 0
    let isNegative = bytes[0] == UInt8(ascii: "-")
    if isNegative { index = 1 }
    guard index < bytes.count else { return nil }
    var value: Int64 = 0
    while index < bytes.count {
      let digit = bytes[index] &- 0x30
      guard digit <= 9 else { return nil }
      let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = tens.subtractingReportingOverflow(Int64(digit))
      if overflow || carry { return nil }
      value = sum
      index += 1
    }
    if isNegative { return value }
    return value == .min ? nil : -value
  }

  /// The value of a boolean; nil for other scalars.
  package var boolean: Bool? { kind == .true ? true : kind == .false ? false : nil }
}

/// The type of a scalar, as far as it is known.
package enum PayloadScalarType: Sendable, Hashable {
  /// Unknown: the value has its JSON type.
  case untyped
  /// A primitive type.
  case primitive(EdmPrimitiveType)
  /// An enumeration: names or numbers.
  case enumeration
}
