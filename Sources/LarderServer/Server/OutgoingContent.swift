import LarderHTTP

/// A response's content between its stream and the connection. Pure: the exchange acts on what it answers.
struct OutgoingContent {
  private enum End {
    case open, complete, failed
  }

  private var stream: HTTPBodyStream?
  private var iterator: HTTPBodyStream.Iterator?
  /// What the responder said or the content's own length; nil where it is not known.
  private var length: Int?
  private var end = End.open
  private var chunk: [UInt8] = []
  private var offset = 0
  private var copied = 0
  /// What counts as sent without having been copied: content that libmicrohttpd holds.
  private var held = 0
  /// A piece is being fetched.
  private(set) var isPulling = false

  /// No content, or such that libmicrohttpd has got already.
  init(held: Int = 0) {
    self.held = held
    end = .complete
  }

  /// Content in memory that is too much to be handed over at once.
  init(_ bytes: [UInt8]) {
    chunk = bytes
    length = bytes.count
    end = .complete
  }

  init(_ stream: HTTPBodyStream, length: Int?) {
    self.stream = stream
    self.length = length
    iterator = stream.makeAsyncIterator()
  }

  var hasFailed: Bool { if case .failed = end { true } else { false } }

  func sentBytes(isComplete: Bool) -> Int { copied + (isComplete ? held : 0) }

  enum Reading {
    case bytes(Int)
    case end
    case failure
    /// The next piece has to be fetched with this first.
    case pull(HTTPBodyStream.Iterator)
    /// It is being fetched.
    case pulling
  }

  /// Copies the next bytes.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
    if case .failed = end { return .failure }
    let count = min(buffer.count, chunk.count - offset)
    if count > 0 {
      // Both ranges lie within their buffers: count is the smaller of what is left and what there is room for.
      unsafe chunk.withUnsafeBytes { unsafe buffer.copyMemory(from: .init(rebasing: $0[offset..<offset + count])) }
      offset += count
      copied += count
      if offset == chunk.count {
        chunk = []
        offset = 0
      }
      return .bytes(count)
    }
    if isPulling { return .pulling }
    guard case .open = end, let iterator else {
      let isShort = length.map { copied < $0 } ?? false
      if isShort { end = .failed }
      return isShort ? .failure : .end
    }
    isPulling = true
    return .pull(iterator)
  }

  /// The next piece, nil at the end; an error in place of it.
  mutating func deliver(_ piece: Result<[UInt8]?, any Error>) {
    isPulling = false
    guard case .open = end else { return }
    switch piece {
    case .success(let bytes?): chunk = bytes
    case .success(nil): end = .complete
    case .failure: end = .failed
    }
  }

  /// Nothing more goes out. Returns what was to go out: its stream is to be cancelled, and released without the lock.
  mutating func giveUp() -> OutgoingContent {
    let rest = self
    if case .open = end { end = .failed }
    chunk = []
    offset = 0
    iterator = nil
    stream = nil
    return rest
  }

  /// Ends the content's stream, where it has one.
  func cancel() { stream?.cancel() }
}
