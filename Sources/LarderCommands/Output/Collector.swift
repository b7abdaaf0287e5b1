@_spi(Stores) internal import LarderCore

/// Collects output in memory.
package final class Collector: Sendable {
  private let buffer = Locked<[UInt8]>([])

  /// Creates an empty collector.
  package init() {}

  /// The bytes so far.
  package var bytes: [UInt8] { buffer.withLock { $0 } }

  /// The bytes so far as text.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// A port that writes to the collector.
  package var port: OutputPort { port() }

  /// A port that writes to the collector and may act as a terminal.
  package func port(isTerminal: Bool = false, style: TextStyle = .plain, columns: Int? = nil) -> OutputPort {
    OutputPort(isTerminal: isTerminal, style: style, columns: { columns }) { (bytes) throws(OutputError) in
      self.buffer.withLock { $0.append(contentsOf: bytes) }
    }
  }
}
