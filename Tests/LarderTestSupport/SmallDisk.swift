import Foundation

/// A small disk of its own where this user may mount one.
public final class SmallDisk: Sendable {
  /// Where it is.
  public let path: String
  private let folder: TemporaryFolder

  /// Nil where nothing may be mounted here.
  public init?(bytes: Int) throws {
    folder = try TemporaryFolder()
    path = folder.file("disk")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    guard SealedFolder.run("mount", "-t", "tmpfs", "-o", "size=\(bytes)", "tmpfs", path) else { return nil }
  }

  /// Mounts it again with an option, such as `ro`; false where that fails.
  public func remount(_ option: String) -> Bool { SealedFolder.run("mount", "-o", "remount,\(option)", path) }

  /// Leaves no room on it.
  public func fill() throws {
    try Data().write(to: URL(filePath: path + "/filling"))
    let file = try FileHandle(forWritingTo: URL(filePath: path + "/filling"))
    defer { try? file.close() }
    let page = Data(repeating: 1, count: 4096)
    // It ends where the disk does.
    while (try? file.write(contentsOf: page)) != nil {}
  }

  deinit { _ = SealedFolder.run("umount", "-l", path) }
}
