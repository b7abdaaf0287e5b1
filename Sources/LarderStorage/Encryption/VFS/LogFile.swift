import CLarderSQLite

/// The write-ahead log of an encrypted file (SQLite's WAL format: 32 bytes, then frames of 24 bytes and a page).
///
/// Headers keep their length: they are encrypted by their offset. A page is sealed with its frame's offset, the page
/// number and size in the frame's header, and the number of the last frame that its writer knew to be on the disk.
@safe final class LogFile: FileContent {
  static let headerLength = 32
  static let frameHeaderLength = 24
  static let frameLength = frameHeaderLength + pageLength
  /// The number of frames from the log's start on that are cached in plain text: about as many as the log has when
  /// SQLite moves it into the file. Longer logs result from large transactions, which read little of what they wrote.
  static let cachedFrames = 1024

  private let keys: FileKeys
  private let pages: PageCipher
  private let headers: OffsetCipher
  /// The header that was written or read last, in plain text; its offset is kept beside it.
  private let head: UnsafeMutableRawPointer
  private var headOffset: Int64 = -1
  /// True if `work` holds a header that will be written together with its page.
  private var isPending = false
  /// The salts of the log's present round, the last frame of it that ends a transaction, and the last frame that is on
  /// the disk.
  private var round: UInt64 = 0
  private var committed: UInt32 = 0
  private var durable: UInt32 = 0

  /// Returns nil if there is no memory.
  init?(_ real: RealFile, _ keys: FileKeys) {
    guard let pages = PageCipher(keys.secret, from: FileKeys.frameKey),
      let headers = OffsetCipher(keys.secret, from: FileKeys.headerKey)
    else { return nil }
    self.keys = keys
    self.pages = pages
    self.headers = headers
    unsafe head = .allocate(byteCount: Self.headerLength, alignment: 16)
    super.init(real, workLength: Self.frameLength)
  }

  deinit {
    unsafe SecretBytes.zero(head, Self.headerLength)
    unsafe head.deallocate()
  }

  // MARK: Writing

  override func write(_ bytes: UnsafeRawPointer, _ count: Int, at offset: Int64) -> Int32 {
    if offset == 0, count == Self.headerLength { return unsafe writeHeader(bytes) }
    guard offset >= Int64(Self.headerLength) else { return IOError.write }
    switch (Int((offset - Int64(Self.headerLength)) % Int64(Self.frameLength)), count) {
    case (0, Self.frameHeaderLength): return unsafe hold(bytes, offset)
    case (Self.frameHeaderLength, Self.pageLength):
      return unsafe writePage(bytes, offset - Int64(Self.frameHeaderLength))
    default:
      keys.note("The pages of the write-ahead log must have \(Self.pageLength) bytes")
      return IOError.write
    }
  }

