@_spi(Stores) import LarderCore
import LarderOData
import LarderODataXML
import LarderStorage

/// The local copy of a service in one file: tables that follow the service's model, and the state that downloads need.
///
/// Every transaction sees one consistent state: the physical tables that hold the rows, and the plan that they follow.
final class Replica: Sendable {
  /// The database file.
  let database: Database
  let changes: ChangeFeed
  /// How fast recent short transactions were.
  let pace = Locked(WritingPace())
  private let cache: Locked<Cache>

  private struct Cache {
    var model: Int64 = -1
    var version: Int64 = -1
    var plan: ReplicaPlan
    var state: ReplicaState
  }

  private init(_ database: Database, _ changes: ChangeFeed) {
    self.database = database
    self.changes = changes
    let plan = ReplicaPlan(model: EdmModel(version: .v4, schemas: []))
    cache = Locked(Cache(plan: plan, state: ReplicaState(version: -1, tables: [], links: [], search: [])))
  }

  /// Opens a store's file, creates it if it is missing, and removes what a crash has left.
  ///
  /// A file without write permission is opened for reading. Throws `foreignFile`, `newerSchema`, `busy`, `corrupt`,
  /// `wrongKey` and similar errors.
  static func open(
    path: String, key: StorageKey? = nil, synchronous: DatabaseOptions.Synchronous = .full, readers: Int = 4,
    protection: FileProtection = .completeUntilFirstUserAuthentication, environment: LarderEnvironment = .system
  ) async throws(StorageError) -> Replica {
    guard !DatabaseFile(path).hasLostContent else { throw .damaged(path, "The file is empty, but had content before") }
    var options = options
    (options.synchronous, options.readers, options.protection) = (synchronous, readers, protection)
    options.environment = environment
    let database = try await Database.open(path, key: key, schema: ReplicaSchema.schema, options: options)
    do throws(StorageError) {
      let replica = Replica(database, try ChangeFeed(database.path, isShared: !database.isReadOnly, environment))
      if !replica.isReadOnly { try await replica.sweepOrphans() }
      _ = try await replica.read { (_) throws(StorageError) in true }
      return replica
    } catch {
      // The file is closed explicitly: it would otherwise stay in use until the last reference is released.
      try? await database.close()
      throw error
    }
  }

  private static let options = DatabaseOptions(
    cacheKibibytes: 4096, writerCacheKibibytes: 16_384, allowsReadOnly: true, extensions: ReplicaSQL.extensions)

  /// Changes the key of a closed file, encrypts it for the first time, or removes its key. Throws `inUse`, `wrongKey`,
  /// `foreignFile` and similar errors.
  static func rekey(path: String, from old: StorageKey?, to new: StorageKey?) async throws(StorageError) {
    try await Database.rekey(path, from: old, to: new, schema: ReplicaSchema.schema, options: options)
  }

  /// Waits for running work and closes the file.
  func close() async throws(StorageError) {
    changes.end()
    try await database.close()
  }

  /// Closes the file as ``close()`` does. Later work throws `suspended`.
  func suspend() async throws(StorageError) {
    changes.end()
    try await database.suspend()
  }

  /// Whether the file is opened for reading only, because it cannot be written.
  var isReadOnly: Bool { database.isReadOnly }

  /// The tables of the model in use; none before the first ``adopt(metadata:)``.
  var plan: ReplicaPlan { cache.withLock { $0.plan } }

  /// The model in use; empty before the first ``adopt(metadata:)``.
  var model: EdmModel { plan.model }

  // MARK: Transactions

