import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Shared transfers", .timeLimit(.minutes(5)))
struct TransferTests {
  private let fresh: HTTPFields = ["Cache-Control": "max-age=60"]

  /// Starts `count` requests one after another, each of them waiting in the engine when this returns.
  private func start(
    _ count: Int, _ rig: EngineRig, _ fields: @escaping @Sendable (Int) -> HTTPFields = { _ in [:] }
  ) -> [Task<String, any Error>] {
    (0..<count).map { index in
      immediately { try await rig.line("/a", fields(index)) }
    }
  }

  private func lines(_ tasks: [Task<String, any Error>]) async -> [String] {
    var lines: [String] = []
    for task in tasks {
      do { lines.append(try await task.value) } catch { lines.append("\(error)") }
    }
    return lines
  }

  @Test("a hundred requests for one resource are one transfer")
  func collapse() async throws {
    let rig = EngineRig()
    let tasks = start(100, rig)
    let exchange = await rig.network.exchange(0)
    exchange.respond(200, fresh, length: 6)
    exchange.send("one")
    exchange.send("two")
    exchange.finish()
    #expect(Set(await lines(tasks)) == ["200 onetwo network"])
    #expect(rig.network.requests.count == 1)
    #expect(try await rig.line() == "200 onetwo memory")
  }

  @Test("a hundred requests that validate are one validation")
  func collapsedValidation() async throws {
    let rig = EngineRig { _, index in
      index == 0 ? .init(200, ["ETag": "\"1\"", "Cache-Control": "max-age=1"], "one") : nil
    }
    _ = try await rig.line()
    rig.clock.pass(seconds: 5)
    let tasks = start(100, rig)
    await rig.network.exchange(1).respond(304, ["ETag": "\"1\"", "Cache-Control": "max-age=60"], length: 0)
    await rig.network.exchange(1).finish()
    #expect(Set(await lines(tasks)) == ["200 one validated"])
    #expect(rig.network.requests.count == 2)
  }

  @Test("a waiter who leaves, and the one who began, leave the transfer to the others", arguments: [0, 1, 2])
  func leaving(index: Int) async throws {
    let rig = EngineRig()
    var tasks = start(3, rig)
    let exchange = await rig.network.exchange(0)
    let left = tasks.remove(at: index)
    left.cancel()
    await #expect(throws: HTTPTransportError.cancelled) { try await left.value }
    exchange.respond(200, fresh, length: 3)
    exchange.send("one")
    exchange.finish()
    #expect(await lines(tasks) == ["200 one network", "200 one network"])
  }

  @Test("If the last request leaves before the response, the transfer ends")
  func lastLeaves() async throws {
    let rig = EngineRig()
    let tasks = start(2, rig)
    let exchange = await rig.network.exchange(0)
    for task in tasks { task.cancel() }
    await exchange.headGivenUp()
    #expect(await lines(tasks) == Array(repeating: "\(HTTPTransportError.cancelled)", count: 2))
    // A request that arrives now starts a new transfer.
    let next = start(1, rig)
    let again = await rig.network.exchange(1)
    again.respond(200, fresh, length: 1)
    again.send("x")
    again.finish()
    #expect(await lines(next) == ["200 x network"])
  }

  @Test("a request that arrives when the last reader has just left starts a new transfer, and is not cancelled")
  func comingAsTheLastLeaves() async throws {
    let fresh = fresh
    let rig = EngineRig { _, index in index == 0 ? nil : .init(200, fresh, "x") }
    let leaving = start(1, rig)
    _ = await rig.network.exchange(0)
    leaving[0].cancel()
    // The first transfer was cancelled, and has hardly ended.
    #expect(await lines(start(1, rig)) == ["200 x network"])
  }

  @Test(
    "a request that arrives when the last reader has just left the content starts a new transfer, and gets all of it")
  func comingAsTheLastLeavesContent() async throws {
    let fresh = fresh
    let rig = EngineRig({ _, index in index == 0 ? nil : .init(200, fresh, "all of it") }) { $0.abandonedByteLimit = 4 }
    let task = immediately { try await rig.response() }
    let exchange = await rig.network.exchange(0)
    exchange.respond(200, fresh, length: 9)
    let response = try await task.value
    exchange.send("all")
    var iterator = response.response.body.makeAsyncIterator()
    _ = try await iterator.next()
    response.response.body.cancel()
    #expect(await lines(start(1, rig)) == ["200 all of it network"])
  }

  @Test("an abandoned transfer continues if little is missing, and is stored")
  func nearlyDone() async throws {
    let rig = EngineRig(nil) { $0.abandonedByteLimit = 4 }
    let task = immediately { try await rig.response() }
    let exchange = await rig.network.exchange(0)
    exchange.respond(200, fresh, length: 8)
    let response = try await task.value
    exchange.send("four")
    var iterator = response.response.body.makeAsyncIterator()
    _ = try await iterator.next()
    response.response.body.cancel()
    exchange.send("more")
    exchange.finish()
    await exchange.contentEnded()
    await rig.engine.settled()
    #expect(try await rig.line() == "200 fourmore memory")
  }

