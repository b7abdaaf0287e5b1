#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension CacheError {
  /// What the system says of a file or folder.
  package init(errno code: Int32, path: String) {
    switch code {
    case ENOSPC, EDQUOT: self = .full(path: path)
    case EROFS, EACCES, EPERM: self = .readOnly(path: path)
    default:
      var text = [CChar](repeating: 0, count: 256)
      // The function writes at most as much as it is told, the NUL included.
      _ = unsafe strerror_r(code, &text, text.count)
      let words = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      self = .failed(path: path, reason: words.isEmpty ? "errno \(code)" : String(decoding: words, as: UTF8.self))
    }
  }
}
