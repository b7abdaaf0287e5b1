@_spi(Stores) import LarderCore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One cache's folder for incomplete files, and the lock that shows other processes that it is alive.
///
/// The system releases the lock when the process ends, however it ends. The lock's file is created before the folder
/// and removed after it: if the lock of a folder is free or missing, its process is dead.
final class FolderSession: Sendable {
  private let root: Descriptor
  private let disk: Disk
  private let identifier: String
  private let lock: Descriptor
  private let folder: Descriptor
  private let counter = Atomic<UInt64>(0)

  private var path: String { FolderNames.temporary + "/" + identifier }

  /// Creates the folder.
  init(_ root: Descriptor, _ disk: Disk, _ environment: LarderEnvironment) throws(Errno) {
    self.root = root
    self.disk = disk
    try disk.makeFolder(root.number, FolderNames.temporary)
    while true {
      let identifier = Hexadecimal.text(environment.random(), digits: 16)
      let path = FolderNames.temporary + "/" + identifier
      let lock = Descriptor(try disk.create(root.number, path + ".lock", isLock: true))
      // Another process that clears up may have seen the file before it was locked, and removed it.
      guard try disk.lock(lock.number), try disk.status(lock.number).links > 0 else { continue }
      do throws(Errno) {
        try disk.makeFolder(root.number, path)
        folder = Descriptor(try disk.openFolder(root.number, path))
      } catch {
        try? disk.unlink(root.number, path + ".lock")
        throw error
      }
      self.identifier = identifier
      self.lock = lock
      return
    }
  }

  /// True if the folder has been deleted.
  var isRemoved: Bool { (try? disk.status(folder.number))?.links == 0 }

  /// A file that is being written.
  struct File: Sendable {
    let descriptor: Descriptor
    let name: String
  }

  /// Creates a file.
  func makeFile() throws(Errno) -> File {
    let number = counter.wrappingAdd(1, ordering: .relaxed).newValue
    let name = Hexadecimal.text(number, digits: 16)
    return File(descriptor: Descriptor(try disk.create(folder.number, name)), name: name)
  }

  /// Moves a file to its place below the cache's folder.
  func move(_ name: String, to path: String) throws(Errno) {
    try disk.rename(folder.number, name, to: root.number, path)
  }

  /// Removes a file that is no longer needed.
  func remove(_ name: String) { try? disk.unlink(folder.number, name) }

  /// Removes the folder with its files, and releases the lock. Open files stay readable.
  func end() {
    if let names = try? disk.names(root.number, path, atMost: .max) {
      for name in names { remove(name) }
    }
    try? disk.removeFolder(root.number, path)
    try? disk.unlink(root.number, path + ".lock")
    // Writers may hold the session, and with it the descriptor, for longer.
    disk.unlock(lock.number)
  }
}
