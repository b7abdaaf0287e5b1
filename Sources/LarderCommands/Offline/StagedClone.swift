internal import LarderOffline
internal import LarderStorage

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif
#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A clone that this process makes, in `DIR.cloning` beside its folder DIR.
///
/// | in `DIR.cloning` | |
/// | --- | --- |
/// | `clone.json` | the service's root; locked while a process works at the clone |
/// | `clone` | the store, and at last `larder.json` |
///
/// When the first download has ended, `clone` is renamed to DIR: store, queries and settings become visible together.
/// Whatever ends the process before leaves DIR as it was, and the next `larder clone` of DIR resumes what is in `DIR.cloning`.
struct StagedClone: Sendable {
  /// Where the store is until ``publish(_:)``.
  let folder: CloneFolder
  /// Whether an earlier process began the clone; its downloaded data is there.
  let isResumed: Bool

  private let target: String
  /// The folders above the target that were made for it, the innermost first.
  private let parents: [String]
  private let lock: FileLock

  private var staging: String { target + UnfinishedClone.suffix }

  // MARK: Beginning

  /// Makes the folder beside the target, or takes the one that an interrupted clone of the same service has left.
  ///
  /// Throws where the target is a clone, or a folder that is not empty, or no folder; where an interrupted clone is of
  /// another service; and where another process clones into the same folder now.
  static func begin(_ given: String, of service: String, _ context: CommandContext) throws -> StagedClone {
    let target = UnfinishedClone.place(context.path(given))
    let staging = target + UnfinishedClone.suffix
    do { try checkFree(target, given) } catch {
      removeLeftover(staging)
      throw error
    }
    try checkOwn(staging)
    let parents = missingParents(staging)
    try makeFolder(staging)
    let lock = try take(staging, given)
    let folder = CloneFolder(path: staging + "/" + UnfinishedClone.contentName, shown: given, service: service)
    let settings = lock.content(InputFile.settingsLimit)
    let interrupted = CloneFolder.service(in: settings)
    let clone = StagedClone(
      folder: folder, isResumed: interrupted != nil, target: target, parents: parents, lock: lock)
    do {
      // Another process may have come to its end since the first look.
      try checkFree(target, given)
      if let interrupted, interrupted != service {
        throw CommandFailure(
          .storage, "\(staging) has an unfinished clone of \(interrupted)",
          hint: "Clone that service to resume it, or delete \(staging) first.")
      }
      if clone.isResumed { clone.removeParts() } else { try clone.prepare() }
    } catch {
      if clone.isResumed { clone.keep() } else { clone.discard() }
      throw error
    }
    return clone
  }

