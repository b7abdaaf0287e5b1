import LarderHTTP
public import LarderOData

/// The format of a raw result of an offline store.
public struct OfflineODataResultOptions: Sendable, Hashable {
  /// The amount of control information (JSON Format 4.01 §3.1). Results in V2 always contain the control information of
  /// V2.
  public enum Metadata: String, Sendable, Hashable { case none, minimal, full }

  /// The version of the format; nil uses the version of the service. Data of a V2 service can be returned in the format
  /// of V4, and the other way round.
  public var version: ODataVersion?
  /// The amount of control information.
  public var metadata: Metadata
  /// Whether 64-bit integers and decimals are written as strings (JSON Format 4.01 §3.2).
  public var isIEEE754Compatible: Bool
  /// Whether entity sets contain only entities that were created here and not downloaded since. This can also be used
  /// with a set that no defining query includes. Entities that these link to are included in any case.
  public var localRowsOnly: Bool
  /// The media ranges that a request accepts; nil for any.
  var accepted: [String]?

  /// Creates options. By default: the service's own version, minimal control information, numbers as numbers, all
  /// entities.
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

/// A raw result: the bytes that a service would send.
public struct OfflineODataResult: Sendable {
  /// The media type.
  public var contentType: String
  /// The content; empty for null.
  public var bytes: [UInt8]
  /// The entity's ETag, if the result is one entity.
  public var etag: String?
}

extension OfflineODataResult: CustomReflectable {
  /// Shows the length of the content in place of the content.
  public var customMirror: Mirror {
    Mirror(
      self, children: ["contentType": contentType, "bytes": ByteCount(bytes), "etag": etag as Any],
      displayStyle: .struct)
  }
}

/// A raw result in pieces of some 64 kB, which are created as they are read. It can be read once.
public struct OfflineODataResultStream: AsyncSequence, Sendable {
  /// A piece of the result.
  public typealias Element = [UInt8]

  /// The media type.
  public var contentType: String { stream.end.mediaType }
  /// The entity's ETag, if the result is one entity.
  public var etag: String? { stream.end.etag }

  private let stream: ResultStream

  init(_ stream: ResultStream) { self.stream = stream }

  /// Starts reading.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: stream.makeAsyncIterator()) }

  /// Iterates over the pieces.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var pieces: ResultStream.AsyncIterator

    /// The next piece; nil at the end.
    public mutating func next() async throws -> [UInt8]? {
      do { return try await pieces.next() } catch { throw OfflineODataError(below: error) }
    }
  }
}

/// The SQL statements and query plans by which SQLite executes a query, for diagnosis.
public struct OfflineODataExplanation: Sendable, Hashable {
  /// One statement. The statements of `$expand` run once for each row of the enclosing statement.
  public struct Statement: Sendable, Hashable {
    /// The navigation properties that lead to it: empty for the query itself, `Orders`, `Items` for an expanded
    /// property.
    public var path: [String]
    /// Whether it counts rows for `$count=true`.
    public var isCount: Bool
    /// The SQL, with parameters `?1` and so on.
    public var sql: String
    /// The values of the parameters as SQL literals; nil for those that come from the enclosing row.
    public var parameters: [String?]
    /// SQLite's query plan, one line for each step, indented by its depth.
    public var plan: [String]
  }

  /// The statements, beginning with that of the query itself.
  public var statements: [Statement]
  /// Whether entity sets contain only entities that were created here.
  public var isOfLocalRowsOnly = false
}
