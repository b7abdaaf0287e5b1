internal import Dispatch
internal import LarderCore

/// Lines that gather for a moment and go out together: who writes one never waits for the output.
///
/// Where the output does not keep up or refuses, lines
/// are left out and counted. A reader that has gone ends the log, and nothing else.
final class LineLog: Sendable {
  private struct State {
    var lines: [UInt8] = []
    var last = ""
    var repeats = 0
    var dropped = 0
    var isScheduled = false
    var isClosed = false
    var hasFailed = false
  }

  private static let limit = 4 << 20

  private let port: OutputPort
  private let joinsRepeats: Bool
  private let leftOut: @Sendable (Int) -> String
  private let onFailure: @Sendable (OutputError) -> Void
  private let milliseconds: Int
  private let state = Locked(State())
  private let queue = DispatchQueue(label: "larder.lines")

  /// - Parameters:
  ///   - milliseconds: how long lines gather.
  ///   - joinsRepeats: whether a line that is the last one again is counted, and the count told once.
  ///   - leftOut: the line that tells how many were left out.
  ///   - onFailure: hears of the first refusal of the output.
  init(
    _ port: OutputPort, milliseconds: Int = 50, joinsRepeats: Bool = false,
    leftOut: @escaping @Sendable (Int) -> String = { "(\($0) lines left out)" },
    onFailure: @escaping @Sendable (OutputError) -> Void = { _ in }
  ) {
    self.port = port
    self.milliseconds = milliseconds
    self.joinsRepeats = joinsRepeats
    self.leftOut = leftOut
    self.onFailure = onFailure
  }

  /// Takes one line, without its end.
  func append(_ line: String) {
    let schedules = state.withLock { state in
      if state.isClosed { return false }
      if state.lines.count > LineLog.limit {
        state.dropped += 1
        return false
      }
      if joinsRepeats, line == state.last {
        state.repeats += 1
      } else {
        LineLog.tellRepeats(&state)
        state.lines += line.utf8
        state.lines.append(0x0A)
        if joinsRepeats { state.last = line }
      }
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if schedules { queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { self.drain() } }
  }

  private static func tellRepeats(_ state: inout State) {
    guard state.repeats > 0 else { return }
    state.lines += "(the same \(state.repeats) times more)\n".utf8
    state.repeats = 0
  }

  private func drain() {
    let (lines, dropped, isClosed) = state.withLock { state in
      LineLog.tellRepeats(&state)
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
      if dropped > 0 { try port.line(leftOut(dropped)) }
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

  /// Lets everything out; comes back after two seconds where a reader holds it up.
  func flush() async {
    let waiting = Locked<CheckedContinuation<Void, Never>?>(nil)
    let end: @Sendable () -> Void = { waiting.withLock { $0.take() }?.resume() }
    await withCheckedContinuation { continuation in
      waiting.withLock { $0 = continuation }
      queue.async {
        self.drain()
        end()
      }
      // A queue of its own: the other one is held up.
      DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(2), execute: end)
    }
  }
}
