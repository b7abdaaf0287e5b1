#if DEBUG
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif

  /// Whether this thread is in the closure of a ``Locked``. Only in debug builds.
  @usableFromInline
  enum LockNesting {
    /// Created once. If the system provides no key, nesting is not checked.
    private static let key: pthread_key_t? = {
      var key = pthread_key_t()
      // The pointer is to a local value, and used only during the call.
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
        A lock was entered in the closure of another lock. The closure called or released a value: return that value from \
        the closure, and call or release it afterwards.
        """)
    }

    @usableFromInline
    static func leave() {
      if let key { pthread_setspecific(key, nil) }
    }
  }
#endif
