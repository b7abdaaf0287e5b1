@_spi(Stores) import LarderCore

/// A cache of plaintext pages of a file, or frames of its log, that were sealed or opened last, for all connections of
/// the process. SQLite discards its own cache whenever another connection has committed, and would have the same pages
/// decrypted again.
///
/// A page is taken from the cache only if the bytes behind it in the file, its nonce and tag, are those that it had.
/// Therefore it equals the decrypted page, even if others have written meanwhile.
@safe final class RecentPages: Sendable {
  /// The length of a page with the 32 bytes behind it in the file, which SQLite sees as zeros.
  private static let slotLength = FileContent.pageLength

  private let slots: Int
  private let state: Locked<Memory?>

  /// Creates a cache with `slots` slots. Its memory is allocated when the first page is stored.
  init(slots: Int) {
    self.slots = slots
    state = Locked(nil)
  }

  /// Whether the cache may have a page; page numbers begin at 1.
  func mayHave(_ number: UInt64) -> Bool { state.withLock { $0?.numbers[slot(number)] == number } }

  /// Copies a page of 4096 bytes, the last 32 of them zero. Returns false if the page is not cached, or if the file has
  /// changed.
  ///
  /// - Parameter end: the 32 bytes behind the page in the file.
  func copyPage(_ number: UInt64, end: UnsafeRawPointer, to page: UnsafeMutableRawPointer) -> Bool {
    state.withLock { memory in
      let index = slot(number)
      guard let memory, memory.numbers[index] == number else { return false }
      let slotStart = unsafe memory.start + index * Self.slotLength
      let mark = unsafe UnsafeRawBufferPointer(
        start: slotStart + FileContent.sealedLength, count: FileContent.reservedLength)
      guard unsafe mark.elementsEqual(UnsafeRawBufferPointer(start: end, count: FileContent.reservedLength)) else {
        return false
      }
      unsafe page.copyMemory(from: slotStart, byteCount: FileContent.sealedLength)
      unsafe (page + FileContent.sealedLength).initializeMemory(
        as: UInt8.self, repeating: 0, count: FileContent.reservedLength)
      return true
    }
  }

  /// Caches a page that was opened, or sealed and written, in place of another.
  func store(_ number: UInt64, _ page: UnsafeRawPointer, end: UnsafeRawPointer) {
    state.withLock { memory in
      let allocated = memory ?? Memory(slots: slots)
      memory = allocated
      let index = slot(number)
      let slotStart = unsafe allocated.start + index * Self.slotLength
      unsafe slotStart.copyMemory(from: page, byteCount: FileContent.sealedLength)
      unsafe (slotStart + FileContent.sealedLength).copyMemory(from: end, byteCount: FileContent.reservedLength)
      allocated.numbers[index] = number
    }
  }

  /// Zeroes and frees all pages.
  func forget() { state.withLock { $0 = nil } }

  private func slot(_ number: UInt64) -> Int { Int(truncatingIfNeeded: number % UInt64(slots)) }

  /// The memory of the pages, zeroed at the end.
  //
  // @unchecked Sendable: it is created and used only under the lock.
  @safe private final class Memory: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    /// The page number of each slot; 0 for none.
    var numbers: [UInt64]

    init(slots: Int) {
      unsafe start = .allocate(byteCount: slots * RecentPages.slotLength, alignment: FileContent.pageLength)
      numbers = Array(repeating: 0, count: slots)
    }

    deinit {
      // Slots that were never used are skipped, because the system has not allocated memory for them.
      for (index, number) in numbers.enumerated() where number != 0 {
        unsafe SecretBytes.zero(start + index * RecentPages.slotLength, RecentPages.slotLength)
      }
      unsafe start.deallocate()
    }
  }
}
