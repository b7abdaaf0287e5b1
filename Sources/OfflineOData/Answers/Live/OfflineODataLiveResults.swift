import OData
import Storage

/// The answer to a question, again whenever it is another one: when a download or a local change, of this process or of
/// another, touched what it reads and its bytes differ.
///
/// ```swift
/// for try await orders in results { show(orders) }
/// ```
///
/// The first answer comes at once, or as soon as what it is about was downloaded. Changes that come quickly, or while an answer is being used, are one. The sequence ends
/// when the store is closed or its task is cancelled; every iterator asks for itself.
public struct OfflineODataLiveResults<Value: Sendable>: AsyncSequence, Sendable {
  /// An answer.
  public typealias Element = Value
  /// Why there are no more answers.
  public typealias Failure = any Error

  private let replica: Replica
  private let question: @Sendable (Connection, ReplicaState, ReplicaPlan) throws -> AnswerRun
  private let value: @Sendable (AnswerRun, Connection) throws -> Value

  /// - Parameters:
  ///   - question: makes the plan for the tables of a moment.
  ///   - value: what is made of the rows; called where the answer is another one than before.
  init(
    _ replica: Replica, question: @escaping @Sendable (Connection, ReplicaState, ReplicaPlan) throws -> AnswerRun,
    value: @escaping @Sendable (AnswerRun, Connection) throws -> Value
  ) {
    self.replica = replica
    self.question = question
    self.value = value
  }

  /// The same answers as other values.
  func map<Other: Sendable>(_ transform: @escaping @Sendable (Value) throws -> Other) -> OfflineODataLiveResults<Other>
  {
    OfflineODataLiveResults<Other>(
      replica, question: question, value: { [value] in try transform(value($0, $1)) })
  }

  /// Begins to watch.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(results: self) }

  /// Gives the answers.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let results: OfflineODataLiveResults
    private var seen: Seen?
    private var isEnded = false

    fileprivate init(results: OfflineODataLiveResults) { self.results = results }

    /// The next answer that differs; nil where the store is closed or the task cancelled.
    ///
    /// Throws ``OfflineODataError``, `undecodableType` where the answer does not fit its type; the sequence is over then.
    public mutating func next() async throws -> Value? {
      guard !isEnded else { return nil }
      do {
        while !Task.isCancelled, !results.replica.changes.isEnded {
          let mark = results.replica.changes.mark
          if let look = try await results.lookWhereDownloaded(seen) {
            seen = look.seen
            if let value = look.value { return value }
          }
          await results.replica.changes.wait(after: mark)
          // What comes in a burst is looked at once.
          try? await Task.sleep(for: .milliseconds(10))
        }
        isEnded = true
        return nil
      } catch {
        isEnded = true
        // The store was closed, or the task cancelled, while it was asked.
        if Task.isCancelled || results.replica.changes.isEnded { return nil }
        throw OfflineODataError(below: error)
      }
    }
  }

  /// What an answer was made of, and its digest.
  fileprivate struct Seen: Sendable {
    var change: Int64
    var tables: Set<Int>
    var digest: [UInt8]
  }

  /// Nil where a defining query is yet to bring what is asked for.
  private func lookWhereDownloaded(_ seen: Seen?) async throws -> (seen: Seen, value: Value?)? {
    do { return try await look(seen) } catch let error as OfflineODataError where error.name == .neverDownloaded {
      return nil
    }
  }

  /// Asks in one transaction whether there is anything new, and where there is, what.
  private func look(_ seen: Seen?) async throws -> (seen: Seen, value: Value?) {
    // A search makes its index, as it does where it is asked once; an index that a download took away is made again.
    let wanted = try await replica.read { (connection, state, plan) throws(StorageError) in
      Result { try question(connection, state, plan).plan.unindexed }
    }.get()
    if !wanted.isEmpty { try await replica.prepareSearch(wanted) }
    return try await replica.read { (connection, state, plan) throws(StorageError) in
      Result { try look(seen, connection, state, plan) }
    }.get()
  }

  private func look(
    _ seen: Seen?, _ connection: Connection, _ state: ReplicaState, _ plan: ReplicaPlan
  ) throws -> (seen: Seen, value: Value?) {
    let changes = try connection.changes(since: seen?.change ?? 0)
    if var seen, let tables = changes.tables, tables.isDisjoint(with: seen.tables) {
      seen.change = changes.last
      return (seen, nil)
    }
    let run = try question(connection, state, plan)
    var digest: [UInt8] = []
    let end = try run.json(connection) { digest = Digest.sha256(digest + $0) }
    digest.append(end.found == .content ? 1 : 0)
    let now = Seen(change: changes.last, tables: run.plan.tables(state, plan).union(run.alsoReads), digest: digest)
    if let seen, seen.digest == now.digest { return (now, nil) }
    return (now, try value(run, connection))
  }
}
