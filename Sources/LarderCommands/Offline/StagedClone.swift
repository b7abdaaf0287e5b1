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

/// A clone while this process creates it, in `DIR.cloning` beside its folder DIR.
///
/// | in `DIR.cloning` | |
/// | --- | --- |
/// | `clone.json` | the service's root; locked while a process works on the clone |
/// | `clone` | the store, and finally `larder.json` |
///
/// When the first download has ended, `clone` is renamed to DIR: store, queries and settings become visible together.
/// If the process ends before that for any reason, DIR is unchanged, and the next `larder clone` of DIR resumes the
/// clone in `DIR.cloning`.
struct StagedClone: Sendable {
  /// The folder of the store until ``publish(_:)``.
  let folder: CloneFolder
  /// Whether an earlier process began the clone and left its downloaded data.
  let isResumed: Bool

  private let target: String
  /// The folders above the target that were created for it, the innermost first.
  private let parents: [String]
  private let lock: FileLock

  private var staging: String { target + UnfinishedClone.suffix }

  // MARK: Beginning

  /// Creates the folder beside the target, or takes the one that an interrupted clone of the same service has left.
  ///
  /// Throws if the target is a clone, a folder that is not empty, or not a folder; if an interrupted clone belongs to
  /// another service; and if another process is cloning into the same folder.
  static func begin(_ given: String, of service: String, _ context: CommandContext) throws -> StagedClone {
    let target = UnfinishedClone.resolvedPath(context.path(given))
    let staging = target + UnfinishedClone.suffix
    do { try checkFree(target, given) } catch {
      removeLeftover(staging)
      throw error
    }
    try checkStaging(staging)
    let parents = missingParents(staging)
    try makeFolder(staging)
    let lock = try lockStaging(staging, given)
    let folder = CloneFolder(path: staging + "/" + UnfinishedClone.contentName, displayName: given, service: service)
    let settings = lock.content(InputFile.settingsLimit)
    let interruptedService = CloneFolder.service(in: settings)
    let clone = StagedClone(
      folder: folder, isResumed: interruptedService != nil, target: target, parents: parents, lock: lock)
    do {
      // Another process may have finished since the first check.
      try checkFree(target, given)
      if let interruptedService, interruptedService != service {
        throw CommandFailure(
          .storage, "\(staging) contains an unfinished clone of \(interruptedService)",
          hint: "Clone that service to resume it, or delete \(staging) first.")
      }
      if clone.isResumed { clone.removeParts() } else { try clone.prepare() }
    } catch {
      if clone.isResumed { clone.keep() } else { clone.discard() }
      throw error
    }
    return clone
  }

