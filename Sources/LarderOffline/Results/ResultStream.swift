import LarderOData
import LarderStorage

/// The bytes of a result in pieces of about 64 kB, written on demand. The stream can be read once.
///
/// All pieces belong to one state of the store. The transaction ends with the last piece, or when the stream and its
/// iterators are released. No thread is blocked between two pieces.
struct ResultStream: AsyncSequence, Sendable {
  typealias Element = [UInt8]

  /// The outcome of the query. The row count of a collection covers the rows that were written at the beginning.
  let end: ResultRun.End
  private let first: [UInt8]?
  private let session: ReadSession<ResultPieces>

  /// Begins a transaction, creates the result in it and writes the first piece.
  static func open(
    _ replica: Replica, _ make: @escaping @Sendable (ReplicaSnapshot) throws -> ResultRun
  ) async throws -> ResultStream {
    try await begin(
      try await replica.readSession { (snapshot) throws(StorageError) in
        ResultPieces(Result { try make(snapshot) })
      })
  }

  /// Begins a transaction on a database without a replica, creates the result in it and writes the first piece.
  static func open(_ database: Database, _ make: @escaping @Sendable (Connection) throws -> ResultRun) async throws
    -> ResultStream
  {
    try await begin(
      try await database.readSession { (connection) throws(StorageError) in
        ResultPieces(Result { try make(connection) })
      })
  }

  private static func begin(_ session: ReadSession<ResultPieces>) async throws -> ResultStream {
    let first = try await piece(session)
    let end = try await session.next { (_, pieces) throws(StorageError) in pieces.end }
    if first == nil { await session.end() }
    guard let end else { throw OfflineODataError(.internalFailure, "a result stream without an end") }
    return ResultStream(end: end, first: first, session: session)
  }

  private static func piece(_ session: ReadSession<ResultPieces>) async throws -> [UInt8]? {
    try await session.next { (connection, pieces) throws(StorageError) in
      Result { try pieces.next(connection) }
    }.get()
  }

  /// If there is no first piece, the session has already ended.
  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(first: first, session: first == nil ? nil : session) }

  /// Returns the pieces.
  struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var first: [UInt8]?
    fileprivate var session: ReadSession<ResultPieces>?

    mutating func next() async throws -> [UInt8]? {
      if let piece = first {
        first = nil
        return piece
      }
      guard let session else { return nil }
      if let piece = try await ResultStream.piece(session) { return piece }
      await session.end()
      self.session = nil
      return nil
    }
  }
}

/// The pieces of one result, on one connection.
final class ResultPieces {
  private var run: Result<ResultRun, any Error>
  private var stage = Stage.new
  /// The outcome of the query; nil before the first piece.
  private(set) var end: ResultRun.End?

  private enum Stage {
    case new
    case rows(RowCursor, ResultCollection)
    case ended
  }

  init(_ run: Result<ResultRun, any Error>) { self.run = run }

  /// Returns the next piece; nil after the last one.
  func next(_ connection: Connection) throws -> [UInt8]? {
    try run.get().reportingFailedRow(connection) {
      switch stage {
      case .new: try begin(connection)
      case .rows(let cursor, let collection): try go(on: cursor, collection)
      case .ended: nil
      }
    }
  }

  private func begin(_ connection: Connection) throws -> [UInt8]? {
    let run = try run.get()
    stage = .ended
    switch run.plan.content {
    case .objects(let shape), .references(let shape):
      guard !run.plan.isSingle else { fallthrough }
      let writer = ResultWriter(connection: connection, types: run.types)
      var collection = ResultCollection(run, run.object(shape), writer)
      bytes = ResultBytes()
      try collection.open(into: &bytes)
      end = ResultRun.End(outcome: .content, mediaType: run.form.mediaType)
      return try go(
        on: try connection.cursor(run.plan.sql, run.plan.parameters.values()), collection)
    case .value, .count, .media:
      let (bytes, end) = try run.json(connection)
      self.end = end
      return bytes.isEmpty ? nil : bytes
    }
  }

  private var bytes = ResultBytes()

  private func go(on cursor: RowCursor, _ begun: ResultCollection) throws -> [UInt8]? {
    var collection = begun
    var failure: (any Error)?
    var isPageAtEnd = false
    try cursor.forEachRow { (row) throws(StorageError) in
      do {
        guard try collection.row(row, into: &bytes) else {
          isPageAtEnd = true
          return false
        }
        return bytes.count <= ResultBytes.chunk
      } catch {
        failure = error
        return false
      }
    }
    if let failure {
      stage = .ended
      throw failure
    }
    guard isPageAtEnd || cursor.isAtEnd else {
      stage = .rows(cursor, collection)
      return bytes.takeAllButLast()
    }
    stage = .ended
    let end = try collection.close(into: &bytes)
    if self.end?.rows == 0 { self.end = end }
    let rest = bytes.takeAll()
    return rest.isEmpty ? nil : rest
  }
}
