import CLarderSQLite

/// The main part of an encrypted file.
@safe final class PageFile: FileContent {
  private let keys: FileKeys
  private let codec: PageCodec
  private var ahead = PagesAhead()

  /// Returns nil if there is no memory.
  init?(_ real: RealFile, _ keys: FileKeys) {
    guard let codec = PageCodec(keys) else { return nil }
    self.keys = keys
    self.codec = codec
    super.init(real, workLength: 2 * FileContent.pageLength)
  }

  override func read(_ bytes: UnsafeMutableRawPointer, _ count: Int, at offset: Int64) -> Int32 {
    let length = Int64(Self.pageLength)
    guard offset >= 0, count > 0 else { return IOError.read }
    let number = UInt64(offset / length) + 1
    let start = Int(offset % length)
    if start == 0, count == Self.pageLength { return unsafe readPage(number, to: bytes) }
    guard start + count <= Self.pageLength else { return IOError.read }
    let page = unsafe work + Self.pageLength
    var code = unsafe readPage(number, to: page)
    // SQLite reads the start of page 1 without a lock, so a writer may have written half of it.
    var tries = 1
    while code == SQLITE_CORRUPT, number == 1, tries < 50 {
      _ = sqlite3_sleep(tries < 10 ? 0 : 1)
      code = unsafe readPage(number, to: page)
      tries += 1
    }
    unsafe bytes.copyMemory(from: page + start, byteCount: count)
    return code
  }

  private func readPage(_ number: UInt64, to page: UnsafeMutableRawPointer) -> Int32 {
    if let sealed = unsafe ahead.page(number, of: real), unsafe codec.open(sealed, number: number, to: page) {
      return SQLITE_OK
    }
    let offset = Int64(number - 1) * Int64(Self.pageLength)
    if unsafe copyRecentPage(number, offset, to: page) { return SQLITE_OK }
    let code = unsafe real.read(work, Self.pageLength, at: offset)
    if code == SQLITE_OK {
      if unsafe codec.open(work, number: number, to: page) {
        // Pages that are read once in sequence would only push others out of the cache.
        if !ahead.isInOrder { unsafe keys.pages.store(number, page, end: work + Self.sealedLength) }
        return SQLITE_OK
      }
      keys.note("Page \(number) failed its integrity check")
      return SQLITE_CORRUPT
    }
    unsafe page.initializeMemory(as: UInt8.self, repeating: 0, count: Self.pageLength)
    guard code == IOError.shortRead else { return code }
    var size: Int64 = 0
    // The file is being created; otherwise SQLite only reads pages that exist.
    if number == 1, real.size(&size) == SQLITE_OK, size == 0 { return code }
    keys.note("Page \(number) is missing")
    return SQLITE_CORRUPT
  }

  /// Copies a page from the cache, if the file's bytes are still those from which it was opened.
  private func copyRecentPage(_ number: UInt64, _ offset: Int64, to page: UnsafeMutableRawPointer) -> Bool {
    guard keys.pages.mayHave(number) else { return false }
    return unsafe real.readWhole(work, Self.reservedLength, at: offset + Int64(Self.sealedLength))
      && keys.pages.copyPage(number, end: work, to: page)
  }

  override func write(_ bytes: UnsafeRawPointer, _ count: Int, at offset: Int64) -> Int32 {
    let length = Int64(Self.pageLength)
    guard count == Self.pageLength, offset >= 0, offset % length == 0 else {
      keys.note("The pages of an encrypted file must have \(Self.pageLength) bytes")
      return IOError.write
    }
    ahead.forget()
    let number = UInt64(offset / length) + 1
    guard unsafe PageCodec.isFitting(bytes, number: number) else {
      keys.note("Page \(number) has no space for its nonce and tag")
      return IOError.write
    }
    guard unsafe codec.seal(bytes, number: number, to: work) else { return IOError.write }
    return unsafe real.write(work, Self.pageLength, at: offset)
  }

  override func truncate(_ size: Int64) -> Int32 {
    ahead.forget()
    return real.truncate(size)
  }

  override func lockChanges() { ahead.forget() }

  override func control(_ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    switch operation {
    case SQLITE_FCNTL_PRAGMA:
      return unsafe argument.map { unsafe PragmaRejection.check($0) } ?? SQLITE_NOTFOUND
    case SQLITE_FCNTL_MMAP_SIZE, SQLITE_FCNTL_BEGIN_ATOMIC_WRITE, SQLITE_FCNTL_COMMIT_ATOMIC_WRITE,
      SQLITE_FCNTL_ROLLBACK_ATOMIC_WRITE:
      return SQLITE_NOTFOUND
    default: return unsafe real.control(operation, argument)
    }
  }

  /// Reads the file's page as it is stored on the disk.
  func readSealed(_ number: UInt64, to page: UnsafeMutableRawPointer) -> Int32 {
    unsafe real.read(page, Self.pageLength, at: Int64(number - 1) * Int64(Self.pageLength))
  }
}

/// Rejects settings that would write unreadable data, or write data unencrypted.
enum PragmaRejection {
  /// Checks a pragma. SQLite passes a place for a message, the setting's name and its value.
  static func check(_ argument: UnsafeMutableRawPointer) -> Int32 {
    let parts = unsafe argument.assumingMemoryBound(to: UnsafeMutablePointer<CChar>?.self)
    guard let name = unsafe parts[1], let value = unsafe parts[2] else { return SQLITE_NOTFOUND }
    let setting = unsafe String(cString: name).lowercased()
    let wanted = unsafe String(cString: value).lowercased()
    switch setting {
    case "page_size" where wanted != "\(FileContent.pageLength)":
      unsafe parts[0] = message("The pages of an encrypted file must have \(FileContent.pageLength) bytes")
    case "journal_mode" where wanted != "wal":
      unsafe parts[0] = message("An encrypted file supports no journal mode other than WAL")
    default: return SQLITE_NOTFOUND
    }
    return SQLITE_ERROR
  }

  /// Copies a text into memory that SQLite frees.
  private static func message(_ text: String) -> UnsafeMutablePointer<CChar>? {
    var bytes = Array(text.utf8)
    bytes.append(0)
    guard let copy = unsafe sqlite3_malloc64(UInt64(bytes.count)) else { return nil }
    unsafe copy.copyMemory(from: bytes, byteCount: bytes.count)
    return unsafe copy.assumingMemoryBound(to: CChar.self)
  }
}
