package import LarderCore

/// How a database file is used.
package struct DatabaseOptions: Sendable {
  /// What a commit waits for.
  package enum Synchronous: String, Sendable, Hashable {
    /// The bytes are on the disk: an acknowledged commit survives a crash of the machine.
    case full = "FULL"
    /// The bytes are with the system: a commit survives a crash of the process, and a crash of the machine may undo the
    /// last ones but leaves the file whole. For what can be fetched again.
    case normal = "NORMAL"
  }

  /// What a commit waits for.
  package var synchronous: Synchronous
  /// Connections that read beside the writer; at least 1.
  package var readers: Int
  /// How long a statement waits for another process's lock, in milliseconds.
  package var busyTimeoutMilliseconds: Int32
  /// The most pages that the file may have; nil leaves it to the disk.
  package var maximumPageCount: Int?
  /// Pages that each connection keeps in memory, in KiB.
  package var cacheKibibytes: Int
  /// The same of the writer: a transaction that changes more writes pages to the log before its end, some several times.
  package var writerCacheKibibytes: Int
  /// Pages that the log of staged work has before they are moved into the file: a page that is changed again and again goes
  /// there once for all of that.
  package var stagedLogPages: Int32
  /// Whether a file that may not be written to, or whose folder may not, is opened to be read.
  package var allowsReadOnly: Bool
  /// When the file can be read and written, on Apple's devices; nil leaves that as it is.
  package var protection: FileProtection?
  /// Functions and collations of every connection; nil for none.
  package var extensions: SQLExtensions?
  /// The clock of waits and of limits.
  package var environment: LarderEnvironment

  /// The defaults: everything acknowledged is on disk, two readers, 5 s of waiting, 2 MiB of pages a connection, 32 MiB of
  /// staged pages in the log.
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
