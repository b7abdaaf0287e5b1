import Foundation
import LarderHTTP
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderContent

@Suite("Beyond the spool's limit no reader waits for a slower one", .timeLimit(.minutes(1)))
struct SlowReaderTests {
  private static let content = String(repeating: "abc", count: 10)

  /// Two callers of one resource whose content the cache does not take: one that has read the first piece and no more,
  /// and one that reads as fast as it can.
  private struct Pair {
    let rig: EngineRig
    let stalled: CachedResponse
    var stalledContent: HTTPBodyStream.AsyncIterator
    let fast: Task<String, any Error>
    let exchange: ManualExchange

    init(_ fields: HTTPFields, slowReaderTimeout: Duration = .zero) async throws {
      let rig = EngineRig(nil) {
        $0.readAheadByteLimit = 6
        $0.slowReaderTimeout = slowReaderTimeout
      }
      rig.shelf.fail(.append, .tooLarge(limit: 2))
      let first = immediately { try await rig.response() }
      fast = immediately { try await rig.line() }
      exchange = await rig.network.exchange(0)
      exchange.respond(200, fields + ["Cache-Control": "max-age=60"], length: SlowReaderTests.content.utf8.count)
      stalled = try await first.value
      exchange.send("abc")
      stalledContent = stalled.response.body.makeAsyncIterator()
      #expect(try await stalledContent.next() == Array("abc".utf8))
      for _ in 1..<10 { exchange.send("abc") }
      exchange.finish()
      self.rig = rig
    }

    /// What the stalled reader still gets; at an error, what the error is.
    mutating func rest() async -> String {
      var text = ""
      do {
        while let bytes = try await stalledContent.next() { text += String(decoding: bytes, as: UTF8.self) }
      } catch { text += "\(error)" }
      return text
    }
  }

  private static let validators: [HTTPFields] = [
    ["ETag": "\"1\"", "Content-Length": "30", "Accept-Ranges": "bytes"],
    [
      "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Fri, 15 Jan 2027 08:00:00 GMT", "Content-Length": "30",
    ],
  ]

  @Test("a stalled reader resumes by a range of its own (RFC 9110 §13.1.5)", arguments: validators)
  func ownRange(fields: HTTPFields) async throws {
    let pair = try await Pair(fields)
    #expect(try await pair.fast.value == "200 \(Self.content) network")
    let task = immediately { [pair] in
      var pair = pair
      return await pair.rest()
    }
    let again = await pair.rig.network.exchange(1)
    #expect(again.request.fields["Range"] == "bytes=3-")
    #expect(again.request.fields["If-Range"] == fields["ETag"] ?? fields["Last-Modified"])
    again.respond(206, fields + ["Content-Range": "bytes 3-29/30"], length: 27)
    again.send(String(Self.content.dropFirst(3)))
    again.finish()
    #expect(try await task.value == String(Self.content.dropFirst(3)))
    #expect(pair.rig.network.requests.count == 2)
  }

  @Test("a server that ignores ranges sends all; what was read before is left out")
  func rangeIgnored() async throws {
    let pair = try await Pair(Self.validators[0])
    #expect(try await pair.fast.value == "200 \(Self.content) network")
    let task = immediately { [pair] in
      var pair = pair
      return await pair.rest()
    }
    let again = await pair.rig.network.exchange(1)
    again.respond(200, Self.validators[0], length: 30)
    again.send(Self.content)
    again.finish()
    #expect(try await task.value == String(Self.content.dropFirst(3)))
  }

