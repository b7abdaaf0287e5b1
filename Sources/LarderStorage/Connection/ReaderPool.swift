import Dispatch
@_spi(Stores) import LarderCore

/// The pool of read connections. Each is opened when it is first needed and lent to one closure at a time.
///
/// Borrowing for a transaction blocks while all connections are lent, so it happens only on threads that may block:
/// those of `queue`. Point reads, which are short, have slots of their own and never wait for a long read.
final class ReaderPool: Sendable {
  /// The concurrent queue for read work.
  let queue: DispatchQueue
  private let path: String
  private let options: DatabaseOptions
  private let access: Connection.Access
  /// The file's stamp, if the file is read as one that does not change.
  private let stamp: FileStamp?
  private let opening: Locked<Opening>
  private let free = Locked(Free())
  private let transactionSlots: DispatchSemaphore
  private let pointSlots: DispatchSemaphore
  private let borrowed = Locked<[ObjectIdentifier: BorrowedConnection]>([:])
  /// Readers that are lent or about to be lent.
  private let loans = DispatchGroup()

  /// The connections that are not lent.
  private struct Free {
    var connections: [Connection] = []
    /// True after the last connections have been closed: none is taken back then.
    var isClosed = false
  }

  /// What is needed to open connections.
  private struct Opening {
    var cipher: CipherRegistry.Registration?
    /// Why no connection can be opened any more; nil while connections can be opened.
    var closingError: StorageError?
  }

  /// Creates a pool. A `stamp` means that the file is read as one that does not change.
  init(_ path: String, options: DatabaseOptions, cipher: CipherRegistry.Registration?, stamp: FileStamp? = nil) {
    self.path = path
    self.options = options
    opening = Locked(Opening(cipher: cipher))
    self.stamp = stamp
    access = stamp == nil ? .readOnly : .immutable
    queue = DispatchQueue(label: "larder.storage.readers", qos: .userInitiated, attributes: .concurrent)
    transactionSlots = DispatchSemaphore(value: options.readers)
    pointSlots = DispatchSemaphore(value: options.readers)
  }

  /// What a connection is lent for. Each purpose has its own slots, and waits only for them.
  enum Purpose { case transaction, point }

  /// Lends a connection to `body` and takes it back.
  func withConnection<Value>(
    for purpose: Purpose, _ body: (Connection) throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    let slots = purpose == .point ? pointSlots : transactionSlots
    slots.wait()
    defer { slots.signal() }
    let connection: Connection
    if let freeConnection = free.withLock({ $0.connections.popLast() }) {
      connection = freeConnection
    } else {
      connection = try open()
    }
    defer { free.withLock { $0.connections.append(connection) } }
    try checkUnchanged()
    let value = try body(connection)
    try checkUnchanged()
    return value
  }

  /// Throws `changed` if a file that was assumed not to change has changed.
  func checkUnchanged() throws(StorageError) {
    guard let stamp, stamp != FileStamp(path) else { return }
    throw StorageError(.changed, message: "Another process changed the file", path: path)
  }

  /// Lends a connection that is open and free to `body`, which must be short. Returns nil if there is none, if another
  /// process has locked the file temporarily, or if a file that was assumed not to change has changed.
  func borrowIfFree<Value>(
    _ body: (Connection) throws(StorageError) -> Value?
  ) throws(StorageError) -> Value? {
    guard pointSlots.wait(timeout: .now()) == .success else { return nil }
    defer { pointSlots.signal() }
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
      guard [.busy, .changed].contains(error.category) else { throw error }
      return nil
    }
  }

  /// Lends a connection beyond the number of readers, until the reader ends. Closing waits for its end.
  ///
  /// `willLend` is called when the connection is open.
  func lendConnection(willLend: () -> Void = {}) throws(StorageError) -> BorrowedConnection {
    // Entered before the check whether the pool is closed: if it is closed later, closing waits for this reader.
    loans.enter()
    let reader: BorrowedConnection
    do throws(StorageError) {
      if let closingError { throw closingError }
      let connection: Connection
      if let freeConnection = free.withLock({ $0.connections.popLast() }) {
        connection = freeConnection
      } else {
        connection = try open()
      }
      willLend()
      reader = BorrowedConnection(connection, of: self, path: path)
    } catch {
      loans.leave()
      throw error
    }
    borrowed.withLock { $0[ObjectIdentifier(reader)] = reader }
    // Closed meanwhile, perhaps before the reader was registered.
    if let closingError {
      reader.end()
      throw closingError
    }
    return reader
  }

  /// Takes a lent connection back; one that exceeds the pool's size is closed.
  func takeBack(_ reader: BorrowedConnection, _ connection: Connection, isUsable: Bool) {
    defer { loans.leave() }
    _ = borrowed.withLock { $0.removeValue(forKey: ObjectIdentifier(reader)) }
    let isReturned = free.withLock { free in
      guard isUsable, !free.isClosed, free.connections.count < options.readers else { return false }
      free.connections.append(connection)
      return true
    }
    // Releasing the connection would close it as well.
    if !isReturned { try? connection.close() }
  }

  private func open() throws(StorageError) -> Connection {
    let now = opening.withLock { $0 }
    if let closingError = now.closingError { throw closingError }
    let connection = try Connection(path, access: access, options: options, cipher: now.cipher)
    try connection.run("PRAGMA cache_size = -\(options.cacheKibibytes)")
    try connection.run("PRAGMA query_only = 1")
    return connection
  }

  /// Why no connection is lent any more; nil while connections are lent.
  var closingError: StorageError? { opening.withLock { $0.closingError } }

  /// Waits until every connection is back and closes all, because the database is closed or suspended.
  func close(_ use: StoreUse) throws(StorageError) {
    // The keys are released with the last connection.
    _ = opening.withLock { exchange(&$0, with: Opening(closingError: StorageError.unusable(path, use))) }
    for reader in borrowed.withLock({ Array($0.values) }) { reader.end() }
    loans.wait()
    for _ in 0..<options.readers {
      transactionSlots.wait()
      pointSlots.wait()
    }
    defer {
      for _ in 0..<options.readers {
        transactionSlots.signal()
        pointSlots.signal()
      }
    }
    let all = free.withLock { free in
      free.isClosed = true
      return exchange(&free.connections, with: [])
    }
    for connection in all { try connection.close() }
  }
}
