import LarderStorage

/// Which put made the value under a key: the next one, and a delete, make it another.
struct ObjectVersion: Sendable {
  private let id: Int64
  private let version: Int64
  private let expires: Int64?

  /// The version in the file, of an expired value too; nil where there is none.
  static func find(_ key: ObjectKey, _ connection: Connection) throws(StorageError) -> ObjectVersion? {
    try connection.first("SELECT id, version, expires FROM object WHERE key = ?", .text(key.text)) {
      (row) throws(StorageError) in
      ObjectVersion(id: try row.int64(0), version: try row.int64(1), expires: try row.int64OrNil(2))
    }
  }

  /// True where nobody has put or deleted the value since it was at `before`; what went by its expiry was not deleted.
  static func stands(_ before: ObjectVersion?, _ now: ObjectVersion?, at moment: Int64) -> Bool {
    switch (before, now) {
    case (nil, nil): true
    case (nil, let now?): now.hasExpired(moment)
    case (let before?, nil): before.hasExpired(moment)
    case (let before?, let now?): before.id == now.id && before.version == now.version
    }
  }

  private func hasExpired(_ moment: Int64) -> Bool { expires.map { $0 <= moment } ?? false }
}

/// A key at the moment at which a fetch begins, and what becomes of it from then on.
struct WatchedKey: Sendable {
  let key: ObjectKey
  private let before: ObjectVersion?
  /// The row alone does not tell of a value that came and went meanwhile, nor of a delete just before the expiry.
  private let observer: ChangeObserver

  init(_ key: ObjectKey, in store: ObjectStore) throws(ObjectStoreError) {
    self.key = key
    // Watched before it is read: nothing falls between.
    observer = store.observers.add(.key(key))
    before = try store.version(key)
  }

  /// True where nobody has put or deleted the value since, in transactions before and in this one.
  ///
  /// A value that another process, or another store, has put and deleted since is not noticed: there is no row of it.
  func isUntouched(_ table: ObjectTable) throws(StorageError) -> Bool {
    // What this transaction has done so far is told after its commit.
    let isDeleted = observer.hasSeenDelete || table.told.contains { $0.isDelete && ($0.key ?? key) == key }
    guard !isDeleted else { return false }
    return ObjectVersion.stands(before, try ObjectVersion.find(key, table.connection), at: table.now)
  }
}

extension ObjectStore {
  /// The version of the value under a key.
  func version(_ key: ObjectKey) throws(ObjectStoreError) -> ObjectVersion? {
    do throws(StorageError) {
      return try database.readNow { (connection) throws(StorageError) in try ObjectVersion.find(key, connection) }
    } catch { throw ObjectStoreError(.stream, key: key.text, error) }
  }
}
