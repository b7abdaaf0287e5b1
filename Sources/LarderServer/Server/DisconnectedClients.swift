/// Connections whose clients have left while libmicrohttpd reads, or is about to: it is made to look again until it sees.
///
/// It reads the bytes before the end of the stream, and waits for the next event, which does not come. Ending the receiving
/// side, which has ended, is one; what has arrived is still read. Two such events may be taken for one, so it is repeated,
/// with growing pauses.
struct DisconnectedClients {
  private struct Entry {
    let connection: ClientConnection
    var next: Int64
    /// Milliseconds to the reminder after that.
    var pause: Int64
  }

  private static let shortestPause: Int64 = 4
  private static let longestPause: Int64 = 1024

  private var entries: [Entry] = []

  mutating func add(_ connection: ClientConnection, now: Int64) {
    entries.append(Entry(connection: connection, next: now, pause: DisconnectedClients.shortestPause))
  }

  /// Milliseconds until the next reminder; nil where there is none.
  func pause(now: Int64) -> Int64? { entries.lazy.map { max(1, $0.next - now) }.min() }

  /// Reminds libmicrohttpd of those that are still open, where it is time.
  mutating func remind(_ table: ConnectionTable, now: Int64) {
    entries.removeAll { entry in entry.next <= now && !table.whileOpen(entry.connection) { $0.shut(.receiving) } }
    for index in entries.indices where entries[index].next <= now {
      entries[index].next = now + entries[index].pause
      entries[index].pause = min(DisconnectedClients.longestPause, entries[index].pause * 2)
    }
  }
}
