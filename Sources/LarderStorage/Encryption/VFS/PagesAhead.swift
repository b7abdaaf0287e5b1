import CLarderSQLite

/// Sealed pages that were read together because pages were asked for in their order: opening them costs time that one call
/// of the system for several of them gives back.
///
/// They hold for one transaction: what it reads from the file, nobody may change meanwhile (SQLite WAL format §2.2), and
/// each transaction takes and gives back a lock.
@safe struct PagesAhead {
  private static let count = 8

  /// Freed with its owner.
  @safe private final class Room {
    let start: UnsafeMutableRawPointer

    init() { unsafe start = .allocate(byteCount: count * FileContent.pageLength, alignment: 64) }

    deinit { unsafe start.deallocate() }
  }

  private var room: Room?
  /// The first page in the room, and how many there are.
  private var first: UInt64 = 0
  private var held: UInt64 = 0
  /// The page asked for last, and how many before it were in their order.
  private var last: UInt64 = 0
  private var run = 0

  /// A page that has been read; reads some where it seems worth it. Nil where it must be read by itself.
  mutating func page(_ number: UInt64, of file: RealFile) -> UnsafeRawPointer? {
    defer { last = number }
    if let room, number >= first, number - first < held {
      return unsafe UnsafeRawPointer(room.start + Int(number - first) * FileContent.pageLength)
    }
    run = number == last &+ 1 ? run + 1 : 0
    guard run > 2 else { return nil }
    let room = room ?? Room()
    self.room = room
    held = 0
    let length = Self.count * FileContent.pageLength
    guard unsafe file.readWhole(room.start, length, at: Int64(number - 1) * Int64(FileContent.pageLength)) else {
      // The file's end is near.
      run = 0
      return nil
    }
    (first, held) = (number, UInt64(Self.count))
    return unsafe UnsafeRawPointer(room.start)
  }

  /// Whether the page asked for last follows the one before it.
  var isInOrder: Bool { run > 0 }

  /// Drops what was read.
  mutating func forget() { held = 0 }
}
