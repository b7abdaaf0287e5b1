import Foundation
import LarderHTTP
import Synchronization

/// A dictionary with a lock. Like a cache, it normalizes the URLs of its keys and checks requests for credentials.
final class BareDictionary: Sendable {
  private let contents: Mutex<[String: [UInt8]]>
  private let credentials: [HTTPFieldName] = [.authorization, .cookie, "Proxy-Authorization", "X-API-Key"]

  init(_ resources: Resources) {
    var contents: [String: [UInt8]] = [:]
    for request in resources.requests { contents[Self.key(request.url)] = resources.origin.content }
    self.contents = Mutex(contents)
  }

  func lookUp(_ request: HTTPRequest) -> [UInt8]? {
    guard !request.fields.contains(where: { credentials.contains($0.name) }) else { return nil }
    let key = Self.key(request.url)
    return contents.withLock { $0[key] }
  }

  /// The URL with scheme and host in lower case, without the fragment.
  private static func key(_ url: URL) -> String {
    let text = url.absoluteString
    var slashes = 0
    var isNormal = true
    for byte in text.utf8 {
      if byte == 0x2F { slashes += 1 }
      if byte == 0x23 || slashes < 3 && byte >= 0x41 && byte <= 0x5A { isNormal = false }
    }
    if isNormal { return text }
    guard var parts = URLComponents(string: text) else { return text }
    parts.fragment = nil
    parts.scheme = parts.scheme.map { $0.lowercased() }
    parts.host = parts.host.map { $0.lowercased() }
    return parts.string ?? text
  }
}

/// Plain files, read with system calls only.
struct BareFiles {
  private let paths: [String]

  init(_ resources: Resources, in folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    paths = try resources.requests.indices.map { index in
      let file = folder.appendingPathComponent("\(index)")
      try Data(resources.origin.content).write(to: file)
      return file.path
    }
  }

  func read(_ index: Int) throws -> [UInt8] {
    let file = open(paths[index % paths.count], O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw BenchmarkError("cannot open \(paths[index % paths.count])") }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw BenchmarkError("cannot read the size of a file") }
    let size = Int(status.st_size)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = max(0, Foundation.read(file, buffer.baseAddress, size))
    }
  }
}
