@_spi(Stores) import LarderCore

/// The content of a response (or of a streamed request): chunks, pulled at the reader's pace.
///
/// The producer creates the next chunk when the reader requests it: this is the back-pressure.
///
/// The content can be read once, by one reader. A second iterator throws ``HTTPTransportError/bodyConsumed``, because
/// an immediate end would look like empty content. The transfer ends when the reader leaves before the end, when the
/// reading task is cancelled, on ``cancel()``, and when the stream is released without having been read.
public struct HTTPBodyStream: AsyncSequence, Sendable {
  /// A chunk. The transports never return an empty one.
  public typealias Element = [UInt8]

  /// The content's length in bytes, if the sender declared it.
  public let length: Int?

  private let source: Source
  /// The content, if it is in memory.
  private var bytes: [UInt8]?

  /// Creates a stream from a function that returns the next chunk, or `nil` at the end.
  ///
  /// The producer learns of the end in exactly one way: by its own `nil`, an error that it throws itself, or `abandon`.
  /// If it throws because the reading task was cancelled, `abandon` is not called, and the producer must release its
  /// resources itself.
  ///
  /// - Parameters:
  ///   - length: the length in bytes, if known.
  ///   - next: called by one reader at a time, never again after `nil` or an error; throws ``HTTPTransportError`` if
  ///     the content breaks off.
  ///   - abandon: called at most once, if the reader gives up the content before its end. `next` may be running then;
  ///     the chunk that it still returns is the last.
  public init(
    length: Int? = nil, next: @escaping @Sendable () async throws -> [UInt8]?,
    abandon: @escaping @Sendable () -> Void = {}
  ) {
    self.length = length
    source = Source(next: next, abandon: abandon)
  }

  /// A stream of stored content, which can be read in chunks or, before the first chunk is read, all at once.
  package init(
    length: Int, next: @escaping @Sendable () async throws -> [UInt8]?,
    whole: @escaping @Sendable () async throws -> [UInt8]
  ) {
    self.length = length
    source = Source(next: next, whole: whole, abandon: {})
  }

  /// A stream of content that is already in memory.
  public init(_ bytes: [UInt8]) {
    let rest = Locked(bytes.isEmpty ? nil : bytes)
    self.init(length: bytes.count, next: { rest.withLock { $0.take() } })
    self.bytes = bytes
  }

  /// Returns all of the content at once if it is in memory and has not been read; the stream is then consumed.
  package func takeBytes() -> [UInt8]? {
    guard let bytes, source.claim() else { return nil }
    return bytes
  }

  /// Starts reading.
  public func makeAsyncIterator() -> Iterator {
    Iterator(reading: source.claim() ? Reading(source) : nil)
  }

  /// Abandons the (rest of the) content and ends the transfer; a reader's next chunk throws
  /// ``HTTPTransportError/cancelled``.
  public func cancel() { source.giveUp() }

  /// Reads all content into memory.
  ///
  /// - Parameter limit: the largest size in bytes; more content throws ``HTTPTransportError/bodyTooLarge(limit:)``.
  public func collect(upTo limit: Int = .max) async throws -> [UInt8] {
    if let length, length > limit {
      cancel()
      throw HTTPTransportError.bodyTooLarge(limit: limit)
    }
    if source.isWhole {
      guard source.claim() else { throw HTTPTransportError.bodyConsumed }
      return try await source.readWhole()
    }
    var all: [UInt8] = []
    for try await chunk in self {
      if chunk.count > limit - all.count {
        cancel()
        throw HTTPTransportError.bodyTooLarge(limit: limit)
      }
      if all.isEmpty {
        all = chunk
        // No more memory than this is reserved in advance because of a length that the sender declares.
        if let length, length > chunk.count { all.reserveCapacity(Swift.min(length, 1 << 20)) }
      } else {
        all.append(contentsOf: chunk)
      }
    }
    return all
  }

  /// Reads chunks. Releasing it before the end ends the transfer.
  public struct Iterator: AsyncIteratorProtocol, Sendable {
    fileprivate let reading: Reading?

    /// Returns the next chunk, or `nil` at the end; after an error it throws the same error again.
    public mutating func next() async throws -> [UInt8]? {
      guard let reading else { throw HTTPTransportError.bodyConsumed }
      return try await reading.source.read()
    }

    /// Returns the next chunk on the caller's actor: a loop there does not change threads for a chunk that is already
    /// available.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [UInt8]? {
      guard let reading else { throw HTTPTransportError.bodyConsumed }
      return try await reading.source.read()
    }
  }

  /// Shared by all copies of an iterator: it is released with the last copy, which ends the transfer.
  fileprivate final class Reading: Sendable {
    let source: Source

    init(_ source: Source) { self.source = source }

    deinit { source.giveUp() }
  }
}

/// The producer's functions, and the state of the content.
private final class Source: Sendable {
  /// Open until the end, an error, or abandonment; later states do not change.
  private enum Phase {
    case open
    case ended
    case failed(any Error)
  }

  private struct State {
    var phase = Phase.open
    var isClaimed = false
  }

  private let produce: @Sendable () async throws -> [UInt8]?
  private let produceWhole: (@Sendable () async throws -> [UInt8])?
  private let abandon: @Sendable () -> Void
  private let state = Locked(State())

  init(
    next: @escaping @Sendable () async throws -> [UInt8]?, whole: (@Sendable () async throws -> [UInt8])? = nil,
    abandon: @escaping @Sendable () -> Void
  ) {
    produce = next
    produceWhole = whole
    self.abandon = abandon
  }

  /// Whether all of the content can be read at once.
  var isWhole: Bool { produceWhole != nil }

  /// Claims the content for reading. True for the first caller only.
  func claim() -> Bool {
    state.withLock { state in
      defer { state.isClaimed = true }
      return !state.isClaimed
    }
  }

  func read() async throws -> [UInt8]? {
    switch state.withLock({ $0.phase }) {
    case .open: break
    case .ended: return nil
    case .failed(let error): throw error
    }
    do {
      let chunk = try await produce()
      if chunk == nil { close(.ended) }
      return chunk
    } catch {
      close(.failed(error))
      throw error
    }
  }

  /// Reads all of the content at once instead of its chunks.
  func readWhole() async throws -> [UInt8] {
    switch state.withLock({ $0.phase }) {
    case .open: break
    case .ended: return []
    case .failed(let error): throw error
    }
    do {
      let all = try await produceWhole?() ?? []
      close(.ended)
      return all
    } catch {
      close(.failed(error))
      throw error
    }
  }

  func giveUp() {
    if close(.failed(HTTPTransportError.cancelled)) { abandon() }
  }

  /// True if the stream was open.
  @discardableResult
  private func close(_ phase: Phase) -> Bool {
    state.withLock { state in
      guard case .open = state.phase else { return false }
      state.phase = phase
      return true
    }
  }

  deinit { giveUp() }
}

extension HTTPBodyStream: CustomReflectable {
  /// Shows only the length, no content.
  public var customMirror: Mirror { Mirror(self, children: ["length": length as Any], displayStyle: .struct) }
}
