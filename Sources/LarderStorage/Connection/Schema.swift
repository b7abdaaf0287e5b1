/// What a database file must be, and the steps that bring it up to date.
///
/// The file identifies its application by `application_id` (bytes 68 to 71 of its header), and its version by
/// `user_version`: the number of steps that were applied. Both change in the transaction of the step.
package struct Schema: Sendable {
  /// The number that marks the files of this kind; not 0.
  package let applicationID: Int32
  /// The steps. Each brings the file from the version of its own index to the next; a step never changes once it has
  /// shipped.
  package let steps: [any SchemaStep]

  /// Creates a schema from an application id and the steps.
  package init(applicationID: Int32, steps: [any SchemaStep]) {
    self.applicationID = applicationID
    self.steps = steps
  }

  /// Brings the file up to date; throws `foreignFile` or `newerSchema` before anything is written to it.
  func apply(to connection: Connection) throws(StorageError) {
    let storedVersion = try connection.transaction(.deferred) { (connection) throws(StorageError) in
      try version(of: connection)
    }
    guard storedVersion < steps.count else { return }
    try connection.transaction(.immediate) { (connection) throws(StorageError) in
      // Another process may have applied the steps already.
      let now = try version(of: connection)
      for step in steps.dropFirst(now) { try step.run(on: connection) }
      try connection.run("PRAGMA application_id = \(applicationID)")
      try connection.run("PRAGMA user_version = \(steps.count)")
    }
  }

  /// Checks whose file it is and returns how many steps were applied. Everything is read from one state of the file, so
  /// call it in a transaction.
  func version(of connection: Connection) throws(StorageError) -> Int {
    let owner = try pragma("application_id", connection)
    let version = try pragma("user_version", connection)
    let tables = try connection.first("SELECT count(*) FROM sqlite_schema") { (row) throws(StorageError) in
      try row.int64(0)
    }
    if owner == 0 && version == 0 && tables == 0 { return 0 }
    guard owner == Int64(applicationID) else {
      throw StorageError(
        .foreignFile, message: "The database belongs to another application (id \(owner))", path: connection.file)
    }
    guard version >= 0, version <= steps.count else {
      throw StorageError(
        .newerSchema,
        message: "The file has schema version \(version), but this program supports at most \(steps.count)",
        path: connection.file)
    }
    return Int(version)
  }

  private func pragma(_ name: String, _ connection: Connection) throws(StorageError) -> Int64 {
    try connection.first("PRAGMA \(name)") { (row) throws(StorageError) in try row.int64(0) } ?? 0
  }
}

/// One step of a ``Schema``, from a version of the file to the next.
package protocol SchemaStep: Sendable {
  /// Changes the tables, inside the step's transaction.
  func run(on connection: Connection) throws(StorageError)
}
