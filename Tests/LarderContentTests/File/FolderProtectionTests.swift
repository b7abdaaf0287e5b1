import Foundation
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderContent

@Suite("File protection classes in a cache's folder", .timeLimit(.minutes(5)))
struct FolderProtectionTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("cache")
  }

  /// The system's call, which notes the class of each file by the file's number.
  private final class Classes: Sendable {
    private let noted = Mutex<[Int: Int32]>([:])

    func note(_ descriptor: Int32, _ number: Int32) -> Int32 {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { return -1 }
      let file = Int(status.st_ino)
      noted.withLock { $0[file] = number }
      return 0
    }

    /// The class that the file with that path was given.
    func number(_ path: String) throws -> Int32? {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      guard let file = attributes[.systemFileNumber] as? Int else { return nil }
      return noted.withLock { $0[file] }
    }
  }

  @Test("the state and the entries have the class that was requested, the lock file none")
  func classes() throws {
    let classes = Classes()
    var options = CacheFolder.Options(limit: 1 << 20)
    options.protection = .complete
    options.setProtection = { classes.note($0, $1) }
    let opened = try CacheFolder(path, options)
    defer { opened.session?.end() }
    let file = try opened.writable().makeFile()
    let temporary = path + "/larder.temporary/"
    let lock = try #require(
      try FileManager.default.contentsOfDirectory(atPath: temporary).first { $0.hasSuffix(".lock") })
    #expect(try classes.number(path + "/larder.state") == FileProtection.complete.number)
    #expect(try classes.number("\(temporary)\(lock.dropLast(5))/\(file.name)") == FileProtection.complete.number)
    #expect(try classes.number(temporary + lock) == FileProtection.none.number)
  }

  @Test("a class that cannot be set is an error; the folder is not opened as a read-only one")
  func rejected() {
    var options = CacheFolder.Options(limit: 1 << 20)
    options.setProtection = { _, _ in
      errno = EPERM
      return -1
    }
    expectFailure("file protection class", options)
    // The state file is there by now.
    expectFailure("file protection class", options)
  }

  /// Rejects the state file, as a locked device does. The folder itself is opened before.
  private final class LockedDevice: Sendable {
    private let opened = Atomic(0)

    func fault(_ step: DiskStep) -> Int32? {
      switch step {
      case .create: return EPERM
      case .open: return opened.wrappingAdd(1, ordering: .relaxed).oldValue == 0 ? nil : EPERM
      default: return nil
      }
    }
  }

  @Test("a state file that may be neither written nor read is one of a locked device")
  func locked() throws {
    var options = CacheFolder.Options(limit: 1 << 20)
    try CacheFolder(path, options).session?.end()
    let device = LockedDevice()
    options.faults = { device.fault($0) }
    expectFailure("locked", options)
  }

  private func expectFailure(_ word: String, _ options: CacheFolder.Options) {
    let error = #expect(throws: CacheError.self) { _ = try CacheFolder(path, options) }
    guard case .failed(let place, let reason)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(place == path)
    #expect(reason.contains(word), "\(reason)")
  }
}
