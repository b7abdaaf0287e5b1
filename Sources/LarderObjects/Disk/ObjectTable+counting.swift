import LarderStorage

// The counts that a transaction maintains besides its own changes: requests, and the number of values.
extension ObjectTable {
  /// Continues the request numbers after the latest one that any process has written.
  func adoptLatestRequestNumber() throws(StorageError) {
    guard !hasLatestRequestNumber else { return }
    hasLatestRequestNumber = true
    let latest = try connection.first("SELECT last FROM request ORDER BY last DESC LIMIT 1") {
      (row) throws(StorageError) in try row.int64(0)
    }
    if let latest { memory.raiseRequestNumber(to: latest) }
  }

  /// Deletes up to `limit` expired values, in addition to the transaction's own changes.
  func purgeAsMaintenance(_ limit: Int, _ report: (any Error) -> Void) {
    var ids: [Int64] = []
    runMaintenance(report) { () throws(StorageError) in ids = try expired(limit) }
    guard !ids.isEmpty else { return }
    runMaintenanceInSavepoint(report) { () throws(StorageError) in try delete(ids) }
  }

  /// Runs maintenance that changes the file. If only the maintenance fails, it is rolled back.
  private func runMaintenanceInSavepoint(_ report: (any Error) -> Void, _ body: () throws(StorageError) -> Void) {
    runMaintenance(report) { () throws(StorageError) in
      try connection.savepoint { (_) throws(StorageError) in try body() }
    }
  }

  /// Runs maintenance that the caller did not ask for. If only the maintenance fails, the error is reported and the
  /// transaction continues.
  private func runMaintenance(_ report: (any Error) -> Void, _ body: () throws(StorageError) -> Void) {
    guard failure == nil else { return }
    let before = (objects, bytes, recordedChanges.count, takenCounts.count)
    do throws(StorageError) { try body() } catch {
      guard connection.isInTransaction else {
        failure = error
        return
      }
      (objects, bytes) = (before.0, before.1)
      recordedChanges.removeLast(recordedChanges.count - before.2)
      memory.returnCounts(Array(takenCounts[before.3...]))
      takenCounts.removeLast(takenCounts.count - before.3)
      report(error)
    }
  }

  /// Removes the pending request counts of a value from memory and returns them.
  func takePendingRequests(_ key: ObjectKey, _ id: Int64) -> RequestCounts.Requests {
    let requests = memory.takePendingRequests(key, id)
    if requests.times > 0 { takenCounts.append((id, requests)) }
    return requests
  }

  /// Takes up to `limit` counts out of memory and writes them. Returns how many.
  func writeCounts(_ limit: Int) throws(StorageError) -> Int {
    let counts = memory.takeCounts(limit)
    guard !counts.isEmpty else { return 0 }
    takenCounts += counts
    try adoptLatestRequestNumber()
    try write(counts)
    return counts.count
  }

  // MARK: The number of values

  static let expiredUsage = "SELECT count(*), coalesce(sum(size), 0) FROM object WHERE expires <= ?"

  /// Records by how much the number of values and their bytes change.
  func addUsage(objects: Int64, bytes: Int64) {
    self.objects &+= objects
    self.bytes &+= bytes
    if objects != 0 || bytes != 0 { isUsageStale = true }
  }

  /// Reads the stored usage before the first change, because that change may delete the row that stores it.
  @discardableResult
  func readUsage() throws(StorageError) -> ObjectUsage {
    if let usageBefore { return usageBefore }
    guard let stored = try ObjectUsage.read(connection) else {
      throw .damaged(connection.file ?? "", "The number of values is missing")
    }
    usageBefore = stored
    return stored
  }

  /// The number of values and the sum of their bytes, with the changes so far, and the id of the next new row.
  func usage() throws(StorageError) -> ObjectUsage {
    var usage = try readUsage()
    usage.add(objects, bytes)
    return usage
  }

  /// Updates whether a row stores the usage: a row that became too long no longer does, and one that is short enough
  /// again may.
  func updateUsageStorage(_ old: OldRow, _ size: Int64) throws(StorageError) {
    let storesUsage = ObjectUsage.isStoredInRow(ofSize: size)
    guard storesUsage != ObjectUsage.isStoredInRow(ofSize: old.size) else { return }
    try readUsage()
    isUsageStale = true
    // Any numbers will do: the numbers of the newest row are written last.
    try connection.run(
      "UPDATE object SET objects = ?1, bytes = ?1, next = ?1 WHERE id = ?2", .integer(storesUsage ? 0 : nil),
      .integer(old.id))
  }

  /// Writes what all changes of the transaction share. Called once, at the end.
  func finish() throws(StorageError) {
    if let failure { throw failure }
    guard isUsageStale else { return }
    try usage().write(connection)
  }
}
