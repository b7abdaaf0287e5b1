import Foundation

/// A folder that can be sealed: nothing in it can be changed then, by anybody.
///
/// It lies on a small disk of its own where this user may mount one; else its permissions are taken away, which binds
/// every user but root.
public final class SealedFolder: Sendable {
  private let folder: TemporaryFolder
  private let isMounted: Bool
  /// Where it is.
  public let path: String

  /// Nil for root where nothing may be mounted: nothing would hold it back.
  public init?() throws {
    folder = try TemporaryFolder()
    path = folder.file("sealed")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    isMounted = SealedFolder.run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", path)
    if !isMounted, FileManager.default.isWritableFile(atPath: "/") { return nil }
  }

  /// The path of a file in it, which need not exist.
  public func file(_ name: String) -> String { path + "/" + name }

  /// Lets no process change anything in it; false if that fails, as while a file in it is open for writing.
  public func seal() -> Bool { isMounted ? SealedFolder.run("mount", "-o", "remount,ro", path) : permit(0o444, 0o555) }

  /// Lets it be changed again.
  public func unseal() -> Bool {
    isMounted ? SealedFolder.run("mount", "-o", "remount,rw", path) : permit(0o644, 0o755)
  }

  private func permit(_ file: Int, _ folder: Int) -> Bool {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let all = files.map { (self.file($0), file) } + [(path, folder)]
    return all.allSatisfy { path, permissions in
      (try? FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)) != nil
    }
  }

  deinit { _ = isMounted ? SealedFolder.run("umount", "-l", path) : unseal() }

  /// Runs a command to its end; true where it was done.
  ///
  /// A shell reports the end: `waitUntilExit` has been seen to wait for ever where two threads do at once.
  static func run(_ command: String...) -> Bool {
    let process = Process()
    let end = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "\"$@\" > /dev/null && echo done || echo failed", "sh"] + command
    process.standardOutput = end
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    return end.fileHandleForReading.availableData == Data("done\n".utf8)
  }
}
