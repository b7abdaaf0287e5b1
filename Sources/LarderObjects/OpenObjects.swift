@_spi(Stores) import LarderCore
import LarderStorage

/// A store's open file and its memory tier, from opening to suspension or closing.
final class OpenObjects: Sendable {
  let database: Database
  let memory: Memory
  let writer: ObjectWriter
  private let pressure: MemoryPressure
  /// The write of counts that is scheduled: its task waits, and has the store's environment meanwhile.
  private let delayedWrite = DelayedWrite()

  init(_ database: Database, _ memory: Memory, _ opening: ObjectOpening) {
    self.database = database
    self.memory = memory
    let observers = opening.observers
    pressure = MemoryPressure { [memory] in memory.trim() }
    writer = ObjectWriter(
      database, memory: memory, observers: observers, limits: opening.options, onDiagnostic: opening.onDiagnostic)
    // Neither closure holds the store, so that it is released when its owner releases it.
    memory.setMaintenanceHandler {
      [weak writer, observers, delayedWrite, countsDelay = opening.countsDelay] maintenanceTasks in
      if maintenanceTasks.contains(.reportMissed) { observers.report([.missed]) }
      if maintenanceTasks.contains(.repair) { writer?.repair() }
      if maintenanceTasks.contains(.writeCounts) { writer?.writeCounts(scheduled: false) }
      if maintenanceTasks.contains(.scheduleCounts) {
        delayedWrite.replace(countsDelay { [weak writer] in writer?.writeCounts(scheduled: true) })
      }
    }
  }

  deinit { delayedWrite.cancel() }

  /// Ends the task that would write the counts later. Called after the counts have been written.
  func cancelDelayedWrite() { delayedWrite.cancel() }

  /// Reduces the file to its limits, some values a transaction.
  func trim(_ options: ObjectStoreOptions) async throws(ObjectStoreError) {
    guard options.disk != nil, !database.isReadOnly else { return }
    do {
      try await writer.change { table in try table.addMissingRequestRows() }
      while try await writer.change({ table in try table.trim(256) }) {}
    } catch { throw ObjectStoreError(.open, below: error) }
  }

  /// Loads the most requested values into memory.
  func warmUp(_ options: ObjectStoreOptions) async throws(ObjectStoreError) {
    let limit = options.memory
    let count = min(options.warmUpCount, limit.countLimit)
    guard count > 0, memory.fits(0) else { return }
    let token = memory.token
    let loaded: [(key: ObjectKey, object: StoredObject)]
    do throws(StorageError) {
      loaded = try await database.read { [now = memory.now()] (connection) throws(StorageError) in
        var loaded: [(key: ObjectKey, object: StoredObject)] = []
        var remainingBytes = limit.byteLimit
        try connection.forEachRow(
          """
          SELECT object.key, \(StoredObject.columns) FROM request CROSS JOIN object ON object.id = request.object
          WHERE times > 0 AND size <= ? AND (expires IS NULL OR expires > ?) ORDER BY times DESC, last DESC LIMIT ?
          """, [.integer(Int64(limit.byteLimit / 4)), .integer(now), .integer(Int64(count))]
        ) { (row) throws(StorageError) in
          // A damaged row is skipped here; the read that needs it reports the damage.
          guard let key = (try? row.text(0)).map(ObjectKey.init(stored:)),
            let object = try? StoredObject(row, key: key.text, from: 1)
          else { return true }
          remainingBytes -= Memory.cost(key, object.encoded)
          guard remainingBytes >= 0 else { return false }
          if !object.isDamaged { loaded.append((key, object)) }
          return true
        }
        return loaded
      }
    } catch { throw ObjectStoreError(.open, error) }
    // The most requested value is added last, so that it is evicted last.
    for (key, object) in loaded.reversed() {
      let cost = Memory.cost(key, object.encoded)
      memory.warm(
        key, MemoryEntry(id: object.id, expires: object.expires, cost: cost, content: .encoded(object)), token: token)
    }
  }
}

/// Cancels work that is scheduled.
private final class DelayedWrite: Sendable {
  private let cancellation = Locked<(@Sendable () -> Void)?>(nil)

  /// - Parameter new: cancels the work that was scheduled last.
  func replace(_ new: @escaping @Sendable () -> Void) { _ = cancellation.withLock { exchange(&$0, with: new) } }

  func cancel() { cancellation.withLock { $0.take() }?() }
}
