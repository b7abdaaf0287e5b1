import Dispatch
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCommands

@Suite("Buffered log lines", .timeLimit(.minutes(5)))
struct LineLogTests {
  /// An output that records its lines, and fails while `rejection` is set.
  private final class Output: Sendable {
    let text = Mutex("")
    let rejection = Mutex<OutputError?>(nil)

    var port: OutputPort {
      OutputPort { (bytes) throws(OutputError) in
        if let error = self.rejection.withLock({ $0 }) { throw error }
        self.text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
      }
    }

    var lines: [String] { text.withLock { $0.split(separator: "\n").map(String.init) } }
  }

  @Test("Lines are written completely and in order; repeats are counted on request")
  func repeats() async {
    let output = Output()
    let log = LineLog(output.port, joinsRepeats: true)
    for line in ["a", "b", "b", "b", "c"] { log.append(line) }
    await log.flush()
    #expect(output.lines == ["a", "b", "(last line repeated 2 times)", "c"])
    for _ in 0..<3 { log.append("c") }
    await log.flush()
    #expect(output.lines.last == "(last line repeated 3 times)")
    let each = Output()
    let plain = LineLog(each.port)
    for _ in 0..<3 { plain.append("x") }
    await plain.flush()
    #expect(each.lines == ["x", "x", "x"])
  }

  @Test("Lines that cannot be written are counted and reported once, and the log continues")
  func rejection() async {
    let output = Output()
    let failures = Mutex(0)
    let log = LineLog(output.port, onFailure: { _ in failures.withLock { $0 += 1 } })
    output.rejection.withLock { $0 = .failed("No space left on device") }
    for line in ["a", "b"] {
      log.append(line)
      await log.flush()
    }
    output.rejection.withLock { $0 = nil }
    log.append("c")
    await log.flush()
    #expect(output.lines == ["c", "(2 lines dropped)"])
    #expect(failures.withLock { $0 } == 1)
  }

  @Test("If the reader has ended, the log ends silently")
  func closed() async {
    let output = Output()
    let log = LineLog(output.port, onFailure: { _ in Issue.record("the reader may go") })
    output.rejection.withLock { $0 = .closed }
    log.append("a")
    await log.flush()
    output.rejection.withLock { $0 = nil }
    log.append("b")
    await log.flush()
    #expect(output.lines.isEmpty)
  }

  @Test("A slow reader delays neither new lines nor the end")
  func stalled() async {
    let gate = Gate()
    let log = LineLog(OutputPort { (_) throws(OutputError) in gate.block() })
    let line = String(repeating: "x", count: 1000)
    for _ in 0..<10_000 { log.append(line) }
    await log.flush()
    gate.open()
  }

  /// Holds a thread up until it is opened.
  private final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func block() {
      semaphore.wait()
      semaphore.signal()
    }

    func open() { semaphore.signal() }
  }
}
