import Foundation

/// The descriptors that this process has open, with the path of what each leads to; `?` if the system does not report
/// it.
public func openDescriptors() -> [String: String] {
  #if os(Linux)
    let folder = "/proc/self/fd"
  #else
    let folder = "/dev/fd"
  #endif
  let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  return Dictionary(uniqueKeysWithValues: names.map { ($0, target(of: $0, in: folder) ?? "?") })
}

private func target(of name: String, in folder: String) -> String? {
  #if canImport(Darwin)
    guard let descriptor = Int32(name) else { return nil }
    var path = [CChar](repeating: 0, count: Int(MAXPATHLEN))
    // The array takes the longest path that the call writes.
    guard fcntl(descriptor, F_GETPATH, &path) == 0 else { return nil }
    return String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  #else
    return try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
  #endif
}