  /// Runs `body` in a transaction that sees one state from beginning to end.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (ReplicaSnapshot) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    try await database.read { [self] (connection) throws(StorageError) in
      try body(current(connection))
    }
  }

  /// Runs `body` in a reading transaction on the caller's thread. Returns nil if no reader is free or `body` takes
  /// longer than `limit`.
  ///
  /// It also returns nil if the tables or the model in use are not known here: reading a large model takes seconds.
  func readHere<Value>(
    within limit: Duration, _ body: (ReplicaSnapshot) throws(StorageError) -> Value
  ) throws(StorageError) -> Value? {
    try database.readHere(within: limit) { (connection) throws(StorageError) -> Value? in
      guard let snapshot = cached(try numbers(connection), connection) else { return nil }
      return try body(snapshot)
    } ?? nil
  }

  /// Runs `body` in a writing transaction. The transaction is committed when `body` returns.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (ReplicaSnapshot) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    let (value, last) = try await database.write { [self] (connection) throws(StorageError) in
      (try body(current(connection)), try connection.lastChange())
    }
    changes.announce(last)
    return value
  }

  /// Begins a reading transaction that lasts until the session ends.
  func readSession<State>(
    _ make: @escaping @Sendable (ReplicaSnapshot) throws(StorageError) -> State
  ) async throws(StorageError) -> ReadSession<State> {
    try await database.readSession { [self] (connection) throws(StorageError) in
      try make(current(connection))
    }
  }

  /// What a transaction sees before it has changed anything. Its own changes may still be rolled back, and must not be
  /// cached.
  func current(_ connection: Connection) throws(StorageError) -> ReplicaSnapshot {
    let numbers = try numbers(connection)
    if let cached = cached(numbers, connection) { return cached }
    let plan = try plan(of: numbers.model, connection)
    let state = try ReplicaRegistry(plan, connection).state(version: numbers.version)
    cache.withLock { $0 = Cache(model: numbers.model, version: numbers.version, plan: plan, state: state) }
    return ReplicaSnapshot(connection: connection, state: state, plan: plan)
  }

  /// The version numbers of the state and of the model that a transaction sees.
  func numbers(_ connection: Connection) throws(StorageError) -> (version: Int64, model: Int64) {
    let numbers = try connection.first("SELECT version, model FROM larder_state") { (row) throws(StorageError) in
      (version: try row.int64(0), model: try row.int64(1))
    }
    guard let numbers else { throw .damaged(database.path, "The store's state is missing") }
    return numbers
  }

  /// What a transaction with these version numbers sees; nil if it is not known here.
  func cached(_ numbers: (version: Int64, model: Int64), _ connection: Connection) -> ReplicaSnapshot? {
    cache.withLock { cache in
      guard cache.model == numbers.model, cache.version == numbers.version else { return nil }
      return ReplicaSnapshot(connection: connection, state: cache.state, plan: cache.plan)
    }
  }

  private func plan(of model: Int64, _ connection: Connection) throws(StorageError) -> ReplicaPlan {
    if let cached = cache.withLock({ $0.model == model ? $0.plan : nil }) { return cached }
    let bytes = try connection.first("SELECT metadata FROM larder_state") { (row) throws(StorageError) in
      row.isNull(0) ? nil : try row.bytes(0)
    }
    guard let bytes, let bytes else { return ReplicaPlan(model: EdmModel(version: .v4, schemas: [])) }
    do { return ReplicaPlan(model: try EdmModel.read(bytes)) } catch {
      throw .damaged(database.path, "The metadata in the store cannot be read: \(error)")
    }
  }

  // MARK: Metadata

  /// The metadata document in use; nil before the first one.
  func metadata() async throws(StorageError) -> [UInt8]? {
    let bytes = try await database.read { (connection) throws(StorageError) in
      try connection.first("SELECT metadata FROM larder_state") { (row) throws(StorageError) in
        row.isNull(0) ? nil : try row.bytes(0)
      }
    }
    return bytes ?? nil
  }
}

extension Connection {
  /// Increments the version of the state, because physical names have changed in this transaction.
  func countVersionUp() throws(StorageError) { try run("UPDATE larder_state SET version = version + 1") }

  /// Reserves `count` identities that no row ever had. Returns the first of them.
  func takeIdentities(_ count: Int) throws(StorageError) -> Int64 {
    let first = try nextIdentity()
    try run("UPDATE larder_state SET next_id = next_id + ?1", .integer(Int64(count)))
    return first
  }

  /// The smallest identity that was never used.
  func nextIdentity() throws(StorageError) -> Int64 {
    try first("SELECT next_id FROM larder_state") { (row) throws(StorageError) in try row.int64(0) } ?? 1
  }
}
