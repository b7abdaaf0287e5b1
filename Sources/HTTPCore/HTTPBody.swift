import Synchronization

/// The content of a request.
public enum HTTPBody: Sendable {
  /// No content.
  case none
  /// Content in memory: can be sent again.
  case bytes([UInt8])
  /// Content made chunk by chunk, so that it need never be in memory as a whole.
  ///
  /// `length` in bytes where it is known. `open` starts the content from its beginning and may be called again
  /// where the request has to be repeated (redirect, authentication, retry).
  case stream(length: Int?, open: @Sendable () -> HTTPBodyStream)

  /// The content's length in bytes; `nil` where it is not known.
  public var length: Int? {
    switch self {
    case .none: 0
    case .bytes(let bytes): bytes.count
    case .stream(let length, _): length
    }
  }

  /// The UTF-8 bytes of a text.
  public static func text(_ text: String) -> HTTPBody { .bytes(Array(text.utf8)) }
}

/// The content of a response (or of a streamed request): chunks, pulled at the reader's pace.
///
/// It can be read once. The producer makes the next chunk when the reader asks for it, which is the back-pressure.
/// Leaving it before its end, or cancelling the reading task, ends the transfer.
public struct HTTPBodyStream: AsyncSequence, Sendable {
  /// A chunk is never empty.
  public typealias Element = [UInt8]

  /// The content's length in bytes, where the sender said it.
  public let length: Int?

  private let next: @Sendable () async throws -> [UInt8]?
  private let abandon: @Sendable () -> Void

  /// A stream from a function that answers the next chunk, or `nil` at the end.
  ///
  /// - Parameters:
  ///   - length: the length in bytes where it is known.
  ///   - next: called by one reader at a time; throws ``HTTPTransportError`` where the content breaks off.
  ///   - abandon: called at most once, where the reader leaves before the end.
  public init(
    length: Int? = nil, next: @escaping @Sendable () async throws -> [UInt8]?,
    abandon: @escaping @Sendable () -> Void = {}
  ) {
    self.length = length
    self.next = next
    self.abandon = abandon
  }

  /// A stream of content that is in memory already.
  public init(_ bytes: [UInt8]) {
    let once = OnceChunk(bytes)
    self.init(length: bytes.count, next: { once.take() })
  }

  /// Starts reading.
  public func makeAsyncIterator() -> Iterator { Iterator(guardian: Guardian(next: next, abandon: abandon)) }

  /// Ends the transfer without reading (the rest of) the content.
  public func cancel() { abandon() }

  /// Reads all content into memory.
  ///
  /// - Parameter limit: bytes; more throws ``HTTPTransportError/bodyTooLarge(limit:)``.
  public func collect(upTo limit: Int = .max) async throws -> [UInt8] {
    if let length, length > limit {
      abandon()
      throw HTTPTransportError.bodyTooLarge(limit: limit)
    }
    var all: [UInt8] = []
    if let length { all.reserveCapacity(Swift.min(length, 1 << 24)) }
    for try await chunk in self {
      if chunk.count > limit - all.count {
        abandon()
        throw HTTPTransportError.bodyTooLarge(limit: limit)
      }
      if all.isEmpty { all = chunk } else { all.append(contentsOf: chunk) }
    }
    return all
  }

  /// Reads chunks; dropped before the end, it ends the transfer.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let guardian: Guardian

    /// The next chunk, or `nil` at the end.
    public mutating func next() async throws -> [UInt8]? {
      let chunk = try await guardian.next()
      if chunk == nil { guardian.finish() }
      return chunk
    }
  }
}

/// Tells the producer when its reader is gone.
private final class Guardian: Sendable {
  let next: @Sendable () async throws -> [UInt8]?
  private let abandon: @Sendable () -> Void
  private let finished = Atomic(false)

  init(next: @escaping @Sendable () async throws -> [UInt8]?, abandon: @escaping @Sendable () -> Void) {
    self.next = next
    self.abandon = abandon
  }

  func finish() { finished.store(true, ordering: .releasing) }

  deinit {
    if !finished.load(ordering: .acquiring) { abandon() }
  }
}

private final class OnceChunk: Sendable {
  private let bytes: Mutex<[UInt8]?>

  init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes.isEmpty ? nil : bytes) }

  func take() -> [UInt8]? {
    bytes.withLock { held in
      defer { held = nil }
      return held
    }
  }
}