  /// Throws if a path is occupied: a clone can only be created in a missing or an empty folder.
  private static func checkFree(_ target: String, _ given: String) throws {
    guard let status = status(target) else { return }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw FileError(action: "written", path: target, reason: "it is not a folder")
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
          ? "It is already a clone: 'larder -C \(given) download' updates it."
          : "Specify a folder that does not exist or is empty."
      throw CommandFailure(.storage, "\(given) is not empty", hint: hint)
    }
    guard self.status(target + "/..")?.st_dev == status.st_dev else {
      throw CommandFailure(
        .storage, "\(given) is the root of a file system, which a clone cannot replace",
        hint: "Specify a new folder in it.")
    }
  }

  /// Throws if the folder beside the target was not created by a clone. A crash may have left an empty one.
  private static func checkStaging(_ staging: String) throws {
    guard status(staging) != nil, !InputFile.exists(staging + "/" + UnfinishedClone.settingsName) else { return }
    let content = try? FileManager.default.contentsOfDirectory(atPath: staging)
    guard content?.isEmpty == true else {
      throw CommandFailure(
        .storage, "\(staging) already exists, but a clone is created there first", hint: "Rename or delete it.")
    }
  }

  private static func lockStaging(_ staging: String, _ given: String) throws -> FileLock {
    do throws(StorageError) { return try FileLock(staging + "/" + UnfinishedClone.settingsName) } catch {
      guard error.category == .inUse else { throw error }
      throw CommandFailure(
        .storage, "another process is cloning into \(given)", hint: "Wait until it ends, or specify another folder.")
    }
  }

  /// Replaces the store's folder with an empty one, and writes the service's name.
  ///
  /// The service is named only while the folder is complete: a process that resumes the clone can rely on it.
  func prepare() throws {
    try lock.write([])
    try? FileManager.default.removeItem(atPath: folder.path)
    try Self.makeFolder(folder.path)
    try lock.write(try CloneFolder.settings(folder.service))
  }

  /// Removes what a killed process has left that was writing the settings.
  private func removeParts() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names where name.hasPrefix(CloneFolder.settingsName + ".") { unlink(folder.path + "/" + name) }
  }

  // MARK: Ending

  /// Whether the store's file exists where it was created.
  var hasStore: Bool { InputFile.size(folder.store) > 0 }

  /// Renames the clone to its final name. From then on it is complete.
  func publish(_ context: CommandContext) throws {
    let (replaced, current) = (Self.status(target), Self.status("."))
    let isCurrent = replaced != nil && replaced?.st_ino == current?.st_ino && replaced?.st_dev == current?.st_dev
    try folder.writeSettings()
    try DatabaseFile(folder.store).syncFolder()
    // An existing folder of this name is replaced if it is empty, but not if it has been filled meanwhile
    // (POSIX.1-2024, rename).
    guard rename(folder.path, target) == 0 else {
      throw FileError(action: "written", path: target, reason: FileDescriptors.reason(errno))
    }
    try DatabaseFile(target).syncFolder()
    Self.remove(staging)
    lock.release()
    if isCurrent { context.note("The clone has replaced the current folder: run 'cd .' to enter it.") }
  }

  /// Keeps the downloaded data for the next `larder clone` of the same folder.
  func keep() { lock.release() }

  /// Removes everything that was created.
  func discard() {
    try? lock.write([])
    Self.remove(staging)
    for parent in parents { rmdir(parent) }
    lock.release()
  }

  /// What the user can do with the data that ``keep()`` leaves.
  var resumeHint: String {
    "The downloaded data is kept in \(staging): the same 'larder clone' resumes it. To discard it, delete that folder."
  }

  // MARK: Folders

  /// The settings are removed last: without them the folder could not be identified.
  private static func remove(_ staging: String) {
    try? FileManager.default.removeItem(atPath: staging + "/" + UnfinishedClone.contentName)
    unlink(staging + "/" + UnfinishedClone.settingsName)
    rmdir(staging)
  }

  /// Removes the folder beside a clone, if a process was killed just before removing it.
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

  /// Creates a folder for its owner only, and the missing folders above it. An existing folder must belong to the user:
  /// anyone else who created it, or a link in its place, could read and change its content.
  private static func makeFolder(_ path: String) throws {
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      do {
        try FileManager.default.createDirectory(atPath: String(path[..<slash]), withIntermediateDirectories: true)
      } catch { throw FileError(action: "written", path: path, reason: reason(error)) }
    }
    if mkdir(path, 0o700) == 0 { return }
    let reason = errno
    guard reason == EEXIST, let existing = status(path) else {
      throw FileError(action: "written", path: path, reason: FileDescriptors.reason(reason))
    }
    guard existing.st_mode & S_IFMT == S_IFDIR, existing.st_uid == geteuid() else {
      throw FileError(action: "written", path: path, reason: "it belongs to another user, or is not a folder")
    }
    chmod(path, 0o700)
  }

  /// The status of a path, including a symbolic link that leads nowhere; nil if there is nothing.
  private static func status(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }

  private static func reason(_ error: any Error) -> String {
    guard let error = error as? CocoaError else { return "\(error)" }
    return (error.underlying as? POSIXError).map { FileDescriptors.reason($0.code.rawValue) }
      ?? "the system reported error \(error.code.rawValue)"
  }
}
