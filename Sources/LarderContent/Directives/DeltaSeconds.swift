/// Parses numbers of seconds in fields (RFC 9111 §1.2.2).
package enum DeltaSeconds {
  /// The limit that replaces any larger number.
  package static let maximum: Int64 = 1 << 31

  /// The value of an `Age` field (§5.1): the first of a list; nil if that is not a number.
  ///
  /// Parameters after `;` are ignored; a sign or a fraction makes the value unusable.
  package static func age(_ value: String) -> Int64? {
    var result: Int64?
    for byte in value.utf8 {
      switch byte {
      case 0x30...0x39: result = min((result ?? 0) * 10 + Int64(byte - 0x30), maximum)
      case 0x20, 0x09: if result != nil { return result }
      case 0x2C, 0x3B: return result
      default: return nil
      }
    }
    return result
  }
}