  /// Throws where a path is taken: only what is not there, or an empty folder, can become a clone.
  private static func checkFree(_ target: String, _ given: String) throws {
    guard let status = status(target) else { return }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw FileError(action: "written", path: target, reason: "it is no folder")
    }
    let content: [String]
    do { content = try FileManager.default.contentsOfDirectory(atPath: target) } catch {
      throw FileError(path: target, reason: reason(error))
    }
    guard content.isEmpty else {
      let isClone = content.contains(CloneFolder.settingsName)
      let hint =
        isClone && !content.contains(CloneFolder.storeName)
        ? "It is a clone without its store: delete the folder and clone again."
        : isClone
          ? "It is a clone already: 'larder -C \(given) download' brings what has changed."
          : "Name a folder that is not there yet, or an empty one."
      throw CommandFailure(.storage, "\(given) is not empty", hint: hint)
    }
    guard self.status(target + "/..")?.st_dev == status.st_dev else {
      throw CommandFailure(
        .storage, "\(given) is the root of a file system, and a clone takes the place of its folder",
        hint: "Name a folder in it that is not there yet.")
    }
  }

  /// Throws where the folder beside is none of ours: an empty one may be what a crash has left.
  private static func checkOwn(_ staging: String) throws {
    guard status(staging) != nil, !InputFile.exists(staging + "/" + UnfinishedClone.settingsName) else { return }
    let content = try? FileManager.default.contentsOfDirectory(atPath: staging)
    guard content?.isEmpty == true else {
      throw CommandFailure(
        .storage, "\(staging) is in the way: a clone is made there first", hint: "Give it another name, or delete it.")
    }
  }

  private static func take(_ staging: String, _ given: String) throws -> FileLock {
    do throws(StorageError) { return try FileLock(staging + "/" + UnfinishedClone.settingsName) } catch {
      guard error.category == .inUse else { throw error }
      throw CommandFailure(
        .storage, "another process is cloning into \(given)", hint: "Wait for its end, or name another folder.")
    }
  }

  /// Makes an empty folder for the store, in the place of what is there, and names the service.
  ///
  /// The service is named while the folder is whole, and no longer: whoever resumes the clone can rely on it.
  func prepare() throws {
    try lock.write([])
    try? FileManager.default.removeItem(atPath: folder.path)
    try Self.makeFolder(folder.path)
    try lock.write(try CloneFolder.settings(folder.service))
  }

  /// Removes what a process has left that was killed while it wrote the settings.
  private func removeParts() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names where name.hasPrefix(CloneFolder.settingsName + ".") { unlink(folder.path + "/" + name) }
  }

  // MARK: Ending

  /// Whether the store's file is where it was made.
  var hasStore: Bool { InputFile.size(folder.store) > 0 }

  /// Gives the clone its name: from here on it is there, whole.
  func publish(_ context: CommandContext) throws {
    let (replaced, current) = (Self.status(target), Self.status("."))
    let isCurrent = replaced != nil && replaced?.st_ino == current?.st_ino && replaced?.st_dev == current?.st_dev
    try folder.writeSettings()
    try DatabaseFile(folder.store).syncFolder()
    // An empty folder of this name is replaced, one that has been filled meanwhile is not (POSIX.1-2024, rename).
    guard rename(folder.path, target) == 0 else {
      throw FileError(action: "written", path: target, reason: FileDescriptors.reason(errno))
    }
    try DatabaseFile(target).syncFolder()
    Self.remove(staging)
    lock.release()
    if isCurrent { context.note("The clone has replaced the current folder: 'cd .' enters it.") }
  }

  /// Keeps the downloaded data for the next `larder clone` of the same folder.
  func keep() { lock.release() }

  /// Takes away all that was made.
  func discard() {
    try? lock.write([])
    Self.remove(staging)
    for parent in parents { rmdir(parent) }
    lock.release()
  }

  /// What to do with what ``keep()`` leaves.
  var words: String {
    "The downloaded data is kept in \(staging): the same 'larder clone' resumes it. To give it up, delete that folder."
  }

  // MARK: Folders

  /// The settings go last: without them nobody would know what the folder is.
  private static func remove(_ staging: String) {
    try? FileManager.default.removeItem(atPath: staging + "/" + UnfinishedClone.contentName)
    unlink(staging + "/" + UnfinishedClone.settingsName)
    rmdir(staging)
  }

  /// Removes the folder beside a clone that a process was killed just before removing.
  private static func removeLeftover(_ staging: String) {
    guard !InputFile.exists(staging + "/" + UnfinishedClone.contentName),
      let lock = try? FileLock(staging + "/" + UnfinishedClone.settingsName, makes: false)
    else { return }
    remove(staging)
    lock.release()
  }

  private static func missingParents(_ path: String) -> [String] {
    var missing: [String] = []
    var path = path[...]
    while let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      path = path[..<slash]
      if InputFile.exists(String(path)) { break }
      missing.append(String(path))
    }
    return missing
  }

  /// Makes a folder for its owner alone, and those above it that are missing. One that is there has to be the owner's own:
  /// whoever else had made it, or a link in its place, could read what is put there, and change it.
  private static func makeFolder(_ path: String) throws {
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      do {
        try FileManager.default.createDirectory(atPath: String(path[..<slash]), withIntermediateDirectories: true)
      } catch { throw FileError(action: "written", path: path, reason: reason(error)) }
    }
    if mkdir(path, 0o700) == 0 { return }
    let reason = errno
    guard reason == EEXIST, let found = status(path) else {
      throw FileError(action: "written", path: path, reason: FileDescriptors.reason(reason))
    }
    guard found.st_mode & S_IFMT == S_IFDIR, found.st_uid == geteuid() else {
      throw FileError(action: "written", path: path, reason: "it is another user's, or no folder")
    }
    chmod(path, 0o700)
  }

  /// What is at a path, a symbolic link that leads nowhere included; nil for nothing.
  private static func status(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }

  private static func reason(_ error: any Error) -> String {
    guard let error = error as? CocoaError else { return "\(error)" }
    return (error.underlying as? POSIXError).map { FileDescriptors.reason($0.code.rawValue) }
      ?? "the system refuses (\(error.code.rawValue))"
  }
}
