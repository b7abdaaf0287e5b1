import LarderStorage

/// Identifies the put that stored the value under a key. The next put, or a delete, changes the version.
struct ObjectVersion: Sendable {
  private let id: Int64
  private let version: Int64
  private let expires: Int64?

  /// The version in the file, also of an expired value; nil if there is none.
  static func read(_ key: ObjectKey, _ connection: Connection) throws(StorageError) -> ObjectVersion? {
    try connection.first("SELECT id, version, expires FROM object WHERE key = ?", .text(key.text)) {
      (row) throws(StorageError) in
      ObjectVersion(id: try row.int64(0), version: try row.int64(1), expires: try row.int64OrNil(2))
    }
  }

  /// True if the value was neither put nor deleted since version `before`. A value that was removed because it expired
  /// does not count as deleted.
  static func isUnchanged(from before: ObjectVersion?, to now: ObjectVersion?, at timestamp: Int64) -> Bool {
    switch (before, now) {
    case (nil, nil): true
    case (nil, let now?): now.hasExpired(timestamp)
    case (let before?, nil): before.hasExpired(timestamp)
    case (let before?, let now?): before.id == now.id && before.version == now.version
    }
  }

  private func hasExpired(_ timestamp: Int64) -> Bool { expires.map { $0 <= timestamp } ?? false }
}

/// A key from the start of a fetch on, and whether its value changes during the fetch.
struct WatchedKey: Sendable {
  let key: ObjectKey
  private let before: ObjectVersion?
  /// Records deletes. The row alone does not show a value that was put and deleted in the meantime, nor a delete just
  /// before the expiry date.
  private let observer: ChangeObserver

  init(_ key: ObjectKey, in store: ObjectStore) throws(ObjectStoreError) {
    self.key = key
    // The observer is added before the version is read, so that no change is missed.
    observer = store.observers.add(.key(key))
    before = try store.version(key)
  }

  /// True if the value was neither put nor deleted since the fetch began, in earlier transactions and in this one.
  ///
  /// A value that another process, or another store, has put and deleted since is not detected, because it leaves no
  /// row.
  func isUnchanged(_ table: ObjectTable) throws(StorageError) -> Bool {
    // The changes of this transaction are reported only after its commit.
    let isDeleted =
      observer.hasRecordedRemoval || table.recordedChanges.contains { $0.isRemoval && ($0.key ?? key) == key }
    guard !isDeleted else { return false }
    return ObjectVersion.isUnchanged(
      from: before, to: try ObjectVersion.read(key, table.connection), at: table.now)
  }
}

extension ObjectStore {
  /// The version of the value under a key.
  func version(_ key: ObjectKey) throws(ObjectStoreError) -> ObjectVersion? {
    do throws(StorageError) {
      return try database.readNow { (connection) throws(StorageError) in try ObjectVersion.read(key, connection) }
    } catch { throw ObjectStoreError(.stream, key: key.text, error) }
  }
}
