import LarderCore
import LarderHTTP

/// Undoes the codings of one answer, the last applied first.
struct ContentDecoder {
  /// In the order of undoing.
  private let stages: [Inflater]

  init(_ codings: [ContentCoding]) { stages = codings.reversed().map { Inflater($0) } }

  /// Adds bytes as they came.
  func feed(_ bytes: [UInt8]) { stages.first?.feed(bytes) }

  /// The next content, at most 64 KiB; `nil` where more has to be fed first.
  func next() throws(HTTPTransportError) -> [UInt8]? { try pull(stages.count - 1) }

  /// Throws where the codings are not at their end.
  func finish() throws(HTTPTransportError) {
    for stage in stages { try stage.finish() }
  }

  /// As deep as there are stages, which are few.
  private func pull(_ index: Int) throws(HTTPTransportError) -> [UInt8]? {
    guard stages.indices.contains(index) else { return nil }
    while true {
      if let content = try stages[index].next() { return content }
      guard let coded = try pull(index - 1) else { return nil }
      stages[index].feed(coded)
    }
  }
}

/// The content of an exchange, decompressed.
///
/// Decoding happens in the reader's task and at its pace. The exchange buffers the content still compressed, so a small
/// response that expands to a huge one takes no more memory than any other.
final class ContentDecoding: Sendable {
  private let exchange: Exchange
  private let decoder: Locked<ContentDecoder>

  init(_ exchange: Exchange, _ codings: [ContentCoding]) {
    self.exchange = exchange
    decoder = Locked(ContentDecoder(codings))
  }

  /// The next content, or `nil` at its end. One caller at a time. An error ends the exchange.
  func nextChunk() async throws(HTTPTransportError) -> [UInt8]? {
    do throws(HTTPTransportError) {
      while true {
        if Task.isCancelled { throw .cancelled }
        if let content = try decoder.withLock({ decoder throws(HTTPTransportError) in try decoder.next() }) {
          return content
        }
        guard let coded = try await exchange.nextChunk() else {
          try decoder.withLock { decoder throws(HTTPTransportError) in try decoder.finish() }
          return nil
        }
        decoder.withLock { $0.feed(coded) }
      }
    } catch {
      exchange.cancel()
      throw error
    }
  }
}
