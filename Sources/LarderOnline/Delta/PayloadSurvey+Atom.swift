import LarderOData
import LarderODataXML

extension PayloadSurvey {
  /// Surveys an XML document. A feed that names a delta is read completely; of all other documents only the ends are
  /// read.
  static func atom(_ bytes: [UInt8]) -> PayloadSurvey {
    guard bytes.firstRange(of: Array("delta".utf8)) != nil || isEmptyFeed(bytes) else {
      return PayloadSurvey(format: .xml, isWhole: endsLikeXML(bytes))
    }
    guard let payload = try? ODataPayload(atom: bytes) else {
      // The document uses a vocabulary that the reader does not know, or is truncated.
      return PayloadSurvey(format: .xml, isWhole: endsLikeXML(bytes))
    }
    let isEmpty =
      switch payload {
      case .collection(let collection): collection.entities.isEmpty
      case .delta(let delta): delta.items.isEmpty
      default: false
      }
    // Without a link to the next delta it is no delta: an empty collection may have lost all its rows.
    return PayloadSurvey(
      format: .xml, isWhole: true, deltaLink: payload.nextLink == nil ? payload.deltaLink : nil,
      isEmptyDelta: isEmpty && payload.nextLink == nil && payload.deltaLink != nil)
  }

  /// Whether the root is an error ([MS-ODATA] §2.2.8.1.2) or that of a web page.
  static func isErrorOrPage(_ bytes: [UInt8]) -> Bool {
    let head = bytes.prefix(4096)
    let name = String(decoding: rootName(head), as: UTF8.self).split(separator: ":")
    guard let local = name.last else { return false }
    // A property may have one of the names; its namespace is that of data.
    let declaration = name.count > 1 ? "xmlns:\(name[0])=" : "xmlns="
    let text = String(decoding: head, as: UTF8.self)
    let namespace = text.firstRange(of: declaration).map { range in
      let quote = text[range.upperBound...].prefix(1)
      return String(text[range.upperBound...].dropFirst().prefix { String($0) != quote })
    }
    if local == "error" { return namespace?.hasSuffix("/metadata") ?? true }
    return local.lowercased() == "html" && namespace?.hasSuffix("dataservices") != true
  }

  /// A cheap first test of a small document: a feed without the word `entry` has no entry and no tombstone.
  private static func isEmptyFeed(_ bytes: [UInt8]) -> Bool {
    bytes.count < 1 << 16 && bytes.firstRange(of: Array("entry".utf8)) == nil
  }

  /// False if the root element is certainly not closed. Documents in UTF-16 or UTF-32 are not judged.
  private static func endsLikeXML(_ bytes: [UInt8]) -> Bool {
    var text = bytes[...]
    if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
    if let first = text.first, first == 0 || first >= 0xFE { return true }
    if text.count > 1, text[text.startIndex + 1] == 0 { return true }
    while let last = text.last, last <= 0x20 { text.removeLast() }
    // A comment or instruction may follow the root, and a root may be a single empty tag.
    for end in ["-->", "?>", "/>"] where text.suffix(end.utf8.count).elementsEqual(end.utf8) {
      return end != "/>" || text.count { $0 == UInt8(ascii: "<") } <= 2
    }
    let close = Array("</".utf8) + rootName(text) + [UInt8(ascii: ">")]
    return text.suffix(close.count).elementsEqual(close)
  }

  /// The first element's name as the document spells it.
  private static func rootName(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes
    while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[(open + 1)...]
      if rest.first == UInt8(ascii: "?") || rest.first == UInt8(ascii: "!") { continue }
      return rest.prefix { $0 > 0x20 && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
    }
    return []
  }
}
