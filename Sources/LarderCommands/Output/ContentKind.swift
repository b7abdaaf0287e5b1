/// Detects the type of content from its first character.
enum ContentKind {
  static func mediaType(of bytes: [UInt8]) -> String {
    switch bytes.first(where: { $0 > 0x20 }) {
    case UInt8(ascii: "{"), UInt8(ascii: "["): "application/json"
    case UInt8(ascii: "<"): "application/atom+xml"
    default: "application/octet-stream"
    }
  }
}
