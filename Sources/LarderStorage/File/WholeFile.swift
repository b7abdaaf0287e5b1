@_spi(Stores) import LarderCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file that is replaced completely or not at all: it is written beside its place, flushed, then renamed. An existing
/// file keeps its permissions, and its owner if the system allows that.
///
/// Until then the file has no name where the system has such files (`O_TMPFILE` of Linux), so that nothing remains of it
/// if the process is killed. Otherwise it has an unpredictable name, and ``removeAbandoned(beside:)`` removes it later.
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
  private var form: Form

  /// Where the bytes are until ``finish()``.
  private enum Form {
    /// In the file itself.
    case direct
    /// In a file without a name.
    case nameless
    /// In a file with a temporary name.
    case named(String)
  }

  private init(_ descriptor: Int32, path: String, form: Form) {
    self.descriptor = descriptor
    self.path = path
    self.form = form
  }

  /// Starts writing a file. A private file is accessible to its owner only.
  package static func create(_ path: String, isPrivate: Bool = false) throws(Failure) -> WholeFile {
    var former = stat()
    let isThere = unsafe lstat(ByteText.path(path), &former) == 0
    let kind = former.st_mode & S_IFMT
    guard isThere, kind != S_IFREG else {
      return try beside(path, like: isThere ? former : nil, isPrivate: isPrivate)
    }
    // A link may lead to a file that does not exist yet; a device or pipe exists.
    let makes = kind == S_IFLNK ? O_CREAT : 0
    let opened = unsafe open(
      ByteText.path(path), O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC | makes,
      mode_t(isPrivate ? 0o600 : 0o666))
    guard opened >= 0 else { throw Failure(number: errno) }
    return WholeFile(opened, path: path, form: .direct)
  }

  private static func beside(_ path: String, like former: stat?, isPrivate: Bool) throws(Failure) -> WholeFile {
    let mode = mode_t(isPrivate || former != nil ? 0o600 : 0o666)
    var form = Form.nameless
    var descriptor = openNameless(folder(of: path), mode)
    while descriptor < 0 {
      let name = temporaryName(for: path)
      descriptor = unsafe open(ByteText.path(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
      guard descriptor >= 0 || errno == EEXIST else { throw Failure(number: errno) }
      form = .named(name)
    }
    // Says to `removeAbandoned(beside:)` that the file is still being written.
    _ = flock(descriptor, LOCK_EX | LOCK_NB)
    if let former { copyAttributes(former, to: descriptor, isPrivate: isPrivate) }
    return WholeFile(descriptor, path: path, form: form)
  }

  /// Opens a file without a name; negative if the file system has none, or if it could not get a name later.
  private static func openNameless(_ folder: String, _ mode: mode_t) -> Int32 {
    #if os(Linux)
      // `O_TMPFILE`, which C declares as an expression that Swift does not import.
      let descriptor = unsafe open(ByteText.path(folder), O_WRONLY | 0o20000000 | O_DIRECTORY | O_CLOEXEC, mode)
      guard descriptor >= 0, unsafe access(namelessPath(descriptor), F_OK) != 0 else { return descriptor }
      _ = close(descriptor)
    #endif
    return -1
  }

  #if os(Linux)
    private static func namelessPath(_ descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }
  #endif

  private static func temporaryName(for path: String) -> String {
    "\(path).\(UInt32.random(in: 0...UInt32.max)).part"
  }

  private static func folder(of path: String) -> String {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    return folder.isEmpty ? "/" : folder
  }

  /// Removes the temporary files of processes that were killed while they wrote a file.
  package static func removeAbandoned(beside path: String) {
    let folder = folder(of: path)
    let prefix = String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]) + "."
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      let middle = name.dropFirst(prefix.count).dropLast(".part".count)
      guard name.hasPrefix(prefix), name.hasSuffix(".part"), UInt32(middle) != nil else { continue }
      let part = folder + "/" + name
      let descriptor = unsafe open(part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      // Its writer, if it is alive, has the lock.
      if FilesInUse.isRegular(descriptor), flock(descriptor, LOCK_EX | LOCK_NB) == 0 { _ = unsafe unlink(part) }
      _ = close(descriptor)
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
    let isFlushed = FileFlush.flush(descriptor) == 0
    if case .direct = form {
      // Pipes and terminals cannot be flushed.
      guard isFlushed || [EINVAL, ENOTSUP, EROFS].contains(errno) else { throw Failure(number: errno) }
      return
    }
    guard isFlushed else { throw Failure(number: errno) }
    if case .nameless = form { try giveName() }
    if case .named(let name) = form {
      guard unsafe rename(ByteText.path(name), ByteText.path(path)) == 0 else { throw Failure(number: errno) }
      form = .direct
    }
    guard FilesInUse.syncFolder(WholeFile.folder(of: path)) else { throw Failure(number: errno) }
  }

  /// Gives the file its place if that is free; else a temporary name, because a link replaces no file.
  private mutating func giveName() throws(Failure) {
    #if os(Linux)
      var name = path
      while unsafe linkat(
        AT_FDCWD, WholeFile.namelessPath(descriptor), AT_FDCWD, ByteText.path(name), AT_SYMLINK_FOLLOW) != 0
      {
        guard errno == EEXIST else { throw Failure(number: errno) }
        name = WholeFile.temporaryName(for: path)
      }
      form = name == path ? .direct : .named(name)
    #endif
  }

  deinit {
    _ = close(descriptor)
    if case .named(let name) = form { _ = unsafe unlink(ByteText.path(name)) }
  }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  unsafe write(descriptor, bytes.baseAddress, bytes.count)
}
