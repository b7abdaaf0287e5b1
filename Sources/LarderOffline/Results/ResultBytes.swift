import LarderCore

/// The bytes of a result that have not been passed to their sink yet.
///
/// Values and members each end with a comma; a closing bracket replaces the last one. Space is reserved before bytes
/// are written, so that writing them is only a copy.
@safe struct ResultBytes: ~Copyable {
  private var start: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  /// The number of bytes.
  private(set) var count = 0

  /// Results are passed on in pieces of about this size.
  static let chunk = 64 << 10

  init() {
    capacity = ResultBytes.chunk + 4096
    // The memory is never read before it is written.
    unsafe start = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
  }

  deinit { unsafe start.deallocate() }

  @inline(__always)
  private mutating func reserve(_ additional: Int) { if capacity - count < additional { grow(additional) } }

  @inline(never)
  private mutating func grow(_ additional: Int) {
    let size = max(capacity * 2, count + additional)
    let bigger = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
    // Two allocations never overlap.
    unsafe bigger.update(from: start, count: count)
    unsafe start.deallocate()
    unsafe start = bigger
    capacity = size
  }

  @inline(__always)
  private mutating func put(_ byte: UInt8) {
    // Callers have reserved the space.
    unsafe start[count] = byte
    count += 1
  }

  /// Appends one byte.
  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    put(byte)
  }

  /// Appends bytes unchanged.
  @inline(__always)
  mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let source = bytes.baseAddress else { return }
    reserve(bytes.count)
    unsafe (start + count).update(from: source, count: bytes.count)
    count += bytes.count
  }

  /// Appends bytes unchanged.
  @inline(__always)
  mutating func append(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBufferPointer { unsafe append($0) } }

  /// Appends text unchanged.
  mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { unsafe append($0) }
  }

  /// Appends text that is known at compile time, unchanged.
  @inline(__always)
  mutating func append(literal text: StaticString) {
    unsafe append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Replaces the last comma with a closing bracket, or appends the bracket after an opening one.
  @inline(__always)
  mutating func close(_ bracket: UInt8) {
    if count > 0, unsafe start[count - 1] == UInt8(ascii: ",") { count -= 1 }
    append(bracket)
  }

  /// Removes everything that was written after the first `length` bytes.
  mutating func truncate(to length: Int) { count = min(count, max(0, length)) }

  /// Removes `length` bytes from an offset on.
  mutating func remove(from place: Int, _ length: Int) {
    guard place >= 0, length > 0, place + length <= count else { return }
    // The range is within the bytes written. The two parts may overlap, which `update` allows.
    unsafe (start + place).update(from: start + place + length, count: count - place - length)
    count -= length
  }

  // MARK: Scalars

  /// Appends a string in quotes, escaped as RFC 8259 §7 requires.
  @inline(__always)
  mutating func string(_ bytes: UnsafeBufferPointer<UInt8>) {
    reserve(bytes.count + 2)
    put(UInt8(ascii: "\""))
    let plain = unsafe ResultBytes.plainPrefix(bytes)
    if let source = bytes.baseAddress {
      unsafe (start + count).update(from: source, count: plain)
      count += plain
    }
    if plain < bytes.count { unsafe escape(UnsafeBufferPointer(rebasing: bytes[plain...])) }
    append(UInt8(ascii: "\""))
  }

  /// Appends a string in quotes.
  mutating func string(_ text: String) {
    var text = text
    text.withUTF8 { unsafe string($0) }
  }

  /// The number of bytes at the beginning that need no escape.
  @inline(__always)
  static func plainPrefix(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    let count = bytes.count
    var index = 0
    if let start = unsafe UnsafeRawPointer(bytes.baseAddress) {
      while index &+ 8 <= count {
        // Eight bytes at once, within the buffer.
        let word = unsafe start.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        if hasSpecial(word) { break }
        index &+= 8
      }
    }
    while index < count {
      let byte = unsafe bytes[index]
      if byte < 0x20 || byte == 0x22 || byte == 0x5C { return index }
      index &+= 1
    }
    return count
  }

  /// Whether one of eight bytes is a control character, a quote or a backslash. The result may be true without such a
  /// byte.
  @inline(__always)
  private static func hasSpecial(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let high: UInt64 = 0x8080_8080_8080_8080
    let quote = word ^ 0x2222_2222_2222_2222
    let backslash = word ^ 0x5C5C_5C5C_5C5C_5C5C
    let control = (word &- (ones &* 0x20)) & ~word
    return (control | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)) & high != 0
  }

  @inline(never)
  private mutating func escape(_ bytes: UnsafeBufferPointer<UInt8>) {
    reserve(bytes.count * 6 + 1)
    for index in bytes.indices {
      let byte = unsafe bytes[index]
      switch byte {
      case 0x22, 0x5C:
        put(0x5C)
        put(byte)
      case 0x0A: append(literal: "\\n")
      case 0x0D: append(literal: "\\r")
      case 0x09: append(literal: "\\t")
      case 0x00..<0x20:
        append(literal: "\\u00")
        put(byte < 0x10 ? 0x30 : 0x31)
        let low = byte & 0x0F
        put(low < 10 ? 0x30 + low : 0x57 + low)
      default: put(byte)
      }
    }
  }

  /// Appends the digits of an integer.
  @inline(__always)
  mutating func integer(_ number: Int64) {
    reserve(20)
    var magnitude = number.magnitude
    if number < 0 { put(UInt8(ascii: "-")) }
    if magnitude < 10 { return put(0x30 + UInt8(truncatingIfNeeded: magnitude)) }
    var length = 0
    var rest = magnitude
    while rest > 0 {
      length += 1
      rest /= 10
    }
    var place = count + length
    count = place
    while magnitude > 0 {
      place -= 1
      let (quotient, digit) = magnitude.quotientAndRemainder(dividingBy: 10)
      // The place is between the old and the new count, which are within the reserved space.
      unsafe start[place] = 0x30 + UInt8(truncatingIfNeeded: digit)
      magnitude = quotient
    }
  }

  /// Appends Base64, or the URL-safe alphabet without padding on request (RFC 4648 §4 and §5).
  mutating func base64(_ bytes: UnsafeBufferPointer<UInt8>, isURLSafe: Bool) {
    let length = Base64.maximumLength(bytes.count)
    reserve(length)
    count += unsafe Base64.write(
      bytes, isURLSafe: isURLSafe, to: UnsafeMutableBufferPointer(start: start + count, count: length))
  }

  // MARK: Taking bytes

  /// Returns and removes all bytes but the last, which a closing bracket may still replace.
  mutating func takeAllButLast() -> [UInt8] {
    guard count > 1 else { return [] }
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count - 1))
    unsafe start[0] = start[count - 1]
    count = 1
    return bytes
  }

  /// Returns and removes all bytes.
  mutating func takeAll() -> [UInt8] {
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    count = 0
    return bytes
  }
}
