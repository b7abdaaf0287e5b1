internal import LarderOffline

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A clone whose first download has not ended, as others find it: its store is in a folder beside the clone's own, under
/// another name.
struct UnfinishedClone: Sendable {
  /// What the name of the folder beside ends with.
  static let suffix = ".cloning"
  /// The file in that folder that names the service; whoever works at the clone holds a lock on it.
  static let settingsName = "clone.json"
  /// The folder in that folder that becomes the clone.
  static let contentName = "clone"

  /// The folder that the clone is to have.
  let target: String
  /// The folder beside it.
  let folder: String
  /// The service's root; nil where the settings cannot be read.
  let service: String?

  /// The unfinished clone that is to have a folder, or that is in it; nil where there is none.
  init?(of path: String) {
    let place = Self.place(path)
    let target = place.hasSuffix(Self.suffix) ? String(place.dropLast(Self.suffix.count)) : place
    folder = target + Self.suffix
    guard InputFile.exists(folder + "/" + Self.settingsName) else { return nil }
    self.target = target
    service = (try? InputFile.read(folder + "/" + Self.settingsName, limit: InputFile.settingsLimit))
      .flatMap(CloneFolder.service(in:))
  }

  /// A path without slashes at its end; where its last part names no folder (`.`, a symbolic link), that of the folder it
  /// leads to.
  static func place(_ path: String) -> String {
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
  var cure: String {
    "'larder clone \(service ?? "SERVICE") \(target)' with the same options resumes it; to give it up, delete "
      + "\(folder)."
  }

  /// Why a verb cannot work on it.
  var failure: CommandFailure {
    CommandFailure(
      .negative, "\(target) is not cloned yet: its first download has not ended, and is in \(folder) so far", hint: cure
    )
  }

  // MARK: larder status

  /// What is known of it without a look into its store, which another process may be filling.
  func print(_ context: CommandContext, asJSON: Bool) throws {
    let bytes = service.map { CloneFolder(path: folder + "/" + Self.contentName, shown: target, service: $0).size } ?? 0
    guard asJSON else {
      let lines = ["service  \(service ?? "-")", "store    \(bytes) bytes", "clone    not finished"]
      for line in lines + ["", failure.message + ".", cure] { try context.output.line(TerminalText.line(line)) }
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
