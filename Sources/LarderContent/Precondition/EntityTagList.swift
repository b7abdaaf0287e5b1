/// The value of `If-None-Match` or `If-Match` (RFC 9110 §13.1.1, §13.1.2).
package enum EntityTagList: Hashable, Sendable {
  /// `*`: any representation.
  case any
  /// Entity tags as they were sent, including weakness marks and quotes.
  case tags([String])

  /// Parses a field. Commas within quotes do not separate; a tag without quotes extends to the next comma.
  package init(_ text: String) {
    let bytes = text.utf8
    var tags: [String] = []
    var start = bytes.startIndex
    while start < bytes.endIndex {
      if EntityTagList.isSeparator(bytes[start]) {
        bytes.formIndex(after: &start)
        continue
      }
      let end = EntityTagList.end(of: bytes, from: start)
      tags.append(String(text[start..<end]))
      start = end
    }
    self = tags == ["*"] ? .any : .tags(tags)
  }

  private static func isSeparator(_ byte: UInt8) -> Bool { byte == 0x2C || byte == 0x20 || byte == 0x09 }

  /// The end of a tag: after the closing quote, otherwise before the next comma and the blanks in front of it.
  private static func end(of bytes: String.UTF8View, from start: String.Index) -> String.Index {
    var quote = start
    if bytes[quote] | 0x20 == 0x77 {
      let slash = bytes.index(after: quote)
      if slash < bytes.endIndex, bytes[slash] == 0x2F { quote = bytes.index(after: slash) }
    }
    if quote < bytes.endIndex, bytes[quote] == 0x22,
      let close = bytes[bytes.index(after: quote)...].firstIndex(of: 0x22)
    {
      return bytes.index(after: close)
    }
    var end = bytes[start...].firstIndex(of: 0x2C) ?? bytes.endIndex
    while end > start, EntityTagList.isSeparator(bytes[bytes.index(before: end)]) { end = bytes.index(before: end) }
    return end
  }

  /// True if the list contains a stored entity tag, weak or not (RFC 9110 §13.1.2).
  package func matchesWeakly(_ etag: String?) -> Bool {
    switch self {
    case .any: true
    case .tags(let tags): etag.map { stored in tags.contains { EntityTag.matchesWeakly($0, stored) } } ?? false
    }
  }
}
