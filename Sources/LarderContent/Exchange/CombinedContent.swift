import LarderCore
import LarderHTTP

/// Combines stored and received bytes of one representation, in the order of the whole (RFC 9111 §3.4).
final class CombinedContent: Sendable {
  private struct Place {
    var segment = 0
    /// How many bytes of the current segment have been delivered.
    var given = 0
    /// How many bytes of the received content have been read.
    var taken = 0
    /// Received bytes that have not been delivered yet.
    var left: ArraySlice<UInt8> = []
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
  private let giveUp: @Sendable () -> Void
  private let place = Locked(Place())

  /// Combines stored content with content that is still being received.
  convenience init(_ combination: Combination, stored: CacheEntry, received: HTTPBodyStream) {
    let iterator = Puller(received)
    self.init(combination, stored: stored, receive: { try await iterator.next() }, giveUp: { received.cancel() })
  }

  init(
    _ combination: Combination, stored: CacheEntry, receive: @escaping @Sendable () async throws -> [UInt8]?,
    giveUp: @escaping @Sendable () -> Void = {}
  ) {
    segments = combination.segments
    self.stored = stored
    self.receive = receive
    self.giveUp = giveUp
  }

  /// The next bytes of the whole; nil at the end.
  func next() async throws -> [UInt8]? {
    while true {
      switch place.withLock({ step(&$0) }) {
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
        place.withLock { $0.left = bytes[...] }
      }
    }
  }

  /// Called when all needed bytes were received. Reads the rest if it is short, so that the connection can be reused.
  private func finish() async {
    var left = 1 << 16
    while left > 0 {
      guard let bytes = try? await receive() else { return }
      left -= bytes.count
    }
    giveUp()
  }

  private func step(_ place: inout Place) -> Next {
    while place.segment < segments.count {
      switch segments[place.segment] {
      case .stored(let range):
        let start = range.lowerBound + place.given
        let end = min(range.upperBound, start + StoredContent.step)
        move(&place, by: end - start, of: range)
        if start < end { return .stored(start..<end) }
      case .received(let range):
        guard !place.left.isEmpty else {
          if range.isEmpty {
            place.segment += 1
            continue
          }
          return .receive
        }
        let start = range.lowerBound + place.given
        // The bytes before are already stored.
        let skipped = min(max(0, start - place.taken), place.left.count)
        place.left = place.left.dropFirst(skipped)
        place.taken += skipped
        let bytes = Array(place.left.prefix(range.upperBound - start))
        place.left = place.left.dropFirst(bytes.count)
        place.taken += bytes.count
        if bytes.isEmpty { continue }
        move(&place, by: bytes.count, of: range)
        return .bytes(bytes)
      }
    }
    return .end
  }

  private func move(_ place: inout Place, by count: Int, of range: Range<Int>) {
    place.given += count
    if place.given >= range.count {
      place.segment += 1
      place.given = 0
    }
  }
}

/// Pulls a stream's chunks for readers of any task, one reader at a time.
actor Puller {
  private var iterator: HTTPBodyStream.Iterator?

  init(_ stream: HTTPBodyStream) { iterator = stream.makeAsyncIterator() }

  func next() async throws -> [UInt8]? {
    var own = iterator.take()
    defer { iterator = own }
    return try await own?.next()
  }
}
