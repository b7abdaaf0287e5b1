// Values by key and label in one file, with the values used last in memory. It knows no network.
//
// The way of one call:
// 1. Key/         a key or label is checked; ``ObjectSelection`` says which of many values are meant.
// 2. Value/       a value becomes bytes on the caller's thread, and bytes become a value.
// 3. Memory/      a look-up ends in `MemoryTier` where the value is held and still that of the file; else on the caller's
//                 thread in the file (ObjectStore+reading).
// 4. Disk/        changes wait for `ObjectWriter`, which makes those that come together durable together, and one that comes
//                 alone on its caller's thread; `ObjectTable` knows the rows, what expires and what goes past a limit.
// 5. Transaction/ several changes as one.
// 6. Selection/   many values: in order, in pages.
// 7. Change/      observers are told of commits in their order.
// 8. Stream/      the value that is here, then the server's, asked for once by all who want it.

public import LarderCore
// Those who import this module use these modules without another import.
@_exported public import LarderStorage

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Keeps values of any `Codable` type by key, in groups by label: in memory and, before that, in a file.
///
/// What ``put(_:forKey:labels:expires:)`` and the other changes have returned from is on the disk: it survives a crash of
/// the process and of the machine. A read that begins after a change has returned, in whatever task or process, sees it.
/// Any mixture of calls may be made from any number of tasks at once; none waits for another but changes for the disk.
///
/// Keys and labels are compared by their UTF-8 bytes: `é` in one scalar and `é` in two are two keys. A key that has expired
/// is absent in every call.
///
/// Several stores and processes may have one file open at once. Each has a memory tier of its own, which notices the
/// changes of the others by a number in the file `-changes` beside the store's; it belongs to the file as `-wal` and `-shm`
/// do, and must not be removed while a store is open. A program that changes the file by SQLite itself goes unnoticed.
///
/// A value must be what its coding says: the value put is handed to readers from memory, and decoded again later.
public final class ObjectStore: Sendable {
  /// The most bytes of UTF-8 in a key or a label.
  public static let keyByteLimit = 1024
  /// The most labels of a value.
  public static let labelLimit = 256
  /// How many changed keys wait for an observer before ``ObjectChange/missed`` stands for them.
  public static let observedChangeLimit = 1000

  /// The file's path.
  public let path: String
  /// What it may take, in memory and on disk.
  public let options: ObjectStoreOptions

  let observers = Observers()
  let fetches: SharedFetches
  private let opening: ObjectOpening
  private let state: Locked<State>
  private let calls: SerialCalls

  private struct State {
    /// The file in use; after a suspension or the end the one that was.
    var opened: OpenObjects
    var use = StoreUse.open
  }

  var opened: OpenObjects { state.withLock { $0.opened } }
  var database: Database { opened.database }
  var memory: Memory { opened.memory }

  /// Opens a file; makes it where it is missing, and its folder.
  ///
  /// A damaged file is never replaced: it holds what was acknowledged. See ``checkIntegrity()``. A file on a disk that has no room
  /// for its log is opened to be read: changes throw `full` until the store is opened again where there is room.
  ///
  /// - Parameters:
  ///   - path: the file, never `:memory:`; `-wal`, `-shm`, `-changes` and `-rekey` behind its name are taken too.
  ///   - key: encrypts the file; ``changeKey(path:from:to:)`` encrypts one that is there.
  ///   - options: what it may take, in memory and on disk.
  ///   - environment: the clock for expiry and metadata, and the tasks.
  ///   - onDiagnostic: is told what went wrong where no call can throw it: counts that could not be written, a file
  ///     system without shared memory, on which nothing is held in memory.
  /// - Throws: `storage`, with the category `foreignFile` for a file of something else, `newerSchema` for one of a later
  ///   version, `corrupt` for a damaged one, `wrongKey`, `encrypted` without a key, `notEncrypted` with one, `cannotOpen`,
  ///   `readOnly`, `busy`, `full`, and `notSupported` for `:memory:`.
  public convenience init(
    path: String, key: StorageKey? = nil, options: ObjectStoreOptions = ObjectStoreOptions(),
    environment: LarderEnvironment = .system,
    onDiagnostic: (@Sendable (ObjectStoreError) -> Void)? = nil
  ) async throws(ObjectStoreError) {
    try await self.init(
      path: path, key: key, options: options, environment: environment,
      countsDelay: { work in
        environment.task(priority: .utility) {
          try? await environment.sleep(ObjectStore.countsDelay)
          work()
        }
      }, onDiagnostic: onDiagnostic)
  }

