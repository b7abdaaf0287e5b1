@_spi(Stores) import LarderCore
import LarderStorage

/// Notifies waiting tasks that the store has changed. Tasks of this process are notified at once, those of other
/// processes within a fifth of a second. It takes up to two seconds if the writing process ended before it notified
/// others, or if the file system does not support shared memory.
final class ChangeFeed: Sendable {
  /// A counter that grows with every change of any process. Nil if the file system does not support shared memory, or
  /// the file cannot be written.
  private let counter: SharedCounter?
  private let environment: LarderEnvironment
  private let state = Locked(State())
  /// Serializes the threads that take the counter's lock.
  private let counting = Exclusive(())

  private struct State {
    var last: Int64 = 0
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var nextWaiter = 0
    var isEnded = false
  }

  /// `isShared`: whether other processes are notified of changes.
  init(
    _ path: String, isShared: Bool = true, _ environment: LarderEnvironment = .system
  ) throws(StorageError) {
    self.environment = environment
    guard isShared else {
      counter = nil
      return
    }
    do throws(StorageError) { counter = try SharedCounter(path + "-changes", like: path) } catch {
      guard error.category == .notSupported else { throw error }
      counter = nil
    }
  }

  /// Whether other processes are notified of changes.
  var isShared: Bool { counter != nil }

  /// The mark to pass to ``wait(after:)``.
  var mark: UInt64 { counter?.number ?? UInt64(clamping: state.withLock { $0.last }) }

  /// Announces the last change, by its number in the log. A number that was already announced is ignored.
  func announce(_ last: Int64) {
    let waiters = state.withLock { state in
      guard last > state.last else { return [CheckedContinuation<Void, Never>]() }
      state.last = last
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    counting.run { _ in
      // The lock is not taken after the file has been closed.
      guard !isEnded, let counter, (try? counter.lock(milliseconds: 100)) != nil else { return }
      counter.set(counter.number &+ 2)
      counter.unlock()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Wakes all waiting tasks and waits until the counter's lock is released. After that, no task waits.
  func end() {
    let waiters = state.withLock { state in
      state.isEnded = true
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    counting.run { _ in }
    for waiter in waiters { waiter.resume() }
  }

  var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Waits until something has changed since a mark was taken, the store is closed, or the task is cancelled. It waits
  /// at most two seconds, because not every change can be announced.
  func wait(after mark: UInt64) async {
    guard self.mark == mark, !isEnded else { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.waitForAnnouncement(mark) }
      group.addTask {
        for _ in 0..<10 where self.mark == mark && !self.isEnded {
          guard (try? await self.environment.sleep(.milliseconds(200))) != nil else { return }
        }
      }
      await group.next()
      group.cancelAll()
    }
  }

  private func waitForAnnouncement(_ mark: UInt64) async {
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
        let isRegistered = state.withLock { state in
          guard !state.isEnded, !Task.isCancelled else { return false }
          state.waiters[number] = waiter
          return true
        }
        // A change was announced between the check and the wait.
        if !isRegistered || self.mark != mark { wake(number, isRegistered ? nil : waiter) }
      }
    } onCancel: {
      wake(number, nil)
    }
  }

  private func wake(_ number: Int, _ other: CheckedContinuation<Void, Never>?) {
    let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
    (waiter ?? other)?.resume()
  }
}

/// What has changed in a store since a position in its log of changes.
struct ReplicaChanges: Sendable, Hashable {
  /// The number of the last change.
  let last: Int64
  /// The numbers of the entity tables whose rows or links have changed; nil if all may have changed.
  let tables: Set<Int>?
}

extension Connection {
  /// Records in the log which entity tables change in this transaction; nil for all.
  func logChange(_ tables: Set<Int>?) throws(StorageError) {
    if let tables, tables.isEmpty { return }
    let text = tables.map { $0.sorted().map(String.init).joined(separator: ",") } ?? "*"
    try run("INSERT INTO larder_change(tables) VALUES(?1)", .text(text))
    try run("DELETE FROM larder_change WHERE seq <= ?1", .integer(lastInsertedRow - 1000))
  }

  /// The number of the last change in the log.
  func lastChange() throws(StorageError) -> Int64 {
    try first("SELECT seq FROM sqlite_sequence WHERE name = 'larder_change'") { (row) throws(StorageError) in
      try row.int64(0)
    } ?? 0
  }

  /// Returns what has changed since a number of the log.
  func changes(since seq: Int64) throws(StorageError) -> ReplicaChanges {
    let last = try lastChange()
    let texts = try rows("SELECT tables FROM larder_change WHERE seq > ?1", .integer(seq)) {
      (row) throws(StorageError) in try row.text(0)
    }
    guard Int64(texts.count) == last - seq, !texts.contains("*") else {
      return ReplicaChanges(last: last, tables: last == seq ? [] : nil)
    }
    let numbers = texts.flatMap { $0.split(separator: ",").compactMap { Int($0) } }
    return ReplicaChanges(last: last, tables: Set(numbers))
  }
}

extension Replica {
  /// The number of the last change in the log.
  func lastChange() async throws(StorageError) -> Int64 {
    try await database.read { (connection) throws(StorageError) in try connection.lastChange() }
  }

  /// Returns what has changed since a number of the log, in this process or another.
  func changes(since seq: Int64) async throws(StorageError) -> ReplicaChanges {
    try await database.read { (connection) throws(StorageError) in try connection.changes(since: seq) }
  }
}
