import LarderCore
import LarderOData
import LarderODataXML
import LarderStorage

/// The copy of a service in one file: its tables by the service's model, and what downloads need to know.
///
/// Every transaction sees one state of all of it: which physical tables hold the rows, and the plan that they follow.
final class Replica: Sendable {
  /// The file.
  let database: Database
  let changes: ChangeFeed
  /// How quick short transactions were of late.
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

  /// Opens a store's file, makes it where it is missing, and throws away what a crash has left.
  ///
  /// One that may not be written to is opened to be read. Throws `foreignFile`, `newerSchema`, `busy`, `corrupt`,
  /// `wrongKey` and their like.
  static func open(
    path: String, key: StorageKey? = nil, synchronous: DatabaseOptions.Synchronous = .full, readers: Int = 4,
    protection: FileProtection = .completeUntilFirstUserAuthentication, environment: LarderEnvironment = .system
  ) async throws(StorageError) -> Replica {
    guard !DatabaseFile(path).hasLostContent else { throw .damaged(path, "The file is empty, and was not") }
    var options = options
    (options.synchronous, options.readers, options.protection) = (synchronous, readers, protection)
    options.environment = environment
    let database = try await Database.open(path, key: key, schema: ReplicaSchema.schema, options: options)
    do throws(StorageError) {
      let replica = Replica(database, try ChangeFeed(database.path, isShared: !database.isReadOnly, environment))
      if !replica.isReadOnly { try await replica.sweepOrphans() }
      _ = try await replica.read { (_, _, _) throws(StorageError) in true }
      return replica
    } catch {
      // Not left to whoever lets go of it last: the file is in use until then.
      try? await database.close()
      throw error
    }
  }

  private static let options = DatabaseOptions(
    cacheKibibytes: 4096, writerCacheKibibytes: 16_384, allowsReadOnly: true, extensions: ReplicaSQL.extensions)

  /// Gives a closed file another key, its first, or none. Throws `inUse`, `wrongKey`, `foreignFile` and their like.
  static func rekey(path: String, from old: StorageKey?, to new: StorageKey?) async throws(StorageError) {
    try await Database.rekey(path, from: old, to: new, schema: ReplicaSchema.schema, options: options)
  }

  /// Waits for running work and closes the file.
  func close() async throws(StorageError) {
    changes.end()
    try await database.close()
  }

  /// Closes as ``close()`` does; work from then on throws `suspended`.
  func suspend() async throws(StorageError) {
    changes.end()
    try await database.suspend()
  }

  /// Whether the file is only read, for it may not be written to.
  var isReadOnly: Bool { database.isReadOnly }

  /// The tables of the model in use; none before the first ``adopt(metadata:)``.
  var plan: ReplicaPlan { cache.withLock { $0.plan } }

  /// The model in use; empty before the first ``adopt(metadata:)``.
  var model: EdmModel { plan.model }

  // MARK: Transactions

