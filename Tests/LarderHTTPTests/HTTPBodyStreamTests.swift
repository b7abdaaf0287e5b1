import LarderHTTP
import Synchronization
import Testing

@Suite("Body streams", .timeLimit(.minutes(5)))
struct HTTPBodyStreamTests {
  /// Counts the calls of a stream to its producer.
  final class Producer: Sendable {
    let calls = Atomic(0)
    let abandoned = Atomic(0)

    func stream(_ chunks: [[UInt8]], length: Int? = nil, failing error: HTTPTransportError? = nil) -> HTTPBodyStream {
      HTTPBodyStream(
        length: length,
        next: {
          let index = self.calls.add(1, ordering: .relaxed).oldValue
          if index < chunks.count { return chunks[index] }
          if let error { throw error }
          return nil
        }, abandon: { self.abandoned.add(1, ordering: .relaxed) })
    }
  }

  @Test("A stream read to its end is not abandoned")
  func readToEnd() async throws {
    let producer = Producer()
    do {
      let stream = producer.stream([[1], [2, 3]])
      #expect(try await stream.collect() == [1, 2, 3])
      stream.cancel()
    }
    #expect(producer.abandoned.load(ordering: .relaxed) == 0)
    #expect(producer.calls.load(ordering: .relaxed) == 3)
  }

  @Test("Content in memory is read on the reader's actor without suspending")
  @MainActor
  func staysOnActor() async throws {
    var hasRun = false
    let other = Task { @MainActor in hasRun = true }
    #expect(try await HTTPBodyStream([1, 2, 3]).collect() == [1, 2, 3])
    for try await _ in Producer().stream([[1], [2]]) {}
    #expect(!hasRun)
    await other.value
    #expect(hasRun)
  }

  @Test("Content that can be produced as a whole is collected as a whole, and otherwise read in chunks")
  func whole() async throws {
    let calls = Mutex("")
    func stream(failing: Bool = false) -> HTTPBodyStream {
      let chunks = Mutex([[UInt8]]([[1], [2]]))
      return HTTPBodyStream(
        length: 2,
        next: {
          calls.withLock { $0 += "n" }
          return chunks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        },
        whole: {
          calls.withLock { $0 += "w" }
          if failing { throw HTTPTransportError.other("broken") }
          return [1, 2]
        })
    }
    let read = stream()
    #expect(try await read.collect() == [1, 2])
    await #expect(throws: HTTPTransportError.bodyConsumed) { try await read.collect() }
    #expect(calls.withLock { $0 } == "w")
    var iterator = read.makeAsyncIterator()
    await #expect(throws: HTTPTransportError.bodyConsumed) { try await iterator.next() }
    let begun = stream()
    iterator = begun.makeAsyncIterator()
    #expect(try await iterator.next() == [1])
    await #expect(throws: HTTPTransportError.bodyConsumed) { try await begun.collect() }
    #expect(calls.withLock { $0 } == "wn")
    let cancelled = stream()
    cancelled.cancel()
    await #expect(throws: HTTPTransportError.cancelled) { try await cancelled.collect() }
    await #expect(throws: HTTPTransportError.bodyTooLarge(limit: 1)) { try await stream().collect(upTo: 1) }
    #expect(calls.withLock { $0 } == "wn")
    await #expect(throws: HTTPTransportError.other("broken")) { try await stream(failing: true).collect() }
  }

  @Test("After its end, a stream stays ended and does not call its producer again")
  func endStays() async throws {
    let producer = Producer()
    var iterator = producer.stream([[1]]).makeAsyncIterator()
    #expect(try await iterator.next() == [1])
    #expect(try await iterator.next() == nil)
    #expect(try await iterator.next() == nil)
    #expect(producer.calls.load(ordering: .relaxed) == 2)
  }

  @Test("After an error, a stream throws the same error again and is not abandoned")
  func errorStays() async throws {
    let producer = Producer()
    let lost = HTTPTransportError.connectionLost(reason: "test")
    do {
      var iterator = producer.stream([[1]], failing: lost).makeAsyncIterator()
      #expect(try await iterator.next() == [1])
      await #expect(throws: lost) { try await iterator.next() }
      await #expect(throws: lost) { try await iterator.next() }
    }
    #expect(producer.calls.load(ordering: .relaxed) == 2)
    #expect(producer.abandoned.load(ordering: .relaxed) == 0)
  }

  @Test("A producer that throws because its task was cancelled is not abandoned as well")
  func cancelledProducer() async throws {
    let abandoned = Atomic(0)
    let (pauses, pause) = AsyncStream.makeStream(of: Void.self)
    let stream = HTTPBodyStream(
      next: {
        for await _ in pauses {}
        try Task.checkCancellation()
        return nil
      }, abandon: { abandoned.add(1, ordering: .relaxed) })
    let reader = Task { try await stream.collect() }
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    stream.cancel()
    #expect(abandoned.load(ordering: .relaxed) == 0)
    pause.finish()
  }

  @Test("A second reader gets an error, not an empty stream")
  func secondReader() async throws {
    let stream = HTTPBodyStream([1, 2])
    var first = stream.makeAsyncIterator()
    var second = stream.makeAsyncIterator()
    await #expect(throws: HTTPTransportError.bodyConsumed) { try await second.next() }
    #expect(try await first.next() == [1, 2])
    await #expect(throws: HTTPTransportError.bodyConsumed) { try await stream.collect() }
  }

  @Test("Leaving early abandons the stream once, even if the stream is still referenced")
  func leavingEarly() async throws {
    let producer = Producer()
    let stream = producer.stream([[1], [2]])
    for try await chunk in stream {
      #expect(chunk == [1])
      break
    }
    #expect(producer.abandoned.load(ordering: .relaxed) == 1)
    stream.cancel()
    #expect(producer.abandoned.load(ordering: .relaxed) == 1)
    #expect(producer.calls.load(ordering: .relaxed) == 1)
  }

  @Test("An unread stream is abandoned when it is released")
  func dropped() {
    let producer = Producer()
    do { _ = producer.stream([[1]]) }
    #expect(producer.abandoned.load(ordering: .relaxed) == 1)
  }

  @Test("Cancelling makes the reader's next chunk an error")
  func cancelled() async throws {
    let producer = Producer()
    let stream = producer.stream([[1], [2]])
    var iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next() == [1])
    stream.cancel()
    await #expect(throws: HTTPTransportError.cancelled) { try await iterator.next() }
    #expect(producer.abandoned.load(ordering: .relaxed) == 1)
  }

  @Test(
    "The limit applies with and without a declared length",
    arguments: [(nil, 3, false), (nil, 4, true), (5, 4, false), (4, 4, true), (2, 3, false), (nil, 0, false)]
      as [(Int?, Int, Bool)])
  func limits(said: Int?, limit: Int, fits: Bool) async throws {
    let producer = Producer()
    let stream = producer.stream([[1, 2], [3, 4]], length: said)
    if fits {
      #expect(try await stream.collect(upTo: limit) == [1, 2, 3, 4])
    } else {
      await #expect(throws: HTTPTransportError.bodyTooLarge(limit: limit)) { try await stream.collect(upTo: limit) }
      #expect(producer.abandoned.load(ordering: .relaxed) == 1)
    }
  }

  @Test("A wrong length reserves no memory", arguments: [Int.max, -1])
  func absurdLength(length: Int) async throws {
    #expect(try await Producer().stream([[7]], length: length).collect() == [7])
  }
}
