import LarderCore
import LarderStorage

/// The name of a key's entry: 128 bits computed from the key with the folder's seed, so that names cannot be predicted.
///
/// The first byte names the shelf (one of 256 sub-folders), the others the file in it.
struct EntryName: Hashable, Sendable {
  let high: UInt64
  let low: UInt64

  /// The number of sub-folders.
  static let shelves = 256

  /// Creates the name of a key.
  init(key: String, seed: FolderSeed) {
    var key = key
    self = key.withUTF8 { bytes in
      // Read during this call alone.
      let raw = UnsafeRawBufferPointer(bytes)
      return unsafe EntryName(
        high: ContentChecksum.of(raw, seed: seed.high), low: ContentChecksum.of(raw, seed: seed.low))
    }
  }

  /// Creates the name of a key in an encrypted folder, with the folder's own key. Nil if the platform's library fails.
  init?(key: String, keys: FolderKeys) {
    var key = key
    // Read during this call alone.
    guard let name = key.withUTF8({ unsafe keys.name(of: UnsafeRawBufferPointer($0)) }) else { return nil }
    (high, low) = name
  }

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The shelf, 0 to 255.
  var shelf: Int { Int(high &>> 56) }

  /// The part of the folder's shared change numbers that the entry belongs to.
  var part: Int { Int(low % UInt64(SharedCounter.partCount)) }

  /// The path below the cache's folder.
  var path: String {
    let prefix = FolderNames.entries.utf8.count &+ 1
    return unsafe String(unsafeUninitializedCapacity: prefix &+ 33) { buffer in
      // One allocation: the folder's name, a slash, two digits, a slash, 30 digits; the buffer has room for all.
      var place = 0
      for byte in FolderNames.entries.utf8 {
        unsafe buffer[place] = byte
        place &+= 1
      }
      unsafe buffer[place] = UInt8(ascii: "/")
      unsafe buffer[place &+ 3] = UInt8(ascii: "/")
      unsafe HexadecimalText.write(high &>> 56, digits: 2, to: buffer, at: place &+ 1)
      unsafe HexadecimalText.write(high, digits: 14, to: buffer, at: place &+ 4)
      unsafe HexadecimalText.write(low, digits: 16, to: buffer, at: place &+ 18)
      return prefix &+ 33
    }
  }
}

/// The random number that all names of a folder are computed with.
struct FolderSeed: Hashable, Sendable {
  let high: UInt64
  let low: UInt64
}

/// The name of a file that holds one content alone; chosen at random, never used twice.
struct BlobID: Hashable, Sendable {
  let high: UInt64
  let low: UInt64

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Creates a new name. Two zero halves mean none, so they are never drawn.
  static func new(_ environment: LarderEnvironment) -> BlobID {
    BlobID(high: max(1, environment.random()), low: max(1, environment.random()))
  }

  /// The file's path below the cache's folder: on the entry's shelf, with its name and the number.
  func path(of name: EntryName) -> String {
    name.path + "." + HexadecimalText.text(high, digits: 16) + HexadecimalText.text(low, digits: 16)
  }
}

/// The meaning of a file's name on a shelf.
enum ShelfItem: Hashable, Sendable {
  case entry(EntryName)
  case blob(BlobID, of: EntryName)

  /// Nil for a name that the cache does not use.
  init?(shelf: Int, name: some Collection<UInt8>) {
    guard name.count == 30 || name.count == 63, let upper = HexadecimalText.number(name.prefix(14)),
      let low = HexadecimalText.number(name.dropFirst(14).prefix(16))
    else { return nil }
    let entry = EntryName(high: UInt64(shelf) &<< 56 | upper, low: low)
    if name.count == 30 {
      self = .entry(entry)
      return
    }
    let rest = name.dropFirst(30)
    guard rest.first == UInt8(ascii: "."), let idHigh = HexadecimalText.number(rest.dropFirst().prefix(16)),
      let idLow = HexadecimalText.number(rest.dropFirst(17))
    else { return nil }
    self = .blob(BlobID(high: idHigh, low: idLow), of: entry)
  }
}

/// The names of the cache's own files and folders, within its folder.
enum FolderNames {
  /// The shelves with the stored entries.
  static let entries = "larder.entries"
  /// A folder with incomplete files for each process that writes.
  static let temporary = "larder.temporary"
  /// Discarded files, which are deleted gradually.
  static let removed = "larder.removed"
  /// Seed, usage and lock.
  static let state = "larder.state"

  /// The shared numbers that notify other processes of changes.
  static let changes = "larder.changes"

  /// The path of a shelf below the cache's folder.
  static func shelf(_ number: Int) -> String {
    entries + "/" + HexadecimalText.text(UInt64(number), digits: 2)
  }
}

/// Converts numbers to lower-case hexadecimal digits of fixed width, and back.
enum HexadecimalText {
  /// The lowest digits of a number.
  static func text(_ value: UInt64, digits: Int) -> String {
    unsafe String(unsafeUninitializedCapacity: digits) { buffer in
      unsafe write(value, digits: digits, to: buffer, at: 0)
      return digits
    }
  }

  /// Writes the lowest digits of a number; the buffer has room for them.
  @inline(__always)
  static func write(_ value: UInt64, digits: Int, to buffer: UnsafeMutableBufferPointer<UInt8>, at start: Int) {
    var rest = value
    var place = start &+ digits
    while place > start {
      place &-= 1
      let nibble = UInt8(truncatingIfNeeded: rest) & 0xF
      // `place` is within the digits that the caller has room for.
      unsafe buffer[place] = nibble < 10 ? 0x30 &+ nibble : 0x57 &+ nibble
      rest &>>= 4
    }
  }

  /// Parses at most 16 digits. Nil if there are other characters or no digits.
  static func number(_ digits: some Collection<UInt8>) -> UInt64? {
    guard !digits.isEmpty, digits.count <= 16 else { return nil }
    var value: UInt64 = 0
    for digit in digits {
      switch digit {
      case 0x30...0x39: value = value &<< 4 | UInt64(digit &- 0x30)
      case 0x61...0x66: value = value &<< 4 | UInt64(digit &- 0x57)
      default: return nil
      }
    }
    return value
  }
}
