#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file that appears whole or not at all: written beside its place under a name that nobody can foresee, flushed, then
/// renamed onto it. A file that was there keeps its permissions, and its owner where the system allows that.
///
/// What is no regular file is written through, as other tools do: a symbolic link (what it leads to is written), a device, a pipe.
package struct WholeFile: ~Copyable {
  /// What the system says.
  package struct Failure: Error, Sendable {
    /// The system's error number.
    package let number: Int32
  }

  /// What is written to, until ``finish()``.
  package let descriptor: Int32
  private let path: String
  /// Nil where the file itself is written.
  private var temporary: String?

  private init(_ descriptor: Int32, path: String, temporary: String?) {
    self.descriptor = descriptor
    self.path = path
    self.temporary = temporary
  }

  /// Starts a file; a private one is for its owner alone.
  package static func create(_ path: String, isPrivate: Bool = false) throws(Failure) -> WholeFile {
    var former = stat()
    let isThere = unsafe lstat(path, &former) == 0
    let kind = former.st_mode & S_IFMT
    guard isThere, kind != S_IFREG else {
      return try beside(path, like: isThere ? former : nil, isPrivate: isPrivate)
    }
    // A link may lead to a file that is to be made; a device or pipe is there.
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
      let made = unsafe open(name, flags, mode_t(isNarrow ? 0o600 : 0o666))
      if made < 0, errno == EEXIST { continue }
      guard made >= 0 else { throw Failure(number: errno) }
      if let former { keep(former, for: made, isPrivate: isPrivate) }
      return WholeFile(made, path: path, temporary: name)
    }
  }

  /// Gives a new file the owner and the permissions of the one that it replaces; where it stays another group's, that group
  /// gets no more than everybody.
  private static func keep(_ former: stat, for file: Int32, isPrivate: Bool) {
    var made = stat()
    guard unsafe fstat(file, &made) == 0 else { return }
    var mode = former.st_mode & (isPrivate ? 0o700 : 0o777)
    if made.st_uid != former.st_uid || made.st_gid != former.st_gid,
      fchown(file, former.st_uid, former.st_gid) != 0, made.st_gid != former.st_gid,
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
      // The buffer lives for the call, and `done` lies within it.
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: buffer[done...]))
      }
      if count < 0, errno != EINTR { throw Failure(number: errno) }
      done += max(0, count)
    }
  }

  /// Puts the file in its place; it is on the disk then.
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
