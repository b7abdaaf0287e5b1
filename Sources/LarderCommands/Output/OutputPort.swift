@_spi(Stores) internal import LarderCore

/// One of the streams that a command writes to: the process's own, or a test's.
///
/// Output to a terminal passes a ``TerminalFilter``; output to a file or a pipe is written unchanged.
package struct OutputPort: Sendable {
  /// Whether a person reads the output.
  package let isTerminal: Bool
  /// Whether colour and bold may be used.
  package let style: TextStyle
  /// The number of characters on a line of the terminal; nil if it is not known.
  package var columns: Int? { width() }
  private let width: @Sendable () -> Int?
  private let sink: @Sendable ([UInt8]) throws(OutputError) -> Void
  private let end: @Sendable () -> Void
  /// The filter; nil if bytes are written unchanged.
  private var filter: SharedFilter?

  /// Creates a port from a function that writes all given bytes or throws, and one that is called at the end of the
  /// output.
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

  /// The port with a filter in any case: its output is for people, who may view it on a terminal later.
  var forPeople: OutputPort {
    var port = self
    port.filter = filter ?? SharedFilter()
    return port
  }

  /// Ends the output, so that its reader need not wait for the end of the process.
  package func close() {
    finish()
    end()
  }

  /// Writes what the last bytes have left open: an incomplete character.
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

/// The filter of a port, which all copies of the port share.
private final class SharedFilter: Sendable {
  let state = Locked(TerminalFilter())
}

/// Why output could not be written.
package enum OutputError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reader has closed the pipe. This is not a failure: it has read what it wanted.
  case closed
  /// The file or device failed; the text is the system's.
  case failed(String)

  /// Safe to show to a person.
  package var description: String {
    switch self {
    case .closed: "The reader of the output has ended."
    case .failed(let reason): "The output cannot be written: \(reason)."
    }
  }
}

/// Writes bold and coloured text, or plain text.
package struct TextStyle: Sendable, Hashable {
  private let isOn: Bool

  /// A style without escape sequences.
  package static let plain = TextStyle(isOn: false)
  /// A style with ECMA-48 escape sequences, as ``TerminalControl``.
  package static let colour = TextStyle(isOn: true)

  /// The style for a terminal, unless the environment disables it (`NO_COLOR`, `TERM=dumb`).
  package static func forTerminal(environment: [String: String]) -> TextStyle {
    let isDisabled = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    return isDisabled || environment["TERM"] == "dumb" || environment["TERM"] == nil ? .plain : .colour
  }

  func bold(_ text: String) -> String { escape(text, "1") }
  func dim(_ text: String) -> String { escape(text, "2") }
  func red(_ text: String) -> String { escape(text, "31") }
  func yellow(_ text: String) -> String { escape(text, "33") }

  private func escape(_ text: String, _ code: String) -> String {
    isOn && !text.isEmpty ? TerminalControl.graphic(code) + text + TerminalControl.graphic("0") : text
  }
}
