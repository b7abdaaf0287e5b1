import Foundation

/// PyPI's `diskcache` in a separate process, which measures the requested operations.
final class DiskCachePeer {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var unread = Data()

  init(python: String, script: String, folder: URL, bytes: Int) throws {
    process.executableURL = URL(filePath: python)
    process.arguments = ["-I", script, folder.path, "\(bytes)"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// The process ends when its standard input is closed.
  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// The time of `count` operations in the peer, in seconds.
  func time(_ command: String, _ count: Int) throws -> Double {
    try input.fileHandleForWriting.write(contentsOf: Data("\(command) \(count)\n".utf8))
    while !unread.contains(0x0A) {
      let chunk = output.fileHandleForReading.availableData
      guard !chunk.isEmpty else { throw BenchmarkError("the peer has ended") }
      unread.append(chunk)
    }
    let line = unread.prefix { $0 != 0x0A }
    unread.removeFirst(line.count + 1)
    guard let seconds = Double(String(decoding: line, as: UTF8.self)) else {
      throw BenchmarkError("the peer returned \(String(decoding: line, as: UTF8.self))")
    }
    return seconds
  }
}
