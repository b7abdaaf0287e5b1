import Foundation
import LarderHTTP
import LarderTesting
import Testing

@Suite("Scripted transport", .timeLimit(.minutes(1)))
struct ScriptedTransportTests {
  @Test(
    "A route fits by method, path and wildcards; without '?' it fits every query",
    arguments: [
      ("GET Orders", "Orders?$top=1", true), ("GET Orders", "Orders(1)", false), ("GET Orders(*)", "Orders(1)", true),
      ("GET Orders(*)/Items", "Orders('a/b')/Items", true), ("* Orders", "Orders", true),
      ("POST Orders", "Orders", false),
      ("GET Orders?$top=*", "Orders?$top=5", true), ("GET Orders?$top=*", "Orders", false), ("GET *", "a/b?c", true),
      ("GET *s(*)", "Orders(1)", true), ("GET Note eq", "Note eq", true),
    ])
  func patterns(_ pattern: String, _ path: String, _ fits: Bool) async throws {
    let transport = ScriptedTransport()
    transport.route(pattern, "yes")
    let response = try await transport.get(path)
    #expect(response.status == (fits ? 200 : 404))
    #expect(transport.requests == ["GET \(path)"])
  }

  @Test("The later route is used; a reply's type follows from its content; a request without a route is named")
  func replies() async throws {
    let transport = ScriptedTransport()
    transport.route("GET a", "text")
    transport.route("GET a", #"{"a":1}"#)
    transport.route("POST a") { request in HTTPTestReply(request.text, status: 201) }
    #expect(try await transport.get("a").fields[.contentType] == "application/json")
    let posted = try await transport.send(.post, "a", "<x/>")
    #expect(posted.status == 201 && posted.text == "<x/>" && posted.fields[.contentType] == "application/xml")
    #expect(try await transport.get("b").text == "There is no route for 'GET b'.")
    #expect(transport.log.map(\.text) == ["", "<x/>", ""])
    transport.clearRequests()
    #expect(transport.requests.isEmpty)
  }

  @Test("Failures happen in their order, to the requests that they are for, and to no others")
  func faults() async throws {
    let transport = ScriptedTransport()
    transport.route("* *", "0123456789")
    transport.fail(next: .timeout, on: "GET b")
    transport.fail(next: .status(503, fields: ["Retry-After": "2"]), times: 2)
    transport.fail(next: .hostNotFound)
    let busy = try await transport.get("a")
    #expect(busy.status == 503 && busy.fields[.retryAfter] == "2")
    await #expect(throws: HTTPTransportError.timeout(phase: "idle")) { try await transport.get("b") }
    #expect(try await transport.get("b").status == 503)
    await #expect(throws: HTTPTransportError.hostNotFound(host: "service.test")) { try await transport.get("a") }
    #expect(try await transport.get("a").status == 200)
    transport.fail(next: .timeout)
    transport.clearFaults()
    #expect(try await transport.get("a").status == 200)
  }

  @Test("A lost response and truncated content are of requests that the service carried out")
  func lostResponses() async throws {
    let transport = ScriptedTransport()
    transport.route("POST a") { _ in "0123456789" }
    transport.fail(next: .responseLost)
    transport.fail(next: .truncatedContent)
    await #expect(throws: HTTPTransportError.connectionLost(reason: "the response was lost")) {
      try await transport.send(.post, "a")
    }
    let response = try await transport.send(HTTPRequest(method: .post, url: transport.root.appending(path: "a")))
    var received: [UInt8] = []
    await #expect(throws: HTTPTransportError.connectionLost(reason: "the content was interrupted")) {
      for try await chunk in response.body { received += chunk }
    }
    #expect(received == Array("01234".utf8))
    #expect(transport.requests == ["POST a", "POST a"])
  }

  @Test("Offline, requests fail and are not recorded")
  func offline() async throws {
    let transport = ScriptedTransport()
    transport.route("GET a", "x")
    transport.isOffline = true
    await #expect(throws: HTTPTransportError.cannotConnect(host: "service.test", reason: "the transport is offline")) {
      try await transport.get("a")
    }
    transport.isOffline = false
    _ = try await transport.get("a")
    #expect(transport.requests == ["GET a"])
  }

  @Test("A request waits for the latency on the clock, and can be cancelled meanwhile")
  func latency() async throws {
    let transport = ScriptedTransport()
    transport.route("GET a", "x")
    transport.latency = .milliseconds(50)
    let first = Task { try await transport.get("a").text }
    await transport.clock.waitForSleepers()
    transport.clock.advance(by: .milliseconds(50))
    #expect(try await first.value == "x")
    let second = Task { try await transport.get("a").text }
    await transport.clock.waitForSleepers()
    second.cancel()
    await #expect(throws: HTTPTransportError.cancelled) { try await second.value }
  }

  @Test("Recorded exchanges are replayed by URL, in their order, however the URL is encoded; others are named")
  func replay() async throws {
    let root = ScriptedTransport.defaultRoot.absoluteString
    let recording = RecordedExchanges([
      RecordedExchange(url: root + "Orders?$filter=Note%20eq%20'a'", status: 200, body: Array("one".utf8)),
      RecordedExchange(url: root + "Orders?%24filter=Note%20eq%20%27a%27", status: 503, body: Array("two".utf8)),
      RecordedExchange(url: root + "Secret?access_token=1", status: 200, body: Array("three".utf8)),
    ])
    let transport = ScriptedTransport(replaying: try RecordedExchanges(encoded: recording.encoded))
    for (status, text) in [(200, "one"), (503, "two"), (503, "two")] {
      let response = try await transport.get("Orders?$filter=Note eq 'a'")
      #expect(response.status == status && response.text == text)
    }
    #expect(try await transport.get("Secret?access_token=2").text == "three")
    let missing = try await transport.get("Items")
    #expect(missing.status == 404 && missing.text.contains("GET \(root)Items"))
    transport.route("GET Items", "route")
    #expect(try await transport.get("Items").text == "route")
  }
}

