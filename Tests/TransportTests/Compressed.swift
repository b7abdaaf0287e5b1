/// Compressed content made by hand, so that a test can break it at a place of its choice.
enum Compressed {
  static let text: [UInt8] = {
    let items = (0..<12).map { "{\"ID\":\($0),\"Name\":\"Item \($0 * 7)\"}" }
    let text: String = "{\"value\":[" + items.joined(separator: ",") + "]}"
    return Array(text.utf8)
  }()

  /// The text's deflate data (RFC 1951), with Huffman codes of its own.
  static let deflate = bytes(
    "5dd02b0e80301045d1ad90d188fe7f1a53c30608a2a28e3ac034dd3b4d4806a6f2e5a8772bdce9b83284ad425c20b019d654fa8678e6323168f30b"
      + "9c82451014b84291540447518338144d456a14434509143b88477154b441f1548cfc8e0e09ecafc118a157d8db03")
  /// The text in the zlib format (RFC 1950).
  static let zlib = [0x78, 0xDA] + deflate + bytes("5b665709")
  /// The text as one gzip member (RFC 1952).
  static let gzip = member(deflate, of: text)

  /// 2 MiB of zeros less a little, in 13 bits for each 258 of them, as one gzip member.
  static let zeros: (count: Int, member: [UInt8]) = {
    let matches = 8000
    var bits = Bits()
    bits.append([1, 1, 0])  // the last block, with the fixed codes, RFC 1951 §3.2.6
    bits.append([0, 0, 1, 1, 0, 0, 0, 0])  // the literal 0
    for _ in 0..<matches { bits.append([1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]) }  // length 258, distance 1
    bits.append([0, 0, 0, 0, 0, 0, 0])  // the end
    let count = 1 + 258 * matches
    return (count, member(bits.bytes, of: repeatElement(0, count: count)))
  }()

  /// A member around deflate data.
  static func member(_ data: [UInt8], of content: some Collection<UInt8>) -> [UInt8] {
    [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + data + little(crc32(content)) + little(UInt32(content.count))
  }

  /// A member that holds content as it is (RFC 1951 §3.2.4), at most 65535 bytes.
  static func stored(_ content: [UInt8]) -> [UInt8] {
    let count = [UInt8(truncatingIfNeeded: content.count), UInt8(truncatingIfNeeded: content.count >> 8)]
    return member([1] + count + count.map { ~$0 } + content, of: content)
  }

  private static func little(_ value: UInt32) -> [UInt8] {
    [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
  }

  /// RFC 1952 §8.
  private static func crc32(_ content: some Collection<UInt8>) -> UInt32 {
    var table: [UInt32] = []
    for start in UInt32(0)..<256 {
      var value = start
      for _ in 0..<8 {
        let isOdd = value & 1 == 1
        value >>= 1
        if isOdd { value ^= 0xEDB8_8320 }
      }
      table.append(value)
    }
    var sum: UInt32 = .max
    for byte in content {
      let index = UInt8(truncatingIfNeeded: sum) ^ byte
      sum = (sum >> 8) ^ table[Int(index)]
    }
    return ~sum
  }

  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  /// Bits, the first in each byte's lowest place.
  private struct Bits {
    var bytes: [UInt8] = []
    private var count = 0

    mutating func append(_ bits: [UInt8]) {
      for bit in bits {
        if count % 8 == 0 { bytes.append(0) }
        bytes[count / 8] |= bit << UInt8(count % 8)
        count += 1
      }
    }
  }
}
