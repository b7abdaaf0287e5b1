@_spi(Stores) internal import LarderCore

/// Shows the progress of several defining queries, one line for each, redrawn a few times a second.
///
/// Only on a terminal; otherwise nothing is written.
final class DownloadBars: Sendable {
  /// The progress of one query.
  struct Line: Sendable, Hashable {
    var step = ""
    var rows: Int64 = 0
    var bytes: Int64 = 0
    /// The total number of rows, if the service has counted them.
    var total: Int64?
  }

  private struct State {
    var order: [String] = []
    var lines: [String: Line] = [:]
    /// The number of lines on the screen.
    var drawnLines = 0
    var lastDrawn: ContinuousClock.Instant?
  }

  private let port: OutputPort
  private let unit: String
  private let drawing = Exclusive(State())
  /// The shortest time between two drawings.
  private static let minimumInterval = Duration.milliseconds(100)

  /// - `unit`: the noun for what is counted.
  init(_ context: CommandContext, unit: String = "rows") {
    port = context.diagnostics
    self.unit = unit
  }

  /// Updates the progress of one query.
  func update(_ name: String, _ change: (inout Line) -> Void) {
    guard port.isTerminal else { return }
    drawing.run { state in
      if state.lines[name] == nil { state.order.append(name) }
      change(&state.lines[name, default: Line()])
      if let lastDrawn = state.lastDrawn, ContinuousClock.now - lastDrawn < Self.minimumInterval { return }
      state.lastDrawn = .now
      draw(&state)
    }
  }

  /// Removes the lines from the screen.
  func end() {
    drawing.run { state in
      if state.drawnLines > 0 { try? port.write(TerminalControl.up(state.drawnLines) + TerminalControl.clearBelow) }
      state.drawnLines = 0
    }
  }

  private func draw(_ state: inout State) {
    let width = min(24, state.order.map(\.count).max() ?? 0)
    var text = state.drawnLines > 0 ? TerminalControl.up(state.drawnLines) : ""
    // A line that wraps would take two lines of the screen, but the cursor moves up by one for each.
    let room = max(1, (port.columns ?? 80) - 1)
    for name in state.order {
      let line = Self.text(
        name, state.lines[name] ?? Line(), nameWidth: min(width, max(8, room - 40)), unit: unit)
      text += line.prefix(room) + TerminalControl.clearLine + "\n"
    }
    state.drawnLines = state.order.count
    try? port.write(text)
  }

  /// Formats one line, of less than 80 characters.
  static func text(_ name: String, _ line: Line, nameWidth: Int, unit: String = "rows") -> String {
    var text = Columns.pad(String(TerminalText.filtered(TerminalText.line(name)).prefix(nameWidth)), nameWidth) + "  "
    if let total = line.total, total > 0 {
      let part = min(1, Double(line.rows) / Double(total))
      let full = Int(part * 20)
      let percent = Columns.padLeft("\(Int(part * 100))", 3)
      text += "[" + String(repeating: "#", count: full) + String(repeating: ".", count: 20 - full) + "] \(percent) %  "
    }
    text += "\(line.rows) \(unit)"
    if line.bytes > 0 { text += ", \(megabytes(line.bytes)) MB" }
    return text + (line.step.isEmpty ? "" : "  \(line.step.prefix(16))")
  }

  private static func megabytes(_ bytes: Int64) -> String {
    let tenths = bytes / 100_000
    return "\(tenths / 10).\(tenths % 10)"
  }
}
