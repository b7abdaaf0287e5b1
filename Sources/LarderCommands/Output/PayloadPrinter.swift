internal import LarderOData

/// Formats a payload for a person: JSON and XML indented, everything else unchanged.
///
/// Indentation only changes white space between values and tags: numbers, escapes and the order of members stay as
/// received. Malformed JSON or XML is shown as received.
enum PayloadPrinter {
  /// The bytes to show for a payload of a content type; nil means that the first character decides.
  static func indented(_ bytes: [UInt8], contentType: String?) -> [UInt8] {
    switch kind(bytes, contentType: contentType) {
    case .json: json(bytes) ?? bytes
    case .xml: XMLIndenter.indent(bytes) ?? bytes
    case .other: bytes
    }
  }

  private enum Kind { case json, xml, other }

  private static func kind(_ bytes: [UInt8], contentType: String?) -> Kind {
    let type = contentType?.split(separator: ";").first.map { $0.lowercased() } ?? ""
    if type.contains("json") { return .json }
    if type.contains("xml") { return .xml }
    guard type.isEmpty else { return .other }
    switch bytes.first(where: { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }) {
    case UInt8(ascii: "{"), UInt8(ascii: "["): return .json
    case UInt8(ascii: "<"): return .xml
    default: return .other
    }
  }

  /// JSON indented by two spaces; nil if it is malformed.
  static func json(_ bytes: [UInt8]) -> [UInt8]? {
    let collector = Collector()
    var output = JSONOutput(collector.port, isIndented: true)
    do {
      var scanner = JSONScanner(bytes)
      while let token = try scanner.next() {
        switch token.kind {
        case .beginObject: output.beginObject()
        case .endObject: output.endObject()
        case .beginArray: output.beginArray()
        case .endArray: output.endArray()
        case .name: scanner.withBytes(of: token) { output.rawName($0) }
        case .string: scanner.withBytes(of: token) { output.rawString($0) }
        case .number, .true, .false, .null: scanner.withBytes(of: token) { output.raw($0) }
        }
        try output.drain()
      }
      try output.endLine()
    } catch {
      return nil
    }
    return collector.bytes
  }
}
