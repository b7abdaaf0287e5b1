import LarderStorage

// Reading one value by key, and its metadata.
extension ObjectStore {
  /// The value under a key; nil if there is none.
  ///
  /// A value in memory is returned without suspending. Otherwise one point read of the file runs on the caller's
  /// thread, which takes less time than a switch to another thread.
  ///
  /// - Throws: `invalidKey`, `typeMismatch`, `undecodable`, `damaged`, `closed`, `storage`. The row stays as it is.
  public func value<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, forKey key: String
  ) async throws(ObjectStoreError) -> Value? {
    try read(type, ObjectKey(key, for: .read), .read)
  }

  func read<Value: Codable & Sendable>(
    _ type: Value.Type, _ key: ObjectKey, _ operation: ObjectStoreError.Operation
  ) throws(ObjectStoreError) -> Value? {
    // A lookup and the read that follows use the same opening of the file.
    let opened = opened
    let memory = opened.memory
    switch memory.lookUp(key) {
    case .hit(.decoded(let decoded)):
      if let decoded = decoded as? Decoded<Value> { return decoded.value }
      // The requested type differs from the type that was put or last read: decoding the bytes decides whether it fits.
      return try row(key, operation, opened).map { (object) throws(ObjectStoreError) in
        try object.value(type, key, operation)
      }
    case .hit(.encoded(let object)):
      let value = try object.value(type, key, operation)
      memory.decode(key, id: object.id, to: Decoded(value))
      return value
    case .miss(let token): return try readFile(type, key, for: operation, in: opened, missed: token)
    case .bypass: return try readFile(type, key, for: operation, in: opened, missed: nil)
    }
  }

  /// Reads the value from the file, and puts it into memory if `token` is not nil and still current.
  private func readFile<Value: Codable & Sendable>(
    _ type: Value.Type, _ key: ObjectKey, for operation: ObjectStoreError.Operation, in opened: OpenObjects,
    missed token: UInt64?
  ) throws(ObjectStoreError) -> Value? {
    guard let object = try row(key, operation, opened) else { return nil }
    let value = try object.value(type, key, operation)
    let cost = Memory.cost(key, object.encoded)
    let entry = MemoryEntry(id: object.id, expires: object.expires, cost: cost, content: .decoded(Decoded(value)))
    opened.memory.fill(key, entry, missed: token)
    return value
  }

  /// The row of a key, checked; nil for an expired one.
  private func row(
    _ key: ObjectKey, _ operation: ObjectStoreError.Operation, _ opened: OpenObjects
  ) throws(ObjectStoreError) -> StoredObject? {
    let object = try pointRead(opened.database, key, for: operation) { (connection) throws(StorageError) in
      try connection.first(StoredObject.query, .text(key.text)) { (row) throws(StorageError) in
        try StoredObject(row, key: key.text)
      }
    }
    guard let object, !object.isExpired(opened.memory.now) else { return nil }
    return object
  }

  /// Runs point reads, which block for a short time.
  private func pointRead<Value>(
    _ database: Database, _ key: ObjectKey?, for operation: ObjectStoreError.Operation,
    _ body: (Connection) throws(StorageError) -> Value
  ) throws(ObjectStoreError) -> Value {
    do throws(StorageError) { return try database.readNow(body) } catch {
      throw ObjectStoreError(operation, key: key?.text, error)
    }
  }

  /// The bytes under a key as stored in the file, and their coding; nil if there is no value.
  ///
  /// This is for tools, and does not count as a request. Throws `invalidKey`, `damaged`, `closed`, `storage`.
  public func storedBytes(forKey key: String) async throws(ObjectStoreError) -> (coding: ObjectCoding, bytes: [UInt8])?
  {
    let key = try ObjectKey(key, for: .read)
    guard let object = try row(key, .read, opened) else { return nil }
    try object.check(key: key.text, for: .read)
    return (object.encoded.coding, object.encoded.bytes)
  }

  /// The metadata of the value under a key; nil if there is no value. Does not count as a request.
  ///
  /// Throws `invalidKey`, `closed`, `storage`.
  public func metadata(forKey key: String) async throws(ObjectStoreError) -> ObjectMetadata? {
    let key = try ObjectKey(key, for: .read)
    let opened = opened
    let memory = opened.memory
    memory.refresh()
    let now = memory.now()
    return try pointRead(opened.database, key, for: .read) { (connection) throws(StorageError) in
      try connection.first(
        "SELECT \(ObjectMetadata.columns) FROM object WHERE key = ? AND (expires IS NULL OR expires > ?)",
        .text(key.text), .integer(now)
      ) { (row) throws(StorageError) in try ObjectMetadata(row, memory: memory) }
    }
  }

  /// Whether there is a value under the key, of any type. Does not count as a request.
  ///
  /// Throws `invalidKey`, `closed`, `storage`.
  public func contains(key: String) async throws(ObjectStoreError) -> Bool { try await metadata(forKey: key) != nil }

  /// The number of values.
  ///
  /// Throws `closed`, `storage`.
  public var count: Int {
    get async throws(ObjectStoreError) { try await usage().count }
  }

  /// The sum of the encoded values' lengths in bytes; the file is larger.
  ///
  /// Throws `closed`, `storage`.
  public var usedBytes: Int {
    get async throws(ObjectStoreError) { try await usage().bytes }
  }

  private func usage() async throws(ObjectStoreError) -> (count: Int, bytes: Int) {
    memory.refresh()
    let now = memory.now()
    do throws(StorageError) {
      // Both queries read the same state of the file.
      return try await database.read { (connection) throws(StorageError) in
        let total = try ObjectUsage.read(connection)
        let expired = try connection.first(ObjectTable.expiredUsage, .integer(now)) { (row) throws(StorageError) in
          (try row.int64(0), try row.int64(1))
        }
        let (count, bytes) = ((total?.objects ?? 0) &- (expired?.0 ?? 0), (total?.bytes ?? 0) &- (expired?.1 ?? 0))
        return (Int(clamping: count), Int(clamping: bytes))
      }
    } catch { throw ObjectStoreError(.read, error) }
  }
}

extension StoredObject {
  /// The decoded value. Throws if the bytes are damaged or do not decode.
  func value<Value: Codable & Sendable>(
    _ type: Value.Type, _ key: ObjectKey, _ operation: ObjectStoreError.Operation
  ) throws(ObjectStoreError) -> Value {
    try check(key: key.text, for: operation)
    return try encoded.value(type, key: key.text, for: operation)
  }

  func isExpired(_ now: () -> Int64) -> Bool { expires.map { $0 <= now() } ?? false }
}
