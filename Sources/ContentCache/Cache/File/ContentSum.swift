/// A fast 64-bit sum under a seed: tells damaged bytes from whole ones, and makes names of keys.
///
/// Against accidents of the disk, not against an attacker, who could write a file with a right sum anyway. Four lanes
/// of one full-width multiplication each keep the multiplier busy: it costs less than copying the bytes.
enum ContentSum {
  // Odd numbers with about as many ones as zeros, no two related: the digits of square roots of primes.
  private static let first: UInt64 = 0x6A09_E667_F3BC_C909
  private static let second: UInt64 = 0xBB67_AE85_84CA_A73B
  private static let third: UInt64 = 0x3C6E_F372_FE94_F82B
  private static let fourth: UInt64 = 0xA54F_F53A_5F1D_36F1

  /// The sum of bytes.
  static func of(_ raw: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    let count = raw.count
    let start = seed ^ UInt64(count) &* first
    var a = start ^ first
    var b = start ^ second
    var c = start ^ third
    var d = start ^ fourth
    var offset = 0
    // Every load is inside the buffer: a round takes 64 bytes, and so many are left.
    while offset &+ 64 <= count {
      a = mix(unsafe word(raw, offset) ^ a, unsafe word(raw, offset &+ 8) ^ first) ^ (a &<< 1 | a &>> 63)
      b = mix(unsafe word(raw, offset &+ 16) ^ b, unsafe word(raw, offset &+ 24) ^ second) ^ (b &<< 1 | b &>> 63)
      c = mix(unsafe word(raw, offset &+ 32) ^ c, unsafe word(raw, offset &+ 40) ^ third) ^ (c &<< 1 | c &>> 63)
      d = mix(unsafe word(raw, offset &+ 48) ^ d, unsafe word(raw, offset &+ 56) ^ fourth) ^ (d &<< 1 | d &>> 63)
      offset &+= 64
    }
    while offset &+ 8 <= count {
      a = mix(unsafe word(raw, offset) ^ a, second ^ b) ^ (a &<< 1 | a &>> 63)
      offset &+= 8
    }
    var rest: UInt64 = 0
    while offset < count {
      rest = rest &<< 8 | UInt64(unsafe raw[offset])
      offset &+= 1
    }
    a = mix(rest ^ a, third ^ c) ^ rest
    return mix(mix(a ^ first, b ^ second) ^ mix(c ^ third, d ^ fourth) ^ a, second) ^ c
  }

  /// The sum of an array's bytes.
  static func of(_ bytes: [UInt8], seed: UInt64) -> UInt64 {
    unsafe bytes.withUnsafeBytes { raw in unsafe of(raw, seed: seed) }
  }

  /// Two numbers made one: the product's halves.
  static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }

  @inline(__always)
  private static func word(_ raw: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    // The caller has checked that eight bytes are there.
    UInt64(littleEndian: unsafe raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
