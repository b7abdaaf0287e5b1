/// The attributes that show whether a file that was assumed not to change has changed.
struct FileStamp: Sendable, Equatable {
  private let file: FilesInUse.Look?
  private let logBytes: Int64

  /// Reads the attributes of a database's file and its log.
  init(_ path: String) {
    file = try? FilesInUse.look(path, 0).get()
    logBytes = (try? FilesInUse.look(path + "-wal", 0).get())?.byteCount ?? 0
  }

  /// True if the log has content that is not in the file.
  var hasLog: Bool { logBytes > 0 }
}
