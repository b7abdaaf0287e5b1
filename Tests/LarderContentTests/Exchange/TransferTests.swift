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
    let asked = await rig.network.asked(0)
    asked.answer(200, fresh, length: 6)
    asked.send("one")
    asked.send("two")
    asked.finish()
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
    await rig.network.asked(1).answer(304, ["ETag": "\"1\"", "Cache-Control": "max-age=60"], length: 0)
    await rig.network.asked(1).finish()
    #expect(Set(await lines(tasks)) == ["200 one validated"])
    #expect(rig.network.requests.count == 2)
  }

  @Test("a waiter who leaves, and the one who began, leave the transfer to the others", arguments: [0, 1, 2])
  func leaving(index: Int) async throws {
    let rig = EngineRig()
    var tasks = start(3, rig)
    let asked = await rig.network.asked(0)
    let left = tasks.remove(at: index)
    left.cancel()
    await #expect(throws: HTTPTransportError.cancelled) { try await left.value }
    asked.answer(200, fresh, length: 3)
    asked.send("one")
    asked.finish()
    #expect(await lines(tasks) == ["200 one network", "200 one network"])
  }

  @Test("If the last request leaves before the response, the transfer ends")
  func lastLeaves() async throws {
    let rig = EngineRig()
    let tasks = start(2, rig)
    let asked = await rig.network.asked(0)
    for task in tasks { task.cancel() }
    await asked.headGivenUp()
    #expect(await lines(tasks) == Array(repeating: "\(HTTPTransportError.cancelled)", count: 2))
    // Who comes now begins anew.
    let next = start(1, rig)
    let again = await rig.network.asked(1)
    again.answer(200, fresh, length: 1)
    again.send("x")
    again.finish()
    #expect(await lines(next) == ["200 x network"])
  }

  @Test("who comes when the last one has just left begins anew, and is not told that it was cancelled")
  func comingAsTheLastLeaves() async throws {
    let fresh = fresh
    let rig = EngineRig { _, index in index == 0 ? nil : .init(200, fresh, "x") }
    let leaving = start(1, rig)
    _ = await rig.network.asked(0)
    leaving[0].cancel()
    // The first transfer has been told to end, and has hardly done so.
    #expect(await lines(start(1, rig)) == ["200 x network"])
  }

  @Test("who comes when the last one has just left the content begins anew, and gets all of it")
  func comingAsTheLastLeavesContent() async throws {
    let fresh = fresh
    let rig = EngineRig({ _, index in index == 0 ? nil : .init(200, fresh, "all of it") }) { $0.abandonedByteLimit = 4 }
    let task = immediately { try await rig.answer() }
    let asked = await rig.network.asked(0)
    asked.answer(200, fresh, length: 9)
    let answer = try await task.value
    asked.send("all")
    var iterator = answer.response.body.makeAsyncIterator()
    _ = try await iterator.next()
    answer.response.body.cancel()
    #expect(await lines(start(1, rig)) == ["200 all of it network"])
  }

  @Test("an abandoned transfer goes on where little is missing, and is stored")
  func nearlyDone() async throws {
    let rig = EngineRig(nil) { $0.abandonedByteLimit = 4 }
    let task = immediately { try await rig.answer() }
    let asked = await rig.network.asked(0)
    asked.answer(200, fresh, length: 8)
    let answer = try await task.value
    asked.send("four")
    var iterator = answer.response.body.makeAsyncIterator()
    _ = try await iterator.next()
    answer.response.body.cancel()
    asked.send("more")
    asked.finish()
    await asked.contentEnded()
    await rig.engine.settled()
    #expect(try await rig.line() == "200 fourmore memory")
  }

  @Test("an abandoned transfer ends where much is missing, or nobody knows how much", arguments: [9, nil])
  func abandoned(length: Int?) async throws {
    let rig = EngineRig(nil) { $0.abandonedByteLimit = 4 }
    let task = immediately { try await rig.answer() }
    let asked = await rig.network.asked(0)
    asked.answer(200, fresh, length: length)
    let answer = try await task.value
    asked.send("four")
    var iterator = answer.response.body.makeAsyncIterator()
    _ = try await iterator.next()
    answer.response.body.cancel()
    await asked.contentEnded()
    await rig.engine.settled()
    #expect(rig.shelf.keys.isEmpty)
  }

  @Test("an answer that must not be stored goes to the one who asked; the others ask for themselves")
  func unstorable() async throws {
    let rig = EngineRig()
    let tasks = start(3, rig)
    for index in 0..<3 {
      let asked = await rig.network.asked(index)
      asked.answer(200, ["Cache-Control": "no-store"], length: 1)
      asked.send("\(index)")
      asked.finish()
    }
    #expect(Set(await lines(tasks)) == ["200 0 network", "200 1 network", "200 2 network"])
    // From now on nobody waits for another one in vain.
    let more = start(2, rig)
    for index in 3..<5 {
      let asked = await rig.network.asked(index)
      asked.answer(200, ["Cache-Control": "no-store"], length: 1)
      asked.send("x")
      asked.finish()
    }
    #expect(Set(await lines(more)) == ["200 x network"])
  }

  @Test("whoever selects another variant asks once more, together with those who select the same")
  func otherVariant() async throws {
    let rig = EngineRig()
    let tasks = start(10, rig) { ["Accept-Language": $0.isMultiple(of: 2) ? "de" : "en"] }
    for index in 0..<2 {
      let asked = await rig.network.asked(index)
      asked.answer(200, ["Vary": "Accept-Language", "Cache-Control": "max-age=60"], length: 2)
      asked.send(asked.request.fields[.acceptLanguage] ?? "--")
      asked.finish()
    }
    let all = await lines(tasks)
    #expect(all.enumerated().allSatisfy { $1.hasPrefix($0.isMultiple(of: 2) ? "200 de" : "200 en") })
    #expect(rig.network.requests.count == 2)
  }

  @Test("A failure is returned to all waiting requests; a later request is sent again")
  func failure() async throws {
    let rig = EngineRig()
    let tasks = start(100, rig)
    await rig.network.asked(0).fail(.connectionLost(reason: "x"))
    #expect(Set(await lines(tasks)) == ["\(HTTPTransportError.connectionLost(reason: "x"))"])
    #expect(rig.network.requests.count == 1)
    let later = start(1, rig)
    let asked = await rig.network.asked(1)
    asked.answer(200, fresh, length: 1)
    asked.send("1")
    asked.finish()
    #expect(await lines(later) == ["200 1 network"])
  }

  @Test("what is wrong with one request is no failure of the others")
  func failureOfTheRequest() async throws {
    let rig = EngineRig()
    let tasks = start(2, rig)
    await rig.network.asked(0).fail(.invalidRequest("x"))
    let asked = await rig.network.asked(1)
    asked.answer(200, fresh, length: 1)
    asked.send("1")
    asked.finish()
    #expect(await lines(tasks) == ["\(HTTPTransportError.invalidRequest("x"))", "200 1 network"])
  }

  @Test("an error of the server that varies and may be stored goes to those who select it")
  func varyingServerError() async throws {
    let rig = EngineRig()
    let tasks = start(3, rig) { ["Accept-Language": $0.isMultiple(of: 2) ? "de" : "en"] }
    for index in 0..<2 {
      let asked = await rig.network.asked(index)
      asked.answer(503, ["Vary": "Accept-Language", "Cache-Control": "max-age=5"], length: 2)
      asked.send(asked.request.fields[.acceptLanguage] ?? "--")
      asked.finish()
    }
    #expect(await lines(tasks) == ["503 de network", "503 en network", "503 de network"])
  }

  @Test("A request during a transfer gets the content from its first byte")
  func lateComer() async throws {
    let rig = EngineRig()
    let first = start(1, rig)
    let asked = await rig.network.asked(0)
    asked.answer(200, fresh, length: 9)
    asked.send("one")
    asked.send("two")
    await asked.taken(but: 0)
    let late = start(1, rig)
    asked.send("end")
    asked.finish()
    #expect(await lines(first + late) == Array(repeating: "200 onetwoend network", count: 2))
    #expect(rig.network.requests.count == 1)
  }

  @Test("a reader that stalls keeps nobody waiting where content is stored")
  func stalledReader() async throws {
    let rig = EngineRig(nil) { $0.readAheadByteLimit = 2 }
    let stalled = immediately { try await rig.answer() }
    let asked = await rig.network.asked(0)
    asked.answer(200, fresh, length: 30)
    let answer = try await stalled.value
    let reader = start(1, rig)
    for _ in 0..<10 { asked.send("abc") }
    asked.finish()
    #expect(await lines(reader) == ["200 \(String(repeating: "abc", count: 10)) network"])
    #expect(try await EngineRig.line(answer) == "200 \(String(repeating: "abc", count: 10)) network")
  }

  @Test("content that is not stored runs ahead of its reader by a window, and no further")
  func backPressure() async throws {
    let rig = EngineRig(nil) { $0.readAheadByteLimit = 6 }
    let task = immediately { try await rig.answer() }
    let asked = await rig.network.asked(0)
    asked.answer(200, ["Cache-Control": "no-store"], length: 30)
    let answer = try await task.value
    for _ in 0..<10 { asked.send("abc") }
    asked.finish()
    await asked.taken(but: 8)
    var iterator = answer.response.body.makeAsyncIterator()
    for round in 0..<10 {
      #expect(asked.untaken >= 8 - round)
      #expect(try await iterator.next().map { String(decoding: $0, as: UTF8.self) } == "abc")
    }
    #expect(try await iterator.next() == nil)
  }

  @Test("content that breaks off is an error for every reader, and no whole entry")
  func breakOff() async throws {
    let rig = EngineRig()
    let tasks = start(2, rig)
    let asked = await rig.network.asked(0)
    asked.answer(200, fresh, length: 6)
    asked.send("one")
    asked.breakOff()
    let error = "\(HTTPTransportError.connectionLost(reason: "broken by the test"))"
    #expect(await lines(tasks) == [error, error])
    #expect(rig.shelf.keys.isEmpty)
  }

  @Test("content shorter than its length is an error, though the connection ended well")
  func short() async throws {
    let rig = EngineRig()
    let tasks = start(1, rig)
    let asked = await rig.network.asked(0)
    asked.answer(200, fresh, length: 6)
    asked.send("one")
    asked.finish()
    #expect(await lines(tasks) == ["\(HTTPTransportError.connectionLost(reason: "only 3 of 6 bytes were received"))"])
    #expect(rig.shelf.keys.isEmpty)
  }

  @Test("closing ends transfers; later requests are answered and not stored")
  func closing() async throws {
    let rig = EngineRig { request, _ in
      request.url.path == "/b" ? .init(200, ["Cache-Control": "max-age=60"], "b") : nil
    }
    let tasks = start(2, rig)
    let asked = await rig.network.asked(0)
    await rig.engine.close()
    await asked.headGivenUp()
    #expect(Set(await lines(tasks)) == ["\(HTTPTransportError.cancelled)"])
    #expect(try await rig.line("/b") == "200 b network")
    #expect(rig.shelf.keys.isEmpty)
  }

  @Test("A response in transfer is not stored after a change (RFC 9111 §4.4)")
  func changeMeanwhile() async throws {
    let rig = EngineRig { request, _ in request.method == .put ? .init(204) : nil }
    let before = start(1, rig)
    let asked = await rig.network.asked(0)
    #expect(try await rig.line(method: .put) == "204  network")
    let after = start(1, rig)
    let again = await rig.network.asked(2)
    for (asked, text) in [(asked, "old"), (again, "new")] {
      asked.answer(200, fresh, length: 3)
      asked.send(text)
      asked.finish()
    }
    #expect(await lines(before + after) == ["200 old network", "200 new network"])
    #expect(try await rig.line() == "200 new memory")
  }

  @Test("a validation in the background renews what is stored, once for however many ask")
  func background() async throws {
    let rig = EngineRig { _, index in
      index == 0 ? .init(200, ["Cache-Control": "max-age=1, stale-while-revalidate=60"], "old") : nil
    }
    _ = try await rig.line()
    rig.clock.pass(seconds: 5)
    for _ in 0..<10 {
      let answer = try await rig.answer()
      #expect(!answer.isFinal)
      answer.revalidation?.runInBackground()
      #expect(try await EngineRig.line(answer) == "200 old memory")
    }
    let asked = await rig.network.asked(1)
    asked.answer(200, fresh, length: 3)
    asked.send("new")
    asked.finish()
    await rig.engine.settled()
    #expect(try await rig.line() == "200 new memory")
    #expect(rig.network.requests.count == 2)
  }
}
