import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Describes Foundation's errors about files and folders in words: printed directly, they are a list of properties.
enum FolderFailure {
  /// - Parameters:
  ///   - path: the file or folder that was to be used.
  ///   - action: what could not be done with it, as a clause without a full stop.
  static func error(_ path: String, _ action: String, _ error: any Error) -> StorageError {
    .cannotOpen(path, "\(action): \(reason(path, error)).")
  }

  private static func reason(_ path: String, _ error: any Error) -> String {
    if let file = file(on: path) { return "\(file) is a file, not a folder" }
    guard let code = (error as? CocoaError)?.code else { return "the operating system reported an error" }
    return switch code {
    case .fileReadNoPermission, .fileWriteNoPermission: "permission denied"
    case .fileWriteVolumeReadOnly: "the disk is read-only"
    case .fileWriteOutOfSpace: "the disk is full"
    case .fileNoSuchFile, .fileReadNoSuchFile: "a parent folder is missing"
    case .fileWriteInvalidFileName, .fileReadInvalidFileName: "the name is too long or not allowed"
    case .fileWriteFileExists: "another file has its name"
    default: "the operating system reported an error (\(code.rawValue))"
    }
  }

  /// The file that occupies a place in the path where a folder should be.
  private static func file(on path: String) -> String? {
    var ancestor = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      ancestor += "/" + part
      var isFolder = false
      guard FileManager.default.fileExists(atPath: ancestor, isDirectory: &isFolder) else { return nil }
      if !isFolder { return ancestor }
    }
    return nil
  }
}
