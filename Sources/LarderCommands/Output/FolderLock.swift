#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Excludes other commands that change files in a folder, for a short time. It leaves no file behind: the lock is on the
/// folder itself. A file system without locks has none.
struct FolderLock: ~Copyable {
  private let descriptor: Int32

  /// Waits for the lock on the folder of a file. For a symbolic link that is the folder of the file it leads to, which
  /// need not exist.
  init(ofFile path: String) {
    let path = FolderLock.target(of: path)
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    while descriptor >= 0, flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
  }

  /// The path that symbolic links at a path lead to.
  private static func target(of path: String) -> String {
    var path = path
    // Links that lead to each other have no target.
    for _ in 0..<40 {
      var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
      let count = bytes.withUnsafeMutableBytes { buffer in
        buffer.withMemoryRebound(to: CChar.self) { text in text.baseAddress.map { readlink(path, $0, text.count) } ?? 0
        }
      }
      guard count > 0 else { return path }
      let target = String(decoding: bytes.prefix(count), as: UTF8.self)
      let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
      path = target.hasPrefix("/") ? target : folder + target
    }
    return path
  }

  deinit {
    guard descriptor >= 0 else { return }
    // Closing alone would leave the lock with a child process that was just created.
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
