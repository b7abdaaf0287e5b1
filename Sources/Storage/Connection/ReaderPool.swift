import Dispatch
import Synchronization

/// The connections that read: lent out one closure at a time, opened as they are first needed.
///
/// Borrowing blocks while all are lent, so it happens only on threads that may block: those of `queue`.
final class ReaderPool: Sendable {
  /// Work that reads; several at once.
  let queue: DispatchQueue
  private let path: String
  private let options: DatabaseOptions
  private let free: Mutex<[Connection]>
  private let places: DispatchSemaphore

  init(_ path: String, options: DatabaseOptions) {
    self.path = path
    self.options = options
    queue = DispatchQueue(label: "larder.storage.readers", qos: .userInitiated, attributes: .concurrent)
    free = Mutex([])
    places = DispatchSemaphore(value: options.readers)
  }

  /// Lends a connection to `body` and takes it back.
  func borrow<Value>(_ body: (Connection) throws(StorageError) -> Value) throws(StorageError) -> Value {
    places.wait()
    defer { places.signal() }
    let connection: Connection
    if let kept = free.withLock({ $0.popLast() }) { connection = kept } else { connection = try open() }
    defer { free.withLock { $0.append(connection) } }
    return try body(connection)
  }

  private func open() throws(StorageError) -> Connection {
    let connection = try Connection(path, access: .readOnly, options: options)
    try connection.run("PRAGMA cache_size = -\(options.cacheKibibytes)")
    try connection.run("PRAGMA query_only = 1")
    return connection
  }

  /// Waits until every connection is back and closes all.
  func close() throws(StorageError) {
    for _ in 0..<options.readers { places.wait() }
    defer { for _ in 0..<options.readers { places.signal() } }
    let all = free.withLock { connections in
      defer { connections = [] }
      return connections
    }
    for connection in all { try connection.close() }
  }
}
