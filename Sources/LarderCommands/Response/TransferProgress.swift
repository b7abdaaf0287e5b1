/// Tells a person at a terminal how far a long transfer has come.
struct TransferProgress {
  private let context: CommandContext
  private let total: Int?
  private var bytes = 0
  private var last = ContinuousClock.now
  private var isShown = false

  /// - Parameter total: bytes to come, where they are known.
  init(_ context: CommandContext, total: Int?) {
    self.context = context
    self.total = total
  }

  /// Counts bytes, and says so a few times a second.
  mutating func add(_ count: Int) {
    bytes += count
    guard context.diagnostics.isTerminal, ContinuousClock.now - last >= .milliseconds(250) else { return }
    last = .now
    isShown = true
    let whole = total.map { " of \(Self.megabytes($0))" } ?? ""
    try? context.diagnostics.write(TerminalControl.lineStart + "\(Self.megabytes(bytes))\(whole) MB ")
  }

  /// Leaves a clean line.
  func end() { if isShown { try? context.diagnostics.write(TerminalControl.lineStart + TerminalControl.clearLine) } }

  private static func megabytes(_ bytes: Int) -> String {
    let tenths = bytes / 100_000
    return "\(tenths / 10).\(tenths % 10)"
  }
}
