import LarderCore

/// Pages of a file, or frames of its log, that were sealed or opened last, in plain text, for all connections of the
/// process: SQLite lets its own go whenever another connection has committed, and would have the same ones opened again.
///
/// A page is taken from here only where the bytes behind it in the file, its nonce and tag, are those that it had. So it
/// is what opening it would give, whoever has written meanwhile.
@safe final class RecentPages: Sendable {
  /// A page with the 32 bytes that lie behind it in the file, in the place where SQLite has zeros.
  private static let slotLength = FileContent.pageLength

  private let slots: Int
  private let state: Locked<Room?>

  /// Room for so many pages, which is taken when the first is kept.
  init(slots: Int) {
    self.slots = slots
    state = Locked(nil)
  }

  /// Whether a page may be here; numbers are from 1 on.
  func mayHave(_ number: UInt64) -> Bool { state.withLock { $0?.numbers[slot(number)] == number } }

  /// Copies a page of 4096 bytes, the last 32 of them zero; false where it is not here, or not as it lies in the file.
  ///
  /// - Parameter end: the 32 bytes that lie behind it in the file.
  func take(_ number: UInt64, end: UnsafeRawPointer, to page: UnsafeMutableRawPointer) -> Bool {
    state.withLock { room in
      let index = slot(number)
      guard let room, room.numbers[index] == number else { return false }
      let held = unsafe room.start + index * Self.slotLength
      let mark = unsafe UnsafeRawBufferPointer(
        start: held + FileContent.sealedLength, count: FileContent.reservedLength)
      guard unsafe mark.elementsEqual(UnsafeRawBufferPointer(start: end, count: FileContent.reservedLength)) else {
        return false
      }
      unsafe page.copyMemory(from: held, byteCount: FileContent.sealedLength)
      unsafe (page + FileContent.sealedLength).initializeMemory(
        as: UInt8.self, repeating: 0, count: FileContent.reservedLength)
      return true
    }
  }

  /// Keeps a page that was opened, or sealed and written, in the place of another.
  func keep(_ number: UInt64, _ page: UnsafeRawPointer, end: UnsafeRawPointer) {
    state.withLock { room in
      let kept = room ?? Room(slots: slots)
      room = kept
      let index = slot(number)
      let held = unsafe kept.start + index * Self.slotLength
      unsafe held.copyMemory(from: page, byteCount: FileContent.sealedLength)
      unsafe (held + FileContent.sealedLength).copyMemory(from: end, byteCount: FileContent.reservedLength)
      kept.numbers[index] = number
    }
  }

  /// Zeroes them all.
  func forget() { state.withLock { $0 = nil } }

  private func slot(_ number: UInt64) -> Int { Int(truncatingIfNeeded: number % UInt64(slots)) }

  /// The pages, zeroed at the end.
  //
  // @unchecked Sendable: it is made and used behind the lock alone.
  @safe private final class Room: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    /// Which page each slot has; 0 for none.
    var numbers: [UInt64]

    init(slots: Int) {
      unsafe start = .allocate(byteCount: slots * RecentPages.slotLength, alignment: FileContent.pageLength)
      numbers = Array(repeating: 0, count: slots)
    }

    deinit {
      // What was never used is not touched: the system has given no memory for it.
      for (index, number) in numbers.enumerated() where number != 0 {
        unsafe SecretBytes.zero(start + index * RecentPages.slotLength, RecentPages.slotLength)
      }
      unsafe start.deallocate()
    }
  }
}
