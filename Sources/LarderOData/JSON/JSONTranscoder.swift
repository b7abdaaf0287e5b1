/// Converts the bytes of a JSON text to UTF-8, chunk by chunk, if they are in another encoding.
///
/// JSON between systems is UTF-8, and its media type has no `charset` (RFC 8259 §8.1, §11). Other encodings that
/// services use are read too: UTF-16 and UTF-32 by their byte order mark, or by the zeros of the first characters,
/// which are ASCII (RFC 4627 §3); ISO 8859-1, ISO 8859-15 and Windows-1252 if the media type names one of them and the
/// first character beyond ASCII is not UTF-8. A byte sequence that is no character becomes a byte that UTF-8 does not
/// have, so that the parser rejects it at its position.
struct JSONTranscoder {
  private enum Encoding: Equatable {
    /// Fewer than four bytes have been seen.
    case unknown
    case utf8
    /// ASCII so far; the first byte beyond ASCII decides.
    case ascii(SingleByteCharset)
    case single(SingleByteCharset)
    case wide(bytes: Int, isBigEndian: Bool)
  }

  private var encoding = Encoding.unknown
  private let charset: SingleByteCharset?
  /// The bytes of an incomplete character.
  private var incompleteBytes: [UInt8] = []
  /// A byte that never occurs in UTF-8.
  private static let invalidByte: UInt8 = 0xFF

  /// Creates a transcoder for a text whose media type names `charset`; nil for none.
  init(charset: String? = nil) { self.charset = charset.flatMap(SingleByteCharset.init(_:)) }

  /// Converts the next bytes to UTF-8. An incomplete character is held back until its remaining bytes arrive.
  mutating func read(_ chunk: [UInt8]) -> [UInt8] { encoding == .utf8 ? chunk : convert(chunk, isFinal: false) }

  /// Returns the bytes that were held back when the text ended.
  mutating func finish() -> [UInt8] { encoding == .utf8 ? [] : convert([], isFinal: true) }

  private mutating func convert(_ chunk: [UInt8], isFinal: Bool) -> [UInt8] {
    let bytes = incompleteBytes.isEmpty ? chunk : incompleteBytes + chunk
    incompleteBytes = []
    if encoding == .unknown {
      guard bytes.count >= 4 || isFinal else {
        incompleteBytes = bytes
        return []
      }
      encoding = encoding(of: bytes)
    }
    switch encoding {
    case .unknown, .utf8: return bytes
    case .ascii(let charset): return undecided(bytes, charset, isFinal: isFinal)
    case .single(let charset): return charset.utf8(bytes)
    case .wide(let width, let isBigEndian): return wide(bytes, width, isBigEndian, isFinal: isFinal)
    }
  }

  /// Detects the encoding by a text's first bytes.
  private func encoding(of bytes: [UInt8]) -> Encoding {
    func startsWith(_ start: UInt8...) -> Bool { bytes.starts(with: start) }
    if startsWith(0, 0, 0xFE, 0xFF) || startsWith(0, 0, 0) { return .wide(bytes: 4, isBigEndian: true) }
    if startsWith(0xFF, 0xFE, 0, 0) { return .wide(bytes: 4, isBigEndian: false) }
    if startsWith(0xFE, 0xFF) || startsWith(0) { return .wide(bytes: 2, isBigEndian: true) }
    if startsWith(0xFF, 0xFE) { return .wide(bytes: 2, isBigEndian: false) }
    if bytes.count > 1, bytes[1] == 0 {
      return .wide(bytes: bytes.count > 3 && bytes[2] == 0 && bytes[3] == 0 ? 4 : 2, isBigEndian: false)
    }
    guard let charset, !startsWith(0xEF, 0xBB, 0xBF) else { return .utf8 }
    return .ascii(charset)
  }

  /// Reads ASCII up to the first byte beyond it: if a character of UTF-8 begins there, the media type is wrong.
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
      incompleteBytes = Array(character)
      return Array(bytes[..<place])
    }
    guard length > 1, String(validating: character, as: UTF8.self) != nil else {
      encoding = .single(charset)
      return charset.utf8(bytes)
    }
    encoding = .utf8
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
        text.append(Self.invalidByte)
      }
      index = next
    }
    if index < bytes.count {
      if isFinal { text.append(Self.invalidByte) } else { incompleteBytes = Array(bytes[index...]) }
    }
    return text
  }
}

/// An encoding with one byte for each character, ASCII in its first half.
struct SingleByteCharset: Equatable {
  /// The characters above ASCII that differ from those of ISO 8859-1.
  private let others: [UInt8: Unicode.Scalar]

  /// Looks up the encoding of a name (IANA Character Sets); nil for any other. The name ISO 8859-1 means Windows-1252,
  /// which has characters in place of the control characters, as on the web (WHATWG Encoding §4.2).
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
