#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Key material: bytes on memory pages of their own, kept out of swap and core dumps if the system allows it, and
/// zeroed when the last reference is released.
//
// @unchecked Sendable: only the closure in the initializer writes the bytes, before the value is shared.
@safe final class SecretBytes: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
  let count: Int
  private let start: UnsafeMutableRawPointer
  private let length: Int

  /// Allocates bytes, which are zero, and lets `fill` write them. Throws `inputOutput` if there is no memory.
  init(count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(StorageError) -> Void) throws(StorageError) {
    let page = max(4096, Int(sysconf(Int32(_SC_PAGESIZE))))
    length = (max(1, count) + page - 1) / page * page
    #if canImport(Darwin)
      let mapped = unsafe mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
    #else
      let mapped = unsafe mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    #endif
    guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else {
      throw StorageError(.inputOutput, message: "There is not enough memory for a key", path: nil)
    }
    unsafe start = mapped
    self.count = count
    // A limit of the process may deny both calls; the bytes can be used nevertheless.
    _ = unsafe mlock(mapped, length)
    #if os(Linux)
      _ = unsafe madvise(mapped, length, Int32(MADV_DONTDUMP))
    #endif
    try unsafe fill(UnsafeMutableRawBufferPointer(start: mapped, count: count))
  }

  deinit {
    unsafe SecretBytes.zero(start, length)
    _ = unsafe munlock(start, length)
    _ = unsafe munmap(start, length)
  }

  /// Passes the bytes to `body`, which must not keep a copy.
  @unsafe func withBytes<Value, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    unsafe try body(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// Passes the 32 bytes from `start` on to `body`, which must not keep a copy; nil if there are fewer bytes.
  @unsafe func withKey<Value>(from start: Int, _ body: (UnsafeRawBufferPointer) -> Value) -> Value? {
    guard start >= 0, count >= start + StorageKey.byteCount else { return nil }
    return unsafe body(UnsafeRawBufferPointer(start: self.start + start, count: StorageKey.byteCount))
  }

  /// Writes zeros in a way that the compiler cannot optimize out.
  static func zero(_ start: UnsafeMutableRawPointer, _ count: Int) {
    #if canImport(Darwin)
      _ = unsafe memset_s(start, count, 0, count)
    #else
      unsafe explicit_bzero(start, count)
    #endif
  }

  /// Whether two buffers have equal bytes; takes the same time wherever they differ.
  static func same(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in 0..<left.count { difference |= unsafe left[index] ^ right[index] }
    return difference == 0
  }

  /// A fixed text, never the bytes.
  var description: String { "SecretBytes" }

  /// An empty mirror, never the bytes.
  var customMirror: Mirror { Mirror(self, children: []) }
}
