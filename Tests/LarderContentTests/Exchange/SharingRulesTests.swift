import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

/// RFC 9111 §4: a cache may use a response that is stored or storable to satisfy several requests, and no other.
@Suite("Responses that must not be stored are not shared with waiting requests", .timeLimit(.minutes(5)))
struct SharingRulesTests {
  private func start(_ count: Int, _ rig: EngineRig) -> [Task<CachedResponse, any Error>] {
    (0..<count).map { _ in immediately { try await rig.response() } }
  }

  @Test(
    "an error of the server goes to the request that was sent; the others send their own, also the next time",
    arguments: [500, 502, 503, 504],
    [["Cache-Control": "no-store"], ["Retry-After": "5"], ["Cache-Control": "public, no-store"]] as [HTTPFields])
  func serverErrors(status: Int, fields: HTTPFields) async throws {
    let rig = EngineRig()
    for round in 0..<2 {
      let tasks = (0..<3).map { _ in immediately { try await rig.line() } }
      for index in 0..<3 {
        let exchange = await rig.network.exchange(round * 3 + index)
        // All wait for the first: the resource is not treated as one that cannot be shared.
        if index == 0 { #expect(rig.network.requests.count == round * 3 + 1) }
        exchange.respond(status, fields, length: 1)
        exchange.send("\(index)")
        exchange.finish()
      }
      var lines: Set<String> = []
      for task in tasks { lines.insert(try await task.value) }
      #expect(lines == ["\(status) 0 network", "\(status) 1 network", "\(status) 2 network"])
    }
    #expect(rig.shelf.keys.isEmpty)
  }

  @Test("an error of the server that may be stored goes to all who wait (RFC 9111 §3)")
  func storableError() async throws {
    let rig = EngineRig()
    let tasks = (0..<10).map { _ in immediately { try await rig.line() } }
    let exchange = await rig.network.exchange(0)
    exchange.respond(503, ["Cache-Control": "max-age=5"], length: 5)
    exchange.send("sorry")
    exchange.finish()
    for task in tasks { #expect(try await task.value == "503 sorry network") }
    #expect(rig.network.requests.count == 1)
  }

  @Test(
    "no cookie reaches another caller with a response that may not be stored",
    arguments: [
      (200, ["Cache-Control": "no-store"]), (200, ["Cache-Control": "max-age=60, no-store"]),
      (200, ["Cache-Control": "max-age=60", "Vary": "*"]), (401, [:]), (403, [:]), (429, ["Retry-After": "1"]),
      (500, ["Cache-Control": "no-store"]), (503, [:]), (302, [:]),
      (299, ["Cache-Control": "max-age=60, must-understand"]),
    ] as [(Int, HTTPFields)])
  func noCookie(status: Int, fields: HTTPFields) async throws {
    let rig = EngineRig { _, index in
      if index == 0 { return nil }
      var requestFields = fields
      requestFields.append("Set-Cookie", "id=\(index)")
      return .init(status, requestFields, "\(index)")
    }
    let tasks = start(4, rig)
    let first = await rig.network.exchange(0)
    var requestFields = fields
    requestFields.append("Set-Cookie", "id=0")
    first.respond(status, requestFields, length: 1)
    first.send("0")
    first.finish()
    var received: [String] = []
    for task in tasks {
      let response = try await task.value
      received.append("\(response.response.fields["Set-Cookie"] ?? "-") \(try await EngineRig.line(response))")
    }
    #expect(Set(received).count == 4, "\(received)")
  }

  @Test("A field listed in no-cache is returned only to the first requester (RFC 9111 §5.2.2.4)")
  func namedField() async throws {
    let rig = EngineRig()
    let tasks = start(3, rig)
    let exchange = await rig.network.exchange(0)
    exchange.respond(
      200, ["Cache-Control": "max-age=60, no-cache=\"Set-Cookie\"", "Set-Cookie": "id=1", "X-Kept": "yes"], length: 1)
    exchange.send("x")
    exchange.finish()
    var cookies: [String?] = []
    for task in tasks {
      let response = try await task.value
      cookies.append(response.response.fields["Set-Cookie"])
      #expect(response.response.fields["X-Kept"] == "yes")
      #expect(try await EngineRig.line(response) == "200 x network")
    }
    #expect(cookies == ["id=1", nil, nil])
    #expect(rig.network.requests.count == 1)
  }

  @Test("a 304 with no-store renews nothing for those who wait")
  func notModified() async throws {
    let rig = EngineRig { _, index in
      switch index {
      case 0: .init(200, ["ETag": "\"1\"", "Cache-Control": "max-age=1"], "one")
      case 1: nil
      default: .init(200, ["Cache-Control": "no-store"], "\(index)")
      }
    }
    _ = try await rig.line()
    rig.clock.pass(seconds: 5)
    let tasks = (0..<3).map { _ in immediately { try await rig.line() } }
    let exchange = await rig.network.exchange(1)
    exchange.respond(304, ["ETag": "\"1\"", "Cache-Control": "no-store"], length: 0)
    exchange.finish()
    var lines: Set<String> = []
    for task in tasks { lines.insert(try await task.value) }
    #expect(lines == ["200 one validated", "200 2 network", "200 3 network"])
  }

  @Test("what was not stored for want of room only is shared all the same")
  func noRoom() async throws {
    let rig = EngineRig()
    rig.shelf.fail(.append, .tooLarge(limit: 2))
    let tasks = (0..<5).map { _ in immediately { try await rig.line() } }
    let exchange = await rig.network.exchange(0)
    exchange.respond(200, ["Cache-Control": "max-age=60"], length: 3)
    exchange.send("abc")
    exchange.finish()
    for task in tasks { #expect(try await task.value == "200 abc network") }
    #expect(rig.network.requests.count == 1)
  }
}
