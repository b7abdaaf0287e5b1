@_spi(Stores) import LarderCore

/// References to URLs in the form in which they are sent, although servers and clients write other forms.
///
/// A `URL` cannot hold a `%` that begins no escape (`/100%zz`), and would encode it. Here such a `%` becomes an escape of
/// the private character U+10FE25, which is sent as `%` again: the server gets what was written.
package enum URLReference {
  private static let mark = "%F4%8F%B8%A5"

  /// A reference in ASCII: the host in its ASCII form, and each byte that a URL cannot contain percent-encoded as it is.
  /// Nil if the host has no ASCII form.
  ///
  /// - Parameter text: a text of a field, which holds bytes that are not UTF-8 too (``HTTPField/bytes``).
  package static func ascii(_ text: String) -> String? {
    if text.utf8.allSatisfy({ isSendable($0) && $0 != UInt8(ascii: "%") }) { return text }
    var prefix = ""
    var rest = text[...]
    let scheme = rest.prefix { !"/?#".contains($0) }
    if let start = scheme.isEmpty || scheme.hasSuffix(":") ? rest[scheme.endIndex...].firstRange(of: "//") : nil,
      start.lowerBound == scheme.endIndex
    {
      let authority = rest[start.upperBound...].prefix { !"/?#".contains($0) }
      guard let ascii = ascii(authority: authority) else { return nil }
      prefix = rest[..<start.upperBound] + ascii
      rest = rest[authority.endIndex...]
    }
    var bytes: [UInt8] = []
    for byte in HTTPField.bytes(of: String(rest)) {
      if isSendable(byte) { bytes.append(byte) } else { PercentEncoding.append(byte, to: &bytes) }
    }
    return prefix + markingInvalidEscapes(String(decoding: bytes, as: UTF8.self))
  }

  /// The authority of a URL, with its host in ASCII; nil if it has no such form.
  package static func ascii(authority: Substring) -> String? {
    let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    let hostEnd = host.lastIndex(of: "]") ?? host.startIndex
    let name = host[hostEnd...].lastIndex(of: ":").map { host[..<$0] } ?? host
    guard !name.isEmpty else { return String(authority) }
    return HostName.ascii(String(name)).map { authority[..<host.startIndex] + $0 + host[name.endIndex...] }
  }

  /// The text with each `%` marked that begins no escape.
  package static func markingInvalidEscapes(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    let bytes = Array(text.utf8)
    var marked: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      let isEscape =
        index + 2 < bytes.count && Hexadecimal.value(bytes[index + 1]) != nil
        && Hexadecimal.value(bytes[index + 2]) != nil
      if byte == UInt8(ascii: "%"), !isEscape { marked += Array(mark.utf8) } else { marked.append(byte) }
    }
    return String(decoding: marked, as: UTF8.self)
  }

  /// The text of a URL as it is sent.
  package static func sent(_ text: String) -> String {
    text.contains(mark) ? text.replacing(mark, with: "%") : text
  }

  private static func isSendable(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && !#""<>\^`{|}"#.utf8.contains(byte)
  }
}