  @Test(
    "content that cannot be resumed is an error with the reason",
    arguments: [
      (200, "\"2\"", "bytes 3-29/30"), (206, "\"2\"", "bytes 3-29/30"), (206, "\"1\"", "bytes 4-29/30"),
      (412, "\"1\"", ""),
    ])
  func changed(status: Int, tag: String, range: String) async throws {
    let pair = try await Pair(Self.validators[0])
    #expect(try await pair.fast.value == "200 \(Self.content) network")
    let task = immediately { [pair] in
      var pair = pair
      return await pair.rest()
    }
    let again = await pair.rig.network.exchange(1)
    again.respond(status, ["ETag": tag, "Content-Range": range], length: 3)
    await again.contentEnded()
    #expect(try await task.value.contains("the content on the server has changed"))
  }

  @Test("Without a strong validator nothing is requested: the reader gets the error that it was too slow")
  func noValidator() async throws {
    var pair = try await Pair(["ETag": "W/\"1\"", "Content-Length": "30"])
    #expect(try await pair.fast.value == "200 \(Self.content) network")
    #expect(await pair.rest().contains("too slow"))
    #expect(pair.rig.network.requests.count == 1)
  }

  @Test("a reader that is alone holds the server back, however slow it is")
  func alone() async throws {
    let rig = EngineRig(nil) {
      $0.readAheadByteLimit = 6
      $0.slowReaderTimeout = .zero
    }
    rig.shelf.fail(.append, .tooLarge(limit: 2))
    let task = immediately { try await rig.response() }
    let exchange = await rig.network.exchange(0)
    exchange.respond(200, ["Cache-Control": "max-age=60"], length: 30)
    let response = try await task.value
    for _ in 0..<10 { exchange.send("abc") }
    exchange.finish()
    await exchange.taken(but: 8)
    #expect(exchange.untaken == 8)
    #expect(try await EngineRig.line(response) == "200 \(Self.content) network")
    #expect(rig.network.requests.count == 1)
  }