  private func writeHeader(_ bytes: UnsafeRawPointer) -> Int32 {
    let code = flush()
    guard code == SQLITE_OK else { return code }
    let page = unsafe UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    guard page == UInt32(Self.pageLength) else {
      keys.note("The pages of the write-ahead log must have \(Self.pageLength) bytes")
      return IOError.write
    }
    begin(unsafe bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
    unsafe work.copyMemory(from: bytes, byteCount: Self.headerLength)
    guard unsafe headers.encrypt(UnsafeMutableRawBufferPointer(start: work, count: Self.headerLength), at: 0) else {
      return IOError.write
    }
    return unsafe real.write(work, Self.headerLength, at: 0)
  }

  private func begin(_ round: UInt64) {
    // SQLite writes zeros again, and the salts before the transaction ends.
    guard round != self.round, round != 0 else { return }
    (self.round, committed, durable) = (round, 0, 0)
  }

  /// Keeps a frame's header until its page arrives, so that there is one write instead of two.
  private func hold(_ bytes: UnsafeRawPointer, _ offset: Int64) -> Int32 {
    let code = flush()
    guard code == SQLITE_OK else { return code }
    unsafe head.copyMemory(from: bytes, byteCount: Self.frameHeaderLength)
    headOffset = offset
    begin(unsafe head.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    // A transaction that failed may have left a later end; the frames that are overwritten are no longer on the disk.
    let before = Self.number(offset) - 1
    (committed, durable) = (min(committed, before), min(durable, before))
    if unsafe head.loadUnaligned(fromByteOffset: 4, as: UInt32.self) != 0 { committed = Self.number(offset) }
    unsafe work.copyMemory(from: bytes, byteCount: Self.frameHeaderLength)
    let buffer = unsafe UnsafeMutableRawBufferPointer(start: work, count: Self.frameHeaderLength)
    guard unsafe headers.encrypt(buffer, at: UInt64(offset)) else { return IOError.write }
    isPending = true
    return SQLITE_OK
  }

  private func writePage(_ bytes: UnsafeRawPointer, _ frame: Int64) -> Int32 {
    guard unsafe FileContent.isZero(bytes + Self.sealedLength, Self.reservedLength) else {
      keys.note("A page has no space for its nonce and tag")
      return IOError.write
    }
    if headOffset != frame {
      var code = flush()
      if code == SQLITE_OK { code = readHead(frame) }
      guard code == SQLITE_OK else { return code == IOError.shortRead ? IOError.write : code }
    }
    let page = unsafe work + Self.frameHeaderLength
    unsafe page.storeBytes(of: durable.littleEndian, toByteOffset: Self.sealedLength, as: UInt32.self)
    let isSealed = unsafe SealedPlace(frame: UInt64(frame), mark: durable, header: head).withBytes { data in
      unsafe pages.seal(
        bytes, Self.sealedLength, to: page, nonce: page + Self.nonceOffset, tag: page + Self.tagOffset, with: data)
    }
    guard isSealed else { return IOError.write }
    let isWhole = isPending
    isPending = false
    let code =
      isWhole
      ? unsafe real.write(work, Self.frameLength, at: frame)
      : unsafe real.write(page, Self.pageLength, at: frame + Int64(Self.frameHeaderLength))
    if code == SQLITE_OK {
      unsafe cacheFrame(frame, bytes, end: page + Self.sealedLength)
    } else {
      // This frame does not end a transaction.
      committed = min(committed, Self.number(frame) - 1)
    }
    return code
  }

  private func cacheFrame(_ frame: Int64, _ page: UnsafeRawPointer, end: UnsafeRawPointer) {
    let number = Self.number(frame)
    if number <= Self.cachedFrames { unsafe keys.frames.store(UInt64(number), page, end: end) }
  }

  /// Copies a frame's page from the cache, if the log's bytes are still those from which it was sealed or opened.
  private func copyRecentFrame(_ frame: Int64, to page: UnsafeMutableRawPointer) -> Bool {
    let number = Self.number(frame)
    guard number <= Self.cachedFrames, keys.frames.mayHave(UInt64(number)) else { return false }
    let end = frame + Int64(Self.frameHeaderLength + Self.sealedLength)
    return unsafe real.readWhole(work, Self.reservedLength, at: end)
      && keys.frames.copyPage(UInt64(number), end: work, to: page)
  }

  /// Writes a header whose page has not arrived.
  private func flush() -> Int32 {
    guard isPending else { return SQLITE_OK }
    isPending = false
    return unsafe real.write(work, Self.frameHeaderLength, at: headOffset)
  }

  override func sync(_ flags: Int32) -> Int32 {
    let end = (committed, flush())
    guard end.1 == SQLITE_OK else { return end.1 }
    let code = real.sync(flags)
    if code == SQLITE_OK { durable = end.0 }
    return code
  }

  override func truncate(_ size: Int64) -> Int32 {
    let code = flush()
    headOffset = -1
    return code == SQLITE_OK ? real.truncate(size) : code
  }

  override func size(_ size: inout Int64) -> Int32 {
    let code = flush()
    return code == SQLITE_OK ? real.size(&size) : code
  }

  override func finish() -> Int32 { flush() }

  // MARK: Reading

  override func read(_ bytes: UnsafeMutableRawPointer, _ count: Int, at offset: Int64) -> Int32 {
    let code = flush()
    guard code == SQLITE_OK else { return code }
    guard offset >= Int64(Self.headerLength) else { return unsafe readHeader(bytes, count, Int(offset)) }
    let (number, start) = (offset - Int64(Self.headerLength)).quotientAndRemainder(dividingBy: Int64(Self.frameLength))
    let frame = Int64(Self.headerLength) + number * Int64(Self.frameLength)
    switch (Int(start), count) {
    case (Self.frameHeaderLength, Self.pageLength):
      if unsafe copyRecentFrame(frame, to: bytes) { return SQLITE_OK }
      let code = unsafe readFrame(frame, to: bytes)
      if code == SQLITE_OK { unsafe cacheFrame(frame, bytes, end: work + Self.frameHeaderLength + Self.sealedLength) }
      guard code == SQLITE_CORRUPT || code == IOError.shortRead else { return code }
      keys.note("Frame \(number + 1) of the write-ahead log failed its integrity check")
      return SQLITE_CORRUPT
    case (0, Self.frameLength):
      let code = unsafe readFrame(frame, to: bytes + Self.frameHeaderLength)
      if code == SQLITE_CORRUPT { return unsafe torn(bytes, frame) }
      unsafe bytes.copyMemory(from: head, byteCount: Self.frameHeaderLength)
      return code
    case (let start, let count) where start + count <= Self.frameHeaderLength:
      // The checksum of the frame before, which SQLite reads when a transaction writes a page again.
      let code = readHead(frame)
      if code == SQLITE_OK { unsafe bytes.copyMemory(from: head + start, byteCount: count) }
      return code
    default: return IOError.read
    }
  }

  private func readHead(_ frame: Int64) -> Int32 {
    headOffset = -1
    let buffer = unsafe UnsafeMutableRawBufferPointer(start: head, count: Self.frameHeaderLength)
    let code = unsafe real.read(head, Self.frameHeaderLength, at: frame)
    guard code == SQLITE_OK else { return code }
    guard unsafe headers.decrypt(buffer, at: UInt64(frame)) else { return IOError.read }
    headOffset = frame
    return SQLITE_OK
  }

  /// Reads a frame: its header into `head`, its page into `page`. Returns `SQLITE_CORRUPT` if it is not what was
  /// written.
  private func readFrame(_ frame: Int64, to page: UnsafeMutableRawPointer) -> Int32 {
    headOffset = -1
    let code = unsafe real.read(work, Self.frameLength, at: frame)
    guard code == SQLITE_OK else {
      unsafe head.initializeMemory(as: UInt8.self, repeating: 0, count: Self.frameHeaderLength)
      unsafe page.initializeMemory(as: UInt8.self, repeating: 0, count: Self.pageLength)
      return code
    }
    unsafe head.copyMemory(from: work, byteCount: Self.frameHeaderLength)
    let buffer = unsafe UnsafeMutableRawBufferPointer(start: head, count: Self.frameHeaderLength)
    guard unsafe headers.decrypt(buffer, at: UInt64(frame)) else { return IOError.read }
    headOffset = frame
    let sealed = unsafe work + Self.frameHeaderLength
    let place = unsafe SealedPlace(frame: UInt64(frame), mark: mark, header: head)
    let isWhole = unsafe place.withBytes { data in
      unsafe pages.open(
        sealed, Self.sealedLength, to: page, nonce: sealed + Self.nonceOffset, tag: sealed + Self.tagOffset, with: data)
    }
    unsafe (page + Self.sealedLength).initializeMemory(as: UInt8.self, repeating: 0, count: Self.reservedLength)
    return isWhole ? SQLITE_OK : SQLITE_CORRUPT
  }

  /// The number of the last frame that was on the disk when the frame in `work` was written.
  private var mark: UInt32 {
    let offset = Self.frameHeaderLength + Self.sealedLength
    return unsafe UInt32(littleEndian: work.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  // MARK: After a crash

  /// Reads a part of the log's header, or all of it.
  private func readHeader(_ bytes: UnsafeMutableRawPointer, _ count: Int, _ start: Int) -> Int32 {
    guard start >= 0, count >= 0, start + count <= Self.headerLength else { return IOError.read }
    var header: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    return unsafe withUnsafeMutableBytes(of: &header) { buffer -> Int32 in
      guard let whole = buffer.baseAddress else { return IOError.read }
      let code = unsafe readHeader(whole)
      unsafe bytes.copyMemory(from: whole + start, byteCount: count)
      return code
    }
  }

  private func readHeader(_ bytes: UnsafeMutableRawPointer) -> Int32 {
    let code = unsafe real.read(bytes, Self.headerLength, at: 0)
    // Nothing has been written.
    guard code == SQLITE_OK else { return code }
    let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: Self.headerLength)
    guard unsafe headers.decrypt(buffer, at: 0) else { return IOError.read }
    guard unsafe !LogHeader.isWhole(bytes), hasFrame({ _, _ in true }, from: 1) else { return SQLITE_OK }
    // The header was on the disk before the first frame.
    keys.note("The header of the write-ahead log failed its integrity check")
    return SQLITE_CORRUPT
  }

  /// Handles a frame that cannot be opened. It is the end of the log, torn by a crash, unless a later frame knows that
  /// it was on the disk: then it has been damaged since.
  private func torn(_ bytes: UnsafeMutableRawPointer, _ frame: Int64) -> Int32 {
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0, count: Self.frameLength)
    var header: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    let code = unsafe withUnsafeMutableBytes(of: &header) { buffer -> Int32 in
      guard let start = buffer.baseAddress, unsafe real.readWhole(start, Self.headerLength, at: 0) else {
        return IOError.read
      }
      return unsafe headers.decrypt(buffer, at: 0) ? SQLITE_OK : IOError.read
    }
    guard code == SQLITE_OK else { return code }
    let number = Self.number(frame)
    guard hasFrame({ mark, round in round == header.2 && mark >= number }, from: number + 1) else { return SQLITE_OK }
    keys.note("Frame \(number) of the write-ahead log failed its integrity check")
    return SQLITE_CORRUPT
  }

  /// Whether the log has a complete frame, from a number on, that fits by the last frame it knew to be on the disk and
  /// by its round.
  private func hasFrame(_ fits: (UInt32, UInt64) -> Bool, from first: UInt32) -> Bool {
    let page = UnsafeMutableRawPointer.allocate(byteCount: Self.pageLength, alignment: 16)
    defer {
      unsafe SecretBytes.zero(page, Self.pageLength)
      unsafe page.deallocate()
    }
    var number = first
    while true {
      let code = unsafe readFrame(Self.offset(number), to: page)
      if code == SQLITE_OK, fits(mark, unsafe head.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) { return true }
      guard code == SQLITE_OK || code == SQLITE_CORRUPT, number < .max else { return false }
      number += 1
    }
  }

  private static func number(_ frame: Int64) -> UInt32 {
    UInt32(truncatingIfNeeded: (frame - Int64(headerLength)) / Int64(frameLength) + 1)
  }

  private static func offset(_ number: UInt32) -> Int64 {
    Int64(headerLength) + (Int64(number) - 1) * Int64(frameLength)
  }
}

/// The log's first 32 bytes (SQLite file format §4.1).
enum LogHeader {
  /// Whether the header's own checksum is right.
  static func isWhole(_ bytes: UnsafeRawPointer) -> Bool {
    func word(_ index: Int) -> UInt32 {
      unsafe UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
    }
    guard word(0) & 0xFFFF_FFFE == 0x377F_0682 else { return false }
    let isBigEndian = word(0) & 1 == 1
    var sum: (UInt32, UInt32) = (0, 0)
    for index in stride(from: 0, to: 6, by: 2) {
      sum.0 &+= (isBigEndian ? word(index) : word(index).byteSwapped) &+ sum.1
      sum.1 &+= (isBigEndian ? word(index + 1) : word(index + 1).byteSwapped) &+ sum.0
    }
    return sum == (word(6), word(7))
  }
}
