/// The attributes that show whether a file that was assumed not to change has changed.
struct FileStamp: Sendable, Equatable {
  private let file: FilesInUse.FileInfo?
  private let logBytes: Int64

  /// Reads the attributes of a database's file and its log.
  init(_ path: String) {
    file = try? FilesInUse.readInfo(path, 0).get()
    logBytes = (try? FilesInUse.readInfo(path + "-wal", 0).get())?.byteCount ?? 0
  }

  /// True if the log has content that is not in the file.
  var hasLog: Bool { logBytes > 0 }
}