  /// - Parameter countsDelay: runs work a few seconds later.
  package init(
    path: String, key: StorageKey? = nil, options: ObjectStoreOptions, environment: LarderEnvironment,
    countsDelay: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
    onDiagnostic: (@Sendable (ObjectStoreError) -> Void)?
  ) async throws(ObjectStoreError) {
    self.path = path
    self.options = options
    fetches = SharedFetches(environment)
    calls = SerialCalls(environment)
    opening = ObjectOpening(
      path: path, key: key, options: options, environment: environment, observers: observers,
      countsDelay: countsDelay, diagnose: onDiagnostic ?? { _ in })
    state = Locked(State(opened: try await opening.open()))
  }

  /// Gives the file of a closed store another key, encrypts a plain one (`from` is nil), or the reverse (`to` is nil).
  ///
  /// After a crash at any instant the old key opens it, or the new one. Throws `storage`, with the category `inUse` where
  /// anybody has it open, `foreignFile` for a file of something else, which is left as it is, `wrongKey`, `encrypted`,
  /// `notEncrypted`, `corrupt`, `full`, `cannotOpen`.
  public static func changeKey(
    path: String, from old: StorageKey?, to new: StorageKey?
  ) async throws(ObjectStoreError) {
    do throws(StorageError) {
      try await Database.rekey(path, from: old, to: new, schema: ObjectSchema.schema)
    } catch {
      throw ObjectStoreError(.open, error)
    }
  }

  /// Counts of requests are written this long after the first that is not.
  private static let countsDelay = Duration.seconds(2)

  // MARK: Changing

  /// Puts a value under a key, in place of what is there, with these labels and this expiry alone.
  ///
  /// `Data` and `[UInt8]` are kept as they are, a ``ByteStorable`` value as it says, every other as JSON.
  ///
  /// - Parameters:
  ///   - value: the value; encoded on the caller's thread.
  ///   - key: 1 to ``keyByteLimit`` bytes of UTF-8, of any content.
  ///   - labels: up to ``labelLimit``, each like a key.
  ///   - expires: from when on the value is absent; nil keeps it.
  /// - Throws: `invalidKey`, `invalidLabel`, `tooManyLabels`, `unencodable`, `tooLarge`, `closed`, `storage`; nothing has
  ///   changed then.
  public func put<Value: Codable & Sendable>(
    _ value: Value, forKey key: String, labels: some Collection<String> = [String](), expires: Date? = nil
  ) async throws(ObjectStoreError) {
    let new = try encode(value, key, labels, expires, .put)
    try await change(.put, key: key, weight: new.encoded.bytes.count) { table in try table.put(new) }
  }

  /// Deletes the value under a key; false where there is none.
  ///
  /// Throws `invalidKey`, `closed`, `storage`.
  @discardableResult
  public func delete(forKey key: String) async throws(ObjectStoreError) -> Bool {
    let checked = try ObjectKey(key, for: .delete)
    return try await change(.delete, key: key, weight: 0) { table in try table.delete(checked) }
  }

  /// Deletes every value; answers how many there were.
  ///
  /// Throws `closed`, `storage`. The file keeps its length; its pages are used again.
  @discardableResult
  public func deleteAll() async throws(ObjectStoreError) -> Int {
    try await change(.delete) { table in try table.deleteEverything() }
  }

  /// Deletes the values that have a label; answers how many there were.
  ///
  /// Throws `invalidKey` for a label that cannot be one, `closed`, `storage`.
  @discardableResult
  public func deleteAll(label: String) async throws(ObjectStoreError) -> Int {
    let label = try ObjectKey(label, for: .delete).text
    return try await change(.delete) { table in
      try table.deleteAll("SELECT object FROM label WHERE label = ?", .text(label))
    }
  }

  /// Deletes the values that were last put before a date; answers how many there were.
  ///
  /// Throws `closed`, `storage`.
  @discardableResult
  public func deleteAll(notUpdatedSince date: Date) async throws(ObjectStoreError) -> Int {
    let moment = Moment.of(date)
    return try await change(.delete) { table in
      try table.deleteAll("SELECT id FROM object WHERE updated < ?", .integer(moment))
    }
  }

  /// A change by the writer; errors name the operation and the key.
  func change<Result: Sendable>(
    _ operation: ObjectStoreError.Operation, key: String? = nil, weight: Int = ObjectWriter.unknownBytes,
    _ work: @escaping @Sendable (ObjectTable) throws -> Result
  ) async throws(ObjectStoreError) -> Result {
    do { return try await opened.writer.change(weight: weight, work) } catch {
      throw ObjectStore.failure(error, operation, key: key)
    }
  }

