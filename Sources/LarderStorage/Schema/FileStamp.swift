/// By what a file that is taken for one that does not change shows that it has.
struct FileStamp: Sendable, Equatable {
  private let file: FilesInUse.Look?
  private let logBytes: Int64

  /// Looks at a database's file and its log.
  init(_ path: String) {
    file = try? FilesInUse.look(path, 0).get()
    logBytes = (try? FilesInUse.look(path + "-wal", 0).get())?.byteCount ?? 0
  }

  /// True where the log has something that is not in the file.
  var hasLog: Bool { logBytes > 0 }
}
