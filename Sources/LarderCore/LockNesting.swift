#if DEBUG
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif

  /// Whether this thread is in the closure of a ``Locked``. In debug builds alone.
  @usableFromInline
  enum LockNesting {
    /// Made once; a system that gives no key gives none to any thread, and nothing is held then.
    private static let key: pthread_key_t? = {
      var key = pthread_key_t()
      // The pointer is to a local value, for the call alone.
      return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    @usableFromInline
    static func enter() {
      check()
      if let key { pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1)) }
    }

    @usableFromInline
    static func check() {
      guard let key else { return }
      precondition(
        pthread_getspecific(key) == nil,
        """
        A lock was entered in the closure of another lock. Something was called or released there: return it from the \
        closure, and call or release it afterwards.
        """)
    }

    @usableFromInline
    static func leave() {
      if let key { pthread_setspecific(key, nil) }
    }
  }
#endif