  static func failure(
    _ error: any Error, _ operation: ObjectStoreError.Operation, key: String? = nil
  ) -> ObjectStoreError {
    switch error {
    case let error as ObjectStoreError: error.naming(key, operation)
    case let error as StorageError: ObjectStoreError(operation, key: key, error)
    default: ObjectStoreError(operation, key: key, .unencodable(error))
    }
  }

  /// A value on its way into the file, checked.
  func encode<Value: Codable & Sendable>(
    _ value: Value, _ key: String, _ labels: some Collection<String>, _ expires: Date?,
    _ operation: ObjectStoreError.Operation
  ) throws(ObjectStoreError) -> NewObject {
    try NewObject(value, key, labels, expires, limits: options, operation)
  }

  // MARK: Memory

  /// Lets go of the values in memory; the file keeps them, and what is asked for comes into memory again.
  ///
  /// An open store does this by itself where the system warns that memory runs short, which Apple's platforms do.
  public func trimMemory() { memory.trim() }

  // MARK: Ending

  /// Looks through the whole file for damage; throws `storage` with the category `corrupt` and the first finding.
  public func checkIntegrity() async throws(ObjectStoreError) {
    do throws(StorageError) { try await database.checkIntegrity() } catch { throw ObjectStoreError(.read, error) }
  }

  /// Gives back all that the store holds of its file, so that the system may suspend the process: nothing is open or locked
  /// when it returns. See the article "Suspension".
  ///
  /// Changes asked for before are still made, and the log is moved into the file; fetches end. Counts of requests are
  /// written, unless another process has the file's lock: those of the last seconds are lost then. Calls throw
  /// `suspended` until ``resume()``; observers wait. Two calls at once, and any mixture with ``resume()`` and ``close()``,
  /// run one after another. A store that is suspended or closed stays so. Throws `storage`; the store is suspended all the
  /// same.
  public func suspend() async throws(ObjectStoreError) {
    try await calls.run { [self] () throws(ObjectStoreError) in
      guard use(.open, becomes: .suspended) else { return }
      try await end(waits: false) { (database) throws(StorageError) in try await database.suspend() }
    }
  }

  /// Opens a suspended store again, as at first: a file that was replaced, damaged or given another key meanwhile is
  /// noticed, and so are the changes of other processes. Observers get ``ObjectChange/missed``.
  ///
  /// A store that is not suspended stays as it is. Throws what opening throws; the store stays suspended then.
  public func resume() async throws(ObjectStoreError) {
    try await calls.run { [self] () throws(ObjectStoreError) in
      guard state.withLock({ $0.use }) == .suspended else { return }
      let opened = try await opening.open()
      let former = state.withLock { state in
        state.use = .open
        return exchange(&state.opened, with: opened)
      }
      withExtendedLifetime(former) { observers.tell([.missed]) }
    }
  }

  /// Writes the counts of requests, ends observers and fetches, and closes the file, a suspended store's too; a second call
  /// does nothing.
  ///
  /// Changes asked for before are still made; calls after it throw `closed`. A store that is let go without it loses the
  /// counts of the last seconds and nothing else. Throws `storage`; the store is closed all the same.
  public func close() async throws(ObjectStoreError) {
    try await calls.run { [self] () throws(ObjectStoreError) in
      defer { observers.finish() }
      if use(.open, becomes: .closed) {
        try await end(waits: true) { (database) throws(StorageError) in try await database.close() }
      } else if use(.suspended, becomes: .closed) {
        // Nothing is open: calls throw `closed` from now on.
        do throws(StorageError) { try await database.close() } catch { throw ObjectStoreError(.close, error) }
      }
    }
  }

  private func use(_ former: StoreUse, becomes use: StoreUse) -> Bool {
    state.withLock { state in
      guard state.use == former else { return false }
      state.use = use
      return true
    }
  }

  /// Ends fetches, writes the counts, and ends the use of the file.
  ///
  /// `waits`: whether the counts wait for another process's lock.
  private func end(
    waits: Bool, _ endUse: (Database) async throws(StorageError) -> Void
  ) async throws(ObjectStoreError) {
    fetches.cancel()
    let opened = opened
    opened.memory.close()
    let flushed: (any Error)?
    do {
      try await opened.writer.flushCounts(waits: waits)
      flushed = nil
    } catch { flushed = error }
    do throws(StorageError) { try await endUse(opened.database) } catch { throw ObjectStoreError(.close, error) }
    if let flushed { throw ObjectStore.failure(flushed, .close) }
  }
}
