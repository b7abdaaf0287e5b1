package import LarderCore

/// The options with which a database file is opened.
package struct DatabaseOptions: Sendable {
  /// What a commit waits for.
  package enum Synchronous: String, Sendable, Hashable {
    /// The bytes are on the disk: an acknowledged commit survives a crash of the machine.
    case full = "FULL"
    /// The bytes are with the operating system: a commit survives a crash of the process. A crash of the machine may
    /// undo the last commits but does not damage the file. For data that can be downloaded again.
    case normal = "NORMAL"
  }

  /// What a commit waits for.
  package var synchronous: Synchronous
  /// The number of connections that read beside the writer; at least 1.
  package var readers: Int
  /// How long a statement waits for another process's lock, in milliseconds.
  package var busyTimeoutMilliseconds: Int32
  /// The largest number of pages of the file; nil for no limit but the disk.
  package var maximumPageCount: Int?
  /// The page cache of each connection, in KiB.
  package var cacheKibibytes: Int
  /// The page cache of the writer, in KiB. A transaction that changes more writes pages to the log before its end, some
  /// of them several times.
  package var writerCacheKibibytes: Int
  /// The number of pages that staged work leaves in the log before they are moved into the file. A page that is changed
  /// repeatedly is then moved only once.
  package var stagedLogPages: Int32
  /// Whether a file is opened read-only if it, or its folder, is not writable.
  package var allowsReadOnly: Bool
  /// When the file can be read and written, on Apple devices; nil does not change the protection.
  package var protection: FileProtection?
  /// Functions and collations for every connection; nil for none.
  package var extensions: SQLExtensions?
  /// The environment, whose clock measures waits and limits.
  package var environment: LarderEnvironment

  /// The default options: every acknowledged commit is on the disk, two readers, a busy timeout of 5 s, 2 MiB of page
  /// cache for each connection, 32 MiB of staged pages in the log.
  package init(
    synchronous: Synchronous = .full, readers: Int = 2, busyTimeoutMilliseconds: Int32 = 5000,
    maximumPageCount: Int? = nil, cacheKibibytes: Int = 2048, writerCacheKibibytes: Int? = nil,
    stagedLogPages: Int32 = 8192, allowsReadOnly: Bool = false,
    protection: FileProtection? = nil, extensions: SQLExtensions? = nil, environment: LarderEnvironment = .system
  ) {
    self.synchronous = synchronous
    self.readers = max(1, readers)
    self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    self.maximumPageCount = maximumPageCount
    self.cacheKibibytes = cacheKibibytes
    self.writerCacheKibibytes = writerCacheKibibytes ?? cacheKibibytes
    self.stagedLogPages = max(1, stagedLogPages)
    self.allowsReadOnly = allowsReadOnly
    self.protection = protection
    self.extensions = extensions
    self.environment = environment
  }
}
