import LarderHTTP
import LarderServer
import LarderTestSupport
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Streaming content through the server", .timeLimit(.minutes(5)))
struct ServerStreamTests {
  /// What may be between a sender and a reader who bounds his socket's buffer: that, the sender's, and the server's own.
  private static let between = 16 << 20

  /// What may be between where neither bounds his socket's buffer: what the system lets the two have, and the same.
  private static func betweenSockets() throws -> Int {
    var bytes = between
    for side in ["rmem", "wmem"] {
      let text = try String(contentsOfFile: "/proc/sys/net/ipv4/tcp_\(side)", encoding: .utf8)
      bytes += try #require(text.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) })
    }
    return bytes
  }

  @Test("A 200 MB upload waits for its reader")
  func upload() async throws {
    let size = 200_000_000
    let between = try Self.betweenSockets()
    try #require(between < size / 2)
    let sent = Atomic(0)
    let read = Atomic(0)
    let worst = Atomic(0)
    let server = try HTTPServer(.patient) { request in
      guard let content = request.content else { return HTTPServerResponse(status: 400) }
      do {
        for try await chunk in content {
          read.add(chunk.count, ordering: .relaxed)
          worst.max(sent.load(ordering: .relaxed) - read.load(ordering: .relaxed), ordering: .relaxed)
          // Others get on with their work before the next one.
          await Task.yield()
        }
      } catch { return HTTPServerResponse(status: 500, text: "\(error)") }
      return HTTPServerResponse(status: 200, text: "\(read.load(ordering: .relaxed))")
    }
    let client = try RawClient(port: server.port)
    try await client.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
    let piece = [UInt8](repeating: 7, count: 1_000_000)
    for _ in 0..<(size / piece.count) {
      try await client.send(piece)
      sent.add(piece.count, ordering: .relaxed)
    }
    #expect(try await client.response().text == "\(size)")
    #expect(worst.load(ordering: .relaxed) < between)
    await server.stop()
  }

  @Test("A 1 GB response is produced as it is read, with and without a length", arguments: [true, false])
  func download(_ hasLength: Bool) async throws {
    let chunk = [UInt8](repeating: 9, count: 256 << 10)
    let size = chunk.count * 4096
    let produced = Atomic(0)
    let server = try HTTPServer(.patient) { _ in
      let stream = HTTPBodyStream(
        length: hasLength ? size : nil,
        next: {
          guard produced.load(ordering: .relaxed) < size else { return nil }
          produced.add(chunk.count, ordering: .relaxed)
          // Every other one takes the slow path, over a suspended connection.
          if produced.load(ordering: .relaxed) / chunk.count % 2 == 0 { await Task.yield() }
          return chunk
        })
      return HTTPServerResponse(status: 200, body: .stream(stream))
    }
    let client = try RawClient(port: server.port, receiveBuffer: 256 << 10)
    try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    var taken = 0
    var worst = 0
    while taken < size {
      taken += try await client.read(atLeast: min(8 << 20, size - taken))
      worst = max(worst, produced.load(ordering: .relaxed) - taken)
    }
    #expect(worst < Self.between)
    #expect(produced.load(ordering: .relaxed) == size)
    await server.stop(grace: .zero)
  }

  @Test("Content that fails or ends too early is recognisably truncated", arguments: [nil, 20, 9] as [Int?])
  func broken(_ length: Int?) async throws {
    let server = try HTTPServer(.patient) { request in
      let pieces = Mutex(["first", "last"])
      let stream = HTTPBodyStream(
        length: length,
        next: {
          await Task.yield()
          if let piece = pieces.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return Array(piece.utf8) }
          if length == 9 { return nil }
          if length == 20 { return nil }
          throw HTTPTransportError.connectionLost(reason: "as scripted")
        })
      return HTTPServerResponse(status: 200, body: .stream(stream))
    }
    let client = try RawClient(port: server.port)
    try await client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    let response = String(decoding: try await client.readToEnd(), as: UTF8.self)
    #expect(response.contains("first"))
    if length == 9 {
      #expect(response.hasSuffix("firstlast"))
    } else {
      #expect(!response.hasSuffix("0\r\n\r\n"))
      #expect(length == nil || response.contains("Content-Length: 20"))
    }
    await server.stop()
  }

  @Test("A client that disconnects cancels the responder in any state", arguments: [true, false])
  func departure(_ resets: Bool) async throws {
    let reached = Tally("responders that wait")
    let ended = Tally("cancelled responders")
    let server = try HTTPServer(.patient) { request in
      if request.target == "/stream" {
        let isFirst = Atomic(true)
        let stream = HTTPBodyStream(
          next: {
            if isFirst.exchange(false, ordering: .relaxed) { return Array("begun".utf8) }
            reached.add()
            await forever()
            throw HTTPTransportError.cancelled
          }, abandon: { ended.add() })
        return HTTPServerResponse(status: 200, body: .stream(stream))
      }
      if request.target == "/content" {
        reached.add()
        do { _ = try await request.content?.collect() } catch {
          if error as? HTTPTransportError == .connectionLost(reason: "the client disconnected") { ended.add() }
        }
        return HTTPServerResponse(status: 200)
      }
      reached.add()
      await forever()
      ended.add()
      return HTTPServerResponse(status: 200)
    }
    let requests = [
      "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n", "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n",
      "PUT /content HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\npart",
      "PUT /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\npart",
      "PUT /wait HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
    ]
    for (index, request) in requests.enumerated() {
      let client = try RawClient(port: server.port)
      try await client.send(request)
      try await reached.wait(for: index + 1)
      if resets { client.reset() } else { client.close() }
      try await ended.wait(for: index + 1)
    }
    await server.stop()
    #expect(server.connectionCount == 0)
  }
}

/// How an exchange can end from outside.
private enum Breach: CaseIterable {
  case close, reset, stop
}

extension ServerStreamTests {
  @Test(
    "A response's content is cancelled before the task that produces its next piece",
    arguments: Breach.allCases)
  private func orderOfTheEnd(_ breach: Breach) async throws {
    let order = Mutex<[String]>([])
    let reached = Tally("producers that wait")
    let cancelled = Tally("cancelled producers")
    let server = try HTTPServer(.patient) { _ in
      let stream = HTTPBodyStream(
        next: {
          await withTaskCancellationHandler {
            reached.add()
            await forever()
          } onCancel: {
            // Called by the canceller before it continues.
            order.withLock { $0.append("cancelled") }
          }
          cancelled.add()
          throw HTTPTransportError.cancelled
        }, abandon: { order.withLock { $0.append("abandoned") } })
      return HTTPServerResponse(status: 200, body: .stream(stream))
    }
    let client = try RawClient(port: server.port)
    try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    try await reached.wait(for: 1)
    switch breach {
    case .close: client.close()
    case .reset: client.reset()
    case .stop: await server.stop(grace: .zero)
    }
    try await cancelled.wait(for: 1)
    #expect(order.withLock { $0 } == ["abandoned", "cancelled"])
    await server.stop()
  }
}

/// Suspends until the task is cancelled.
func forever() async {
  let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
  await withTaskCancellationHandler {
    for await _ in stream {}
  } onCancel: {
    continuation.finish()
  }
}
