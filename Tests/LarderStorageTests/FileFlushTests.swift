import Foundation
import LarderStorage
import LarderTestSupport
import Testing

@Suite("Flushing a file to the disk", .timeLimit(.minutes(5)))
struct FileFlushTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func flush(_ descriptor: Int32, full: Int32, _ number: Int32 = 0) -> Int32 {
    FileFlush.flush(descriptor) { _ in
      if full != 0 { errno = number }
      return full
    }
  }

  @Test("A full flush that the file system does not support is a normal flush; one that fails is an error")
  func flush() throws {
    let path = try folder.write(Array("x".utf8), to: "f")
    let file = try #require(FileHandle(forWritingAtPath: path))
    let descriptor = file.fileDescriptor
    #expect(FileFlush.flush(descriptor) == 0)
    #expect(flush(descriptor, full: -1, ENOTSUP) == 0)
    // ENOTTY: exFAT and ZFS on a Mac.
    for number in [ENOTSUP, EINVAL, ENOTTY, EOPNOTSUPP, ENODEV] { #expect(flush(descriptor, full: -1, number) == 0) }
    for number in [EIO, ENOSPC, EDQUOT] {
      #expect(flush(descriptor, full: -1, number) == -1)
      #expect(errno == number)
    }
    // No descriptor: fsync(2) alone says so.
    #expect(flush(-1, full: 0) == 0)
    #expect(flush(-1, full: -1, ENOTSUP) == -1)
    try file.close()
  }
}
