/// A fast 64-bit checksum that detects damaged bytes. It protects against faults of the disk, not against an attacker.
package enum Checksum {
  /// The checksum of bytes: eight at a time, multiplied and folded.
  package static func of(_ bytes: [UInt8]) -> Int64 {
    unsafe bytes.withUnsafeBytes { raw in
      let prime: UInt64 = 0x9E37_79B9_7F4A_7C15
      var first = UInt64(raw.count) &* prime
      var second = first ^ 0xD6E8_FEB8_6659_FD93
      var offset = 0
      // Every load lies inside the buffer: the loop leaves at least 16 bytes before its end.
      while offset &+ 16 <= raw.count {
        let low = unsafe raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let high = unsafe raw.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self)
        first = mix(first ^ UInt64(littleEndian: low), prime)
        second = mix(second ^ UInt64(littleEndian: high), prime)
        offset &+= 16
      }
      while offset < raw.count {
        first = unsafe mix(first ^ UInt64(raw[offset]), prime)
        offset &+= 1
      }
      return Int64(bitPattern: mix(first ^ (second << 1 | second >> 63), prime))
    }
  }

  @inline(__always)
  private static func mix(_ value: UInt64, _ prime: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: prime | 1)
    return product.high ^ product.low ^ (value << 32 | value >> 32)
  }
}