  @Test("an abandoned transfer ends if much is missing, or an unknown amount", arguments: [9, nil])
  func abandoned(length: Int?) async throws {
    let rig = EngineRig(nil) { $0.abandonedByteLimit = 4 }
    let task = immediately { try await rig.response() }
    let exchange = await rig.network.exchange(0)
    exchange.respond(200, fresh, length: length)
    let response = try await task.value
    exchange.send("four")
    var iterator = response.response.body.makeAsyncIterator()
    _ = try await iterator.next()
    response.response.body.cancel()
    await exchange.contentEnded()
    await rig.engine.settled()
    #expect(rig.shelf.keys.isEmpty)
  }

  @Test("a response that must not be stored goes to the request that was sent; the others send their own")
  func unstorable() async throws {
    let rig = EngineRig()
    let tasks = start(3, rig)
    for index in 0..<3 {
      let exchange = await rig.network.exchange(index)
      exchange.respond(200, ["Cache-Control": "no-store"], length: 1)
      exchange.send("\(index)")
      exchange.finish()
    }
    #expect(Set(await lines(tasks)) == ["200 0 network", "200 1 network", "200 2 network"])
    // From now on no request waits for another one in vain.
    let more = start(2, rig)
    for index in 3..<5 {
      let exchange = await rig.network.exchange(index)
      exchange.respond(200, ["Cache-Control": "no-store"], length: 1)
      exchange.send("x")
      exchange.finish()
    }
    #expect(Set(await lines(more)) == ["200 x network"])
  }

  @Test("a request that selects another variant is sent again, together with those that select the same")
  func otherVariant() async throws {
    let rig = EngineRig()
    let tasks = start(10, rig) { ["Accept-Language": $0.isMultiple(of: 2) ? "de" : "en"] }
    for index in 0..<2 {
      let exchange = await rig.network.exchange(index)
      exchange.respond(200, ["Vary": "Accept-Language", "Cache-Control": "max-age=60"], length: 2)
      exchange.send(exchange.request.fields[.acceptLanguage] ?? "--")
      exchange.finish()
    }
    let all = await lines(tasks)
    #expect(all.enumerated().allSatisfy { $1.hasPrefix($0.isMultiple(of: 2) ? "200 de" : "200 en") })
    #expect(rig.network.requests.count == 2)
  }

  @Test("A failure is returned to all waiting requests; a later request is sent again")
  func failure() async throws {
    let rig = EngineRig()
    let tasks = start(100, rig)
    await rig.network.exchange(0).fail(.connectionLost(reason: "x"))
    #expect(Set(await lines(tasks)) == ["\(HTTPTransportError.connectionLost(reason: "x"))"])
    #expect(rig.network.requests.count == 1)
    let later = start(1, rig)
    let exchange = await rig.network.exchange(1)
    exchange.respond(200, fresh, length: 1)
    exchange.send("1")
    exchange.finish()
    #expect(await lines(later) == ["200 1 network"])
  }

  @Test("what is wrong with one request is no failure of the others")
  func failureOfTheRequest() async throws {
    let rig = EngineRig()
    let tasks = start(2, rig)
    await rig.network.exchange(0).fail(.invalidRequest("x"))
    let exchange = await rig.network.exchange(1)
    exchange.respond(200, fresh, length: 1)
    exchange.send("1")
    exchange.finish()
    #expect(await lines(tasks) == ["\(HTTPTransportError.invalidRequest("x"))", "200 1 network"])
  }

  @Test("an error of the server that varies and may be stored goes to those who select it")
  func varyingServerError() async throws {
    let rig = EngineRig()
    let tasks = start(3, rig) { ["Accept-Language": $0.isMultiple(of: 2) ? "de" : "en"] }
    for index in 0..<2 {
      let exchange = await rig.network.exchange(index)
      exchange.respond(503, ["Vary": "Accept-Language", "Cache-Control": "max-age=5"], length: 2)
      exchange.send(exchange.request.fields[.acceptLanguage] ?? "--")
      exchange.finish()
    }
    #expect(await lines(tasks) == ["503 de network", "503 en network", "503 de network"])
  }

  @Test("A request during a transfer gets the content from its first byte")
  func lateComer() async throws {
    let rig = EngineRig()
    let first = start(1, rig)
    let exchange = await rig.network.exchange(0)
    exchange.respond(200, fresh, length: 9)
    exchange.send("one")
    exchange.send("two")
    await exchange.taken(but: 0)
    let late = start(1, rig)
    exchange.send("end")
    exchange.finish()
    #expect(await lines(first + late) == Array(repeating: "200 onetwoend network", count: 2))
    #expect(rig.network.requests.count == 1)
  }

