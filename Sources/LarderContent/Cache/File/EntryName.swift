@_spi(Stores) import LarderCore
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
      unsafe Hexadecimal.write(high &>> 56, digits: 2, to: buffer, at: place &+ 1)
      unsafe Hexadecimal.write(high, digits: 14, to: buffer, at: place &+ 4)
      unsafe Hexadecimal.write(low, digits: 16, to: buffer, at: place &+ 18)
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
    name.path + "." + Hexadecimal.text(high, digits: 16) + Hexadecimal.text(low, digits: 16)
  }
}

/// The meaning of a file's name on a shelf.
enum ShelfItem: Hashable, Sendable {
  case entry(EntryName)
  case blob(BlobID, of: EntryName)

  /// Nil for a name that the cache does not use.
  init?(shelf: Int, name: some Collection<UInt8>) {
    guard name.count == 30 || name.count == 63, let upper = Hexadecimal.number(name.prefix(14)),
      let low = Hexadecimal.number(name.dropFirst(14).prefix(16))
    else { return nil }
    let entry = EntryName(high: UInt64(shelf) &<< 56 | upper, low: low)
    if name.count == 30 {
      self = .entry(entry)
      return
    }
    let rest = name.dropFirst(30)
    guard rest.first == UInt8(ascii: "."), let idHigh = Hexadecimal.number(rest.dropFirst().prefix(16)),
      let idLow = Hexadecimal.number(rest.dropFirst(17))
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
    entries + "/" + Hexadecimal.text(UInt64(number), digits: 2)
  }
}
