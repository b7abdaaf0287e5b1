import Foundation
import Synchronization

/// The program `LarderCrashRig`, or another one built beside the tests, as another process that can be killed.
public final class CrashRigProcess: Sendable {
  private let process = Mutex(Process())
  private let output: FileHandle

  /// Starts it.
  ///
  /// `environment`: takes the place of this process's, name by name. `fileLimit`: how many KiB a file may have that it writes (`RLIMIT_FSIZE`); writing more fails.
  public init(
    _ arguments: [String], program name: String = "LarderCrashRig", environment: [String: String?] = [:],
    fileLimit: Int? = nil
  ) throws {
    let pipe = Pipe()
    output = pipe.fileHandleForReading
    try process.withLock { process in
      let runner = URL(filePath: CommandLine.arguments[0])
      let program = runner.deletingLastPathComponent().appending(path: name)
      process.executableURL = program
      process.arguments = arguments
      if !environment.isEmpty {
        process.environment = environment.reduce(into: ProcessInfo.processInfo.environment) { $0[$1.key] = $1.value }
      }
      if let fileLimit {
        // Blocks of 512 bytes (POSIX.1-2024, `ulimit`).
        let limit = "trap '' XFSZ; ulimit -f \(fileLimit * 2); exec \"$0\" \"$@\""
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", limit, program.path] + arguments
      }
      process.standardOutput = pipe
      try process.run()
    }
  }

  /// Hands over each line, off the caller's thread, until there are no more; true from `body` kills the process.
  ///
  /// The end of its output is that of the process. `waitUntilExit` would block a thread that tasks share, and two of them
  /// at once have been seen to wait for ever.
  public func forEachLine(_ body: @escaping @Sendable (Substring) -> Bool) async {
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

  /// All lines that it says until its end.
  public func lines() async -> [String] {
    let lines = Mutex<[String]>([])
    await forEachLine { line in
      lines.withLock { $0.append(String(line)) }
      return false
    }
    return lines.withLock { $0 }
  }

  /// Its number, for what the system says about it.
  public var identifier: Int32 { process.withLock { $0.processIdentifier } }

  /// Stops it where it is, or lets it continue.
  public func stop(_ isStopped: Bool) {
    process.withLock { process in
      if process.isRunning { _ = Foundation.kill(process.processIdentifier, isStopped ? SIGSTOP : SIGCONT) }
    }
  }

  /// Ends it as the system would: no code of its own runs any more (`SIGKILL`).
  public func kill() {
    process.withLock { process in if process.isRunning { _ = Foundation.kill(process.processIdentifier, SIGKILL) } }
  }

  deinit { kill() }
}
