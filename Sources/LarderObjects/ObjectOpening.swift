import LarderCore
import LarderStorage

/// Opens a store's file, and checks the file before that.
struct ObjectOpening: Sendable {
  let path: String
  let key: StorageKey?
  let options: ObjectStoreOptions
  let environment: LarderEnvironment
  let observers: Observers
  /// Runs work a few seconds later, unless the function that it returns was called before.
  let countsDelay: @Sendable (@escaping @Sendable () -> Void) -> @Sendable () -> Void
  let onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)?

  func open() async throws(ObjectStoreError) -> OpenObjects {
    let (database, memory): (Database, Memory)
    do throws(StorageError) { (database, memory) = try await openFile() } catch {
      throw ObjectStoreError(.open, error)
    }
    let opened = OpenObjects(database, memory, self)
    do throws(ObjectStoreError) {
      try await opened.trim(options)
      try await opened.warmUp(options)
    } catch {
      try? await database.close()
      throw error
    }
    return opened
  }

  private func openFile() async throws(StorageError) -> (Database, Memory) {
    do throws(StorageError) { return try await openDatabase() } catch {
      // SQLite and the system report a read-only file with different errors, depending on what they tried to create
      // first.
      guard error.category == .cannotOpen, DatabaseFile(path).isReadOnly else { throw error }
      throw .readOnly(path, "The file or its folder is read-only: \(error.message)")
    }
  }

  private func openDatabase() async throws(StorageError) -> (Database, Memory) {
    let file = DatabaseFile(path)
    guard !file.hasLostContent else { throw .damaged(path, "The file has lost its content") }
    switch try file.content() {
    case .absent:
      try file.makeFolder()
      try file.make()
    case .database(ObjectSchema.applicationID): break
    case .encrypted: break  // The check of its key decides.
    case .database(0): break  // Truncated before its first transaction, or another program's file: the schema decides.
    case .damaged where key == nil: throw .damaged(path, "The file's header is damaged")
    case .damaged: break  // Or only zeros, if the machine crashed while the file was created: opening decides.
    case .database, .other: throw .foreign(path)
    }
    let settings = DatabaseOptions(
      synchronous: .full, readers: 4, busyTimeoutMilliseconds: ObjectWriter.lockMilliseconds,
      writerCacheKibibytes: 16 << 10, protection: options.fileProtection, environment: environment)
    let database = try await Database.open(path, key: key, schema: ObjectSchema.schema, options: settings)
    do throws(StorageError) {
      let last = try await database.read { (connection) throws(StorageError) in
        try connection.first("SELECT last FROM request ORDER BY last DESC LIMIT 1") { (row) throws(StorageError) in
          try row.int64(0)
        }
      }
      let (memory, whyNotShared) = try await onWriterThread(of: database) { () throws(StorageError) in
        let (counter, whyNotShared) = try counter()
        let memory = Memory(
          limit: options.memory, evicts: options.disk != nil, counter: counter, lastRequest: last ?? 0,
          environment: environment)
        try memory.repair()
        return (memory, whyNotShared)
      }
      if let whyNotShared {
        LarderDiagnostic.store(.memoryNotUsed, path: path, ObjectStoreError(.open, whyNotShared)).report(
          to: onDiagnostic)
      }
      if database.isFull { LarderDiagnostic.store(.storeReadOnly, path: path, nil).report(to: onDiagnostic) }
      return (database, memory)
    } catch {
      try? await database.close()
      throw error
    }
  }

  /// The counter of changes that processes share. Nil, with the reason, if the file system has no shared memory, which
  /// is then so for every process.
  ///
  /// Every other failure is a failure to open: otherwise, other processes would not notice the changes of this one.
  private func counter() throws(StorageError) -> (SharedCounter?, whyNotShared: StorageError?) {
    do throws(StorageError) { return (try SharedCounter(path + "-changes", like: path), nil) } catch {
      guard error.category == .notSupported else { throw error }
      return (nil, error)
    }
  }

  /// Runs work on a thread that may wait for another process.
  private func onWriterThread<Value: Sendable>(
    of database: Database, _ body: @escaping @Sendable () throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<Value, StorageError>, Never>) in
      database.whereWriting { _ in continuation.resume(returning: Result { () throws(StorageError) in try body() }) }
    }
    return try result.get()
  }
}
