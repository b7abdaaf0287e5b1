import LarderStorage

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

/// An open file without a name. It is deleted when its last user ends, however that happens.
///
/// Content for a custom cache, which may encrypt what it stores, is never written here as plain text: each chunk is
/// encrypted with a key that exists in memory only and is lost with the file.
package final class SpoolFile: Sendable {
  /// The number of bytes that are sealed and read together.
  package static let chunkLength = 64 << 10
  /// The size of a sealed chunk: its bytes, then its nonce and tag.
  private static let sealedLength = chunkLength + SealingKey.markLength
  /// The number of chunks that are sealed before they are written.
  private static let run = 4

  private let descriptor: Int32
  private let path: String
  private let key: SealingKey

  /// Creates an empty file in a folder, readable for this user alone.
  package init(folder: String = FileManager.default.temporaryDirectory.path) throws(CacheError) {
    path = folder
    key = try SpoolFile.newKey(folder)
    #if os(Linux)
      // O_TMPFILE is a macro that Swift does not import: such a file never has a name at all.
      let nameless = unsafe open(folder, 0o20_000_000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, mode_t(0o600))
      if nameless >= 0 {
        descriptor = nameless
        return
      }
    #endif
    var name = Array("\(folder)/larder-XXXXXX".utf8CString)
    descriptor = unsafe name.withUnsafeMutableBufferPointer { name -> Int32 in
      // The buffer ends in the NUL that `utf8CString` puts there.
      guard let start = name.baseAddress else { return -1 }
      let descriptor = unsafe mkstemp(start)
      if descriptor >= 0 {
        _ = unsafe unlink(start)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      }
      return descriptor
    }
    if descriptor < 0 { throw CacheError(errno: errno, path: folder) }
  }

  /// Opens an existing file, as a stand-in for one that fails.
  package init(opening path: String) throws(CacheError) {
    self.path = path
    key = try SpoolFile.newKey(path)
    descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
    if descriptor < 0 { throw CacheError(errno: errno, path: path) }
  }

  private static func newKey(_ path: String) throws(CacheError) -> SealingKey {
    do throws(StorageError) { return try SealingKey() } catch { throw .failed(path: path, reason: error.message) }
  }

  deinit { _ = close(descriptor) }

  // MARK: Writing

  /// Writes whole chunks at the offset of a chunk. Writes all of them or throws.
  package func write(_ chunks: ArraySlice<UInt8>, at offset: Int) throws(CacheError) {
    var rest = chunks
    var index = offset / SpoolFile.chunkLength
    while rest.count >= SpoolFile.chunkLength {
      let count = min(rest.count / SpoolFile.chunkLength, SpoolFile.run)
      try write(try sealed(rest.prefix(count * SpoolFile.chunkLength), index), at: index * SpoolFile.sealedLength)
      rest = rest.dropFirst(count * SpoolFile.chunkLength)
      index += count
    }
  }

  /// The sealed form of chunks.
  private func sealed(_ chunks: ArraySlice<UInt8>, _ first: Int) throws(CacheError) -> [UInt8] {
    var sealed: [UInt8] = []
    sealed.reserveCapacity(chunks.count / SpoolFile.chunkLength * SpoolFile.sealedLength)
    for start in stride(from: chunks.startIndex, to: chunks.endIndex, by: SpoolFile.chunkLength) {
      sealed += chunks[start..<start + SpoolFile.chunkLength]
      sealed += repeatElement(0, count: SealingKey.markLength)
    }
    let isSealed = unsafe sealed.withUnsafeMutableBytes { raw in
      // Each chunk and its nonce and tag are inside the array.
      stride(from: 0, to: raw.count, by: SpoolFile.sealedLength).allSatisfy { start in
        let (chunk, mark) = unsafe SpoolFile.parts(raw, start)
        return unsafe SpoolFile.withAuthenticatedData(first + start / SpoolFile.sealedLength) {
          unsafe key.seal(chunk, mark: mark, with: $0)
        }
      }
    }
    guard isSealed else { throw .failed(path: path, reason: "The platform's cryptography failed.") }
    return sealed
  }

  private static func parts(
    _ raw: UnsafeMutableRawBufferPointer, _ start: Int
  ) -> (chunk: UnsafeMutableRawBufferPointer, mark: UnsafeMutableRawBufferPointer) {
    // The caller has checked that there is a sealed chunk.
    unsafe (
      UnsafeMutableRawBufferPointer(rebasing: raw[start..<start + chunkLength]),
      UnsafeMutableRawBufferPointer(rebasing: raw[start + chunkLength..<start + sealedLength])
    )
  }

  /// The authenticated data of a chunk: its number.
  private static func withAuthenticatedData(_ index: Int, _ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
    unsafe withUnsafeBytes(of: UInt64(index).littleEndian) { unsafe body($0) }
  }

  private func write(_ bytes: [UInt8], at offset: Int) throws(CacheError) {
    let failure = unsafe bytes.withUnsafeBytes { raw -> Int32 in
      var done = 0
      while done < raw.count {
        // Both ends are inside the buffer.
        let rest = unsafe UnsafeRawBufferPointer(rebasing: raw[done...])
        let written = unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
        if written > 0 { done += written } else if written == 0 { return EIO } else if errno != EINTR { return errno }
      }
      return 0
    }
    if failure != 0 { throw CacheError(errno: failure, path: path) }
  }

  // MARK: Reading

  /// Reads exactly the bytes of a range that was written. Decrypts the chunks of the range, and no others.
  package func read(_ range: Range<Int>) throws(CacheError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    // Freed at the end of this function; nothing of it is kept.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: SpoolFile.sealedLength, alignment: 16)
    defer { unsafe buffer.deallocate() }
    var position = range.lowerBound
    while position < range.upperBound {
      let (index, start) = position.quotientAndRemainder(dividingBy: SpoolFile.chunkLength)
      let count = min(SpoolFile.chunkLength - start, range.upperBound - position)
      try unsafe fill(buffer, at: index * SpoolFile.sealedLength)
      let (chunk, mark) = unsafe SpoolFile.parts(buffer, 0)
      let isWhole = unsafe SpoolFile.withAuthenticatedData(index) {
        unsafe key.open(chunk, mark: UnsafeRawBufferPointer(mark), with: $0)
      }
      guard isWhole else { throw .corrupt(path: path, reason: "a temporary file failed its integrity check") }
      unsafe bytes.append(contentsOf: chunk[start..<start + count])
      position += count
    }
    return bytes
  }

  private func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(CacheError) {
    var done = 0
    while done < buffer.count {
      // Both ends are inside the buffer, and the counted bytes have been filled.
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let got = unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
      if got > 0 {
        done += got
      } else if got == 0 {
        throw CacheError(errno: EIO, path: path)
      } else if errno != EINTR {
        throw CacheError(errno: errno, path: path, isReading: true)
      }
    }
  }
}
