import Foundation

/// PyPI's `odata-query` in a separate process, which measures the requested parses.
final class LanguagePeer {
  struct Ended: Error {}

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  init(python: String, script: String) throws {
    process.executableURL = URL(filePath: python)
    process.arguments = ["-I", script]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// The process ends when its standard input is closed.
  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// The processor time of `count` parses of a filter in the peer, in seconds.
  func time(_ count: Int, _ filter: String) throws -> Double {
    try input.fileHandleForWriting.write(contentsOf: Data("\(count)\t\(filter)\n".utf8))
    var line = Data()
    while line.last != 0x0A {
      let chunk = output.fileHandleForReading.availableData
      guard !chunk.isEmpty else { throw Ended() }
      line.append(chunk)
    }
    guard let seconds = Double(String(decoding: line.dropLast(), as: UTF8.self)) else { throw Ended() }
    return seconds
  }
}
