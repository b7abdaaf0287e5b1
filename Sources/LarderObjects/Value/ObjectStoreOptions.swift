public import LarderStorage

/// The limits of an ``ObjectStore``, in memory and on disk.
public struct ObjectStoreOptions: Sendable, Hashable {
  /// How much the memory tier holds: the most recently used values.
  public struct MemoryLimit: Sendable, Hashable {
    /// The maximum number of values.
    public var countLimit: Int
    /// The maximum number of bytes. The cost of a value is the length of its encoding plus that of its key.
    public var byteLimit: Int

    /// - Parameters:
    ///   - countLimit: the maximum number of values; 0 holds none.
    ///   - byteLimit: the maximum number of bytes; a value that costs more than a quarter of it is not held.
    public init(countLimit: Int = 10_000, byteLimit: Int = 32 << 20) {
      self.countLimit = max(0, countLimit)
      self.byteLimit = max(0, byteLimit)
    }

    /// Holds nothing: every read is from the file.
    public static let none = MemoryLimit(countLimit: 0, byteLimit: 0)
  }

  /// How much the file may hold, and which values are evicted beyond that.
  public struct DiskLimit: Sendable, Hashable {
    /// The order of eviction.
    public enum Eviction: Sendable, Hashable {
      /// Evicts the value whose last put or request by key is the oldest.
      case leastRecentlyUsed
      /// Evicts the value that was requested by key the fewest times; among those, the least recently used one.
      case leastRequested
    }

    /// The maximum number of values; nil for no limit.
    public var countLimit: Int?
    /// The maximum number of bytes of encoded values; nil for no limit. A single value that is larger throws
    /// `tooLarge`.
    public var byteLimit: Int?
    /// The order of eviction.
    public var eviction: Eviction

    /// Creates a limit from its parts. A limit below 1 is treated as 1.
    public init(countLimit: Int? = nil, byteLimit: Int? = nil, eviction: Eviction = .leastRecentlyUsed) {
      self.countLimit = countLimit.map { max(1, $0) }
      self.byteLimit = byteLimit.map { max(1, $0) }
      self.eviction = eviction
    }
  }

  /// The memory tier's limit; 10,000 values and 32 MiB by default.
  public var memory: MemoryLimit
  /// The file's limit; none by default, so that only your code removes values.
  public var disk: DiskLimit?
  /// How many of the most requested values are loaded into memory at the start; 1,000 by default.
  public var warmUpCount: Int
  /// The maximum number of bytes of one encoded value; 512 MiB by default, which is also the largest allowed limit.
  public var valueByteLimit: Int
  /// When the file can be read and written, on Apple's devices; by default, after the first unlock.
  public var fileProtection: FileProtection

  /// - Parameters:
  ///   - memory: the memory tier's limit.
  ///   - disk: the file's limit; nil for none.
  ///   - warmUpCount: how many values are loaded into memory at the start.
  ///   - valueByteLimit: the maximum number of bytes of one encoded value; at most 512 MiB.
  ///   - fileProtection: when the file can be read and written, on Apple's devices.
  public init(
    memory: MemoryLimit = MemoryLimit(), disk: DiskLimit? = nil, warmUpCount: Int = 1000,
    valueByteLimit: Int = 512 << 20,
    fileProtection: FileProtection = .completeUntilFirstUserAuthentication
  ) {
    self.memory = memory
    self.disk = disk
    self.warmUpCount = max(0, warmUpCount)
    self.valueByteLimit = min(max(0, valueByteLimit), 512 << 20)
    self.fileProtection = fileProtection
  }
}
