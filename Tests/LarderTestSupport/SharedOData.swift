public import Foundation

/// Recorded documents and payloads of other services, kept beside the project (`../shared/odata`), not in it.
public enum SharedOData {
  /// The folder, or `nil` (printed) where this machine does not have it.
  public static let folder: URL? = {
    let url = PackageRoot.folder.deletingLastPathComponent().appending(path: "shared/odata")
    if FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) { return url }
    print("samples of other services (../shared/odata) are missing: these tests read only the project's own samples")
    return nil
  }()

  /// The files below a folder of it whose names end so, sorted by path; none where the folder is absent.
  public static func files(in below: String, suffix: String) -> [URL] {
    guard let start = folder?.appending(path: below),
      let all = FileManager.default.enumerator(at: start, includingPropertiesForKeys: nil)
    else { return [] }
    return all.compactMap { $0 as? URL }.filter { $0.lastPathComponent.hasSuffix(suffix) }
      .sorted { $0.path(percentEncoded: false) < $1.path(percentEncoded: false) }
  }
}
