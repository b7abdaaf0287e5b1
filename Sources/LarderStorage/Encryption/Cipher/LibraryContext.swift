#if !canImport(CryptoKit)
  /// What libcrypto works with, by pointers that it makes and frees.
  enum LibraryContext {
    /// Two of a kind; nil, and none is left, where there is no memory for both.
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
