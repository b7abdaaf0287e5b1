import Dispatch
import LarderCore

/// The connections that read: lent out one closure at a time, opened as they are first needed.
///
/// Borrowing for a transaction blocks while all are lent, so it happens only on threads that may block: those of `queue`.
/// Point reads, which are short, come by places of their own: they never wait for a long read.
final class ReaderPool: Sendable {
  /// Work that reads; several at once.
  let queue: DispatchQueue
  private let path: String
  private let options: DatabaseOptions
  private let access: Connection.Access
  /// What the file was, where it is taken for one that does not change.
  private let stamp: FileStamp?
  private let opening: Locked<Opening>
  private let free = Locked(Free())
  private let places: DispatchSemaphore
  private let pointPlaces: DispatchSemaphore
  private let lent = Locked<[ObjectIdentifier: BorrowedConnection]>([:])
  /// Readers that are lent or about to be.
  private let loans = DispatchGroup()

  /// Connections that nobody has.
  private struct Free {
    var connections: [Connection] = []
    /// The last have been closed: none is taken back.
    var isOver = false
  }

  /// What new connections need.
  private struct Opening {
    var cipher: CipherRegistry.Registration?
    /// Why there are none any more; nil while there are.
    var over: StorageError?
  }

  /// `stamp`: of a file that is read as one that does not change.
  init(_ path: String, options: DatabaseOptions, cipher: CipherRegistry.Registration?, stamp: FileStamp? = nil) {
    self.path = path
    self.options = options
    opening = Locked(Opening(cipher: cipher))
    self.stamp = stamp
    access = stamp == nil ? .readOnly : .immutable
    queue = DispatchQueue(label: "larder.storage.readers", qos: .userInitiated, attributes: .concurrent)
    places = DispatchSemaphore(value: options.readers)
    pointPlaces = DispatchSemaphore(value: options.readers)
  }

  /// What a connection is lent for: each waits for its like alone.
  enum Purpose { case transaction, point }

  /// Lends a connection to `body` and takes it back.
  func borrow<Value>(
    for purpose: Purpose, _ body: (Connection) throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    let places = purpose == .point ? pointPlaces : places
    places.wait()
    defer { places.signal() }
    let connection: Connection
    if let kept = free.withLock({ $0.connections.popLast() }) { connection = kept } else { connection = try open() }
    defer { free.withLock { $0.connections.append(connection) } }
    try checkUnchanged()
    let value = try body(connection)
    try checkUnchanged()
    return value
  }

  /// Throws `busy` where a file that was taken for one that does not change has done so.
  func checkUnchanged() throws(StorageError) {
    guard let stamp, stamp != FileStamp(path) else { return }
    throw StorageError(.busy, message: "The file was changed by another; open it again", file: path)
  }

  /// Lends a connection that is open and free to `body`, which is short; nil where there is none, or where another process
  /// has locked the file for a moment, or has changed one that does not change.
  func borrowIfFree<Value>(
    _ body: (Connection) throws(StorageError) -> Value?
  ) throws(StorageError) -> Value? {
    guard pointPlaces.wait(timeout: .now()) == .success else { return nil }
    defer { pointPlaces.signal() }
    guard let connection = free.withLock({ $0.connections.popLast() }) else { return nil }
    connection.setBusyTimeout(milliseconds: 0)
    defer {
      connection.setBusyTimeout(milliseconds: options.busyTimeoutMilliseconds)
      free.withLock { $0.connections.append(connection) }
    }
    do throws(StorageError) {
      try checkUnchanged()
      let value = try body(connection)
      try checkUnchanged()
      return value
    } catch {
      guard error.category == .busy else { throw error }
      return nil
    }
  }

  /// Lends a connection beyond the count of readers, until the reader ends. Closing waits for its end.
  ///
  /// `willLend`: called with the connection open.
  func lend(willLend: () -> Void = {}) throws(StorageError) -> BorrowedConnection {
    // Before looking whether the pool is closed: if it is closed later, that waits for this reader.
    loans.enter()
    let reader: BorrowedConnection
    do throws(StorageError) {
      if let over { throw over }
      let connection: Connection
      if let kept = free.withLock({ $0.connections.popLast() }) { connection = kept } else { connection = try open() }
      willLend()
      reader = BorrowedConnection(connection, of: self, path: path)
    } catch {
      loans.leave()
      throw error
    }
    lent.withLock { $0[ObjectIdentifier(reader)] = reader }
    // Closed meanwhile, perhaps before the reader could be found.
    if let over {
      reader.end()
      throw over
    }
    return reader
  }

  /// Takes a lent connection back; one too many is closed.
  func takeBack(_ reader: BorrowedConnection, _ connection: Connection, isUsable: Bool) {
    defer { loans.leave() }
    _ = lent.withLock { $0.removeValue(forKey: ObjectIdentifier(reader)) }
    let isKept = free.withLock { free in
      guard isUsable, !free.isOver, free.connections.count < options.readers else { return false }
      free.connections.append(connection)
      return true
    }
    // Released otherwise, which closes it as well.
    if !isKept { try? connection.close() }
  }

  private func open() throws(StorageError) -> Connection {
    let now = opening.withLock { $0 }
    if let over = now.over { throw over }
    let connection = try Connection(path, access: access, options: options, cipher: now.cipher)
    try connection.run("PRAGMA cache_size = -\(options.cacheKibibytes)")
    try connection.run("PRAGMA query_only = 1")
    return connection
  }

  /// Why no connection is lent any more; nil while they are.
  var over: StorageError? { opening.withLock { $0.over } }

  /// Waits until every connection is back and closes all: the database is closed or suspended.
  func close(_ use: StoreUse) throws(StorageError) {
    // The keys go with the last connection.
    _ = opening.withLock { exchange(&$0, with: Opening(over: StorageError.unusable(path, use))) }
    for reader in lent.withLock({ Array($0.values) }) { reader.end() }
    loans.wait()
    for _ in 0..<options.readers {
      places.wait()
      pointPlaces.wait()
    }
    defer {
      for _ in 0..<options.readers {
        places.signal()
        pointPlaces.signal()
      }
    }
    let all = free.withLock { free in
      free.isOver = true
      return exchange(&free.connections, with: [])
    }
    for connection in all { try connection.close() }
  }
}
