import Foundation
import Synchronization

/// Watches a fuzzer from a separate thread. If a text takes more than 20 seconds, it prints the text and ends the process. The
/// current text is written to a file, so that it is known after a crash.
final class FuzzWatch: Sendable {
  private struct State {
    var item: FuzzCase?
    var steps = 0
  }

  private let state = Mutex(State())
  static let path = "Fuzzing/.build/reading.txt"
  private let file: FileHandle?

  init() {
    _ = FileManager.default.createFile(atPath: FuzzWatch.path, contents: nil)
    file = FileHandle(forWritingAtPath: FuzzWatch.path)
    Thread.detachNewThread { [self] in watch() }
  }

  func begin(_ item: FuzzCase) {
    state.withLock { state in
      state.item = item
      state.steps += 1
    }
    let text = "\(item.entry.rawValue) \(item.version) \(item.text)"
    guard let file else { return }
    try? file.seek(toOffset: 0)
    try? file.write(contentsOf: Data(text.utf8))
    try? file.truncate(atOffset: UInt64(text.utf8.count))
  }

  func end() { state.withLock { $0.item = nil } }

  private func watch() {
    var before = -1
    while true {
      Thread.sleep(forTimeInterval: 20)
      let (item, steps) = state.withLock { ($0.item, $0.steps) }
      if let item, steps == before {
        print("WRONG hangs: \(item.entry.rawValue) \(item.version) \(item.text.debugDescription)")
        exit(1)
      }
      before = steps
    }
  }
}
