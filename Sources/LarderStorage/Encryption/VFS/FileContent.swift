import CLarderSQLite

/// Converts SQLite's reads and writes of one open file to those of the system's file. Each kind of file is one
/// subclass.
///
/// A file belongs to one connection, so only one thread at a time uses it.
@safe class FileContent {
  /// The length of a page as SQLite sees it, and as it is stored in every file that has pages.
  static let pageLength = 4096
  /// The bytes at the end of each page that SQLite leaves to this VFS: 4 for the log, 12 for the nonce, 16 for the tag.
  static let reservedLength = 32
  static let sealedLength = pageLength - reservedLength
  static let nonceOffset = sealedLength + 4
  static let tagOffset = nonceOffset + PageCipher.nonceLength

  let real: RealFile
  /// A buffer for the data in transit, zeroed at the end.
  let work: UnsafeMutableRawPointer
  private let workLength: Int

  init(_ real: RealFile, workLength: Int) {
    self.real = real
    self.workLength = workLength
    unsafe work = .allocate(byteCount: workLength, alignment: 64)
    unsafe work.initializeMemory(as: UInt8.self, repeating: 0, count: workLength)
  }

  deinit {
    unsafe SecretBytes.zero(work, workLength)
    unsafe work.deallocate()
  }

  func read(_ bytes: UnsafeMutableRawPointer, _ count: Int, at offset: Int64) -> Int32 { IOError.read }
  func write(_ bytes: UnsafeRawPointer, _ count: Int, at offset: Int64) -> Int32 { IOError.write }
  func truncate(_ size: Int64) -> Int32 { real.truncate(size) }
  func sync(_ flags: Int32) -> Int32 { real.sync(flags) }
  func size(_ size: inout Int64) -> Int32 { real.size(&size) }
  /// Called before each lock of the file or its log's index is taken or released: others may write from then on, or
  /// have written.
  func lockChanges() {}
  /// Writes what must be written before the file is closed.
  func finish() -> Int32 { SQLITE_OK }
  func control(_ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    unsafe real.control(operation, argument)
  }

  /// Whether all bytes are zero; checks eight at a time.
  static func isZero(_ bytes: UnsafeRawPointer, _ count: Int) -> Bool {
    var index = 0
    while index + 8 <= count {
      if unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) != 0 { return false }
      index += 8
    }
    while index < count {
      if unsafe bytes.load(fromByteOffset: index, as: UInt8.self) != 0 { return false }
      index += 1
    }
    return true
  }
}

/// The data that is authenticated with a sealed block: the kind of place where it belongs, and which one.
@safe struct SealedPlace {
  enum Kind: UInt8 { case page = 1, frame = 2, scratch = 3 }

  /// The kind and three zeros, the four bytes beside the nonce, the place, and 8 more bytes for a frame.
  private var words: (UInt64, UInt64, UInt64)
  private let length: Int

  init(_ kind: Kind, _ place: UInt64, mark: UInt32 = 0) {
    words = ((UInt64(kind.rawValue) | UInt64(mark) << 32).littleEndian, place.littleEndian, 0)
    length = 16
  }

  /// The place of a frame of the log: its offset, the four bytes, and its header's page number and size. The header's
  /// salts are not included: if a transaction writes a page again, SQLite first writes zeros in place of the salts, and
  /// the salts later.
  init(frame offset: UInt64, mark: UInt32, header: UnsafeRawPointer) {
    words = unsafe (
      (UInt64(Kind.frame.rawValue) | UInt64(mark) << 32).littleEndian, offset.littleEndian,
      header.loadUnaligned(as: UInt64.self)
    )
    length = 24
  }

  @inline(__always)
  func withBytes(_ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
    unsafe withUnsafeBytes(of: words) { unsafe body(UnsafeRawBufferPointer(rebasing: $0[..<length])) }
  }
}
