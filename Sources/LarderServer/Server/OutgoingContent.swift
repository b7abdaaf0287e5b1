import LarderHTTP

/// A response's content between its stream and the connection. It is pure: the exchange performs the actions that it
/// returns.
struct OutgoingContent {
  private enum End {
    case open, complete, failed
  }

  private var stream: HTTPBodyStream?
  private var iterator: HTTPBodyStream.Iterator?
  /// The length that the responder declared, or the length of content in memory; nil if it is unknown.
  private var length: Int?
  private var end = End.open
  private var chunk: [UInt8] = []
  private var offset = 0
  private var copied = 0
  /// The number of bytes that count as sent without having been copied, because libmicrohttpd holds them.
  private var bufferedByMHD = 0
  /// Whether a piece is being fetched.
  private(set) var isPulling = false

  /// No content, or content that libmicrohttpd already holds.
  init(bufferedByMHD: Int = 0) {
    self.bufferedByMHD = bufferedByMHD
    end = .complete
  }

  /// Content in memory that is too large to be passed at once.
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

  func sentBytes(isComplete: Bool) -> Int { copied + (isComplete ? bufferedByMHD : 0) }

  enum Reading {
    case bytes(Int)
    case end
    case failure
    /// Fetch the next piece from this iterator first.
    case pull(HTTPBodyStream.Iterator)
    /// The next piece is being fetched.
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

  /// Delivers the next piece, nil at the end, or an error.
  mutating func deliver(_ piece: Result<[UInt8]?, any Error>) {
    isPulling = false
    guard case .open = end else { return }
    switch piece {
    case .success(let bytes?): chunk = bytes
    case .success(nil): end = .complete
    case .failure: end = .failed
    }
  }

  /// Ends the content and returns what was left. The caller must cancel its stream, and release it without the lock.
  mutating func discard() -> OutgoingContent {
    let rest = self
    if case .open = end { end = .failed }
    chunk = []
    offset = 0
    iterator = nil
    stream = nil
    return rest
  }

  /// Cancels the content's stream, if there is one.
  func cancel() { stream?.cancel() }
}
