internal import Dispatch
@_spi(Stores) internal import LarderCore

/// Buffers lines for a short time and writes them together: the caller never waits for the output.
///
/// If the output is too slow or fails, lines are left out and counted. If the reader has closed the output, the log
/// ends, but nothing else.
final class LineLog: Sendable {
  private struct State {
    var lines: [UInt8] = []
    var lastLine = ""
    var repeats = 0
    var dropped = 0
    var isScheduled = false
    var isClosed = false
    var hasFailed = false
  }

  private static let limit = 4 << 20

  private let port: OutputPort
  private let joinsRepeats: Bool
  private let droppedText: @Sendable (Int) -> String
  private let onFailure: @Sendable (OutputError) -> Void
  private let milliseconds: Int
  private let state = Locked(State())
  private let queue = DispatchQueue(label: "larder.lines")

  /// - Parameters:
  ///   - milliseconds: how long lines are buffered.
  ///   - joinsRepeats: whether repetitions of the last line are counted, and the count written once.
  ///   - droppedText: creates the line that reports how many lines were dropped.
  ///   - onFailure: called with the first failure of the output.
  init(
    _ port: OutputPort, milliseconds: Int = 50, joinsRepeats: Bool = false,
    droppedText: @escaping @Sendable (Int) -> String = { "(\($0) lines dropped)" },
    onFailure: @escaping @Sendable (OutputError) -> Void = { _ in }
  ) {
    self.port = port
    self.milliseconds = milliseconds
    self.joinsRepeats = joinsRepeats
    self.droppedText = droppedText
    self.onFailure = onFailure
  }

  /// Adds one line, without its line end.
  func append(_ line: String) {
    let schedules = state.withLock { state in
      if state.isClosed { return false }
      if state.lines.count > LineLog.limit {
        state.dropped += 1
        return false
      }
      if joinsRepeats, line == state.lastLine {
        state.repeats += 1
      } else {
        LineLog.writeRepeats(&state)
        state.lines += line.utf8
        state.lines.append(0x0A)
        if joinsRepeats { state.lastLine = line }
      }
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if schedules { queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { self.drain() } }
  }

  private static func writeRepeats(_ state: inout State) {
    guard state.repeats > 0 else { return }
    state.lines += "(last line repeated \(state.repeats) times)\n".utf8
    state.repeats = 0
  }

  private func drain() {
    let (lines, dropped, isClosed) = state.withLock { state in
      LineLog.writeRepeats(&state)
      defer {
        state.lines = []
        state.dropped = 0
        state.isScheduled = false
      }
      return (state.lines, state.dropped, state.isClosed)
    }
    if isClosed { return }
    do throws(OutputError) {
      try port.write(lines)
      if dropped > 0 { try port.line(droppedText(dropped)) }
    } catch {
      let isFirst = state.withLock { state in
        if error == .closed { state.isClosed = true }
        state.dropped += dropped + lines.count { $0 == 0x0A }
        defer { state.hasFailed = true }
        return !state.hasFailed && error != .closed
      }
      if isFirst { onFailure(error) }
    }
  }

  /// Writes all lines; returns after two seconds if a reader blocks the output.
  func flush() async {
    let pendingContinuation = Locked<CheckedContinuation<Void, Never>?>(nil)
    let resume: @Sendable () -> Void = { pendingContinuation.withLock { $0.take() }?.resume() }
    await withCheckedContinuation { continuation in
      pendingContinuation.withLock { $0 = continuation }
      queue.async {
        self.drain()
        resume()
      }
      // Runs on another queue, because this log's own queue is blocked.
      DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(2), execute: resume)
    }
  }
}
