#if canImport(Glibc)
  private import Glibc
#elseif canImport(Musl)
  private import Musl
#elseif canImport(Darwin)
  private import Darwin
#endif

/// Limits recursion by the remaining stack. The cost of a level depends on its content, and in debug builds it is
/// several times as high, so a count of levels alone does not keep a thread safe.
package struct StackGuard: Sendable {
  /// The stack that may be used on every thread, in bytes. Threads other than the first have 512 kB on some platforms;
  /// callers need some of that, and one level takes up to 40 kB.
  private static let assumedStackSize = 352 << 10
  /// The part at the end of a thread's stack that is left for other code, if the size of the stack is known.
  private static let reserve = 160 << 10
  /// The lowest address that may be reached, as stacks grow downwards; odd after the real limit was read from the system.
  /// One word, because readers are copied when their methods are called.
  private var lowest = (StackGuard.stackPointer() - assumedStackSize) & ~1

  /// Creates a guard for the current thread.
  package init() {}

  /// Whether no deeper level may begin at the given depth. Up to the usual number of levels, the stack may exceed what
  /// every thread has, if this thread has more. A deeper tree could not be deallocated on a thread with a smaller
  /// stack.
  package mutating func isSpent(at depth: Int, usual: Int) -> Bool {
    let here = StackGuard.stackPointer()
    if here > lowest { return lowest & 1 == 1 && depth >= usual }
    guard lowest & 1 == 0, depth < usual else { return true }
    // Read at most once: for the first thread, the C library reads a file of the system.
    lowest = min(lowest, StackGuard.endOfStack().map { $0 + StackGuard.reserve } ?? lowest) | 1
    return here <= lowest
  }

  /// The approximate current address of the stack.
  @inline(never)
  private static func stackPointer() -> Int {
    var marker: UInt8 = 0
    return withUnsafeMutablePointer(to: &marker) { Int(bitPattern: $0) }
  }

  /// The lowest address of this thread's stack; nil if the system does not report it.
  private static func endOfStack() -> Int? {
    #if canImport(Darwin)
      let thread = pthread_self()
      return Int(bitPattern: pthread_get_stackaddr_np(thread)) - pthread_get_stacksize_np(thread)
    #elseif canImport(Glibc) || canImport(Musl)
      // The header declares the function for GNU C only.
      typealias GetAttributes = @convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> CInt
      guard let symbol = dlsym(nil, "pthread_getattr_np") else { return nil }
      var attributes = pthread_attr_t()
      guard unsafeBitCast(symbol, to: GetAttributes.self)(pthread_self(), &attributes) == 0 else { return nil }
      defer { pthread_attr_destroy(&attributes) }
      var end: UnsafeMutableRawPointer?
      var size = 0
      guard pthread_attr_getstack(&attributes, &end, &size) == 0, let end else { return nil }
      return Int(bitPattern: end)
    #else
      return nil
    #endif
  }
}
