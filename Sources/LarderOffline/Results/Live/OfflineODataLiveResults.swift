import LarderCore
import LarderOData
import LarderStorage

/// The answer to a question, again whenever it is another one: when a download or a local change, of this process or of
/// another, touched what it reads and its bytes differ.
///
/// ```swift
/// for try await orders in results { show(orders) }
/// ```
///
/// The first answer comes at once, or as soon as what it is about was downloaded. Changes that come quickly, or while an answer is being used, are one. The sequence ends
/// when the store is closed or its task is cancelled; while the store is suspended it waits. Every iterator asks for itself.
public struct OfflineODataLiveResults<Value: Sendable>: AsyncSequence, Sendable {
  /// An answer.
  public typealias Element = Value
  /// Why there are no more answers.
  public typealias Failure = any Error

  /// What is asked; nil once the store is closed.
  private let source: @Sendable () async -> LiveSource?
  private let value: @Sendable (ResultRun, Connection) throws -> Value

  /// - Parameters:
  ///   - source: what is asked, which may be another after a suspension; nil once the store is closed.
  ///   - value: what is made of the rows; called where the answer is another one than before.
  init(
    _ source: @escaping @Sendable () async -> LiveSource?,
    value: @escaping @Sendable (ResultRun, Connection) throws -> Value
  ) {
    self.source = source
    self.value = value
  }

  /// The same answers as other values.
  func map<Other: Sendable>(_ transform: @escaping @Sendable (Value) throws -> Other) -> OfflineODataLiveResults<Other>
  {
    OfflineODataLiveResults<Other>(source, value: { [value] in try transform(value($0, $1)) })
  }

  /// Begins to watch.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(results: self) }

  /// Gives the answers.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let results: OfflineODataLiveResults
    private var seen: Seen?
    /// What was asked last.
    private var replica: Replica?
    private var isEnded = false

    fileprivate init(results: OfflineODataLiveResults) { self.results = results }

    /// The next answer that differs; nil where the store is closed or the task cancelled.
    ///
    /// Throws ``OfflineODataError``, `undecodableType` where the answer does not fit its type; the sequence is over then.
    public mutating func next() async throws -> Value? {
      guard !isEnded else { return nil }
      while !Task.isCancelled, let source = await results.source() {
        // The file may be another one, whose log has other numbers.
        if source.replica !== replica { seen?.change = 0 }
        replica = source.replica
        do {
          let mark = source.replica.changes.mark
          if let look = try await results.lookWhereDownloaded(seen, source) {
            seen = look.seen
            if let value = look.value { return value }
          }
          await source.replica.changes.wait(after: mark)
          // What comes in a burst is looked at once.
          try? await source.replica.database.environment.sleep(.milliseconds(10))
        } catch {
          // The task was cancelled while it was asked, or the store closed or suspended.
          if Task.isCancelled || source.replica.changes.isEnded { continue }
          isEnded = true
          throw OfflineODataError(below: error)
        }
      }
      isEnded = true
      return nil
    }
  }

  /// What an answer was made of, and its digest.
  fileprivate struct Seen: Sendable {
    var change: Int64
    var tables: Set<Int>
    var digest: [UInt8]
  }

  /// Nil where a defining query is yet to bring what is asked for.
  private func lookWhereDownloaded(_ seen: Seen?, _ source: LiveSource) async throws -> (seen: Seen, value: Value?)? {
    do { return try await look(seen, source) } catch let error as OfflineODataError where error.name == .neverDownloaded
    {
      return nil
    }
  }

  /// Asks in one transaction whether there is anything new, and where there is, what.
  private func look(_ seen: Seen?, _ source: LiveSource) async throws -> (seen: Seen, value: Value?) {
    let replica = source.replica
    // A search makes its index, as it does where it is asked once; an index that a download took away is made again.
    let wanted = try await replica.read { (connection, state, plan) throws(StorageError) in
      Result { try source.question(connection, state, plan).plan.unindexed }
    }.get()
    if !wanted.isEmpty { try await replica.prepareSearch(wanted) }
    return try await replica.read { (connection, state, plan) throws(StorageError) in
      Result { try look(seen, source, connection, state, plan) }
    }.get()
  }

  private func look(
    _ seen: Seen?, _ source: LiveSource, _ connection: Connection, _ state: ReplicaState, _ plan: ReplicaPlan
  ) throws -> (seen: Seen, value: Value?) {
    let changes = try connection.changes(since: seen?.change ?? 0)
    if var seen, let tables = changes.tables, tables.isDisjoint(with: seen.tables) {
      seen.change = changes.last
      return (seen, nil)
    }
    let run = try source.question(connection, state, plan)
    var digest: [UInt8] = []
    let end = try run.json(connection) { digest = Digest.sha256(digest + $0) }
    digest.append(end.found == .content ? 1 : 0)
    let now = Seen(change: changes.last, tables: run.plan.tables(state, plan).union(run.alsoReads), digest: digest)
    if let seen, seen.digest == now.digest { return (now, nil) }
    return (now, try value(run, connection))
  }
}

/// The open store's file, and the query.
struct LiveSource: Sendable {
  let replica: Replica
  /// Plans the query for the tables that the file has.
  let question: @Sendable (Connection, ReplicaState, ReplicaPlan) throws -> ResultRun
}
