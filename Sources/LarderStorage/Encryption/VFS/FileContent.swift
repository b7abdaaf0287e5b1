import CLarderSQLite

/// What lies between SQLite's reads and writes of one open file and the system's: one kind of file, one subclass.
///
/// A file is of one connection, and so in the hands of one thread at a time.
@safe class FileContent {
  /// A page as SQLite sees it, and as it lies in every file that has pages.
  static let pageLength = 4096
  /// Bytes at the end of each page that SQLite leaves to us: 4 of the log, 12 of nonce, 16 of tag.
  static let reservedLength = 32
  static let sealedLength = pageLength - reservedLength
  static let nonceOffset = sealedLength + 4
  static let tagOffset = nonceOffset + PageCipher.nonceLength

  let real: RealFile
  /// Room for what is on its way, zeroed at the end.
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
  /// Called before each lock of the file or its log's index is taken or given back: others may write now, or have.
  func lockChanges() {}
  /// What must be written before the file is closed.
  func finish() -> Int32 { SQLITE_OK }
  func control(_ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    unsafe real.control(operation, argument)
  }

  /// True where bytes are zero, eight at a time.
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

/// What is authenticated beside a sealed block: which kind of place it is for, and which.
@safe struct SealedPlace {
  enum Kind: UInt8 { case page = 1, frame = 2, scratch = 3 }

  /// The kind and three zeros, the four bytes beside the nonce, the place, and 8 bytes more of a frame.
  private var words: (UInt64, UInt64, UInt64)
  private let length: Int

  init(_ kind: Kind, _ place: UInt64, mark: UInt32 = 0) {
    words = ((UInt64(kind.rawValue) | UInt64(mark) << 32).littleEndian, place.littleEndian, 0)
    length = 16
  }

  /// A frame of the log: its offset, the four bytes, and its header's page number and size. Not the header's salts: SQLite
  /// writes zeros in their place at first where a transaction writes a page again, and the salts later.
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
