@_spi(Stores) import LarderCore
import LarderHTTP

/// Replaces the secrets of an exchange that is recorded, and counts them, in four steps:
///
/// 1. ``SecretScan``: what has a secret name, or follows a known form of URLs, in any text.
/// 2. ``JSONSecrets`` and ``XMLSecrets``: what only the structure shows, in each part of a batch.
/// 3. ``SentSecrets``: the credentials that the client has sent, wherever the service repeats them.
/// 4. ``SecretForms``: values that show what they are, such as a JWT.
struct Redaction {
  /// How many values were replaced.
  private(set) var count = 0
  private let sent: SentSecrets
  private static let depthLimit = 4

  init(sent: SentSecrets = SentSecrets()) { self.sent = sent }

  mutating func url(_ url: String) -> String {
    let (bytes, secrets) = SecretScan.scan(Array(url.utf8), isURL: true)
    count += secrets.count
    return String(decoding: withoutKnownSecrets(bytes), as: UTF8.self)
  }

  /// The value of a header field.
  mutating func value(of field: HTTPField) -> String {
    let (bytes, secrets) = SecretScan.scan(Array(field.value.utf8), isURL: false)
    count += secrets.count
    return String(decoding: withoutKnownSecrets(bytes), as: UTF8.self)
  }

  /// Counts a header field that is not recorded.
  mutating func countField() { count += 1 }

  mutating func content(_ bytes: [UInt8], type: String?) -> [UInt8] {
    if let text = UTF16Text(bytes, type: type) {
      let redacted = content(text.utf8, type: nil)
      return redacted == text.utf8 ? bytes : text.encoded(redacted)
    }
    if let boundary = MessageParts.boundary(of: type, bytes) {
      return MessageParts(bytes, boundary: boundary).joined { message(Array($0)) }
    }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    if bytes.starts(with: mark) { return mark + content(Array(bytes.dropFirst(mark.count)), type: type) }
    let (scanned, secrets) = SecretScan.scan(bytes, isURL: false)
    count += secrets.count
    return withoutKnownSecrets(structure(scanned, depth: 0) ?? scanned)
  }

  // MARK: Structure

  /// Content that is JSON or XML without what its structure shows to be secret; nil if there is nothing.
  private mutating func structure(_ bytes: [UInt8], depth: Int) -> [UInt8]? {
    var count = 0
    let redacted = Redaction.structure(bytes, depth: depth, &count)
    self.count += count
    return redacted
  }

  private static func structure(_ bytes: [UInt8], depth: Int, _ count: inout Int) -> [UInt8]? {
    guard depth < depthLimit, let first = bytes.first(where: { $0 > 0x20 }) else { return nil }
    var nestedCount = 0
    let nested: ([UInt8]) -> [UInt8]? = { structure($0, depth: depth + 1, &nestedCount) }
    let redacted: (bytes: [UInt8], count: Int)?
    switch first {
    case UInt8(ascii: "{"), UInt8(ascii: "["): redacted = JSONSecrets.redacted(bytes, nested: nested)
    case UInt8(ascii: "<"): redacted = XMLSecrets.redacted(bytes, nested: nested)
    default: return nil
    }
    guard let redacted else { return nil }
    count += redacted.count + nestedCount
    return redacted.bytes
  }

  // MARK: Parts

  /// A part of a multipart message, or an HTTP message in one: lines, an empty line, content.
  private mutating func message(_ bytes: [UInt8]) -> [UInt8] {
    guard let head = MessageHead(bytes) else { return content(bytes, type: nil) }
    let type = head.value(of: .contentType)
    let former = Array(bytes[head.end...])
    let isHTTP = type?.lowercased().hasPrefix("application/http") ?? false
    let new = isHTTP ? message(former) : content(former, type: type)
    var lines: [[UInt8]] = []
    for line in head.lines {
      guard let field = line.field else {
        lines.append(line.bytes)
        continue
      }
      let kind = SecretNames.kind(ofField: field.name)
      if kind == .credential || kind == .csrfToken {
        count += 1
      } else if field.name == .contentLength, new.count != former.count {
        lines.append(line.replacing(String(new.count)))
      } else {
        let value = value(of: field)
        lines.append(value == field.value ? line.bytes : line.replacing(value))
      }
    }
    return lines.flatMap { $0 } + new
  }

  private mutating func withoutKnownSecrets(_ bytes: [UInt8]) -> [UInt8] {
    let sentEdits = sent.edits(in: bytes)
    let others = sentEdits.isEmpty ? bytes : sentEdits.applied(to: bytes)
    let edits = SecretForms.edits(in: others)
    count += sentEdits.count + edits.count
    return edits.isEmpty ? others : edits.applied(to: others)
  }
}

/// Text in UTF-16, by its byte order mark, its media type, or its first character.
private struct UTF16Text {
  let utf8: [UInt8]
  private let isBigEndian: Bool
  private let hasMark: Bool

  init?(_ bytes: [UInt8], type: String?) {
    guard bytes.count >= 4, bytes.count.isMultiple(of: 2) else { return nil }
    let declared = type?.lowercased().contains("charset=utf-16") ?? false
    switch (bytes[0], bytes[1]) {
    case (0xFE, 0xFF): (isBigEndian, hasMark) = (true, true)
    case (0xFF, 0xFE): (isBigEndian, hasMark) = (false, true)
    case (0, 1...0x7F): (isBigEndian, hasMark) = (true, false)
    case (1...0x7F, 0): (isBigEndian, hasMark) = (false, false)
    default:
      guard declared else { return nil }
      (isBigEndian, hasMark) = (!(type?.lowercased().contains("utf-16le") ?? false), false)
    }
    var units: [UInt16] = []
    units.reserveCapacity(bytes.count / 2)
    for index in stride(from: hasMark ? 2 : 0, to: bytes.count, by: 2) {
      let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      units.append(isBigEndian ? first << 8 | second : second << 8 | first)
    }
    // Bytes that are no text, such as an image, stay as they are.
    guard let text = String(validating: units, as: UTF16.self) else { return nil }
    utf8 = Array(text.utf8)
  }

  func encoded(_ text: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = hasMark ? (isBigEndian ? [0xFE, 0xFF] : [0xFF, 0xFE]) : []
    for unit in String(decoding: text, as: UTF8.self).utf16 {
      let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
      bytes += isBigEndian ? [high, low] : [low, high]
    }
    return bytes
  }
}
