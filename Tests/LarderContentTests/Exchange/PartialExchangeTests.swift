import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Ranges and the client's own conditions", .timeLimit(.minutes(5)))
struct PartialExchangeTests {
  private static let ten: HTTPFields = [
    "Cache-Control": "max-age=60", "ETag": "\"1\"", "Date": "Fri, 15 Jan 2027 08:00:00 GMT",
  ]

  /// A server of "0123456789" that knows ranges, with a hook for responses of another kind.
  private func rig(
    _ other: @escaping @Sendable (HTTPRequest, Int) -> ManualNetwork.Scripted? = { _, _ in nil }
  ) -> EngineRig {
    EngineRig { request, index in
      if let scripted = other(request, index) { return scripted }
      let text = "0123456789"
      guard let range = request.fields["Range"]?.dropFirst(6).split(separator: "-"), let start = Int(range[0]) else {
        return .init(200, Self.ten, text)
      }
      let end = range.count > 1 ? Int(range[1]) ?? 9 : 9
      var fields = Self.ten
      fields["Content-Range"] = "bytes \(start)-\(end)/10"
      return .init(206, fields, String(text.dropFirst(start).prefix(end - start + 1)))
    }
  }

  @Test(
    "ranges are served from a stored complete response (RFC 9110 §14.2)",
    arguments: [
      ("bytes=2-4", "206 234 memory"), ("bytes=-3", "206 789 memory"), ("bytes=8-", "206 89 memory"),
      ("bytes=20-", "416  memory"), ("lines=1-2", "200 0123456789 memory"),
    ])
  func fromWhole(range: String, expected: String) async throws {
    let rig = rig()
    _ = try await rig.line()
    #expect(try await rig.line("/a", ["Range": range]) == expected)
    #expect(rig.network.requests.count == 1)
  }

  @Test("parts are stored, served again, combined, and become the whole (RFC 9111 §3.3, §3.4)")
  func combining() async throws {
    let rig = rig()
    #expect(try await rig.line("/a", ["Range": "bytes=0-3"]) == "206 0123 network")
    #expect(try await rig.line("/a", ["Range": "bytes=1-2"]) == "206 12 memory")
    #expect(try await rig.line("/a", ["Range": "bytes=6-9"]) == "206 6789 network")
    #expect(try await rig.line() == "200 0123456789 network")
    #expect(rig.network.requests.last?.fields["Range"] == "bytes=4-5")
    #expect(try await rig.line() == "200 0123456789 memory")
  }

  @Test("an interrupted response is completed by the next request (RFC 9111 §3.3)")
  func completion() async throws {
    let hand = EngineRig()
    let task = immediately { try await hand.line() }
    let exchange = await hand.network.exchange(0)
    exchange.respond(200, Self.ten.with("Content-Length", "10"), length: 10)
    exchange.send("012345")
    exchange.breakOff()
    await #expect(throws: HTTPTransportError.self) { try await task.value }
    #expect(hand.shelf["http://h/a"]?.metadata.content == .parts([0..<6], length: 10))
    let next = immediately { try await hand.line() }
    let rest = await hand.network.exchange(1)
    #expect(rest.request.fields["Range"] == "bytes=6-")
    #expect(rest.request.fields["If-Range"] == "\"1\"")
    rest.respond(206, Self.ten.with("Content-Range", "bytes 6-9/10"), length: 4)
    rest.send("6789")
    rest.finish()
    #expect(try await next.value == "200 0123456789 network")
    #expect(try await hand.line() == "200 0123456789 memory")
  }

  @Test("a whole that comes in place of the missing part replaces what was stored")
  func replacedCompletion() async throws {
    let rig = rig { request, index in
      index == 0 ? nil : .init(200, ["ETag": "\"2\"", "Cache-Control": "max-age=60"], "abcdefghij")
    }
    _ = try await rig.line("/a", ["Range": "bytes=0-3"])
    #expect(try await rig.line() == "200 abcdefghij network")
    #expect(try await rig.line() == "200 abcdefghij memory")
  }

  @Test(
    "a client that has what is stored gets 304 from the cache (RFC 9111 §4.3.2)",
    arguments: [
      (["If-None-Match": "\"1\""], "304  memory"), (["If-None-Match": "\"0\", W/\"1\""], "304  memory"),
      (["If-None-Match": "\"0\""], "200 0123456789 memory"),
    ] as [(HTTPFields, String)])
  func clientConditions(fields: HTTPFields, expected: String) async throws {
    let rig = rig()
    _ = try await rig.line()
    #expect(try await rig.line("/a", fields) == expected)
    #expect(rig.network.requests.count == 1)
  }

  @Test("a stale response is validated with the cache's tag; the client's is compared with what comes of it")
  func staleWithClientConditions() async throws {
    let rig = rig { request, index in
      if index == 0 { return nil }
      let offered = request.fields[.ifNoneMatch] ?? ""
      return offered.contains("\"1\"") ? .init(304, Self.ten) : .init(200, Self.ten, "0123456789")
    }
    _ = try await rig.line()
    rig.clock.pass(seconds: 100)
    #expect(try await rig.line("/a", ["If-None-Match": "\"0\""]) == "200 0123456789 validated")
    rig.clock.pass(seconds: 100)
    #expect(try await rig.line("/a", ["If-None-Match": "\"1\""]) == "304  validated")
  }

  @Test("a client whose copy is newer than the cache's gets the server's 304; what is stored is not confirmed by it")
  func newerClient() async throws {
    let rig = rig { request, index in
      index == 0 ? nil : .init(304, ["ETag": "\"2\"", "Cache-Control": "max-age=60"])
    }
    _ = try await rig.line()
    rig.clock.pass(seconds: 100)
    #expect(try await rig.line("/a", ["If-None-Match": "\"2\""]) == "304  network")
    #expect(rig.shelf["http://h/a"]?.metadata.isInvalidated == true)
  }

  @Test("preconditions that are the server's go to the server (RFC 9110 §13.1.1)")
  func forOrigin() async throws {
    let rig = rig { request, index in request.fields.contains(.ifMatch) ? .init(412) : nil }
    _ = try await rig.line()
    #expect(try await rig.line("/a", [.ifMatch: "\"7\""]) == "412  network")
    #expect(try await rig.line() == "200 0123456789 memory")
  }
}

extension HTTPFields {
  fileprivate func with(_ name: HTTPFieldName, _ value: String) -> HTTPFields {
    var fields = self
    fields[name] = value
    return fields
  }
}
