#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The keys of stored responses in a cache.
enum ResourceKey {
  /// A URL as a key: scheme and host in lower case, without a default port, an empty port and a fragment, with `/` for
  /// an empty path (RFC 9110 §4.2.3). The rest is taken literally.
  static func normalised(_ url: URL) -> String { normalised(url.absoluteString) }

  /// The text of a URL as a key, normalised like a URL.
  static func normalised(_ text: String) -> String {
    var readable = text
    // The text stays in place during the call, and each index is checked against its count.
    guard let parts = readable.withUTF8({ unsafe Parts($0) }), !parts.isNormal else { return text }
    let bytes = Array(text.utf8)
    var key: [UInt8] = []
    key.reserveCapacity(bytes.count + 1)
    for byte in bytes[..<parts.hostEnd] { key.append(isUpper(byte) ? byte | 0x20 : byte) }
    if !parts.dropsPort { key += bytes[parts.hostEnd..<parts.authorityEnd] }
    if parts.lacksPath { key.append(UInt8(ascii: "/")) }
    key += bytes[parts.authorityEnd..<parts.end]
    return String(decoding: key, as: UTF8.self)
  }

  /// A reference in a response as a key; nil if it is not a URL.
  static func resolved(_ reference: String, against base: URL) -> String? {
    URL(string: reference, relativeTo: base).map { normalised($0.absoluteURL) }
  }

  /// The key of the response that hides the one under a key.
  static func hiding(_ key: String) -> String { key + " !" }

  /// The key of a group's record: a group belongs to an origin (RFC 9875 §2).
  static func group(_ name: String, of resource: String) -> String { " @\(origin(of: resource)) \(name)" }

  /// The scheme, host and port of a normalised URL.
  static func origin(of resource: String) -> Substring {
    var slashes = 0
    let end = resource.utf8.firstIndex { byte in
      if byte == UInt8(ascii: "/") { slashes += 1 }
      return slashes == 3
    }
    return resource[..<(end ?? resource.endIndex)]
  }

  private static func isUpper(_ byte: UInt8) -> Bool { byte >= 0x41 && byte <= 0x5A }

  /// The ends of the parts of a URL's text.
  private struct Parts {
    /// The end of scheme and host.
    let hostEnd: Int
    /// The end of the authority, including the port.
    let authorityEnd: Int
    /// The end of everything except the fragment.
    let end: Int
    let dropsPort: Bool
    let lacksPath: Bool
    let isNormal: Bool

    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
      guard let colon = unsafe bytes.firstIndex(of: UInt8(ascii: ":")), bytes.count - colon >= 3,
        unsafe bytes[colon + 1] == UInt8(ascii: "/") && bytes[colon + 2] == UInt8(ascii: "/")
      else { return nil }
      var place = colon + 3
      var port: Int?
      var hasUpper = unsafe bytes[..<colon].contains { ResourceKey.isUpper($0) }
      authority: while place < bytes.count {
        switch unsafe bytes[place] {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): break authority
        case UInt8(ascii: ":"): port = place
        case UInt8(ascii: "]"): port = nil
        case 0x41...0x5A: hasUpper = true
        default: break
        }
        place += 1
      }
      authorityEnd = place
      hostEnd = port ?? place
      end = unsafe bytes[place...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
      lacksPath = unsafe place == bytes.count || bytes[place] != UInt8(ascii: "/")
      let isSecure = colon == 5
      dropsPort =
        if let port {
          unsafe port + 1 == place || bytes[(port + 1)..<place].elementsEqual(isSecure ? Parts.https : Parts.http)
        } else {
          false
        }
      isNormal = !hasUpper && !dropsPort && !lacksPath && end == bytes.count
    }

    private static let http = Array("80".utf8)
    private static let https = Array("443".utf8)
  }
}
