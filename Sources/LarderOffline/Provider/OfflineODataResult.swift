import LarderHTTP
public import LarderOData

/// How a raw answer of an offline store is written.
public struct OfflineODataResultOptions: Sendable, Hashable {
  /// How much control information there is (JSON Format 4.01 §3.1). Answers of V2 always have theirs.
  public enum Metadata: String, Sendable, Hashable { case none, minimal, full }

  /// The version of the format; nil is that of the service. A service of V2 is answered in V4 where that is asked for, and
  /// the other way round.
  public var version: ODataVersion?
  /// How much control information.
  public var metadata: Metadata
  /// Whether 64-bit integers and decimals are strings (JSON Format 4.01 §3.2).
  public var isIEEE754Compatible: Bool
  /// Whether entity sets are only those of their entities that were created here and not downloaded since: a set that no
  /// defining query brings can be read so. What these link to is shown whatever it is.
  public var localRowsOnly: Bool
  /// The media ranges that a request takes answers in; nil for any.
  var accepted: [String]?

  /// The service's own version, minimal control information, numbers as numbers, all entities.
  public init(
    version: ODataVersion? = nil, metadata: Metadata = .minimal, isIEEE754Compatible: Bool = false,
    localRowsOnly: Bool = false
  ) {
    self.localRowsOnly = localRowsOnly
    self.version = version
    self.metadata = metadata
    self.isIEEE754Compatible = isIEEE754Compatible
  }
}

/// A raw answer: the bytes that a service would send.
public struct OfflineODataResult: Sendable {
  /// The media type.
  public var contentType: String
  /// The content; empty for null.
  public var bytes: [UInt8]
  /// The entity's ETag, where the answer is one entity.
  public var etag: String?
}

extension OfflineODataResult: CustomReflectable {
  /// All but the content, of which the length.
  public var customMirror: Mirror {
    Mirror(
      self, children: ["contentType": contentType, "bytes": ByteCount(bytes), "etag": etag as Any],
      displayStyle: .struct)
  }
}

/// A raw answer piece by piece: pieces of some 64 kB, made as they are taken. It can be read once.
public struct OfflineODataResultStream: AsyncSequence, Sendable {
  /// A piece.
  public typealias Element = [UInt8]

  /// The media type.
  public var contentType: String { stream.end.mediaType }
  /// The entity's ETag, where the answer is one entity.
  public var etag: String? { stream.end.etag }

  private let stream: ResultStream

  init(_ stream: ResultStream) { self.stream = stream }

  /// Starts reading.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: stream.makeAsyncIterator()) }

  /// Takes the pieces.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var pieces: ResultStream.AsyncIterator

    /// The next piece; nil at the end.
    public mutating func next() async throws -> [UInt8]? {
      do { return try await pieces.next() } catch { throw OfflineODataError(below: error) }
    }
  }
}

/// How SQLite answers a question: for diagnosis.
public struct OfflineODataExplanation: Sendable, Hashable {
  /// One statement; those of `$expand` are run once a row of the statement around.
  public struct Statement: Sendable, Hashable {
    /// The names that led to it: empty for the question itself, `Orders`, `Items` for what is expanded.
    public var path: [String]
    /// Whether it counts for `$count=true`.
    public var isCount: Bool
    /// The SQL; `?1` and so on are parameters.
    public var sql: String
    /// What the parameters are bound to, as SQL literals; nil for those that come from the row around.
    public var parameters: [String?]
    /// SQLite's plan, a line a step, indented by its depth.
    public var plan: [String]
  }

  /// The statements, the question itself first.
  public var statements: [Statement]
  /// Whether entity sets are only those of their entities that were created here.
  public var isOfLocalRowsOnly = false
}
