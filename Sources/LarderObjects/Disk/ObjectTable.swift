import LarderStorage

/// The store's tables inside one transaction: applies changes, and records their effects on memory and observers.
//
// The writer creates it for one transaction and uses it on one thread only. It is never Sendable.
final class ObjectTable {
  let connection: Connection
  /// The timestamp of the transaction: a value that has expired by then is absent throughout the transaction.
  let now: Int64
  let limits: ObjectStoreOptions
  let memory: Memory
  /// True if there are observers.
  let isObserved: Bool

  /// By how much the number of values and their bytes have changed.
  var objects: Int64 = 0
  var bytes: Int64 = 0
  /// The usage that the file stored before these changes.
  var usageBefore: ObjectUsage?
  /// True if the newest row does not store the current usage.
  var isUsageStale = false
  var hasLatestRequestNumber = false
  /// The first failure of the file. The transaction ends with it, even if its body catches it.
  var failure: StorageError?

  /// What memory may hold after the commit, by key; nil for a value that memory must not hold.
  private var changedEntries: [ObjectKey: MemoryEntry?] = [:]
  private(set) var changesEverything = false
  /// The changes to report to observers, in order.
  var recordedChanges: [RecordedChange] = []
  /// Counts taken out of memory. They are returned to memory if the transaction fails.
  var takenCounts: [(id: Int64, requests: RequestCounts.Requests)] = []

  init(_ connection: Connection, now: Int64, limits: ObjectStoreOptions, memory: Memory, isObserved: Bool) {
    self.connection = connection
    self.now = now
    self.limits = limits
    self.memory = memory
    self.isObserved = isObserved
  }