  /// Runs `body` in a transaction that sees one state from beginning to end.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (Connection, ReplicaState, ReplicaPlan) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    try await database.read { [self] (connection) throws(StorageError) in
      let (state, plan) = try current(connection)
      return try body(connection, state, plan)
    }
  }

  /// The same on the caller's thread, where a reader is free and `body` takes no longer than `limit`; nil where not.
  ///
  /// Nil, too, where the tables or the model in use are not those known here: reading a large model takes seconds.
  func readHere<Value>(
    within limit: Duration, _ body: (Connection, ReplicaState, ReplicaPlan) throws(StorageError) -> Value
  ) throws(StorageError) -> Value? {
    try database.readHere(within: limit) { (connection) throws(StorageError) -> Value? in
      guard let (state, plan) = known(try numbers(connection)) else { return nil }
      return try body(connection, state, plan)
    } ?? nil
  }

  /// Runs `body` in a transaction that writes; committed where it returns.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (Connection, ReplicaState, ReplicaPlan) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    let (value, last) = try await database.write { [self] (connection) throws(StorageError) in
      let (state, plan) = try current(connection)
      return (try body(connection, state, plan), try connection.lastChange())
    }
    changes.tell(last)
    return value
  }

  /// Begins a transaction that reads and lasts until the session ends.
  func readSession<State>(
    _ make: @escaping @Sendable (Connection, ReplicaState, ReplicaPlan) throws(StorageError) -> State
  ) async throws(StorageError) -> ReadSession<State> {
    try await database.readSession { [self] (connection) throws(StorageError) in
      let (state, plan) = try current(connection)
      return try make(connection, state, plan)
    }
  }

  /// What a transaction sees that has changed nothing yet: what it has changed may still be rolled back, and is not kept.
  func current(_ connection: Connection) throws(StorageError) -> (ReplicaState, ReplicaPlan) {
    let found = try numbers(connection)
    if let known = known(found) { return known }
    let plan = try plan(of: found.model, connection)
    let state = try ReplicaRegistry(plan, connection).state(version: found.version)
    cache.withLock { $0 = Cache(model: found.model, version: found.version, plan: plan, state: state) }
    return (state, plan)
  }

  /// The numbers of the state and of the model that a transaction sees.
  func numbers(_ connection: Connection) throws(StorageError) -> (version: Int64, model: Int64) {
    let found = try connection.first("SELECT version, model FROM larder_state") { (row) throws(StorageError) in
      (version: try row.int64(0), model: try row.int64(1))
    }
    guard let found else { throw .damaged(database.path, "The store's state is missing") }
    return found
  }

  func known(_ numbers: (version: Int64, model: Int64)) -> (ReplicaState, ReplicaPlan)? {
    cache.withLock { $0.model == numbers.model && $0.version == numbers.version ? ($0.state, $0.plan) : nil }
  }

  private func plan(of model: Int64, _ connection: Connection) throws(StorageError) -> ReplicaPlan {
    if let known = cache.withLock({ $0.model == model ? $0.plan : nil }) { return known }
    let bytes = try connection.first("SELECT metadata FROM larder_state") { (row) throws(StorageError) in
      row.isNull(0) ? nil : try row.bytes(0)
    }
    guard let bytes, let bytes else { return ReplicaPlan(model: EdmModel(version: .v4, schemas: [])) }
    do { return ReplicaPlan(model: try EdmModel.read(bytes)) } catch {
      throw .damaged(database.path, "The metadata in the store cannot be read: \(error)")
    }
  }

  // MARK: Metadata

  /// Takes a service's metadata document: makes the tables follow it, in one transaction.
  ///
  /// Where it is the one in use, nothing happens. Throws the document's `MetadataError`, or `StorageError`;
  /// `malformedMetadata` for one without entities where it may not be empty and there are some here: they stay.
  func adopt(metadata: [UInt8], mayBeEmpty: Bool = true) async throws -> ReplicaMigration {
    let inUse = try await database.read { (connection) throws(StorageError) in
      try connection.first("SELECT metadata = ?1 FROM larder_state", .blob(metadata)) { (row) throws(StorageError) in
        try row.int64OrNil(0) == 1
      }
    }
    if inUse == true { return ReplicaMigration() }
    let plan = ReplicaPlan(model: try EdmModel.read(metadata))
    guard mayBeEmpty || !plan.tables.isEmpty || self.plan.tables.isEmpty else {
      throw OfflineODataError(.malformedMetadata, "the document declares no entity sets any more")
    }
    return try await write { (connection, _, old) throws(StorageError) in
      let migration = try ReplicaMigration.run(from: old, to: plan, connection)
      try connection.run(
        "UPDATE larder_state SET metadata = ?1, model = model + 1, version = version + 1", .blob(metadata))
      return migration
    }
  }

  /// The metadata document in use; nil before the first one.
  func metadata() async throws(StorageError) -> [UInt8]? {
    let found = try await database.read { (connection) throws(StorageError) in
      try connection.first("SELECT metadata FROM larder_state") { (row) throws(StorageError) in
        row.isNull(0) ? nil : try row.bytes(0)
      }
    }
    return found ?? nil
  }
}

extension Connection {
  /// Counts the version of the state up: physical names have changed in this transaction.
  func countVersionUp() throws(StorageError) { try run("UPDATE larder_state SET version = version + 1") }

  /// Takes `count` identities that no row ever had; answers the first.
  func takeIdentities(_ count: Int) throws(StorageError) -> Int64 {
    let first = try nextIdentity()
    try run("UPDATE larder_state SET next_id = next_id + ?1", .integer(Int64(count)))
    return first
  }

  /// The least identity that nothing has.
  func nextIdentity() throws(StorageError) -> Int64 {
    try first("SELECT next_id FROM larder_state") { (row) throws(StorageError) in try row.int64(0) } ?? 1
  }
}
