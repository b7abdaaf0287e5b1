import CLarderSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A new file that receives another file's pages, sealed with its own keys or plain.
@safe final class PageCopy {
  private let path: String
  private let descriptor: Int32
  private let from: PageCodec
  private let to: PageCodec?
  /// Buffers for a sealed page and its plain text.
  private let buffer: UnsafeMutableRawPointer

  private static let pageLength = FileContent.pageLength
  /// The page that holds SQLite's lock bytes, at 1 GiB, which is never written (SQLite file format §1.3.8).
  private static let lockPage: UInt64 = (1 << 30) / UInt64(FileContent.pageLength) + 1

  /// Opens the file, which must exist. `to` is nil for a plain one.
  init(_ path: String, _ from: FileKeys, _ to: FileKeys?) throws(StorageError) {
    guard let from = PageCodec(from) else {
      throw StorageError(code: SQLITE_NOMEM, message: "There is not enough memory", path: path)
    }
    self.path = path
    self.from = from
    if let to {
      guard let to = PageCodec(to) else {
        throw StorageError(code: SQLITE_NOMEM, message: "There is not enough memory", path: path)
      }
      self.to = to
    } else {
      self.to = nil
    }
    descriptor = unsafe open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
    unsafe buffer = .allocate(byteCount: 2 * Self.pageLength, alignment: 64)
    guard descriptor >= 0 else { throw StorageError(errno: errno, "The copy cannot be opened", path: path) }
  }

  deinit {
    if descriptor >= 0 { _ = close(descriptor) }
    unsafe SecretBytes.zero(buffer, 2 * Self.pageLength)
    unsafe buffer.deallocate()
  }

  /// Copies all pages of an open database and waits until they are on the disk.
  func copyPages(of connection: Connection) throws(StorageError) {
    guard let source = unsafe connection.mainFile.flatMap({ unsafe CipherIO.content($0) }) as? PageFile else {
      throw StorageError(.other, message: "The file is not open as an encrypted file", path: connection.file)
    }
    var size: Int64 = 0
    guard source.size(&size) == SQLITE_OK, size % Int64(Self.pageLength) == 0 else {
      throw StorageError(.corrupt, message: "The file ends in the middle of a page", path: connection.file)
    }
    let count = UInt64(size / Int64(Self.pageLength))
    var number: UInt64 = 1
    while number <= count {
      defer { number += 1 }
      guard number != Self.lockPage else { continue }
      guard unsafe source.readSealed(number, to: buffer) == SQLITE_OK else {
        throw StorageError(.inputOutput, message: "Page \(number) cannot be read", path: connection.file)
      }
      guard unsafe from.open(buffer, number: number, to: buffer + Self.pageLength) else {
        throw StorageError(.corrupt, message: "Page \(number) failed its integrity check", path: connection.file)
      }
      try put(number)
    }
    guard ftruncate(descriptor, off_t(size)) == 0 else { throw failure }
    try sync()
  }

  /// Marks page 1 to say that the file has a write-ahead log (SQLite file format §1.3.3).
  func setLogMode() throws(StorageError) {
    guard unsafe pread(descriptor, buffer, Self.pageLength, 0) == Self.pageLength,
      unsafe from.open(buffer, number: 1, to: buffer + Self.pageLength)
    else { throw StorageError(.corrupt, message: "The copy failed its integrity check", path: path) }
    unsafe (buffer + Self.pageLength).storeBytes(of: 2, toByteOffset: 18, as: UInt8.self)
    unsafe (buffer + Self.pageLength).storeBytes(of: 2, toByteOffset: 19, as: UInt8.self)
    try put(1)
    try sync()
  }

  private func put(_ number: UInt64) throws(StorageError) {
    var page = unsafe buffer + Self.pageLength
    if let to {
      guard unsafe to.seal(page, number: number, to: buffer) else {
        throw StorageError(.other, message: "The platform's cryptography failed", path: path)
      }
      unsafe page = buffer
    }
    guard
      unsafe pwrite(descriptor, page, Self.pageLength, off_t(number - 1) * off_t(Self.pageLength)) == Self.pageLength
    else { throw failure }
  }

  private func sync() throws(StorageError) { if FileFlush.flush(descriptor) != 0 { throw failure } }

  private var failure: StorageError {
    StorageError(errno: errno, "The copy cannot be written", path: path, otherwise: .inputOutput)
  }
}
