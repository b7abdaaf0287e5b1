/// Turns the bytes of a JSON text into UTF-8 as they come, where they are in another encoding.
///
/// JSON between systems is UTF-8, and its media type has no `charset` (RFC 8259 §8.1, §11). Services that break this are
/// read all the same: UTF-16 and UTF-32 by their byte order mark, or by the zeros of the first characters, which are
/// ASCII (RFC 4627 §3); ISO 8859-1, ISO 8859-15 and Windows-1252 where the media type names one of them and the first
/// character beyond ASCII is none in UTF-8. What is no character at all becomes a byte that UTF-8 does not have, so that
/// whoever reads the text refuses it at its place.
struct JSONTranscoder {
  private enum Form: Equatable {
    /// Fewer than four bytes have been seen.
    case unknown
    case utf8
    /// ASCII so far; what it is decides itself at the first byte beyond.
    case ascii(SingleByteCharset)
    case single(SingleByteCharset)
    case wide(bytes: Int, isBigEndian: Bool)
  }

  private var form = Form.unknown
  private let charset: SingleByteCharset?
  /// Bytes of a character that was cut off.
  private var held: [UInt8] = []
  /// Not in UTF-8 at any place.
  private static let none: UInt8 = 0xFF

  /// A transcoder for a text whose media type names `charset`; nil for none.
  init(charset: String? = nil) { self.charset = charset.flatMap(SingleByteCharset.init(_:)) }

  /// The next bytes in UTF-8; characters that are cut off come with the bytes behind them.
  mutating func read(_ chunk: [UInt8]) -> [UInt8] { form == .utf8 ? chunk : convert(chunk, isFinal: false) }

  /// What was still held when the text ended.
  mutating func finish() -> [UInt8] { form == .utf8 ? [] : convert([], isFinal: true) }

  private mutating func convert(_ chunk: [UInt8], isFinal: Bool) -> [UInt8] {
    let bytes = held.isEmpty ? chunk : held + chunk
    held = []
    if form == .unknown {
      guard bytes.count >= 4 || isFinal else {
        held = bytes
        return []
      }
      form = form(of: bytes)
    }
    switch form {
    case .unknown, .utf8: return bytes
    case .ascii(let charset): return undecided(bytes, charset, isFinal: isFinal)
    case .single(let charset): return charset.utf8(bytes)
    case .wide(let width, let isBigEndian): return wide(bytes, width, isBigEndian, isFinal: isFinal)
    }
  }

  /// The encoding by a text's first bytes.
  private func form(of bytes: [UInt8]) -> Form {
    func begins(_ start: UInt8...) -> Bool { bytes.starts(with: start) }
    if begins(0, 0, 0xFE, 0xFF) || begins(0, 0, 0) { return .wide(bytes: 4, isBigEndian: true) }
    if begins(0xFF, 0xFE, 0, 0) { return .wide(bytes: 4, isBigEndian: false) }
    if begins(0xFE, 0xFF) || begins(0) { return .wide(bytes: 2, isBigEndian: true) }
    if begins(0xFF, 0xFE) { return .wide(bytes: 2, isBigEndian: false) }
    if bytes.count > 1, bytes[1] == 0 {
      return .wide(bytes: bytes.count > 3 && bytes[2] == 0 && bytes[3] == 0 ? 4 : 2, isBigEndian: false)
    }
    guard let charset, !begins(0xEF, 0xBB, 0xBF) else { return .utf8 }
    return .ascii(charset)
  }

  /// ASCII up to the first byte beyond it: where a character of UTF-8 begins there, the media type is wrong.
  private mutating func undecided(_ bytes: [UInt8], _ charset: SingleByteCharset, isFinal: Bool) -> [UInt8] {
    guard let place = bytes.firstIndex(where: { $0 >= 0x80 }) else { return bytes }
    let length: Int
    switch bytes[place] {
    case 0xC2...0xDF: length = 2
    case 0xE0...0xEF: length = 3
    case 0xF0...0xF4: length = 4
    default: length = 1
    }
    let character = bytes[place...].prefix(length)
    if character.count < length, !isFinal, character.dropFirst().allSatisfy({ (0x80...0xBF).contains($0) }) {
      held = Array(character)
      return Array(bytes[..<place])
    }
    guard length > 1, String(validating: character, as: UTF8.self) != nil else {
      form = .single(charset)
      return charset.utf8(bytes)
    }
    form = .utf8
    return bytes
  }

  private mutating func wide(_ bytes: [UInt8], _ width: Int, _ isBigEndian: Bool, isFinal: Bool) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    var index = 0
    func unit(_ start: Int) -> UInt32 {
      let unit = bytes[start..<start + width]
      return isBigEndian
        ? unit.reduce(0) { $0 << 8 | UInt32($1) } : unit.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
    while index + width <= bytes.count {
      var value = unit(index)
      var next = index + width
      if width == 2, (0xD800..<0xDC00).contains(value) {
        guard next + width <= bytes.count || isFinal else { break }
        if next + width <= bytes.count, case let low = unit(next), (0xDC00..<0xE000).contains(low) {
          value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
          next += width
        }
      }
      if value < 0x80 {
        text.append(UInt8(truncatingIfNeeded: value))
      } else if let scalar = Unicode.Scalar(value), let units = UTF8.encode(scalar) {
        text.append(contentsOf: units)
      } else {
        text.append(Self.none)
      }
      index = next
    }
    if index < bytes.count { if isFinal { text.append(Self.none) } else { held = Array(bytes[index...]) } }
    return text
  }
}

/// An encoding of one byte a character, ASCII in its first half.
struct SingleByteCharset: Equatable {
  /// What the characters above ASCII are where they are not those of ISO 8859-1.
  private let others: [UInt8: Unicode.Scalar]

  /// The encoding of a name (IANA Character Sets); nil for any other. What is called ISO 8859-1 has the characters of
  /// Windows-1252 in place of its control characters, as the web has it (WHATWG Encoding §4.2).
  init?(_ name: String) {
    switch name.lowercased().filter({ $0.isLetter || $0.isNumber }) {
    case "iso88591", "iso885911987", "latin1", "l1", "windows1252", "cp1252": others = Self.windows1252
    case "iso885915", "latin9", "l9": others = Self.latin9
    default: return nil
    }
  }

  func utf8(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count + bytes.count / 8)
    for byte in bytes {
      if byte < 0x80 {
        text.append(byte)
      } else if let units = UTF8.encode(others[byte] ?? Unicode.Scalar(byte)) {
        text.append(contentsOf: units)
      }
    }
    return text
  }

  private static let windows1252: [UInt8: Unicode.Scalar] = [
    0x80: "€", 0x82: "‚", 0x83: "ƒ", 0x84: "„", 0x85: "…", 0x86: "†", 0x87: "‡", 0x88: "ˆ", 0x89: "‰", 0x8A: "Š",
    0x8B: "‹", 0x8C: "Œ", 0x8E: "Ž", 0x91: "\u{2018}", 0x92: "\u{2019}", 0x93: "\u{201C}", 0x94: "\u{201D}", 0x95: "•",
    0x96: "–", 0x97: "—", 0x98: "˜", 0x99: "™", 0x9A: "š", 0x9B: "›", 0x9C: "œ", 0x9E: "ž", 0x9F: "Ÿ",
  ]
  private static let latin9: [UInt8: Unicode.Scalar] = [
    0xA4: "€", 0xA6: "Š", 0xA8: "š", 0xB4: "Ž", 0xB8: "ž", 0xBC: "Œ", 0xBD: "œ", 0xBE: "Ÿ",
  ]
}
