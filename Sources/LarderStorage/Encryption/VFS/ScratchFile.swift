import CLarderSQLite

/// A temporary file that ends with its connection: sorters, statement journals, temporary tables.
///
/// Blocks of 4096 bytes are sealed into 4128 bytes, with a key that exists only for this file. No other process reads
/// it, so a block may be rewritten completely when a part of it changes.
@safe final class ScratchFile: FileContent {
  private static let blockLength = FileContent.pageLength
  private static let sealedBlock = FileContent.pageLength + FileContent.reservedLength

  private let cipher: PageCipher
  /// One block in plain text; it is sealed in `work`.
  private let block: UnsafeMutableRawPointer
  private var current: Int64 = -1
  private var isChanged = false
  private var length: Int64 = 0
  /// A bit set of the blocks that have been written: the others are zeros.
  private var written: [UInt64] = []

  /// Returns nil if there is no memory.
  init?(_ real: RealFile) {
    let key = try? unsafe SecretBytes(count: 32) { (bytes) throws(StorageError) in
      unsafe Digest.fillRandomly(bytes)
    }
    guard let key, let cipher = PageCipher(key) else { return nil }
    self.cipher = cipher
    unsafe block = .allocate(byteCount: Self.blockLength, alignment: 64)
    super.init(real, workLength: Self.sealedBlock)
  }

  deinit {
    unsafe SecretBytes.zero(block, Self.blockLength)
    unsafe block.deallocate()
  }

  override func read(_ bytes: UnsafeMutableRawPointer, _ count: Int, at offset: Int64) -> Int32 {
    guard offset >= 0, count >= 0 else { return IOError.read }
    let there = max(0, min(Int64(count), length - offset))
    var done: Int64 = 0
    while done < there {
      let (index, start) = (offset + done).quotientAndRemainder(dividingBy: Int64(Self.blockLength))
      let part = min(there - done, Int64(Self.blockLength) - start)
      let target = unsafe bytes + Int(done)
      // A complete block is written directly, without the current block's buffer.
      if part == Int64(Self.blockLength), index != current {
        let code = unsafe load(index, to: target)
        guard code == SQLITE_OK else { return code }
      } else {
        let code = loadBlock(index)
        guard code == SQLITE_OK else { return code }
        unsafe target.copyMemory(from: block + Int(start), byteCount: Int(part))
      }
      done += part
    }
    guard there < count else { return SQLITE_OK }
    unsafe (bytes + Int(there)).initializeMemory(as: UInt8.self, repeating: 0, count: count - Int(there))
    return IOError.shortRead
  }

  override func write(_ bytes: UnsafeRawPointer, _ count: Int, at offset: Int64) -> Int32 {
    guard offset >= 0, count >= 0, offset <= Int64.max - Int64(count) else { return IOError.write }
    var done: Int64 = 0
    while done < count {
      let (index, start) = (offset + done).quotientAndRemainder(dividingBy: Int64(Self.blockLength))
      let part = min(Int64(count) - done, Int64(Self.blockLength) - start)
      let source = unsafe bytes + Int(done)
      if part == Int64(Self.blockLength) {
        if index == current { (current, isChanged) = (-1, false) }
        let code = unsafe store(index, source)
        guard code == SQLITE_OK else { return code }
      } else {
        let code = loadBlock(index)
        guard code == SQLITE_OK else { return code }
        unsafe (block + Int(start)).copyMemory(from: source, byteCount: Int(part))
        isChanged = true
      }
      done += part
    }
    length = max(length, offset + Int64(count))
    return SQLITE_OK
  }

  /// Loads a block as the current one.
  private func loadBlock(_ index: Int64) -> Int32 {
    guard index != current else { return SQLITE_OK }
    let code = writeBack()
    guard code == SQLITE_OK else { return code }
    current = -1
    let loaded = unsafe load(index, to: block)
    if loaded == SQLITE_OK { current = index }
    return loaded
  }

  private func writeBack() -> Int32 {
    guard isChanged else { return SQLITE_OK }
    isChanged = false
    return unsafe store(current, block)
  }

  private func load(_ index: Int64, to target: UnsafeMutableRawPointer) -> Int32 {
    guard isWritten(index) else {
      unsafe target.initializeMemory(as: UInt8.self, repeating: 0, count: Self.blockLength)
      return SQLITE_OK
    }
    let code = unsafe real.read(work, Self.sealedBlock, at: index * Int64(Self.sealedBlock))
    guard code == SQLITE_OK else { return code == IOError.shortRead ? SQLITE_CORRUPT : code }
    let end = unsafe work + Self.blockLength
    let isWhole = unsafe SealedPlace(.scratch, UInt64(index)).withBytes { data in
      unsafe cipher.open(work, Self.blockLength, to: target, nonce: end + 4, tag: end + 16, with: data)
    }
    return isWhole ? SQLITE_OK : SQLITE_CORRUPT
  }

  private func store(_ index: Int64, _ source: UnsafeRawPointer) -> Int32 {
    let end = unsafe work + Self.blockLength
    let isSealed = unsafe SealedPlace(.scratch, UInt64(index)).withBytes { data in
      unsafe cipher.seal(source, Self.blockLength, to: work, nonce: end + 4, tag: end + 16, with: data)
    }
    guard isSealed else { return IOError.write }
    let code = unsafe real.write(work, Self.sealedBlock, at: index * Int64(Self.sealedBlock))
    if code == SQLITE_OK { note(index) }
    return code
  }

  private func isWritten(_ index: Int64) -> Bool {
    let word = Int(index >> 6)
    return word < written.count && written[word] >> UInt64(index & 63) & 1 == 1
  }

  private func note(_ index: Int64) {
    let word = Int(index >> 6)
    while written.count <= word { written.append(0) }
    written[word] |= 1 << UInt64(index & 63)
  }

  override func truncate(_ size: Int64) -> Int32 {
    guard size >= 0, size < length else { return SQLITE_OK }
    let (whole, rest) = size.quotientAndRemainder(dividingBy: Int64(Self.blockLength))
    if rest > 0 {
      let code = loadBlock(whole)
      guard code == SQLITE_OK else { return code }
      unsafe (block + Int(rest)).initializeMemory(as: UInt8.self, repeating: 0, count: Self.blockLength - Int(rest))
      isChanged = true
    } else if current >= whole {
      (current, isChanged) = (-1, false)
    }
    let keptBlocks = whole + (rest > 0 ? 1 : 0)
    for word in written.indices {
      let first = Int64(word) << 6
      if first >= keptBlocks {
        written[word] = 0
      } else if first + 64 > keptBlocks {
        written[word] &= 1 << UInt64(keptBlocks - first) - 1
      }
    }
    length = size
    return real.truncate(keptBlocks * Int64(Self.sealedBlock))
  }

  override func size(_ size: inout Int64) -> Int32 {
    size = length
    return SQLITE_OK
  }

  // A temporary file is not read after a crash.
  override func sync(_ flags: Int32) -> Int32 { SQLITE_OK }
  override func control(_ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 { SQLITE_NOTFOUND }
}
