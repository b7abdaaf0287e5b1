/// A look through an Atom feed's bytes: the delta link, and whether it certainly has no entry and no tombstone.
///
/// Feeds in UTF-8 are looked through; in other encodings nothing is found, which leads to a whole read. Doubt does too:
/// any occurrence of `entry`, even in a text, counts as one.
struct AtomSurvey {
  let survey: PayloadSurvey

  init(_ bytes: [UInt8]) {
    let content = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    let last = content.last { $0 > 0x20 }
    let isWhole = content.first { $0 > 0x20 } == UInt8(ascii: "<") && last == UInt8(ascii: ">")
    var found = PayloadSurvey(format: .xml, isWhole: isWhole)
    let root = AtomSurvey.rootName(content)
    guard isWhole, root == "feed", AtomSurvey.ends(content, with: "feed>") else {
      // Content in UTF-16 begins with a byte order mark and is not judged.
      if content.first == 0xFE || content.first == 0xFF { found.isWhole = true }
      survey = found
      return
    }
    let links = AtomSurvey.links(content)
    let hasNext = links.contains { $0.relation == "next" }
    let delta = links.first { $0.relation == "delta" || $0.relation == "http://docs.oasis-open.org/odata/ns/delta" }
    found.deltaLink = hasNext ? nil : delta?.target
    found.isEmptyDelta = !hasNext && !AtomSurvey.contains(content, "entry")
    survey = found
  }

  private struct Link {
    var relation: String
    var target: String
  }

  /// The local name of the first element.
  private static func rootName(_ bytes: ArraySlice<UInt8>) -> String {
    var rest = bytes
    while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[(open + 1)...]
      guard let first = rest.first else { return "" }
      if first == UInt8(ascii: "?") || first == UInt8(ascii: "!") { continue }
      let name = rest.prefix { $0 > 0x20 && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
      let local = name.split(separator: UInt8(ascii: ":")).last ?? name
      return String(decoding: local, as: UTF8.self)
    }
    return ""
  }

  private static func ends(_ bytes: ArraySlice<UInt8>, with text: String) -> Bool {
    var rest = bytes
    while let last = rest.last, last <= 0x20 { rest.removeLast() }
    return rest.suffix(text.utf8.count).elementsEqual(text.utf8)
  }

  private static func contains(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool {
    bytes.firstRange(of: Array(text.utf8)) != nil
  }

  /// The `link` elements outside entries, as far as relation and target are given.
  private static func links(_ bytes: ArraySlice<UInt8>) -> [Link] {
    var found: [Link] = []
    var depth = 0
    var rest = bytes
    while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[(open + 1)...]
      guard let close = tagEnd(rest) else { break }
      let tag = rest[..<close]
      rest = rest[(close + 1)...]
      guard let first = tag.first, first != UInt8(ascii: "?"), first != UInt8(ascii: "!") else { continue }
      if first == UInt8(ascii: "/") {
        depth -= 1
        continue
      }
      let isEmpty = tag.last == UInt8(ascii: "/")
      if depth == 1, let link = link(tag) { found.append(link) }
      if !isEmpty { depth += 1 }
    }
    return found
  }

  /// Where a tag ends: at the first `>` outside quotes.
  private static func tagEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
    var quote: UInt8?
    for index in bytes.indices {
      let byte = bytes[index]
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: ">") {
        return index
      }
    }
    return nil
  }

  private static func link(_ tag: ArraySlice<UInt8>) -> Link? {
    let name = tag.prefix { $0 > 0x20 && $0 != UInt8(ascii: "/") }
    let local = name.split(separator: UInt8(ascii: ":")).last ?? name
    guard local.elementsEqual("link".utf8) else { return nil }
    let text = String(decoding: tag, as: UTF8.self)
    guard let relation = attribute("rel", text), let target = attribute("href", text) else { return nil }
    return Link(relation: relation, target: target)
  }

  private static func attribute(_ name: String, _ tag: String) -> String? {
    for quote in ["\"", "'"] {
      for space in [" ", "\n", "\t", "\r"] {
        guard let start = tag.firstRange(of: space + name + "=" + quote) else { continue }
        let rest = tag[start.upperBound...]
        guard let end = rest.firstRange(of: quote) else { continue }
        return unescaped(String(rest[..<end.lowerBound]))
      }
    }
    return nil
  }

  private static func unescaped(_ text: String) -> String {
    var text = text
    for (entity, character) in [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#38;", "&"), ("&amp;", "&"),
    ] {
      text = text.split(separator: entity, omittingEmptySubsequences: false).joined(separator: character)
    }
    return text
  }
}
