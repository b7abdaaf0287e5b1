package import LarderOData

/// Converts between the text of an enumeration value, which is member names or numbers joined by commas, and its
/// number.
package enum EnumerationValue {
  /// Reads a scalar of a payload.
  package static func read(_ scalar: PayloadScalar, _ type: EdmEnumType) throws(ODataValueError) -> Int64 {
    switch scalar.kind {
    case .number, .string: try read(scalar.string, type)
    case .null, .true, .false:
      throw ODataValueError(
        .notSupported("a value of \(type.qualifiedName) that is neither a string nor a number"), type: nil,
        text: scalar.string)
    }
  }

  /// Reads `Red`, `Read,Write` or `3`, with or without spaces around each part.
  package static func read(_ text: String, _ type: EdmEnumType) throws(ODataValueError) -> Int64 {
    var value: Int64 = 0
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 1 || type.isFlags else {
      throw ODataValueError(
        .notSupported("several members of \(type.qualifiedName), which has no flags"), type: nil, text: text)
    }
    for part in parts {
      let name = trim(part)
      if let member = type.members.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
        value |= member.value
      } else if let number = Int64(name) {
        guard type.underlyingType.integerRange.contains(number) else {
          throw ODataValueError(.outOfRange, type: type.underlyingType, text: text)
        }
        value |= number
      } else {
        throw ODataValueError(
          .notSupported("a member that \(type.qualifiedName) does not have"), type: nil, text: text)
      }
    }
    return value
  }

  private static func trim(_ part: Substring) -> Substring {
    var part = part
    while part.utf8.first == 0x20 { part.removeFirst() }
    while part.utf8.last == 0x20 { part.removeLast() }
    return part
  }

  /// The member names of a value: the member with that value or, for flags, the members that make it up; the number if
  /// there are none.
  package static func text(_ value: Int64, _ type: EdmEnumType) -> String {
    if let member = type.member(value: value) { return member.name }
    guard type.isFlags, value != 0 else { return String(value) }
    var rest = value
    var names: [String] = []
    for member in type.members.sorted(by: { $0.value.magnitude > $1.value.magnitude })
    where member.value != 0 && rest & member.value == member.value {
      names.append(member.name)
      rest &= ~member.value
    }
    return rest == 0 ? names.reversed().joined(separator: ",") : String(value)
  }
}

extension EdmPrimitiveType {
  /// The range of an integer type; for other types, all 64-bit integers.
  package var integerRange: ClosedRange<Int64> {
    switch self {
    case .byte: 0...255
    case .sbyte: -128...127
    case .int16: -32_768...32_767
    case .int32: -2_147_483_648...2_147_483_647
    default: Int64.min...Int64.max
    }
  }
}
