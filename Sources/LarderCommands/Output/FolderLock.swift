internal import LarderCore

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

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Waits for the lock on the folder of a file, which need not exist.
  ///
  /// A wait of a second is noted. Throws ``CommandFailure`` after ten seconds, and `CancellationError`.
  static func wait(
    forFile path: String, in environment: LarderEnvironment = .system, note: (String) -> Void
  ) async throws -> FolderLock {
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let start = environment.uptime()
    var isNoted = false
    do {
      while descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        guard errno == EWOULDBLOCK || errno == EINTR else { break }
        let time = environment.uptime() - start
        guard time < .seconds(10) else {
          throw CommandFailure(
            .storage, "\(path): another process has locked the folder \(folder) for 10 seconds",
            hint: "Wait for it to end, or write the file to another folder.")
        }
        if time >= .seconds(1), !isNoted {
          note("waiting for another process that has locked the folder \(folder)")
          isNoted = true
        }
        try await environment.sleep(.milliseconds(50))
        try Task.checkCancellation()
      }
    } catch {
      close(descriptor)
      throw error
    }
    return FolderLock(descriptor)
  }

  /// The path that symbolic links at a path lead to. The file need not exist.
  static func target(of path: String) -> String {
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
