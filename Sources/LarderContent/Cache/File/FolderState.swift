import LarderStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// The state file: a header of 64 bytes, then a slot of 16 bytes for each shelf. Numbers are little-endian.
//
//   0  magic "LARDERC1"   8, 16  seed   24  zero   56  checksum of the 56 bytes before
//
// In an encrypted folder
//
//   0  magic "LARDERK1"   8  data that its key is found with: salt, scrypt's parameters, check value
//      (docs/Larder.docc/Security.md)   44  zero   56  checksum of the 56 bytes before
//
// A slot holds the bytes of all files on its shelf (8), the number of entries (4) and a checksum of both (4). It is
// changed with the file's lock held, before a file is added and after a file was removed. So if a process is killed in
// between, the number is too large, never too small. A process that detects a dead process counts again.

/// The usage of one shelf.
struct ShelfUsage: Hashable, Sendable {
  var bytes = 0
  var entries = 0

  /// Adds to the usage. It is never below zero, because the numbers come from a file.
  mutating func add(bytes more: Int, entries moreEntries: Int) {
    let sum = bytes.addingReportingOverflow(more)
    bytes = sum.overflow ? .max : max(0, sum.partialValue)
    entries = min(max(0, entries + moreEntries), Int(UInt32.max))
  }
}

/// The bytes of the state file. The file itself is the folder's lock.
enum FolderState {
  static let headerLength = 64
  static let slotLength = 16
  static let length = headerLength + EntryName.shelves * slotLength
  private static let magic: UInt64 = 0x3143_5245_4452_414C
  private static let keyedMagic: UInt64 = 0x314B_5245_4452_414C
  private static let seed: UInt64 = 2

  /// The data that the names of entries are computed with.
  enum Header: Hashable, Sendable {
    case plain(FolderSeed)
    /// An encrypted folder: the header of its ``FolderKeys``.
    case encrypted([UInt8])
  }

  /// Parses the header at the beginning of bytes. Nil if they are not a state of this version.
  static func header(_ bytes: [UInt8]) -> Header? {
    guard bytes.count >= headerLength, number(bytes, 56) == ContentChecksum.of(Array(bytes[..<56]), seed: seed) else {
      return nil
    }
    switch number(bytes, 0) {
    case magic: return .plain(FolderSeed(high: number(bytes, 8), low: number(bytes, 16)))
    case keyedMagic: return .encrypted(Array(bytes[8..<8 + FolderKeys.headerLength]))
    default: return nil
    }
  }

  /// True for the state of a later version, which this code does not know.
  static func isLater(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 8 else { return false }
    let storedMagic = number(bytes, 0)
    let versionless: UInt64 = 0x00FF_FFFF_FFFF_FFFF
    return [magic, keyedMagic].contains { storedMagic & versionless == $0 & versionless }
      && (0x32...0x39).contains(storedMagic &>> 56)
  }

  /// A new folder's state, with empty shelves.
  static func bytes(_ header: Header) -> [UInt8] {
    headerBytes(header) + emptySlots
  }

  private static func headerBytes(_ header: Header) -> [UInt8] {
    var bytes: [UInt8] = []
    switch header {
    case .plain(let seed): for value in [magic, seed.high, seed.low] { append(value, to: &bytes) }
    case .encrypted(let key):
      append(keyedMagic, to: &bytes)
      bytes += key
    }
    bytes += repeatElement(0, count: 56 - bytes.count)
    append(ContentChecksum.of(bytes, seed: seed), to: &bytes)
    return bytes
  }

  /// The slots of empty shelves.
  static var emptySlots: [UInt8] { (0..<EntryName.shelves).flatMap { slot(ShelfUsage(), $0) } }

  static func slotOffset(_ shelf: Int) -> Int { headerLength + shelf * slotLength }

  static func slot(_ usage: ShelfUsage, _ shelf: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    append(UInt64(usage.bytes), to: &bytes)
    append(UInt64(usage.entries) | check(UInt64(usage.bytes), UInt64(usage.entries), shelf) &<< 32, to: &bytes)
    return bytes
  }

  /// The usage of a shelf; nil if the slot is damaged. `slots` begins after the header.
  static func usage(_ slots: [UInt8], _ shelf: Int) -> ShelfUsage? {
    let offset = shelf * slotLength
    guard slots.count >= offset + slotLength else { return nil }
    return usage(slots, at: offset, shelf)
  }

  /// The usage in the bytes of one slot; nil if they are damaged.
  static func singleUsage(_ slot: [UInt8], _ shelf: Int) -> ShelfUsage? {
    slot.count == slotLength ? usage(slot, at: 0, shelf) : nil
  }

  private static func usage(_ bytes: [UInt8], at offset: Int, _ shelf: Int) -> ShelfUsage? {
    guard let size = Int(exactly: number(bytes, offset)) else { return nil }
    let word = number(bytes, offset + 8)
    guard word &>> 32 == check(UInt64(size), word & 0xFFFF_FFFF, shelf) else { return nil }
    return ShelfUsage(bytes: size, entries: Int(word & 0xFFFF_FFFF))
  }

  private static func check(_ bytes: UInt64, _ entries: UInt64, _ shelf: Int) -> UInt64 {
    ContentChecksum.mix(bytes ^ 0x6A09_E667_F3BC_C909, entries ^ UInt64(shelf) &<< 40 ^ 0xBB67_AE85_84CA_A73B)
      & 0xFFFF_FFFF
  }

  private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value &>> shift)) }
  }

  /// Reads eight bytes; the caller has checked that they exist.
  private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
    var value: UInt64 = 0
    for index in 0..<8 { value |= UInt64(bytes[offset + index]) &<< UInt64(8 * index) }
    return value
  }
}
