internal import LarderStorage

/// An output file that is replaced completely or not at all. A path that is not a regular file is written directly, a
/// terminal through the filter that all terminals have.
struct OutputFile: ~Copyable {
  private let path: String
  private let file: WholeFile
  private var filter: TerminalFilter?

  private init(_ file: consuming WholeFile, path: String) {
    filter = FileDescriptors.isTerminal(file.descriptor) ? TerminalFilter() : nil
    self.path = path
    self.file = file
  }

  /// Starts writing a file. A private file is accessible to its owner only.
  static func create(_ path: String, isPrivate: Bool = false) throws(FileError) -> OutputFile {
    do throws(WholeFile.Failure) {
      return OutputFile(try WholeFile.create(path, isPrivate: isPrivate), path: path)
    } catch { throw failure(error, path) }
  }

  /// Adds bytes.
  mutating func write(_ bytes: [UInt8]) throws(FileError) {
    let bytes = filter?.filter(bytes) ?? bytes
    do throws(WholeFile.Failure) { try file.write(bytes) } catch { throw Self.failure(error, path) }
  }

  /// Puts the file in its place.
  consuming func finish() throws(FileError) {
    let path = path
    do throws(WholeFile.Failure) {
      if let rest = filter?.finish() { try file.write(rest) }
      try file.finish()
    } catch { throw Self.failure(error, path) }
  }

  private static func failure(_ error: WholeFile.Failure, _ path: String) -> FileError {
    FileError(action: "written", path: path, reason: FileDescriptors.reason(error.number))
  }
}
