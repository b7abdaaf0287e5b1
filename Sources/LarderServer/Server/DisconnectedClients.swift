/// Connections whose clients have left while libmicrohttpd reads, or is about to read. It reminds libmicrohttpd until
/// that notices.
///
/// libmicrohttpd reads the bytes before the end of the stream, and then waits for the next event, which does not come.
/// Shutting down the receiving side, although it has ended, causes such an event; bytes that have arrived are still
/// read. Two such events may be merged into one, so the shutdown is repeated, with growing pauses.
struct DisconnectedClients {
  private struct Entry {
    let connection: ClientConnection
    var next: Int64
    /// Milliseconds between the next reminder and the one after it.
    var pause: Int64
  }

  private static let minimumPause: Int64 = 4
  private static let maximumPause: Int64 = 1024

  private var entries: [Entry] = []

  mutating func add(_ connection: ClientConnection, now: Int64) {
    entries.append(Entry(connection: connection, next: now, pause: DisconnectedClients.minimumPause))
  }

  /// Milliseconds until the next reminder; nil if there is none.
  func pause(now: Int64) -> Int64? { entries.lazy.map { max(1, $0.next - now) }.min() }

  /// Reminds libmicrohttpd of the connections whose reminder is due, and removes those that are closed.
  mutating func shutReceivingAgain(_ table: ConnectionTable, now: Int64) {
    entries.removeAll { entry in entry.next <= now && !table.whileOpen(entry.connection) { $0.shut(.receiving) } }
    for index in entries.indices where entries[index].next <= now {
      entries[index].next = now + entries[index].pause
      entries[index].pause = min(DisconnectedClients.maximumPause, entries[index].pause * 2)
    }
  }
}
