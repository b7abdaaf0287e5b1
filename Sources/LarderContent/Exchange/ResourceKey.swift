#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The keys of stored responses in a cache.
enum ResourceKey {
  /// The resource that a request's URL and its own `Host` name (RFC 9110 §7.1).
  static func of(_ url: String, host: String?) -> String {
    let resource = normalised(url)
    guard let host else { return resource }
    let given = origin(of: resource)
    let scheme = given.prefix { $0 != "/" }
    let named = origin(of: normalised("\(scheme)//\(host)/"))
    return named == given ? resource : "\(resource) ^\(named.dropFirst(scheme.count + 2))"
  }

  /// The URL of a resource, without the `Host` of its requests.
  static func url(of resource: String) -> String {
    resource.firstIndex(of: " ").map { String(resource[..<$0]) } ?? resource
  }

  /// The part of a resource that its requests' `Host` adds; empty without one.
  static func hostSuffix(of resource: String) -> Substring {
    resource.firstIndex(of: " ").map { resource[$0...] } ?? ""
  }

  /// A URL as a key: scheme and host in lower case, without a default port, an empty port and a fragment, with `/` for
  /// an empty path (RFC 9110 §4.2.3). Escapes of unreserved characters are decoded, others are in upper case (RFC 3986
  /// §6.2.2). The rest is taken literally.
  static func normalised(_ url: URL) -> String { normalised(url.absoluteString) }

  /// The key that an earlier version used for a URL, if it differs: escapes were taken literally.
  static func former(_ url: String) -> String? {
    guard url.utf8.contains(UInt8(ascii: "%")) else { return nil }
    let former = normalised(url, escapes: false)
    return former == normalised(url) ? nil : former
  }

  /// The text of a URL as a key, normalised like a URL.
  static func normalised(_ text: String, escapes: Bool = true) -> String {
    var readable = text
    // The text stays in place during the call, and each index is checked against its count.
    guard let parts = readable.withUTF8({ unsafe Parts($0) }), !parts.isNormal || parts.hasEscapes && escapes else {
      return text
    }
    let bytes = Array(text.utf8)
    var key: [UInt8] = []
    key.reserveCapacity(bytes.count + 1)
    for byte in bytes[..<parts.hostEnd] { key.append(isUpper(byte) ? byte | 0x20 : byte) }
    if !parts.dropsPort { key += bytes[parts.hostEnd..<parts.authorityEnd] }
    if parts.lacksPath { key.append(UInt8(ascii: "/")) }
    let rest = bytes[parts.authorityEnd..<parts.end]
    if escapes { appendNormalised(rest, to: &key) } else { key += rest }
    return String(decoding: key, as: UTF8.self)
  }

  private static func appendNormalised(_ rest: ArraySlice<UInt8>, to key: inout [UInt8]) {
    var index = rest.startIndex
    while index < rest.endIndex {
      guard rest[index] == UInt8(ascii: "%"), index + 2 < rest.endIndex, let high = digit(rest[index + 1]),
        let low = digit(rest[index + 2])
      else {
        key.append(rest[index])
        index += 1
        continue
      }
      let byte = high << 4 | low
      if isUnreserved(byte) {
        key.append(byte)
      } else {
        key += [UInt8(ascii: "%"), upper(rest[index + 1]), upper(rest[index + 2])]
      }
      index += 3
    }
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
  }

  private static func upper(_ byte: UInt8) -> UInt8 { (0x61...0x7A).contains(byte) ? byte & 0xDF : byte }

  /// RFC 3986 §2.3.
  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
    default: false
    }
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
    /// True if everything but escapes is normal.
    let isNormal: Bool
    /// True if there are escapes, normal or not.
    let hasEscapes: Bool

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
      hasEscapes = unsafe bytes[place...].contains(UInt8(ascii: "%"))
      isNormal = !hasUpper && !dropsPort && !lacksPath && end == bytes.count
    }

    private static let http = Array("80".utf8)
    private static let https = Array("443".utf8)
  }
}
