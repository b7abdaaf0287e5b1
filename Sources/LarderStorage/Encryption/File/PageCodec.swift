/// Converts the pages of one file's main part to and from the bytes on disk. Only one thread at a time may use it.
///
/// A page's first 4064 bytes are sealed with its number; 4 zeros, the nonce and the tag follow them. On page 1 the
/// bytes of the ``EncryptedHeader`` stay unencrypted and are authenticated with the number.
@safe final class PageCodec {
  let header: EncryptedHeader
  private let cipher: PageCipher
  /// The content of page 1 without the unencrypted bytes.
  private let gathered: UnsafeMutableRawPointer
  private let clear: [UInt8]

  private static let sealedLength = FileContent.sealedLength
  private static let firstPart = EncryptedHeader.start - EncryptedHeader.saltLength
  private static let secondPart = sealedLength - EncryptedHeader.end
  private static let magic = Array("SQLite format 3\0".utf8)

  /// Returns nil if there is no memory.
  init?(_ keys: FileKeys) {
    guard let cipher = PageCipher(keys.secret, from: FileKeys.pageKey) else { return nil }
    self.cipher = cipher
    header = keys.header
    clear = keys.header.salt + keys.header.bytes
    unsafe gathered = .allocate(byteCount: Self.sealedLength, alignment: 64)
  }

  deinit {
    unsafe SecretBytes.zero(gathered, Self.sealedLength)
    unsafe gathered.deallocate()
  }

  /// Whether a page from SQLite can be written: its reserved bytes are free, and page 1 declares them and the right
  /// page length.
  static func isFitting(_ page: UnsafeRawPointer, number: UInt64) -> Bool {
    guard unsafe FileContent.isZero(page + sealedLength, FileContent.reservedLength) else { return false }
    guard number == 1 else { return true }
    return unsafe page.load(fromByteOffset: 16, as: UInt8.self) == UInt8(FileContent.pageLength >> 8)
      && page.load(fromByteOffset: 17, as: UInt8.self) == 0
      && page.load(fromByteOffset: 20, as: UInt8.self) == UInt8(FileContent.reservedLength)
      && FileContent.isZero(page + EncryptedHeader.start, EncryptedHeader.end - EncryptedHeader.start)
  }

  /// Seals a page of 4096 bytes into another 4096.
  func seal(_ page: UnsafeRawPointer, number: UInt64, to sealed: UnsafeMutableRawPointer) -> Bool {
    unsafe sealed.storeBytes(of: 0, toByteOffset: Self.sealedLength, as: UInt32.self)
    guard number == 1 else {
      return unsafe SealedPlace(.page, number).withBytes { data in
        unsafe cipher.seal(
          page, Self.sealedLength, to: sealed, nonce: sealed + FileContent.nonceOffset,
          tag: sealed + FileContent.tagOffset, with: data)
      }
    }
    unsafe gather(page)
    let isSealed = unsafe firstPlace.withUnsafeBytes { data in
      unsafe cipher.seal(
        gathered, Self.firstPart + Self.secondPart, to: gathered, nonce: sealed + FileContent.nonceOffset,
        tag: sealed + FileContent.tagOffset, with: data)
    }
    unsafe scatter(sealed)
    let headerBytes = header.bytes
    unsafe sealed.copyMemory(from: header.salt, byteCount: EncryptedHeader.saltLength)
    unsafe (sealed + EncryptedHeader.start).copyMemory(from: headerBytes, byteCount: headerBytes.count)
    return isSealed
  }

  /// Decrypts a page; returns false if it was not sealed for this file and number.
  func open(_ sealed: UnsafeRawPointer, number: UInt64, to page: UnsafeMutableRawPointer) -> Bool {
    // These 4 bytes are used in frames of the log only, and must be zero in a page of the file.
    guard unsafe sealed.loadUnaligned(fromByteOffset: Self.sealedLength, as: UInt32.self) == 0 else { return false }
    defer {
      unsafe (page + Self.sealedLength).initializeMemory(
        as: UInt8.self, repeating: 0, count: FileContent.reservedLength)
    }
    guard number == 1 else {
      return unsafe SealedPlace(.page, number).withBytes { data in
        unsafe cipher.open(
          sealed, Self.sealedLength, to: page, nonce: sealed + FileContent.nonceOffset,
          tag: sealed + FileContent.tagOffset, with: data)
      }
    }
    let headerBytes = header.bytes
    let isSameHeader = unsafe header.salt.withUnsafeBytes { salt in
      unsafe headerBytes.withUnsafeBytes { headerBytes in
        unsafe SecretBytes.same(UnsafeRawBufferPointer(start: sealed, count: salt.count), salt)
          && SecretBytes.same(
            UnsafeRawBufferPointer(start: sealed + EncryptedHeader.start, count: headerBytes.count), headerBytes)
      }
    }
    unsafe gather(sealed)
    let isWhole = unsafe firstPlace.withUnsafeBytes { data in
      unsafe cipher.open(
        gathered, Self.firstPart + Self.secondPart, to: gathered, nonce: sealed + FileContent.nonceOffset,
        tag: sealed + FileContent.tagOffset, with: data)
    }
    unsafe scatter(page)
    unsafe page.copyMemory(from: Self.magic, byteCount: EncryptedHeader.saltLength)
    unsafe (page + EncryptedHeader.start).initializeMemory(as: UInt8.self, repeating: 0, count: headerBytes.count)
    return isSameHeader && isWhole
  }

  /// The data that is authenticated with page 1.
  private var firstPlace: [UInt8] {
    [SealedPlace.Kind.page.rawValue, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0] + clear
  }

  private func gather(_ page: UnsafeRawPointer) {
    unsafe gathered.copyMemory(from: page + EncryptedHeader.saltLength, byteCount: Self.firstPart)
    unsafe (gathered + Self.firstPart).copyMemory(from: page + EncryptedHeader.end, byteCount: Self.secondPart)
  }

  private func scatter(_ page: UnsafeMutableRawPointer) {
    unsafe (page + EncryptedHeader.saltLength).copyMemory(from: gathered, byteCount: Self.firstPart)
    unsafe (page + EncryptedHeader.end).copyMemory(from: gathered + Self.firstPart, byteCount: Self.secondPart)
  }
}