  @Test("readers that are all slow hold the server back together, and none is detached")
  func allSlow() async throws {
    let rig = EngineRig(nil) {
      $0.readAheadByteLimit = 6
      $0.slowReaderTimeout = .zero
    }
    rig.shelf.fail(.append, .tooLarge(limit: 2))
    let tasks = (0..<2).map { _ in immediately { try await rig.response() } }
    let exchange = await rig.network.exchange(0)
    exchange.respond(200, ["Cache-Control": "max-age=60"], length: 30)
    var contents: [HTTPBodyStream.AsyncIterator] = []
    for task in tasks { contents.append(try await task.value.response.body.makeAsyncIterator()) }
    for _ in 0..<10 { exchange.send("abc") }
    exchange.finish()
    await exchange.taken(but: 8)
    // By turns, so that neither is ever ahead by more than a piece.
    for _ in 0..<10 {
      for index in contents.indices { #expect(try await contents[index].next() == Array("abc".utf8)) }
    }
    for index in contents.indices { #expect(try await contents[index].next() == nil) }
    #expect(rig.network.requests.count == 1)
  }

  @Test("when the cache stores no more of a response, each new request is sent to the server")
  func noNewReader() async throws {
    let rig = EngineRig(nil) { $0.readAheadByteLimit = 6 }
    let task = immediately { try await rig.response() }
    let exchange = await rig.network.exchange(0)
    exchange.respond(200, ["Cache-Control": "max-age=60"], length: 30)
    let response = try await task.value
    exchange.send("abc")
    await exchange.taken(but: 0)
    rig.shelf.fail(.append, .tooLarge(limit: 3))
    for _ in 1..<10 { exchange.send("abc") }
    exchange.finish()
    await exchange.taken(but: 8)
    // The pieces are all still there for the first.
    let late = immediately { try await rig.line() }
    let second = await rig.network.exchange(1)
    second.respond(200, ["Cache-Control": "max-age=60"], length: 3)
    second.send("own")
    second.finish()
    #expect(try await late.value == "200 own network")
    #expect(try await EngineRig.line(response) == "200 \(Self.content) network")
  }

  @Test(
    "A program that holds a large stream and requests the same URL does not deadlock",
    arguments: [Duration.zero, .seconds(1)])
  func oneTask(slowReaderTimeout: Duration) async throws {
    var options = HTTPCacheOptions()
    options.slowReaderTimeout = slowReaderTimeout
    let length = 8 << 20
    let manager = ContentManager(
      cache: MemoryCache(byteLimit: 1 << 20), transport: RangedContent(length), options: options)
    let query = ContentQuery<Data>(try #require(URL(string: "http://h/large")))
    let response = try await manager.stream(query)
    #expect(try await manager.content(of: query).value.count == length)
    var count = 0
    for try await bytes in response.response.body { count += bytes.count }
    #expect(count == length)
    await manager.close()
  }

  @Test("a reader counts as slow once others have waited for it, in sum, for as long as the slowReaderTimeout")
  func slowReaderTimeout() async throws {
    var state = TransferState(window: 6, slowReaderTimeout: .seconds(1))
    let (first, second) = (state.join(asReader: true), state.join(asReader: true))
    let (slow, fast) = (try #require(first), try #require(second))
    _ = state.publish(.success(.content(TransferHead(status: 200, fields: [:], length: nil, metadata: nil))))
    state.stopSpooling()
    let start = Duration.seconds(5)
    for _ in 0..<2 { _ = state.publish(Array("abc".utf8)) }
    // Nothing was read: the server waits, and no reader is to blame.
    #expect(state.pumpStep(at: start) == .wait(for: nil))
    #expect(state.pumpStep(at: start + .seconds(50)) == .wait(for: nil))
    // One has all and waits; it has waited for the other from now on.
    _ = state.advance(fast, by: 6)
    await withCheckedContinuation { waiting in
      #expect(state.wait(fast, waiting).isWaiting)
      #expect(state.pumpStep(at: start + .seconds(60)) == .wait(for: .seconds(1)))
      #expect(state.pumpStep(at: start + .milliseconds(60_400)) == .wait(for: .milliseconds(600)))
      // The slow one reads a piece: what was waited for it is taken off as time passes.
      _ = state.advance(slow, by: 3)
      #expect(state.pumpStep(at: start + .milliseconds(60_500)) == .proceed)
      for waiting in state.publish(Array("abc".utf8)) { waiting.resume() }
    }
    _ = state.advance(fast, by: 3)
    await withCheckedContinuation { waiting in
      #expect(state.wait(fast, waiting).isWaiting)
      #expect(state.pumpStep(at: start + .milliseconds(60_700)) == .wait(for: .milliseconds(700)))
      // A second in sum: the other continues, and what only the slow one needed is dropped.
      #expect(state.pumpStep(at: start + .milliseconds(61_400)) == .proceed)
      for waiting in state.end(.complete) { waiting.resume() }
    }
    guard case .rest(from: 3) = state.step(of: slow) else {
      Issue.record("\(state.step(of: slow))")
      return
    }
    #expect(state.hasReaders)
    _ = state.leave(fast, finishing: 100)
    #expect(!state.hasReaders)
  }
}

/// A server of one long content that is made while it is read, whole or from a position on.
private struct RangedContent: HTTPTransport {
  let length: Int
  init(_ length: Int) { self.length = length }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    var fields: HTTPFields = ["ETag": "\"1\"", "Cache-Control": "max-age=60", "Accept-Ranges": "bytes"]
    let start = request.fields["Range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
    fields["Content-Length"] = String(length - start)
    if start > 0 { fields["Content-Range"] = "bytes \(start)-\(length - 1)/\(length)" }
    let left = Mutex(length - start)
    let body = HTTPBodyStream(
      length: length - start,
      next: {
        let count = left.withLock { left in
          let count = min(left, 1 << 16)
          left -= count
          return count
        }
        return count == 0 ? nil : [UInt8](repeating: 0x5A, count: count)
      })
    return HTTPResponse(status: start > 0 ? 206 : 200, fields: fields, url: request.url, body: body)
  }
}
