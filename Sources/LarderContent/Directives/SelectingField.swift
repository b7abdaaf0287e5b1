import LarderHTTP

/// Normalises a request's field, so that values with the same meaning are equal (RFC 9111 §4.1).
///
/// Lines of one name are joined, and white space around list elements is removed. `Accept`, `Accept-Charset`,
/// `Accept-Encoding` and `Accept-Language` are lists without a significant order (RFC 9110 §12.5), so their elements
/// are sorted; all but the first are also case-insensitive. Fields that are known not to be lists keep everything
/// except the space around them.
enum SelectingField {
  /// The normalised value of a field; nil if the request does not have it.
  static func value(of name: String, in request: HTTPFields) -> String? {
    var joined: String?
    for field in request where field.name.canonicalName == name {
      joined = joined.map { $0 + "," + field.value } ?? field.value
    }
    guard let joined else { return nil }
    switch name {
    case "accept-encoding", "accept-language", "accept-charset": return preferences(FieldText.lowercased(joined))
    case "accept": return preferences(Array(joined.utf8))
    case "user-agent", "cookie", "authorization", "proxy-authorization", "referer", "from", "origin", "host", "date":
      let bytes = Array(joined.utf8)
      return String(decoding: bytes[FieldText.trimmed(bytes, 0..<bytes.count)], as: UTF8.self)
    default:
      let bytes = Array(joined.utf8)
      return text(bytes, FieldText.ranges(bytes, quotes: true))
    }
  }

  /// A normalised list of preferences: its elements without any white space outside quotes, sorted.
  private static func preferences(_ bytes: [UInt8]) -> String {
    var bytes = bytes
    if bytes.contains(where: FieldText.isBlank) {
      var isQuoted = false
      bytes.removeAll { byte in
        if byte == 0x22 { isQuoted.toggle() }
        return !isQuoted && FieldText.isBlank(byte)
      }
    }
    var ranges = FieldText.ranges(bytes, quotes: true)
    if ranges.count > 1 { ranges.sort { bytes[$0].lexicographicallyPrecedes(bytes[$1]) } }
    return text(bytes, ranges)
  }

  /// Elements joined by commas.
  private static func text(_ bytes: [UInt8], _ ranges: [Range<Int>]) -> String {
    if let only = ranges.first, ranges.count == 1 { return String(decoding: bytes[only], as: UTF8.self) }
    var joined: [UInt8] = []
    joined.reserveCapacity(bytes.count)
    for range in ranges {
      if !joined.isEmpty { joined.append(0x2C) }
      joined += bytes[range]
    }
    return String(decoding: joined, as: UTF8.self)
  }

  /// The one language that a normalised `Accept-Language` prefers to all others (RFC 9110 §12.5.4); nil if several are
  /// equal, or if it is `*`.
  static func preferredLanguage(_ value: String) -> String? {
    var best: Substring?
    var weight = 0
    for element in value.split(separator: ",") {
      let parts = element.split(separator: ";", maxSplits: 1)
      guard let language = parts.first else { continue }
      let quality = parts.count > 1 ? thousandths(parts[1]) : 1000
      if quality > weight {
        (best, weight) = (language, quality)
      } else if quality == weight {
        best = nil
      }
    }
    return best == "*" ? nil : best.map(String.init)
  }

  /// The weight `q=0.5` in thousandths (RFC 9110 §12.4.2); 0 if the text is not a weight.
  private static func thousandths(_ parameter: Substring) -> Int {
    let bytes = Array(parameter.utf8)
    guard bytes.count >= 3, bytes.count <= 7, bytes[0] == 0x71, bytes[1] == 0x3D else { return 0 }
    guard bytes[2] == 0x30 || bytes[2] == 0x31, bytes.count == 3 || bytes[3] == 0x2E else { return 0 }
    var value = Int(bytes[2] - 0x30) * 1000
    for (digit, unit) in zip(bytes.dropFirst(4), [100, 10, 1]) {
      guard (0x30...0x39).contains(digit) else { return 0 }
      value += Int(digit - 0x30) * unit
    }
    return min(value, 1000)
  }
}
