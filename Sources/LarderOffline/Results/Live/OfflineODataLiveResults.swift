@_spi(Stores) import LarderCore
import LarderOData
import LarderStorage

/// The result of a query, delivered again whenever it changes: a download or a local change, in this process or
/// another, has touched the data that the query reads, and the result's bytes differ.
///
/// ```swift
/// for try await orders in results { show(orders) }
/// ```
///
/// The first result comes at once, or as soon as its data was downloaded. Changes in quick succession, or while a
/// result is being processed, lead to one new result. The sequence ends when the store is closed or its task is
/// cancelled; it pauses while the store is suspended. Each iterator runs the query separately.
public struct OfflineODataLiveResults<Value: Sendable>: AsyncSequence, Sendable {
  /// A result of the query.
  public typealias Element = Value
  /// The type of the error that ends the sequence.
  public typealias Failure = any Error

  /// Returns the query to run; nil once the store is closed.
  private let source: @Sendable () async -> LiveSource?
  private let value: @Sendable (ResultRun, Connection) throws -> Value

  /// - Parameters:
  ///   - source: returns the query to run, which may be another one after a suspension; nil once the store is closed.
  ///   - value: converts the rows; called if the result differs from the previous one.
  init(
    _ source: @escaping @Sendable () async -> LiveSource?,
    value: @escaping @Sendable (ResultRun, Connection) throws -> Value
  ) {
    self.source = source
    self.value = value
  }

  /// Returns the results, each converted by a function.
  func map<Other: Sendable>(_ transform: @escaping @Sendable (Value) throws -> Other) -> OfflineODataLiveResults<Other>
  {
    OfflineODataLiveResults<Other>(source, value: { [value] in try transform(value($0, $1)) })
  }

  /// Creates an iterator that watches the query.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(results: self) }

  /// Delivers the results.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let results: OfflineODataLiveResults
    private var last: LastRead?
    /// The store's file that was read last.
    private var replica: Replica?
    private var isEnded = false

    fileprivate init(results: OfflineODataLiveResults) { self.results = results }

    /// Returns the next result that differs from the previous one; nil if the store is closed or the task is cancelled.
    ///
    /// Throws ``OfflineODataError``, with `undecodableType` if the result does not fit its type. The sequence then
    /// ends.
    public mutating func next() async throws -> Value? {
      guard !isEnded else { return nil }
      while !Task.isCancelled, let source = await results.source() {
        // The file may be another one, whose log has other numbers.
        if source.replica !== replica { last?.change = 0 }
        replica = source.replica
        do {
          let mark = source.replica.changes.mark
          if let read = try await results.readIfDownloaded(last, source) {
            last = read.last
            if let value = read.value { return value }
          }
          await source.replica.changes.wait(after: mark)
          // Changes in quick succession lead to one read.
          try? await source.replica.database.environment.sleep(.milliseconds(10))
        } catch {
          // The task was cancelled during the read, or the store was closed or suspended.
          if Task.isCancelled || source.replica.changes.isEnded { continue }
          isEnded = true
          throw OfflineODataError(below: error)
        }
      }
      isEnded = true
      return nil
    }
  }

  /// The last change and the tables that a result was read from, and its digest.
  fileprivate struct LastRead: Sendable {
    var change: Int64
    var tables: Set<Int>
    var digest: [UInt8]
  }

  /// Returns nil if a defining query has not been downloaded yet.
  private func readIfDownloaded(_ last: LastRead?, _ source: LiveSource) async throws -> (
    last: LastRead, value: Value?
  )? {
    do { return try await read(last, source) } catch let error as OfflineODataError where error.name == .neverDownloaded
    {
      return nil
    }
  }

  /// Checks in one transaction whether the result has changed, and returns the new one if so.
  private func read(_ last: LastRead?, _ source: LiveSource) async throws -> (last: LastRead, value: Value?) {
    let replica = source.replica
    // A search creates its index, as a single query does. If a download has removed the index, it is created again.
    let unindexed = try await replica.read { (snapshot) throws(StorageError) in
      Result { try source.run(snapshot).plan.unindexed }
    }.get()
    if !unindexed.isEmpty { try await replica.prepareSearch(unindexed) }
    return try await replica.read { (snapshot) throws(StorageError) in
      Result { try read(last, source, snapshot) }
    }.get()
  }

  private func read(
    _ last: LastRead?, _ source: LiveSource, _ snapshot: ReplicaSnapshot
  ) throws -> (last: LastRead, value: Value?) {
    let changes = try snapshot.connection.changes(since: last?.change ?? 0)
    if var last, let tables = changes.tables, tables.isDisjoint(with: last.tables) {
      last.change = changes.last
      return (last, nil)
    }
    let run = try source.run(snapshot)
    var digest: [UInt8] = []
    let end = try run.json(snapshot.connection) { digest = Digest.sha256(digest + $0) }
    digest.append(end.outcome == .content ? 1 : 0)
    let now = LastRead(change: changes.last, tables: run.plan.tables(snapshot).union(run.alsoReads), digest: digest)
    if let last, last.digest == now.digest { return (now, nil) }
    return (now, try value(run, snapshot.connection))
  }
}

/// The open store's file, and the query.
struct LiveSource: Sendable {
  let replica: Replica
  /// Plans the query for the tables of the file.
  let run: @Sendable (ReplicaSnapshot) throws -> ResultRun
}
