import Foundation
import Synchronization

@testable import CrashRig

/// A store in another process.
final class ObjectProcess: Sendable {
  private let process = Mutex(Process())
  private let output: FileHandle

  init(_ kind: ObjectCrashRig.Kind, _ path: String, _ first: Int) throws {
    let pipe = Pipe()
    output = pipe.fileHandleForReading
    try process.withLock { process in
      let runner = URL(filePath: CommandLine.arguments[0])
      process.executableURL = runner.deletingLastPathComponent().appending(path: "CrashRig")
      process.arguments = ["object", kind.rawValue, path, String(first)]
      process.standardOutput = pipe
      try process.run()
    }
  }

  /// Hands over each line, off the caller's thread, until there are no more; true from `body` kills the process.
  ///
  /// The end of its output is that of the process. `waitUntilExit` would block a thread that tasks share, and two of them
  /// at once have been seen to wait for ever.
  func forEachLine(_ body: @escaping @Sendable (Substring) -> Bool) async {
    await withCheckedContinuation { done in
      Thread.detachNewThread { [self] in
        var rest = Data()
        while true {
          let chunk = output.availableData
          if chunk.isEmpty { break }
          rest.append(chunk)
          while let end = rest.firstIndex(of: 0x0A) {
            let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
            rest.removeSubrange(rest.startIndex...end)
            if body(line[...]) { kill() }
          }
        }
        done.resume()
      }
    }
  }

  func kill() {
    process.withLock { process in if process.isRunning { _ = Foundation.kill(process.processIdentifier, SIGKILL) } }
  }

  deinit { kill() }

  /// What a process of this kind says until its end.
  static func lines(_ kind: ObjectCrashRig.Kind, _ path: String, _ first: Int) async throws -> [String] {
    let process = try ObjectProcess(kind, path, first)
    let lines = Mutex<[String]>([])
    await process.forEachLine { line in
      lines.withLock { $0.append(String(line)) }
      return false
    }
    return lines.withLock { $0 }
  }
}
