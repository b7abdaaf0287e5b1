/// Compares entity tags as text (RFC 9110 §8.8.3).
package enum EntityTag {
  /// True for `W/"…"`, and for `w/"…"`, which some servers send.
  package static func isWeak(_ tag: String) -> Bool {
    let bytes = tag.utf8
    return bytes.first.map { $0 | 0x20 == 0x77 } == true && bytes.dropFirst().first == 0x2F
  }

  /// True if both are equal, and neither is weak (§8.8.3.2).
  package static func matchesStrongly(_ left: String, _ right: String) -> Bool {
    !isWeak(left) && !isWeak(right) && wellFormed(left) == wellFormed(right)
  }

  /// True if both are equal, whether weak or not (§8.8.3.2).
  package static func matchesWeakly(_ left: String, _ right: String) -> Bool { opaque(left) == opaque(right) }

  /// False for a tag that would break a list of tags, because of a comma or white space outside quotes.
  ///
  /// A tag that its server did not quote is sent back unchanged, because such a server compares it in this form.
  package static func canBeSent(_ tag: String) -> Bool {
    var isQuoted = false
    for byte in tag.utf8 {
      if byte == 0x22 { isQuoted.toggle() }
      if !isQuoted, byte == 0x2C || FieldText.isBlank(byte) { return false }
    }
    return !isQuoted && !tag.isEmpty
  }

  /// A tag in quotes, for comparing with one that its server did not quote.
  package static func wellFormed(_ tag: String) -> String {
    let bytes = tag.utf8
    if bytes.contains(0x22) || bytes.isEmpty { return tag }
    return isWeak(tag) ? "W/\"\(tag.dropFirst(2))\"" : "\"\(tag)\""
  }

  private static func opaque(_ tag: String) -> String {
    let tag = wellFormed(tag)
    return isWeak(tag) ? String(tag.dropFirst(2)) : tag
  }
}