@Suite("Test clock", .timeLimit(.minutes(1)))
struct TestClockTests {
  @Test("Time passes only when the clock is advanced")
  func advance() {
    let clock = LarderTestClock(Date(timeIntervalSince1970: 100))
    let environment = clock.environment
    clock.advance(by: .milliseconds(1500))
    #expect(environment.now() == Date(timeIntervalSince1970: 101.5))
    #expect(clock.elapsed == .milliseconds(1500))
    #expect(environment.uptime() >= .milliseconds(1500))
  }

  #if os(macOS) || os(Linux)
    @Test("A clock does not go back")
    func negative() async {
      await #expect(processExitsWith: .failure) { LarderTestClock().advance(by: .seconds(-1)) }
    }

    @Test("A clock that is advanced beyond its range ends the test")
    func range() async {
      await #expect(processExitsWith: .failure) { LarderTestClock().advance(by: .seconds(10_000_000_000)) }
    }
  #endif

  @Test("A clock can be advanced by centuries")
  func centuries() {
    let clock = LarderTestClock()
    for _ in 0..<2 { clock.advance(by: .seconds(4_000_000_000)) }
    #expect(clock.elapsed == .seconds(8_000_000_000))
  }

  @Test("A sleeping task wakes when its time is over, not before")
  func sleep() async throws {
    let clock = LarderTestClock()
    let environment = clock.environment
    let short = Task { try await environment.sleep(.seconds(1)) }
    let long = Task { try await clock.sleep(for: .seconds(3)) }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(2))
    try await short.value
    let more = Task { try await clock.sleep(for: .seconds(1)) }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(1))
    try await long.value
    try await more.value
    try await clock.sleep(for: .zero)
  }

  @Test("Cancelling ends sleeping and waiting")
  func cancelling() async throws {
    let clock = LarderTestClock()
    let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
    await clock.waitForSleepers()
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    let watcher = Task { await clock.waitForSleepers(5) }
    watcher.cancel()
    await watcher.value
  }

  @Test("A wait for a condition ends when it is true, at its limit, and when the task is cancelled")
  @MainActor
  func conditions() async {
    let clock = LarderTestClock()
    var steps = 0
    let other = Task {
      for _ in 0..<5 {
        await Task.yield()
        steps += 1
      }
    }
    // Other tests share the main actor, and may keep it for longer than the usual limit.
    #expect(await clock.waitUntil(within: .seconds(600)) { steps == 5 })
    await other.value
    #expect(await clock.waitUntil(within: .zero) { steps == 5 })
    #expect(await clock.waitUntil(within: .milliseconds(5)) { steps > 5 } == false)
    let waiting = Task { await clock.waitUntil(within: .seconds(600)) { steps > 5 } }
    waiting.cancel()
    #expect(await waiting.value == false)
    #expect(clock.elapsed == .zero)
  }

  @Test("A clock forgets tasks that are cancelled after they wake")
  @MainActor
  func cancellingLate() async throws {
    let clock = LarderTestClock()
    // All tasks run on the main actor: none continues before the test suspends.
    let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    sleeper.cancel()
    try await sleeper.value
    #expect(clock.entryCount == 0)
    // They begin in their order: the second one wakes the first, which the third cancels.
    let watcher = Task { await clock.waitForSleepers() }
    let waking = Task { try await clock.sleep(for: .seconds(1)) }
    let cancelling = Task { watcher.cancel() }
    await cancelling.value
    await watcher.value
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    try await waking.value
    #expect(clock.entryCount == 0)
  }
}
