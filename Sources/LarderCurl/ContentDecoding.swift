@_spi(Stores) import LarderCore
import LarderHTTP

/// Decodes the codings of one response, the last applied first.
struct ContentDecoder {
  /// The decoders, in the order of decoding.
  private let stages: [Inflater]

  init(_ codings: [ContentCoding]) { stages = codings.reversed().map { Inflater($0) } }

  /// Adds encoded bytes.
  func feed(_ bytes: [UInt8]) { stages.first?.feed(bytes) }

  /// Returns the next content, at most 64 KiB; `nil` if more bytes are needed first.
  func next() throws(HTTPTransportError) -> [UInt8]? { try pull(stages.count - 1) }

  /// Throws if the content ended before its codings did.
  func finish() throws(HTTPTransportError) {
    for stage in stages { try stage.finish() }
  }

  /// Recursive, to the depth of the number of stages, which is small.
  private func pull(_ index: Int) throws(HTTPTransportError) -> [UInt8]? {
    guard stages.indices.contains(index) else { return nil }
    while true {
      if let content = try stages[index].next() { return content }
      guard let coded = try pull(index - 1) else { return nil }
      stages[index].feed(coded)
    }
  }
}

/// Coded content, decompressed.
///
/// Decoding happens in the reader's task and at its pace. An exchange buffers its content still compressed, so a small
/// response that expands to a huge one takes no more memory than any other.
final class ContentDecoding: Sendable {
  private let decoder: Locked<ContentDecoder>
  private let nextCoded: @Sendable () async throws(HTTPTransportError) -> [UInt8]?
  private let cancel: @Sendable () -> Void

  /// - Parameters:
  ///   - codings: the codings, in the order in which they were applied.
  ///   - nextCoded: the next coded bytes; nil at their end.
  ///   - cancel: ends the source of the coded bytes.
  init(
    _ codings: [ContentCoding], nextCoded: @escaping @Sendable () async throws(HTTPTransportError) -> [UInt8]?,
    cancel: @escaping @Sendable () -> Void
  ) {
    decoder = Locked(ContentDecoder(codings))
    self.nextCoded = nextCoded
    self.cancel = cancel
  }

  /// Returns the next content, or `nil` at its end. For one caller at a time. An error ends the source.
  func nextChunk() async throws(HTTPTransportError) -> [UInt8]? {
    do throws(HTTPTransportError) {
      while true {
        if Task.isCancelled { throw .cancelled }
        if let content = try decoder.withLock({ decoder throws(HTTPTransportError) in try decoder.next() }) {
          return content
        }
        guard let coded = try await nextCoded() else {
          try decoder.withLock { decoder throws(HTTPTransportError) in try decoder.finish() }
          return nil
        }
        decoder.withLock { $0.feed(coded) }
      }
    } catch {
      cancel()
      throw error
    }
  }
}
