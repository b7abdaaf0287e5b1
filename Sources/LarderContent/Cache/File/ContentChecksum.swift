/// A fast 64-bit checksum with a seed: detects damaged bytes, and creates names from keys.
///
/// It protects against accidents of the disk, not against an attacker, who could write a file with a correct checksum
/// anyway. It costs less than copying the bytes: two additions for each 16 bytes.
enum ContentChecksum {
  // Odd numbers with about as many ones as zeros, no two related: the digits of square roots of primes.
  private static let first: UInt64 = 0x6A09_E667_F3BC_C909
  private static let second: UInt64 = 0xBB67_AE85_84CA_A73B

  /// The checksum of bytes.
  static func of(_ raw: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    let count = raw.count
    var sum = mix(seed ^ first, UInt64(truncatingIfNeeded: count) &+ second)
    var offset = 0
    if count >= 64 { unsafe addRounds(raw, &offset, &sum) }
    // Every load is inside the buffer: eight bytes are left.
    while offset &+ 8 <= count {
      sum = mix(unsafe word(raw, offset) ^ sum, second) ^ (sum &<< 1 | sum &>> 63)
      offset &+= 8
    }
    var rest: UInt64 = 0
    while offset < count {
      rest = rest &<< 8 | UInt64(unsafe raw[offset])
      offset &+= 1
    }
    return mix(rest ^ sum, first) ^ sum
  }

  /// Processes rounds of 64 bytes. Each of eight lanes has the sum of its words, and the sum of those sums, which is
  /// rotated by half a word each round.
  ///
  /// One damaged word always changes the first sum. Two damaged words that cancel out in it change the second, which
  /// includes each as often as rounds follow it. Without the rotation, the second sum would miss the highest bits,
  /// whose even multiples vanish.
  private static func addRounds(_ raw: UnsafeRawBufferPointer, _ offset: inout Int, _ sum: inout UInt64) {
    var a = SIMD2(first, second)
    var b = a
    var c = a
    var d = a
    var sumA = a
    var sumB = a
    var sumC = a
    var sumD = a
    let end = raw.count &- 64
    var place = offset
    // Every load is inside the buffer: 64 bytes are left.
    while place <= end {
      a &+= unsafe pair(raw, place)
      b &+= unsafe pair(raw, place &+ 16)
      c &+= unsafe pair(raw, place &+ 32)
      d &+= unsafe pair(raw, place &+ 48)
      sumA = turned(sumA) &+ a
      sumB = turned(sumB) &+ b
      sumC = turned(sumC) &+ c
      sumD = turned(sumD) &+ d
      place &+= 64
    }
    offset = place
    sum = fold(d, fold(c, fold(b, fold(a, sum))))
    sum = fold(sumD, fold(sumC, fold(sumB, fold(sumA, sum))))
  }

  /// The checksum of an array's bytes.
  static func of(_ bytes: [UInt8], seed: UInt64) -> UInt64 {
    unsafe bytes.withUnsafeBytes { raw in unsafe of(raw, seed: seed) }
  }

  /// Combines two numbers into one: the two halves of their product.
  static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }

  @inline(__always)
  private static func fold(_ part: SIMD2<UInt64>, _ sum: UInt64) -> UInt64 {
    mix(mix(part[0] ^ sum, first) ^ part[1], second) ^ (sum &<< 1 | sum &>> 63)
  }

  /// Rotates the four half words by one place.
  @inline(__always)
  private static func turned(_ value: SIMD2<UInt64>) -> SIMD2<UInt64> {
    // Both types are 16 bytes without any padding; every pattern of bits is a value of both.
    let halves = unsafe unsafeBitCast(value, to: SIMD4<UInt32>.self)
    return unsafe unsafeBitCast(SIMD4(halves[1], halves[2], halves[3], halves[0]), to: SIMD2<UInt64>.self)
  }

  @inline(__always)
  private static func pair(_ raw: UnsafeRawBufferPointer, _ offset: Int) -> SIMD2<UInt64> {
    // The caller has checked that 16 bytes are there.
    unsafe raw.loadUnaligned(fromByteOffset: offset, as: SIMD2<UInt64>.self)
  }

  @inline(__always)
  private static func word(_ raw: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    // The caller has checked that eight bytes are there.
    unsafe raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }
}