  @Test("a reader that stalls does not delay others if content is stored")
  func stalledReader() async throws {
    let rig = EngineRig(nil) { $0.readAheadByteLimit = 2 }
    let stalled = immediately { try await rig.response() }
    let exchange = await rig.network.exchange(0)
    exchange.respond(200, fresh, length: 30)
    let response = try await stalled.value
    let reader = start(1, rig)
    for _ in 0..<10 { exchange.send("abc") }
    exchange.finish()
    #expect(await lines(reader) == ["200 \(String(repeating: "abc", count: 10)) network"])
    #expect(try await EngineRig.line(response) == "200 \(String(repeating: "abc", count: 10)) network")
  }

  @Test("content that is not stored runs ahead of its reader by a window, and no further")
  func backPressure() async throws {
    let rig = EngineRig(nil) { $0.readAheadByteLimit = 6 }
    let task = immediately { try await rig.response() }
    let exchange = await rig.network.exchange(0)
    exchange.respond(200, ["Cache-Control": "no-store"], length: 30)
    let response = try await task.value
    for _ in 0..<10 { exchange.send("abc") }
    exchange.finish()
    await exchange.taken(but: 8)
    var iterator = response.response.body.makeAsyncIterator()
    for round in 0..<10 {
      #expect(exchange.untaken >= 8 - round)
      #expect(try await iterator.next().map { String(decoding: $0, as: UTF8.self) } == "abc")
    }
    #expect(try await iterator.next() == nil)
  }

  @Test("content that breaks off is an error for every reader, and no whole entry")
  func breakOff() async throws {
    let rig = EngineRig()
    let tasks = start(2, rig)
    let exchange = await rig.network.exchange(0)
    exchange.respond(200, fresh, length: 6)
    exchange.send("one")
    exchange.breakOff()
    let error = "\(HTTPTransportError.connectionLost(reason: "broken by the test"))"
    #expect(await lines(tasks) == [error, error])
    #expect(rig.shelf.keys.isEmpty)
  }

  @Test("content shorter than its length is an error, though the connection ended well")
  func short() async throws {
    let rig = EngineRig()
    let tasks = start(1, rig)
    let exchange = await rig.network.exchange(0)
    exchange.respond(200, fresh, length: 6)
    exchange.send("one")
    exchange.finish()
    #expect(await lines(tasks) == ["\(HTTPTransportError.connectionLost(reason: "only 3 of 6 bytes were received"))"])
    #expect(rig.shelf.keys.isEmpty)
  }

  @Test("closing ends transfers; later requests get a response that is not stored")
  func closing() async throws {
    let rig = EngineRig { request, _ in
      request.url.path == "/b" ? .init(200, ["Cache-Control": "max-age=60"], "b") : nil
    }
    let tasks = start(2, rig)
    let exchange = await rig.network.exchange(0)
    await rig.engine.close()
    await exchange.headGivenUp()
    #expect(Set(await lines(tasks)) == ["\(HTTPTransportError.cancelled)"])
    #expect(try await rig.line("/b") == "200 b network")
    #expect(rig.shelf.keys.isEmpty)
  }

  @Test("A response in transfer is not stored after a change (RFC 9111 §4.4)")
  func changeMeanwhile() async throws {
    let rig = EngineRig { request, _ in request.method == .put ? .init(204) : nil }
    let before = start(1, rig)
    let exchange = await rig.network.exchange(0)
    #expect(try await rig.line(method: .put) == "204  network")
    let after = start(1, rig)
    let again = await rig.network.exchange(2)
    for (exchange, text) in [(exchange, "old"), (again, "new")] {
      exchange.respond(200, fresh, length: 3)
      exchange.send(text)
      exchange.finish()
    }
    #expect(await lines(before + after) == ["200 old network", "200 new network"])
    #expect(try await rig.line() == "200 new memory")
  }

  @Test("a validation in the background renews the stored response, once for any number of requests")
  func background() async throws {
    let rig = EngineRig { _, index in
      index == 0 ? .init(200, ["Cache-Control": "max-age=1, stale-while-revalidate=60"], "old") : nil
    }
    _ = try await rig.line()
    rig.clock.pass(seconds: 5)
    for _ in 0..<10 {
      let response = try await rig.response()
      #expect(!response.isFinal)
      response.revalidation?.runInBackground()
      #expect(try await EngineRig.line(response) == "200 old memory")
    }
    let exchange = await rig.network.exchange(1)
    exchange.respond(200, fresh, length: 3)
    exchange.send("new")
    exchange.finish()
    await rig.engine.settled()
    #expect(try await rig.line() == "200 new memory")
    #expect(rig.network.requests.count == 2)
  }
}
