public import LarderStorage

/// What an ``ObjectStore`` may take, in memory and on disk.
public struct ObjectStoreOptions: Sendable, Hashable {
  /// How much is held in memory: those values that were used last.
  public struct MemoryLimit: Sendable, Hashable {
    /// The most values.
    public var count: Int
    /// The most bytes: what a value costs is its length when encoded, and its key's.
    public var bytes: Int

    /// - Parameters:
    ///   - count: the most values; 0 holds none.
    ///   - bytes: the most bytes; a value of more than a quarter is not held.
    public init(count: Int = 10_000, bytes: Int = 32 << 20) {
      self.count = max(0, count)
      self.bytes = max(0, bytes)
    }

    /// Holds nothing: every read is one from the file.
    public static let none = MemoryLimit(count: 0, bytes: 0)
  }

  /// How much the file may hold, and what goes past that.
  public struct DiskLimit: Sendable, Hashable {
    /// What goes first.
    public enum Eviction: Sendable, Hashable {
      /// The value that was put or asked for by key the longest ago.
      case leastRecentlyUsed
      /// The value that was asked for by key the fewest times; among those, the one used the longest ago.
      case leastRequested
    }

    /// The most values; nil for no limit.
    public var count: Int?
    /// The most bytes of encoded values; nil for no limit. One value of more throws `tooLarge`.
    public var bytes: Int?
    /// What goes first.
    public var eviction: Eviction

    /// Joins limits and the order in which values go; a limit below 1 is taken as 1.
    public init(count: Int? = nil, bytes: Int? = nil, eviction: Eviction = .leastRecentlyUsed) {
      self.count = count.map { max(1, $0) }
      self.bytes = bytes.map { max(1, $0) }
      self.eviction = eviction
    }
  }

  /// The memory tier's limit; 10,000 values and 32 MiB by default.
  public var memory: MemoryLimit
  /// The file's limit; none by default: the developer decides what stays.
  public var disk: DiskLimit?
  /// How many of the values most often asked for are in memory from the start; 1,000 by default.
  public var warmUpCount: Int
  /// The most bytes of one encoded value; 512 MiB by default, and at most.
  public var valueByteLimit: Int
  /// When the file can be read and written, on Apple's devices; from the first unlocking on by default.
  public var fileProtection: FileProtection

  /// - Parameters:
  ///   - memory: the memory tier's limit.
  ///   - disk: the file's limit; nil for none.
  ///   - warmUpCount: how many values are in memory from the start.
  ///   - valueByteLimit: the most bytes of one encoded value; at most 512 MiB.
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
