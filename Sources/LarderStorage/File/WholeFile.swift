#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file that is replaced completely or not at all: it is written under an unpredictable name beside its place,
/// flushed, then renamed. An existing file keeps its permissions, and its owner if the system allows that.
///
/// A path that is not a regular file is written directly, as other tools do: the target of a symbolic link, a device,
/// or a pipe.
package struct WholeFile: ~Copyable {
  /// An error of the operating system.
  package struct Failure: Error, Sendable {
    /// The system's error number.
    package let number: Int32
  }

  /// The descriptor to write to, until ``finish()``.
  package let descriptor: Int32
  private let path: String
  /// The temporary name; nil if the file itself is written.
  private var temporary: String?

  private init(_ descriptor: Int32, path: String, temporary: String?) {
    self.descriptor = descriptor
    self.path = path
    self.temporary = temporary
  }

  /// Starts writing a file. A private file is accessible to its owner only.
  package static func create(_ path: String, isPrivate: Bool = false) throws(Failure) -> WholeFile {
    var former = stat()
    let isThere = unsafe lstat(path, &former) == 0
    let kind = former.st_mode & S_IFMT
    guard isThere, kind != S_IFREG else {
      return try beside(path, like: isThere ? former : nil, isPrivate: isPrivate)
    }
    // A link may lead to a file that does not exist yet; a device or pipe exists.
    let makes = kind == S_IFLNK ? O_CREAT : 0
    let opened = unsafe open(path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC | makes, mode_t(isPrivate ? 0o600 : 0o666))
    guard opened >= 0 else { throw Failure(number: errno) }
    return WholeFile(opened, path: path, temporary: nil)
  }

  private static func beside(_ path: String, like former: stat?, isPrivate: Bool) throws(Failure) -> WholeFile {
    while true {
      let name = "\(path).\(UInt32.random(in: 0...UInt32.max)).part"
      let isNarrow = isPrivate || former != nil
      let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
      let descriptor = unsafe open(name, flags, mode_t(isNarrow ? 0o600 : 0o666))
      if descriptor < 0, errno == EEXIST { continue }
      guard descriptor >= 0 else { throw Failure(number: errno) }
      if let former { copyAttributes(former, to: descriptor, isPrivate: isPrivate) }
      return WholeFile(descriptor, path: path, temporary: name)
    }
  }

  /// Gives a new file the owner and the permissions of the one that it replaces. If the group cannot be set, the new
  /// file's group gets only the rights of all users.
  private static func copyAttributes(_ former: stat, to file: Int32, isPrivate: Bool) {
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { return }
    var mode = former.st_mode & (isPrivate ? 0o700 : 0o777)
    if status.st_uid != former.st_uid || status.st_gid != former.st_gid,
      fchown(file, former.st_uid, former.st_gid) != 0, status.st_gid != former.st_gid,
      fchown(file, uid_t.max, former.st_gid) != 0
    {
      mode &= ~0o070 | (mode & 0o007) << 3
    }
    _ = fchmod(file, mode)
  }

  /// Adds bytes.
  package func write(_ bytes: [UInt8]) throws(Failure) {
    var done = 0
    while done < bytes.count {
      // The buffer outlives the call, and `done` lies within it.
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: buffer[done...]))
      }
      if count < 0, errno != EINTR { throw Failure(number: errno) }
      done += max(0, count)
    }
  }

  /// Puts the file in its place. It is on the disk when this returns.
  package consuming func finish() throws(Failure) {
    guard let name = temporary else {
      // Pipes and terminals cannot be flushed.
      guard FileFlush.flush(descriptor) == 0 || [EINVAL, ENOTSUP, EROFS].contains(errno) else {
        throw Failure(number: errno)
      }
      return
    }
    guard FileFlush.flush(descriptor) == 0, unsafe rename(name, path) == 0 else { throw Failure(number: errno) }
    temporary = nil
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    guard FilesInUse.syncFolder(folder.isEmpty ? "/" : folder) else { throw Failure(number: errno) }
  }

  deinit {
    _ = close(descriptor)
    if let temporary { _ = unsafe unlink(temporary) }
  }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  unsafe write(descriptor, bytes.baseAddress, bytes.count)
}
