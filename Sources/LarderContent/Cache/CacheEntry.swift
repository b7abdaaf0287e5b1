#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One stored response: its metadata, and content that is read on demand.
///
/// An entry is immutable. Its content stays readable as long as the entry is held, even if the cache has dropped it in
/// the meantime.
public final class CacheEntry: Sendable {
  /// The metadata of the response.
  public let metadata: CacheMetadata
  /// The stored content's length in bytes.
  public let length: Int
  /// The tier that the entry was read from.
  public let tier: CacheTier

  /// The parts of the metadata that the caching rules need, parsed once for each entry.
  package let rules: StoredRules
  /// For a copy in memory of an entry of a shared cache: the state at the time of copying.
  let mark: ChangeMark?
  private let content: Content

  private enum Content: Sendable {
    case bytes([UInt8])
    case file(BlobFile)
    case source(@Sendable (Range<Int>) async throws(CacheError) -> [UInt8])
  }

  /// Creates an entry whose content is in memory.
  public init(metadata: CacheMetadata, bytes: [UInt8], tier: CacheTier = .memory) {
    self.metadata = metadata
    length = bytes.count
    self.tier = tier
    rules = StoredRules(metadata)
    mark = nil
    content = .bytes(bytes)
  }

  /// Creates an entry whose content is read in pieces: `read` returns exactly the bytes of a range within `length`, or
  /// throws.
  public init(
    metadata: CacheMetadata, length: Int, tier: CacheTier = .disk,
    read: @escaping @Sendable (Range<Int>) async throws(CacheError) -> [UInt8]
  ) {
    self.metadata = metadata
    self.length = length
    self.tier = tier
    rules = StoredRules(metadata)
    mark = nil
    content = .source(read)
  }

  /// Creates an entry whose content is a file of a ``FileCache``.
  init(metadata: CacheMetadata, file: BlobFile) {
    self.metadata = metadata
    length = file.length
    tier = .disk
    rules = StoredRules(metadata)
    mark = nil
    content = .file(file)
  }

  /// Creates an entry of a ``FileCache`` from its file, with its content in a separate file.
  init(_ file: EntryFile, _ blob: BlobFile) {
    metadata = file.metadata
    length = blob.length
    tier = .disk
    rules = file.head.rules
    mark = nil
    content = .file(blob)
  }

  /// Creates an entry of a ``FileCache`` from its file, with its content.
  init(_ file: EntryFile, _ bytes: [UInt8]) {
    metadata = file.metadata
    length = bytes.count
    tier = .disk
    rules = file.head.rules
    mark = nil
    content = .bytes(bytes)
  }

  /// This entry's content with other metadata.
  public func with(_ metadata: CacheMetadata) -> CacheEntry {
    CacheEntry(moving: self, to: tier, metadata: metadata, rules: StoredRules(metadata), mark: mark)
  }

  /// True if both are the same stored response: the metadata and length are equal, and so are the bytes if both are in
  /// memory.
  ///
  /// A cache uses this to check whether the entry that an update refers to is still there, even if it was read twice.
  public func isSame(as other: CacheEntry) -> Bool {
    if self === other { return true }
    guard length == other.length, metadata == other.metadata else { return false }
    guard let bytes = bytesInMemory, let otherBytes = other.bytesInMemory else { return true }
    return bytes == otherBytes
  }

  /// This entry as part of another tier. The caching rules are not parsed again.
  package func moved(to tier: CacheTier, bytes: [UInt8]? = nil) -> CacheEntry {
    CacheEntry(moving: self, to: tier, metadata: metadata, rules: rules, bytes: bytes, mark: mark)
  }

  /// This entry in memory, as a copy of an entry of a shared cache.
  func copied(at mark: ChangeMark?) -> CacheEntry {
    CacheEntry(moving: self, to: .memory, metadata: metadata, rules: rules, mark: mark)
  }

  private init(
    moving entry: CacheEntry, to tier: CacheTier, metadata: CacheMetadata, rules: StoredRules, bytes: [UInt8]? = nil,
    mark: ChangeMark?
  ) {
    self.metadata = metadata
    length = bytes?.count ?? entry.length
    self.tier = tier
    self.rules = rules
    self.mark = mark
    content = bytes.map { .bytes($0) } ?? entry.content
  }

  /// The content, if it is in memory.
  package var bytesInMemory: [UInt8]? {
    if case .bytes(let bytes) = content { bytes } else { nil }
  }

  /// True if the content is a file of a ``FileCache``, which can be read without waiting for anything else.
  var isFile: Bool {
    if case .file = content { true } else { false }
  }

  /// Reads the part of `range` that lies within the content.
  public func read(_ range: Range<Int>) async throws(CacheError) -> [UInt8] {
    let range = range.clamped(to: 0..<length)
    switch content {
    case .bytes(let bytes): return range.count == bytes.count ? bytes : Array(bytes[range])
    case .file(let file): return try file.read(range)
    case .source(let read): return range.isEmpty ? [] : try await read(range)
    }
  }

  /// Reads all of the content into one array; `beginning` was read already.
  package func readAll(behind beginning: [UInt8]) async throws(CacheError) -> [UInt8] {
    if case .file(let file) = content { return try file.read(0..<length, behind: beginning) }
    if beginning.isEmpty { return try await read(0..<length) }
    return beginning + (try await read(beginning.count..<length))
  }

  /// Reads all of the content into memory.
  public func getData() async throws(CacheError) -> Data {
    if case .file(let file) = content { return try file.readData() }
    return Data(try await read(0..<length))
  }
}

/// The tier of a cache.
public enum CacheTier: Sendable, Hashable {
  /// In the memory of this process.
  case memory
  /// In a file.
  case disk
}