  /// Runs one change of a transaction. After a failed change, no other change runs.
  ///
  /// A failed change may have been applied in part, and SQLite may have rolled back all changes before it.
  func attempt<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    if let failure { throw failure }
    do throws(StorageError) { return try body() } catch {
      failure = error
      throw error
    }
  }

  // MARK: Putting

  /// Puts a value, and makes room for it if the file has limits.
  func put(_ new: NewObject) throws(StorageError) {
    let size = Int64(new.encoded.bytes.count)
    let labels = new.labels.bytes
    let id: Int64
    if let added = try insert(new, size, labels) {
      id = added
      try add(new.labels, new.key, id)
      record(.put, new.key, new.labels)
    } else {
      id = try replace(new, size, labels)
    }
    recordEntry(new, id)
    if limits.disk != nil { try makeRoom(keeping: id) }
  }

  /// Inserts a new row and returns its id. Returns nil if the key has a row.
  ///
  /// A new row is the newest one, so it stores the usage.
  private func insert(_ new: NewObject, _ size: Int64, _ labels: [UInt8]?) throws(StorageError) -> Int64? {
    var usage = try usage()
    let id = usage.next
    usage.add(1, size)
    usage.next = id &+ 1
    let storedUsage = ObjectUsage.isStoredInRow(ofSize: size) ? usage : nil
    try connection.run(
      """
      INSERT INTO object(
        id, key, version, created, updated, expires, coding, checksum, size, objects, bytes, next, labels, value)
      VALUES(?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(key) DO NOTHING
      """, .integer(id), .text(new.key.text), .integer(now), .integer(now), .integer(new.expires),
      .integer(Int64(new.encoded.coding.rawValue)), .integer(Checksum.of(new.encoded.bytes)), .integer(size),
      .integer(storedUsage?.objects), .integer(storedUsage?.bytes), .integer(storedUsage?.next), .blob(labels),
      .blob(new.encoded.bytes))
    guard connection.changes > 0 else { return nil }
    usageBefore?.next = usage.next
    objects &+= 1
    bytes &+= size
    isUsageStale = storedUsage == nil
    return id
  }

  /// Replaces an existing row. A row that has expired was absent: nothing of it is kept.
  private func replace(_ new: NewObject, _ size: Int64, _ labels: [UInt8]?) throws(StorageError) -> Int64 {
    let old = try connection.first("SELECT id, size, expires, labels FROM object WHERE key = ?", .text(new.key.text)) {
      (row) throws(StorageError) in try OldRow(row)
    }
    guard let old else { throw .damaged(connection.file ?? "", "A key is in the index of keys but not in the table") }
    let hasExpired = old.expires.map { $0 <= now } ?? false
    try connection.run(
      """
      UPDATE object SET version = version + 1, updated = ?, expires = ?, coding = ?, checksum = ?, size = ?, labels = ?, value = ?
      WHERE id = ?
      """, .integer(now), .integer(new.expires), .integer(Int64(new.encoded.coding.rawValue)),
      .integer(Checksum.of(new.encoded.bytes)), .integer(size), .blob(labels), .blob(new.encoded.bytes),
      .integer(old.id))
    try updateUsageStorage(old, size)
    if hasExpired {
      try connection.run("UPDATE object SET created = ? WHERE id = ?", .integer(now), .integer(old.id))
      try forgetRequests(new.key, old.id)
    }
    addUsage(objects: 0, bytes: size &- old.size)
    if old.labels != new.labels {
      try remove(old.labels, new.key)
      try add(new.labels, new.key, old.id)
    }
    record(.put, new.key, new.labels, before: old.labels)
    return old.id
  }

  private func add(_ labels: LabelSet, _ key: ObjectKey, _ id: Int64) throws(StorageError) {
    for label in labels.labels {
      try connection.run(
        "INSERT OR REPLACE INTO label VALUES(?, ?, ?)", .text(label.text), .text(key.text), .integer(id))
    }
  }

  private func remove(_ labels: LabelSet, _ key: ObjectKey) throws(StorageError) {
    for label in labels.labels {
      try connection.run("DELETE FROM label WHERE label = ? AND key = ?", .text(label.text), .text(key.text))
    }
  }

  private func recordEntry(_ new: NewObject, _ id: Int64) {
    let cost = Memory.cost(new.key, new.encoded)
    guard memory.fits(cost) else { return recordEntry(new.key, nil) }
    recordEntry(new.key, MemoryEntry(id: id, expires: new.expires, cost: cost, content: .decoded(new.value)))
  }

  /// Records what memory may hold of one key. Beyond a share of the memory's contents, everything is read again
  /// instead, which costs less than recording each key.
  private func recordEntry(_ key: ObjectKey, _ entry: MemoryEntry?) {
    guard !changesEverything else { return }
    changedEntries.updateValue(entry, forKey: key)
    if changedEntries.count > max(1000, limits.memory.countLimit / 4) { recordEverythingChanged() }
  }

  private func recordEverythingChanged() {
    changedEntries = [:]
    changesEverything = true
  }

  // MARK: Deleting

  /// The columns that are needed of a row that will be deleted.
  struct OldRow {
    let id: Int64
    let size: Int64
    let expires: Int64?
    let labels: LabelSet

    /// Reads `id, size, expires, labels`.
    init(_ row: borrowing Row) throws(StorageError) {
      id = try row.int64(0)
      size = try row.int64(1)
      expires = try row.int64OrNil(2)
      labels = LabelSet(stored: row.isNull(3) ? nil : try row.bytes(3))
    }
  }

  /// Deletes a value. Returns false if there is none, or an expired one, which is deleted all the same.
  func delete(_ key: ObjectKey, _ kind: RecordedChange.Kind = .removed) throws(StorageError) -> Bool {
    try readUsage()
    let old = try connection.first(
      "DELETE FROM object WHERE key = ? RETURNING id, size, expires, labels", .text(key.text)
    ) { (row) throws(StorageError) in try OldRow(row) }
    return try old.map { (old) throws(StorageError) in try finishDeletion(key, old, kind) } ?? false
  }

  /// Deletes a value by its row's id, because the key of a damaged row may not be text. Returns false if there is none,
  /// or an expired one.
  func delete(id: Int64, _ kind: RecordedChange.Kind = .removed) throws(StorageError) -> Bool {
    try readUsage()
    let deleted = try connection.first(
      "DELETE FROM object WHERE id = ? RETURNING id, size, expires, labels, key", .integer(id)
    ) { (row) throws(StorageError) in (try OldRow(row), ObjectKey(stored: try row.text(4))) }
    guard let (old, key) = deleted else { return false }
    return try finishDeletion(key, old, kind)
  }

  /// Deletes what belongs to a deleted row, and records the change.
  private func finishDeletion(_ key: ObjectKey, _ old: OldRow, _ kind: RecordedChange.Kind) throws(StorageError) -> Bool
  {
    addUsage(objects: -1, bytes: 0 &- old.size)
    try remove(old.labels, key)
    if old.labels.isDamaged || key.text.unicodeScalars.contains("\u{FFFD}") {
      // The labels are unknown, so their rows are searched in the whole table.
      try connection.run("DELETE FROM label WHERE object = ?", .integer(old.id))
    }
    try forgetRequests(key, old.id)
    recordEntry(key, nil)
    let hasExpired = old.expires.map { $0 <= now } ?? false
    record(hasExpired ? .expired : kind, key, old.labels)
    return !hasExpired
  }

  private func forgetRequests(_ key: ObjectKey, _ id: Int64) throws(StorageError) {
    let requests = memory.dropPendingRequests(key, id)
    if requests.times > 0 { takenCounts.append((id, requests)) }
    try connection.run("DELETE FROM request WHERE object = ?", .integer(id))
  }

  /// Deletes the values whose ids a query returns. Returns how many were not expired.
  func deleteAll(_ sql: String, _ values: SQLValue...) throws(StorageError) -> Int {
    var ids: [Int64] = []
    try connection.forEachRow(sql, values) { (row) throws(StorageError) in
      ids.append(try row.int64(0))
      return true
    }
    var count = 0
    for id in ids where try delete(id: id) { count += 1 }
    return count
  }

  /// Deletes every value. Returns how many were not expired.
  func deleteEverything() throws(StorageError) -> Int {
    let before = try usage()
    let expired = try connection.first(ObjectTable.expiredUsage, .integer(now)) { (row) throws(StorageError) in
      try row.int64(0)
    }
    if isObserved { try recordDeletionOfAll() }
    for table in ["object", "label", "request"] { try connection.run("DELETE FROM \(table)") }
    addUsage(objects: 0 &- before.objects, bytes: 0 &- before.bytes)
    isUsageStale = true
    recordEverythingChanged()
    return Int(clamping: before.objects &- (expired ?? 0))
  }

  /// The maximum number of changes that are reported one by one when everything is deleted.
  private static let recordedDeletionLimit = 1000

  private func recordDeletionOfAll() throws(StorageError) {
    var deletions: [RecordedChange] = []
    try connection.forEachRow(
      "SELECT key, labels FROM object LIMIT ?", [.integer(Int64(ObjectTable.recordedDeletionLimit + 1))]
    ) {
      (row) throws(StorageError) in
      deletions.append(
        RecordedChange(
          kind: .removed, key: ObjectKey(stored: try row.text(0)),
          labels: LabelSet(stored: row.isNull(1) ? nil : try row.bytes(1)).labels))
      return true
    }
    if deletions.count > ObjectTable.recordedDeletionLimit { deletions = [.cleared] }
    recordedChanges += deletions
  }

  private func record(_ kind: RecordedChange.Kind, _ key: ObjectKey, _ labels: LabelSet, before: LabelSet = .none) {
    guard isObserved else { return }
    let all =
      before.labels.isEmpty ? labels.labels : labels.labels + before.labels.filter { !labels.labels.contains($0) }
    recordedChanges.append(RecordedChange(kind: kind, key: key, labels: all))
  }

  /// What the commit is about to change in memory; nil if nothing.
  var changes: MemoryTier.Changes? {
    if changesEverything { return .everything }
    return changedEntries.isEmpty ? nil : .keys(changedEntries)
  }
}

extension Memory {
  /// The cost of a value in memory, in bytes.
  static func cost(_ key: ObjectKey, _ encoded: EncodedObject) -> Int { key.text.utf8.count + encoded.bytes.count }
}
