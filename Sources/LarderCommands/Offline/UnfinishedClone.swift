internal import LarderOffline

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A clone whose first download has not ended, as other commands find it: its store is in a folder beside the clone's
/// own, with another name.
struct UnfinishedClone: Sendable {
  /// The suffix of that folder's name.
  static let suffix = ".cloning"
  /// The file in that folder that names the service. A process that works on the clone holds a lock on it.
  static let settingsName = "clone.json"
  /// The folder in that folder that becomes the clone.
  static let contentName = "clone"

  /// The folder where the clone will be.
  let target: String
  /// The folder beside it, which holds the unfinished clone.
  let folder: String
  /// The service's root; nil if the settings cannot be read.
  let service: String?

  /// Finds the unfinished clone that will be in a folder, or that the folder is part of; nil if there is none.
  init?(of path: String) {
    let resolvedPath = Self.resolvedPath(path)
    let target = resolvedPath.hasSuffix(Self.suffix) ? String(resolvedPath.dropLast(Self.suffix.count)) : resolvedPath
    folder = target + Self.suffix
    guard InputFile.exists(folder + "/" + Self.settingsName) else { return nil }
    self.target = target
    service = (try? InputFile.read(folder + "/" + Self.settingsName, limit: InputFile.settingsLimit))
      .flatMap(CloneFolder.service(in:))
  }

  /// A path without slashes at its end. If its last part does not name a folder (`.`, a symbolic link), the path of the
  /// folder it leads to.
  static func resolvedPath(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    var status = stat()
    let isLink = lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    guard isLink || [".", ".."].contains(path.split(separator: "/").last ?? "."), let real = realpath(path, nil) else {
      return path
    }
    defer { free(real) }
    return String(cString: real)
  }

  /// How to resume the clone, and how to discard it.
  var hint: String {
    "'larder clone \(service ?? "SERVICE") \(target)' with the same options resumes it; to discard it, delete "
      + "\(folder)."
  }

  /// The error of a verb that cannot work on the clone.
  var failure: CommandFailure {
    CommandFailure(
      .negative, "\(target) is an unfinished clone: its first download has not ended, and its data is in \(folder)",
      hint: hint
    )
  }

  // MARK: larder status

  /// Prints what is known without reading the store, which another process may be filling.
  func print(_ context: CommandContext, asJSON: Bool) throws {
    let bytes =
      service.map { CloneFolder(path: folder + "/" + Self.contentName, displayName: target, service: $0).size } ?? 0
    guard asJSON else {
      let lines = ["service  \(service ?? "-")", "store    \(bytes) bytes", "clone    not finished"]
      for line in lines + ["", failure.message + ".", hint] { try context.output.line(TerminalText.line(line)) }
      return
    }
    var json = JSONOutput(context.output)
    json.beginObject()
    json.member("service", service)
    json.member("bytes", bytes)
    json.member("isFinished", false)
    json.member("folder", folder)
    json.endObject()
    try json.endLine()
  }
}
