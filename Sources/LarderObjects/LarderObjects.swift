// Values by key and label in one file, with the most recently used values in memory. This module knows no network.
//
// How a call is processed:
// 1. Key/         checks a key or label; ``ObjectSelection`` selects several values.
// 2. Value/       encodes a value to bytes on the caller's thread, and decodes bytes to a value.
// 3. Memory/      a lookup ends in `MemoryTier` if the value is held there and is still the file's; otherwise it reads
//                 the file on the caller's thread (ObjectStore+reading).
// 4. Disk/        `ObjectWriter` applies changes. Changes that arrive together share a commit; a single change runs on
//                 its caller's thread. `ObjectTable` handles the rows, the expiry and the limits.
// 5. Transaction/ applies several changes as one.
// 6. Selection/   reads many values, in order and in pages.
// 7. Change/      notifies observers of commits, in their order.
// 8. Stream/      delivers the stored value, then the server's; all callers of a key share one fetch.

@_spi(Stores) public import LarderCore
// Code that imports this module can use these modules without another import.
@_exported public import LarderStorage

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Stores values of any `Codable` type by key, grouped by label, in a file with a memory tier before it.
///
/// When ``put(_:forKey:labels:expires:)`` or another change returns, the change is on disk: it survives a crash of the
/// process and of the machine. A read that begins after a change has returned sees the change, in any task and any
/// process. You can mix calls freely from any number of tasks at once. Only changes wait for one another, because they
/// wait for the disk.
///
/// Keys and labels are compared by their UTF-8 bytes: `é` as one scalar and `é` as two scalars are different keys. A
/// key that has expired is absent in every call.
///
/// Several stores and processes can have one file open at once. Each store has a memory tier of its own, which detects
/// changes by other stores through a number in the file `-changes` beside the store's file. This file belongs to the
/// store, as `-wal` and `-shm` do, and must not be removed while a store is open. Changes by a program that uses SQLite
/// directly are not detected.
///
/// A value must survive encoding and decoding unchanged: readers first get the original value from memory, and later a
/// decoded one.
public final class ObjectStore: Sendable {
  /// The maximum number of UTF-8 bytes in a key or a label.
  public static let keyByteLimit = ObjectKey.byteLimit
  /// The maximum number of labels of a value.
  public static let labelLimit = LabelSet.limit
  /// How many changed keys can be pending for an observer before ``ObjectChange/missed`` replaces them.
  public static let observedChangeLimit = Observers.bufferLimit

  /// The file's path.
  public let path: String
  /// The limits in memory and on disk.
  public let options: ObjectStoreOptions

  let observers = Observers()
  let fetches: SharedFetches
  private let opening: ObjectOpening
  private let state: Locked<State>
  private let calls: SerialCalls

  private struct State {
    /// The open file. After a suspension or closing, the file that was open last.
    var opened: OpenObjects
    var use = StoreUse.open
  }

  var opened: OpenObjects { state.withLock { $0.opened } }
  var database: Database { opened.database }
  var memory: Memory { opened.memory }

