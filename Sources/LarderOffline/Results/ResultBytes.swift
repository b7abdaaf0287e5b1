import LarderCore
@_spi(Stores) import LarderOData

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
    let plain = unsafe JSONEscaping.plainPrefix(bytes)
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

  /// A string in quotes.
  static func string(_ text: String) -> [UInt8] {
    var out = ResultBytes()
    out.string(text)
    return out.takeAll()
  }

  @inline(never)
  private mutating func escape(_ bytes: UnsafeBufferPointer<UInt8>) {
    reserve(bytes.count * 6 + 1)
    unsafe JSONEscaping.escape(bytes) { put($0) }
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
