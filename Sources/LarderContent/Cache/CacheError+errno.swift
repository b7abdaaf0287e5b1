#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension CacheError {
  /// Creates an error from the system's error number for a file or folder.
  ///
  /// - Parameter isReading: the file was to be opened for reading, or to be read.
  package init(errno code: Int32, path: String, isReading: Bool = false) {
    switch code {
    case ENOSPC, EDQUOT: self = .full(path: path)
    // The file may be intact: without permission to read it, that is unknown.
    case EACCES where isReading:
      self = .failed(path: path, reason: "The file cannot be read. Check the permissions of the folder.")
    // The error that iOS returns for a file of the class `complete`.
    case EPERM where isReading:
      self = .failed(
        path: path,
        reason: "The file cannot be read. The device may be locked; otherwise check the permissions of the folder.")
    case EROFS, EACCES, EPERM: self = .readOnly(path: path)
    default:
      var text = [CChar](repeating: 0, count: 256)
      // The function writes at most as many bytes as its argument allows, including the NUL.
      _ = unsafe strerror_r(code, &text, text.count)
      let words = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      self = .failed(path: path, reason: words.isEmpty ? "errno \(code)" : String(decoding: words, as: UTF8.self))
    }
  }
}
