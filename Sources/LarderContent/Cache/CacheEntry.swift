#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One stored response: metadata, and content that is read when it is wanted.
///
/// Immutable. Its content stays readable as long as the entry is held, also where the cache has dropped it meanwhile.
public final class CacheEntry: Sendable {
  /// What is known of the response.
  public let metadata: CacheMetadata
  /// The stored content's length in bytes.
  public let length: Int
  /// Where it came from.
  public let tier: CacheTier

  /// What the caching rules need of the metadata, parsed once an entry.
  package let rules: StoredRules
  /// In memory, as a copy of what a shared cache holds: the state that it was copied in.
  let mark: ChangeMark?
  private let content: Content

  private enum Content: Sendable {
    case bytes([UInt8])
    case file(BlobFile)
    case source(@Sendable (Range<Int>) async throws(CacheError) -> [UInt8])
  }

  /// An entry whose content is in memory.
  public init(metadata: CacheMetadata, bytes: [UInt8], tier: CacheTier = .memory) {
    self.metadata = metadata
    length = bytes.count
    self.tier = tier
    rules = StoredRules(metadata)
    mark = nil
    content = .bytes(bytes)
  }

  /// An entry whose content is read in pieces: `read` answers exactly the bytes of a range within `length`, or throws.
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

  /// An entry whose content is a file of a ``FileCache``.
  init(metadata: CacheMetadata, file: BlobFile) {
    self.metadata = metadata
    length = file.length
    tier = .disk
    rules = StoredRules(metadata)
    mark = nil
    content = .file(file)
  }

  /// An entry of a ``FileCache`` as it was read, with its content in a file of its own.
  init(_ file: EntryFile, _ blob: BlobFile) {
    metadata = file.metadata
    length = blob.length
    tier = .disk
    rules = file.head.rules
    mark = nil
    content = .file(blob)
  }

  /// An entry of a ``FileCache`` as it was read, with its content.
  init(_ file: EntryFile, _ bytes: [UInt8]) {
    metadata = file.metadata
    length = bytes.count
    tier = .disk
    rules = file.head.rules
    mark = nil
    content = .bytes(bytes)
  }

  /// The same content with other metadata.
  public func with(_ metadata: CacheMetadata) -> CacheEntry {
    CacheEntry(moving: self, to: tier, metadata: metadata, rules: StoredRules(metadata), mark: mark)
  }

  /// True where both are one stored response: the same metadata and length, and the same bytes where both are in memory.
  ///
  /// It is how a cache tells whether what an update was made for is still there, also where it was read twice.
  public func isSame(as other: CacheEntry) -> Bool {
    if self === other { return true }
    guard length == other.length, metadata == other.metadata else { return false }
    guard let mine = bytesInMemory, let others = other.bytesInMemory else { return true }
    return mine == others
  }

  /// The same entry as another tier has it; what the rules need is not parsed again.
  package func moved(to tier: CacheTier, bytes: [UInt8]? = nil) -> CacheEntry {
    CacheEntry(moving: self, to: tier, metadata: metadata, rules: rules, bytes: bytes, mark: mark)
  }

  /// The same entry in memory, as a copy of what a shared cache holds.
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

  /// The content, where it is in memory.
  package var bytesInMemory: [UInt8]? {
    if case .bytes(let bytes) = content { bytes } else { nil }
  }

  /// True where the content is a file of a ``FileCache``, which is read without waiting for anything else.
  var isFile: Bool {
    if case .file = content { true } else { false }
  }

  /// Some of the content: the part of `range` that lies within it.
  public func read(_ range: Range<Int>) async throws(CacheError) -> [UInt8] {
    let range = range.clamped(to: 0..<length)
    switch content {
    case .bytes(let bytes): return range.count == bytes.count ? bytes : Array(bytes[range])
    case .file(let file): return try file.read(range)
    case .source(let read): return range.isEmpty ? [] : try await read(range)
    }
  }

  /// All of the content in one array, of which the beginning was read already.
  package func readAll(behind beginning: [UInt8]) async throws(CacheError) -> [UInt8] {
    if case .file(let file) = content { return try file.read(0..<length, behind: beginning) }
    if beginning.isEmpty { return try await read(0..<length) }
    return beginning + (try await read(beginning.count..<length))
  }

  /// All of the content, in memory.
  public func getData() async throws(CacheError) -> Data {
    if case .file(let file) = content { return try file.readData() }
    return Data(try await read(0..<length))
  }
}

/// How near a cache is.
public enum CacheTier: Sendable, Hashable {
  /// In this process.
  case memory
  /// In a file.
  case disk
}
