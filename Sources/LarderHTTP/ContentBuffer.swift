/// Content between its producer and its reader. It is pure: its owner keeps it under a lock, and resumes the readers that
/// it returns after the lock.
///
/// The content ends once: complete or failed. Content that arrived before the end is still read first.
package struct ContentBuffer: Sendable {
  /// Bytes, or nil at the end.
  package typealias Chunk = Result<[UInt8]?, HTTPTransportError>
  /// The only reader, which waits for a chunk.
  package typealias Reader = CheckedContinuation<Chunk, Never>

  private enum End {
    case open, complete
    case failed(HTTPTransportError)
  }

  private var end = End.open
  private var bytes: [UInt8] = []
  private var reader: Reader?

  /// Creates an empty buffer.
  package init() {}

  /// Whether more content may come.
  package var isOpen: Bool { if case .open = end { true } else { false } }
  /// The error with which the content ended, if it failed.
  package var failure: HTTPTransportError? { if case .failed(let error) = end { error } else { nil } }
  /// The number of bytes that have not been read.
  package var count: Int { bytes.count }
  /// Whether the reader waits.
  package var isAwaited: Bool { reader != nil }

  /// The chunk that a reader gets at once; nil if the reader must wait.
  package mutating func read(or reader: Reader) -> Chunk? {
    if !bytes.isEmpty { return .success(exchange(&bytes, with: [])) }
    switch end {
    case .complete: return .success(nil)
    case .failed(let error): return .failure(error)
    case .open:
      self.reader = reader
      return nil
    }
  }

  /// Takes the reader that waits, to resume it with content that need not be buffered.
  package mutating func takeReader() -> Reader? { reader.take() }

  /// Buffers content.
  package mutating func append(_ content: some Collection<UInt8>) { bytes.append(contentsOf: content) }

  /// Drops the content that has not been read.
  package mutating func discard() { bytes = [] }

  /// Ends the content, unless it has already ended. Returns the reader to resume.
  package mutating func finish(_ error: HTTPTransportError? = nil) -> Reader? {
    if isOpen { end = error.map { .failed($0) } ?? .complete }
    return reader.take()
  }
}
