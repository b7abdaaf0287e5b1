#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A thread of its own for work that blocks for long, which would take a thread from the concurrency pool.
package enum DetachedThread {
  /// Runs work on a new thread. Returns false, and runs nothing, if no thread can be started.
  package static func start(_ work: @escaping @Sendable () -> Void) -> Bool {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    guard pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED)) == 0 else { return false }
    #if canImport(Glibc)
      var thread = pthread_t()
    #else
      var thread: pthread_t?
    #endif
    let argument = Unmanaged.passRetained(Work(work))
    guard pthread_create(&thread, &attributes, run, argument.toOpaque()) == 0 else {
      argument.release()
      return false
    }
    return true
  }

  fileprivate final class Work {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}

#if canImport(Glibc) || canImport(Musl)
  private func run(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let work { Unmanaged<DetachedThread.Work>.fromOpaque(work).takeRetainedValue().body() }
    return nil
  }
#else
  private func run(_ work: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<DetachedThread.Work>.fromOpaque(work).takeRetainedValue().body()
    return nil
  }
#endif
