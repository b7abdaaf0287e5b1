/// Shows a user at a terminal the progress of a long transfer.
struct TransferProgress {
  private let context: CommandContext
  private let total: Int?
  private var bytes = 0
  private var last = ContinuousClock.now
  private var isShown = false

  /// - Parameter total: the number of bytes to transfer, if it is known.
  init(_ context: CommandContext, total: Int?) {
    self.context = context
    self.total = total
  }

  /// Counts bytes, and shows the count a few times a second.
  mutating func add(_ count: Int) {
    bytes += count
    guard context.diagnostics.isTerminal, ContinuousClock.now - last >= .milliseconds(250) else { return }
    last = .now
    isShown = true
    let whole = total.map { " of \(Self.megabytes($0))" } ?? ""
    try? context.diagnostics.write(TerminalControl.lineStart + "\(Self.megabytes(bytes))\(whole) MB ")
  }

  /// Clears the line.
  func end() { if isShown { try? context.diagnostics.write(TerminalControl.lineStart + TerminalControl.clearLine) } }

  private static func megabytes(_ bytes: Int) -> String {
    let tenths = bytes / 100_000
    return "\(tenths / 10).\(tenths % 10)"
  }
}
