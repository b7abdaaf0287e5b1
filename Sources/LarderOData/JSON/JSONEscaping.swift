@_spi(Stores) import LarderCore

/// Escapes what RFC 8259 §7 demands in a string; U+2028 and U+2029 are written unescaped.
@_spi(Stores)
public enum JSONEscaping {
  /// The number of bytes at the beginning that need no escape.
  @inlinable @inline(__always)
  public static func plainPrefix(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    let count = bytes.count
    var index = 0
    if let start = UnsafeRawPointer(bytes.baseAddress) {
      while index &+ 8 <= count {
        // Eight bytes at once, within the buffer.
        let word = start.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        if hasSpecial(word) { break }
        index &+= 8
      }
    }
    while index < count {
      let byte = bytes[index]
      if byte < 0x20 || byte == 0x22 || byte == 0x5C { return index }
      index &+= 1
    }
    return count
  }

  /// Whether one of eight bytes is a control character, a quote or a backslash. The result may be true without such a
  /// byte.
  @inlinable @inline(__always)
  public static func hasSpecial(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let high: UInt64 = 0x8080_8080_8080_8080
    let quote = word ^ 0x2222_2222_2222_2222
    let backslash = word ^ 0x5C5C_5C5C_5C5C_5C5C
    let control = (word &- (ones &* 0x20)) & ~word
    return (control | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)) & high != 0
  }

  /// Passes bytes on, escaped. A byte becomes at most six.
  @inlinable
  public static func escape(_ bytes: UnsafeBufferPointer<UInt8>, _ put: (UInt8) -> Void) {
    for byte in bytes {
      let letter: UInt8
      switch byte {
      case 0x22, 0x5C: letter = byte
      case 0x0A: letter = UInt8(ascii: "n")
      case 0x0D: letter = UInt8(ascii: "r")
      case 0x09: letter = UInt8(ascii: "t")
      case 0x00..<0x20: letter = UInt8(ascii: "u")
      default:
        put(byte)
        continue
      }
      put(0x5C)
      put(letter)
      guard letter == UInt8(ascii: "u") else { continue }
      put(0x30)
      put(0x30)
      put(0x30 + byte >> 4)
      put(Hexadecimal.lower(byte & 0x0F))
    }
  }
}
