import Foundation

/// PyPI's `diskcache` in a process of its own, which times what it is told to do.
final class DiskCachePeer {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var rest = Data()

  init(python: String, script: String, folder: URL, bytes: Int) throws {
    process.executableURL = URL(filePath: python)
    process.arguments = ["-I", script, folder.path, "\(bytes)"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// Ends with its input.
  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// The seconds that `count` operations took there.
  func time(_ command: String, _ count: Int) throws -> Double {
    try input.fileHandleForWriting.write(contentsOf: Data("\(command) \(count)\n".utf8))
    while !rest.contains(0x0A) {
      let chunk = output.fileHandleForReading.availableData
      guard !chunk.isEmpty else { throw BenchmarkError("the peer has ended") }
      rest.append(chunk)
    }
    let line = rest.prefix { $0 != 0x0A }
    rest.removeFirst(line.count + 1)
    guard let seconds = Double(String(decoding: line, as: UTF8.self)) else {
      throw BenchmarkError("the peer answered \(String(decoding: line, as: UTF8.self))")
    }
    return seconds
  }
}
