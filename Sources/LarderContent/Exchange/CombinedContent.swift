@_spi(Stores) import LarderCore
import LarderHTTP

/// Combines stored and received bytes of one representation, in the order of the whole (RFC 9111 §3.4).
final class CombinedContent: Sendable {
  private struct Position {
    var segment = 0
    /// How many bytes of the current segment have been delivered.
    var delivered = 0
    /// How many bytes of the received content have been read.
    var receivedCount = 0
    /// Received bytes that have not been delivered yet.
    var buffered: ArraySlice<UInt8> = []
  }

  private enum Next {
    case bytes([UInt8])
    case stored(Range<Int>)
    case receive
    case end
  }

  private let segments: [Combination.Segment]
  private let stored: CacheEntry
  /// Receives the next bytes, nil at their end; called by one reader at a time.
  private let receive: @Sendable () async throws -> [UInt8]?
  /// Cancels the rest of the received content.
  private let cancelReceiving: @Sendable () -> Void
  private let position = Locked(Position())

  /// Combines stored content with content that is still being received.
  convenience init(_ combination: Combination, stored: CacheEntry, received: HTTPBodyStream) {
    let iterator = Puller(received)
    self.init(
      combination, stored: stored, receive: { try await iterator.next() }, cancelReceiving: { received.cancel() })
  }

  init(
    _ combination: Combination, stored: CacheEntry, receive: @escaping @Sendable () async throws -> [UInt8]?,
    cancelReceiving: @escaping @Sendable () -> Void = {}
  ) {
    segments = combination.segments
    self.stored = stored
    self.receive = receive
    self.cancelReceiving = cancelReceiving
  }

  /// The next bytes of the whole; nil at the end.
  func next() async throws -> [UInt8]? {
    while true {
      switch position.withLock({ step(&$0) }) {
      case .bytes(let bytes): return bytes
      case .end:
        await finish()
        return nil
      case .stored(let range):
        do {
          return try await stored.read(range)
        } catch {
          throw HTTPTransportError.other("stored content could not be read: \(error)")
        }
      case .receive:
        guard let bytes = try await receive() else {
          throw HTTPTransportError.connectionLost(reason: "a part of the content is missing")
        }
        position.withLock { $0.buffered = bytes[...] }
      }
    }
  }

  /// Called when all needed bytes were received. Reads the rest if it is short, so that the connection can be reused.
  private func finish() async {
    var remaining = 1 << 16
    while remaining > 0 {
      guard let bytes = try? await receive() else { return }
      remaining -= bytes.count
    }
    cancelReceiving()
  }

  private func step(_ position: inout Position) -> Next {
    while position.segment < segments.count {
      switch segments[position.segment] {
      case .stored(let range):
        let start = range.lowerBound + position.delivered
        let end = min(range.upperBound, start + EntryContent.step)
        move(&position, by: end - start, of: range)
        if start < end { return .stored(start..<end) }
      case .received(let range):
        guard !position.buffered.isEmpty else {
          if range.isEmpty {
            position.segment += 1
            continue
          }
          return .receive
        }
        let start = range.lowerBound + position.delivered
        // The bytes before are already stored.
        let skipped = min(max(0, start - position.receivedCount), position.buffered.count)
        position.buffered = position.buffered.dropFirst(skipped)
        position.receivedCount += skipped
        let bytes = Array(position.buffered.prefix(range.upperBound - start))
        position.buffered = position.buffered.dropFirst(bytes.count)
        position.receivedCount += bytes.count
        if bytes.isEmpty { continue }
        move(&position, by: bytes.count, of: range)
        return .bytes(bytes)
      }
    }
    return .end
  }

  private func move(_ position: inout Position, by count: Int, of range: Range<Int>) {
    position.delivered += count
    if position.delivered >= range.count {
      position.segment += 1
      position.delivered = 0
    }
  }
}
