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

  /// Waits for the lock on the folder of a file.
  init(ofFile path: String) {
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    while descriptor >= 0, flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
  }

  deinit {
    guard descriptor >= 0 else { return }
    // Closing alone would leave the lock with a child process that was just created.
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