  /// Opens a file. Creates the file and its folder if they do not exist.
  ///
  /// A damaged file is never replaced, because it holds acknowledged data; see ``checkIntegrity()``. If the disk has no
  /// room for the file's log, the file is opened for reading: changes throw `full` until the store is opened again with
  /// enough room.
  ///
  /// - Parameters:
  ///   - path: the file, never `:memory:`. The store also uses the files with `-wal`, `-shm`, `-changes` and `-rekey`
  ///     appended to this name. Nil means `APPLICATION/objects/store.larder-objects` in the platform's folder for data:
  ///     `Library/Application Support` on Apple platforms, elsewhere `$XDG_DATA_HOME` or `~/.local/share`.
  ///   - encryptionKey: encrypts the file. ``changeEncryptionKey(path:from:to:)`` encrypts an existing file.
  ///   - options: the limits in memory and on disk.
  ///   - environment: the clock for expiry and metadata, and the tasks.
  ///   - onDiagnostic: called with what no call can throw: counts that could not be written, or a file system without
  ///     shared memory, on which nothing is held in memory. Called on any thread, and never under a lock.
  /// - Throws: `storage`, with the category `foreignFile` for another program's file, `newerSchema` for a file of a
  ///   later version, `corrupt` for a damaged one, `wrongKey`, `encrypted` without a key, `notEncrypted` with one,
  ///   `cannotOpen`, `readOnly`, `busy`, `full`, `noDefaultLocation`, and `notSupported` for `:memory:`.
  public convenience init(
    path: String? = nil, encryptionKey: StorageKey? = nil, options: ObjectStoreOptions = ObjectStoreOptions(),
    environment: LarderEnvironment = .system,
    onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)? = nil
  ) async throws(ObjectStoreError) {
    try await self.init(
      path: path, encryptionKey: encryptionKey, options: options, environment: environment,
      countsDelay: { work in
        let task = environment.task(priority: .utility) {
          guard (try? await environment.sleep(ObjectStore.countsDelay)) != nil else { return }
          work()
        }
        return { task.cancel() }
      }, onDiagnostic: onDiagnostic)
  }

  /// - Parameter countsDelay: runs work a few seconds later, unless the function that it returns was called before.
  package init(
    path: String?, encryptionKey: StorageKey? = nil, options: ObjectStoreOptions, environment: LarderEnvironment,
    countsDelay: @escaping @Sendable (@escaping @Sendable () -> Void) -> @Sendable () -> Void,
    onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)?
  ) async throws(ObjectStoreError) {
    let path = try Self.path(path, in: environment.folders)
    self.path = path
    self.options = options
    fetches = SharedFetches(environment)
    calls = SerialCalls(environment)
    opening = ObjectOpening(
      path: path, key: encryptionKey, options: options, environment: environment, observers: observers,
      countsDelay: countsDelay, onDiagnostic: onDiagnostic)
    state = Locked(State(opened: try await opening.open()))
  }

  /// Changes the key of a closed store's file, encrypts a plain file (`from` is nil), or decrypts one (`to` is nil).
  ///
  /// After a crash at any instant, either the old key or the new one opens the file. Throws `storage`, with the
  /// category `inUse` if any process has the file open, `foreignFile` for another program's file, which is not changed,
  /// `wrongKey`, `encrypted`, `notEncrypted`, `corrupt`, `full`, `cannotOpen`.
  ///
  /// - Parameters:
  ///   - path: the file; nil means the one of a store without a path.
  ///   - old: the current key; nil for a plain file.
  ///   - new: the new key; nil decrypts the file.
  public static func changeEncryptionKey(
    path: String? = nil, from old: StorageKey?, to new: StorageKey?
  ) async throws(ObjectStoreError) {
    let path = try Self.path(path, in: .current)
    do throws(StorageError) {
      try await Database.rekey(path, from: old, to: new, schema: ObjectSchema.schema)
    } catch {
      throw ObjectStoreError(.open, error)
    }
  }

  /// The path of a store: the given one, or the default location.
  private static func path(_ path: String?, in folders: ApplicationFolders) throws(ObjectStoreError) -> String {
    if let path { return path }
    do throws(StorageError) { return try DefaultLocation.objectStore.path(in: folders) } catch {
      throw ObjectStoreError(.open, error)
    }
  }

  /// How long after the first unwritten count the counts are written.
  private static let countsDelay = Duration.seconds(2)

  // MARK: Changing

  /// Puts a value under a key. It replaces the old value together with its labels and its expiry date.
  ///
  /// `Data` and `[UInt8]` are stored as they are, a ``ByteStorable`` value as its own bytes, and every other value as
  /// JSON.
  ///
  /// - Parameters:
  ///   - value: the value; encoded on the caller's thread.
  ///   - key: 1 to ``keyByteLimit`` bytes of UTF-8, with any content.
  ///   - labels: up to ``labelLimit`` labels, each with the same limits as a key.
  ///   - expires: the date from which the value is absent; nil if it does not expire.
  /// - Throws: `invalidKey`, `invalidLabel`, `tooManyLabels`, `unencodable`, `tooLarge`, `closed`, `storage`. If it
  ///   throws, nothing has changed.
  public func put<Value: Codable & Sendable>(
    _ value: Value, forKey key: String, labels: some Collection<String> = [String](), expires: Date? = nil
  ) async throws(ObjectStoreError) {
    let new = try encode(value, forKey: key, labels: labels, expires: expires, for: .put)
    try await change(.put, key: key, weight: new.encoded.bytes.count) { table in try table.put(new) }
  }

  /// Removes the value under a key. Returns false if there is none.
  ///
  /// Throws `invalidKey`, `closed`, `storage`.
  @discardableResult
  public func removeValue(forKey key: String) async throws(ObjectStoreError) -> Bool {
    let checked = try ObjectKey(key, for: .remove)
    return try await change(.remove, key: key, weight: 0) { table in try table.delete(checked) }
  }

  /// Removes every value. Returns how many there were.
  ///
  /// Throws `closed`, `storage`. The file keeps its length; its pages are reused.
  @discardableResult
  public func removeAll() async throws(ObjectStoreError) -> Int {
    try await change(.remove) { table in try table.deleteEverything() }
  }

  /// Removes the values that have a label. Returns how many there were.
  ///
  /// Throws `invalidKey` for an invalid label, `closed`, `storage`.
  @discardableResult
  public func removeAll(label: String) async throws(ObjectStoreError) -> Int {
    let label = try ObjectKey(label, for: .remove).text
    return try await change(.remove) { table in
      try table.deleteAll("SELECT object FROM label WHERE label = ?", .text(label))
    }
  }

  /// Removes the values that were last put before a date. Returns how many there were.
  ///
  /// Throws `closed`, `storage`.
  @discardableResult
  public func removeAll(notUpdatedSince date: Date) async throws(ObjectStoreError) -> Int {
    let timestamp = Timestamp.of(date)
    return try await change(.remove) { table in
      try table.deleteAll("SELECT id FROM object WHERE updated < ?", .integer(timestamp))
    }
  }

  /// Runs a change through the writer. Errors contain the operation and the key.
  func change<Result: Sendable>(
    _ operation: ObjectStoreError.Operation, key: String? = nil, weight: Int = ObjectWriter.unknownBytes,
    _ work: @escaping @Sendable (ObjectTable) throws -> Result
  ) async throws(ObjectStoreError) -> Result {
    do { return try await opened.writer.change(weight: weight, work) } catch {
      throw ObjectStoreError(operation, key: key, below: error)
    }
  }

  /// Checks and encodes a value for the file.
  func encode<Value: Codable & Sendable>(
    _ value: Value, forKey key: String, labels: some Collection<String>, expires: Date?,
    for operation: ObjectStoreError.Operation
  ) throws(ObjectStoreError) -> NewObject {
    try NewObject(value, forKey: key, labels: labels, expires: expires, limits: options, for: operation)
  }

  // MARK: Memory

  /// Releases the values in memory. The file keeps them, and a value is loaded into memory again when it is requested.
  ///
  /// An open store does this automatically when the system warns that memory is low, which Apple's platforms do.
  public func trimMemory() { memory.trim() }

  // MARK: Ending

  /// Checks the whole file for damage. Throws `storage` with the category `corrupt` and the first problem.
  public func checkIntegrity() async throws(ObjectStoreError) {
    do throws(StorageError) { try await database.checkIntegrity() } catch { throw ObjectStoreError(.read, error) }
  }

  /// Releases everything that the store holds of its file, so that the system may suspend the process: nothing is open
  /// or locked when this returns. See the article "Suspension".
  ///
  /// Changes requested before are still applied, and the log is moved into the file. Fetches end. Counts of requests
  /// are written, unless another process holds the file's lock: then those of the last seconds are lost. Calls throw
  /// `suspended` until ``resume()``; observers wait. Concurrent calls of this function, ``resume()`` and ``close()``
  /// run one after another. A suspended or closed store stays as it is. Throws `storage`; the store is suspended
  /// anyway.
  public func suspend() async throws(ObjectStoreError) {
    try await calls.run { [self] () throws(ObjectStoreError) in
      guard use(.open, becomes: .suspended) else { return }
      try await end(waits: false) { (database) throws(StorageError) in try await database.suspend() }
    }
  }

  /// Opens a suspended store again, with all checks of the first opening: it detects a file that was replaced, damaged
  /// or encrypted with another key in the meantime, and the changes of other processes. Observers get
  /// ``ObjectChange/missed``.
  ///
  /// A store that is not suspended stays as it is. Throws the errors of opening; the store stays suspended then.
  public func resume() async throws(ObjectStoreError) {
    try await calls.run { [self] () throws(ObjectStoreError) in
      guard state.withLock({ $0.use }) == .suspended else { return }
      let opened = try await opening.open()
      let former = state.withLock { state in
        state.use = .open
        return exchange(&state.opened, with: opened)
      }
      withExtendedLifetime(former) { observers.report([.missed]) }
    }
  }

  /// Writes the counts of requests, ends observers and fetches, and closes the file, also if the store is suspended. A
  /// second call does nothing.
  ///
  /// Changes requested before are still applied; later calls throw `closed`. A store that is released without this call
  /// loses the counts of the last seconds and nothing else. Throws `storage`; the store is closed all the same.
  public func close() async throws(ObjectStoreError) {
    try await calls.run { [self] () throws(ObjectStoreError) in
      defer { observers.finish() }
      if use(.open, becomes: .closed) {
        try await end(waits: true) { (database) throws(StorageError) in try await database.close() }
      } else if use(.suspended, becomes: .closed) {
        // No file is open: calls throw `closed` from now on.
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
    opened.cancelDelayedWrite()
    do throws(StorageError) { try await endUse(opened.database) } catch { throw ObjectStoreError(.close, error) }
    if let flushed { throw ObjectStoreError(.close, below: flushed) }
  }
}
