internal import LarderCore

/// One of the streams that a command writes to: the process's own, or a test's.
///
/// To a terminal everything goes through a ``TerminalFilter``; into a file or a pipe bytes go as they are.
package struct OutputPort: Sendable {
  /// Whether a person is looking on.
  package let isTerminal: Bool
  /// Whether colour and bold may be used.
  package let style: TextStyle
  /// How many characters a line of the terminal has; nil where that is not known.
  package var columns: Int? { width() }
  private let width: @Sendable () -> Int?
  private let sink: @Sendable ([UInt8]) throws(OutputError) -> Void
  private let end: @Sendable () -> Void
  /// Nil where bytes go as they are.
  private var filter: SharedFilter?

  /// A port on a function that takes all bytes it is given or throws, and one that is told when nothing follows.
  package init(
    isTerminal: Bool = false, style: TextStyle = .plain, columns: @escaping @Sendable () -> Int? = { nil },
    end: @escaping @Sendable () -> Void = {},
    sink: @escaping @Sendable ([UInt8]) throws(OutputError) -> Void
  ) {
    self.isTerminal = isTerminal
    self.style = isTerminal ? style : .plain
    self.width = columns
    self.end = end
    self.sink = sink
    filter = isTerminal ? SharedFilter() : nil
  }

  /// The port with a filter wherever it leads: what it says is for people, who may look at it on a terminal later.
  var forPeople: OutputPort {
    var port = self
    port.filter = filter ?? SharedFilter()
    return port
  }

  /// Nothing follows: who reads it need not wait for the end of the process.
  package func close() {
    finish()
    end()
  }

  /// Writes what the last bytes have left open: the start of a character that has no end.
  func finish() {
    guard let rest = filter?.state.withLock({ $0.finish() }), !rest.isEmpty else { return }
    try? sink(rest)
  }

  /// Writes bytes.
  package func write(_ bytes: [UInt8]) throws(OutputError) {
    let bytes = filter?.state.withLock { $0.filter(bytes) } ?? bytes
    if !bytes.isEmpty { try sink(bytes) }
  }

  /// Writes a text.
  package func write(_ text: String) throws(OutputError) { try write(Array(text.utf8)) }

  /// Writes a line.
  package func line(_ text: String) throws(OutputError) { try write(text + "\n") }
}

/// The filter of a port, which all its copies go through.
private final class SharedFilter: Sendable {
  let state = Locked(TerminalFilter())
}

/// Why output did not get out.
package enum OutputError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reader of the pipe has gone. Nothing is wrong: it has what it wanted.
  case closed
  /// The file or device refuses; the text is the system's.
  case refused(String)

  /// Safe to show to a person.
  package var description: String {
    switch self {
    case .closed: "The reader of the output has gone."
    case .refused(let reason): "The output cannot be written: \(reason)."
    }
  }
}

/// Bold and colour, or neither.
package struct TextStyle: Sendable, Hashable {
  private let isOn: Bool

  /// No escapes at all.
  package static let plain = TextStyle(isOn: false)
  /// ECMA-48 escapes, as ``TerminalControl``.
  package static let colour = TextStyle(isOn: true)

  /// For a terminal, unless the environment says no (`NO_COLOR`, `TERM=dumb`).
  package static func forTerminal(environment: [String: String]) -> TextStyle {
    let refused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    return refused || environment["TERM"] == "dumb" || environment["TERM"] == nil ? .plain : .colour
  }

  func bold(_ text: String) -> String { escape(text, "1") }
  func dim(_ text: String) -> String { escape(text, "2") }
  func red(_ text: String) -> String { escape(text, "31") }
  func yellow(_ text: String) -> String { escape(text, "33") }

  private func escape(_ text: String, _ code: String) -> String {
    isOn && !text.isEmpty ? TerminalControl.graphic(code) + text + TerminalControl.graphic("0") : text
  }
}
