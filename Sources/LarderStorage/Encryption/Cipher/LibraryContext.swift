#if !canImport(CryptoKit)
  /// Creates context objects of libcrypto, which are used through pointers and must be freed.
  enum LibraryContext {
    /// Creates two contexts of one kind. Returns nil, and leaves none allocated, if there is no memory for both.
    static func two(
      _ make: () -> OpaquePointer?, _ free: (OpaquePointer?) -> Void
    ) -> (OpaquePointer, OpaquePointer)? {
      guard let first = unsafe make() else { return nil }
      guard let second = unsafe make() else {
        unsafe free(first)
        return nil
      }
      return unsafe (first, second)
    }
  }
#endif
