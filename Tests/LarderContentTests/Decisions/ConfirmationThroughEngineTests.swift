import Foundation
import LarderContent
import LarderHTTP
import Testing

@Suite("How 304, HEAD and partial responses change stored responses", .timeLimit(.minutes(5)))
struct ConfirmationThroughEngineTests {
  // MARK: Groups (RFC 9875)

  private static func changesGroup(_ request: HTTPRequest) -> ManualNetwork.Scripted? {
    request.method == .post ? .init(204, ["Cache-Group-Invalidation": "\"g\""]) : nil
  }

  @Test("a completed response stays in its groups (RFC 9875 §3)", arguments: [true, false])
  func completed(saysGroups: Bool) async throws {
    let origin = RangedOrigin("content")
    let rig = EngineRig { request, index in
      if let response = Self.changesGroup(request) { return response }
      var origin = origin
      if index == 0 || saysGroups { origin.fields["Cache-Groups"] = "\"g\"" }
      return origin.scripted(request)
    }
    #expect(try await rig.range("0-3") == "206 cont network")
    #expect(try await rig.line() == "200 content network")
    #expect(try await rig.line() == "200 content memory")
    _ = try await rig.line("/b", method: .post)
    #expect(try await rig.line() == "200 content validated")
    #expect(try await rig.line() == "200 content memory")
  }

  @Test("a 304 after a group's invalidation makes the response a member again (RFC 9875 §3)")
  func confirmedMember() async throws {
    let rig = EngineRig { request, _ in
      if let response = Self.changesGroup(request) { return response }
      var origin = RangedOrigin("content")
      origin.fields["Cache-Groups"] = "\"f\", \"g\""
      return origin.scripted(request)
    }
    #expect(try await rig.line() == "200 content network")
    for _ in 0..<2 {
      _ = try await rig.line("/b", method: .post)
      #expect(try await rig.line() == "200 content validated")
      #expect(try await rig.line() == "200 content memory")
    }
  }

  @Test("groups that a 304 or a response to HEAD names first are followed", arguments: [HTTPMethod.get, .head])
  func newGroups(method: HTTPMethod) async throws {
    let rig = EngineRig { request, index in
      if let response = Self.changesGroup(request) { return response }
      var fields: HTTPFields = ["Cache-Control": "max-age=10", "ETag": "\"1\""]
      if index > 0 { fields["Cache-Groups"] = "\"g\"" }
      return request.fields.contains(.ifNoneMatch)
        ? .init(304, fields) : .init(200, fields, request.method == .head ? "" : "one")
    }
    #expect(try await rig.line() == "200 one network")
    rig.clock.pass(seconds: 11)
    _ = try await rig.line(method: method)
    _ = try await rig.line()
    #expect(try await rig.line() == "200 one memory")
    _ = try await rig.line("/b", method: .post)
    #expect(try await rig.line() == "200 one validated")
  }

  // MARK: HEAD

  @Test("a HEAD's validation in the background leaves the stored response there, and renews it (RFC 9111 §4.3.5)")
  func headInBackground() async throws {
    let rig = EngineRig { request, _ in
      .init(
        200, ["Cache-Control": "max-age=10, stale-while-revalidate=60", "ETag": "\"1\""],
        request.method == .head ? "" : "one")
    }
    #expect(try await rig.line() == "200 one network")
    rig.clock.pass(seconds: 11)
    let head = try await rig.response(method: .head)
    #expect(head.origin == .memory)
    #expect(!head.isFinal)
    head.revalidation?.runInBackground()
    await rig.engine.settled()
    let get = try await rig.response()
    #expect(get.isFinal)
    #expect(try await EngineRig.line(get) == "200 one memory")
    #expect(rig.network.requests.map(\.method) == [.get, .head])
  }

  @Test("a stale response replaces the response to HEAD too (RFC 5861 §4)", arguments: [503, nil])
  func staleHead(status: Int?) async throws {
    let rig = EngineRig { request, index in
      if index < 2 {
        let extra = request.url.path == "/a" ? ", stale-if-error=60" : ""
        return .init(200, ["Cache-Control": "max-age=1" + extra, "A": "1"], "old")
      }
      return status.map { .init($0) } ?? .failure(.cannotConnect(host: "h", reason: "gone"))
    }
    _ = try await rig.line()
    _ = try await rig.line("/b")
    rig.clock.pass(seconds: 10)
    let head = try await rig.response(method: .head)
    #expect(head.response.status == 200)
    #expect(head.response.fields["A"] == "1")
    #expect(head.origin == .memory)
    #expect(try await rig.line("/b", method: .head, policy: .staleWhenUnreachable) == "200  memory")
    let rejected = try? await rig.response("/b", method: .head)
    #expect(rejected?.response.status == status)
  }

  // MARK: no-store (RFC 9111 §5.2.2.5)

  @Test("a response that the server does not want stored any more is gone", arguments: [HTTPMethod.get, .head])
  func noStore(method: HTTPMethod) async throws {
    let rig = EngineRig { request, index in
      index == 1
        ? .init(request.method == .head ? 200 : 304, ["Cache-Control": "no-store", "ETag": "\"1\"", "A": "secret"])
        : .init(200, ["Cache-Control": "max-age=10", "ETag": "\"1\""], "\(index)")
    }
    #expect(try await rig.line() == "200 0 network")
    rig.clock.pass(seconds: 11)
    let response = try await rig.response(method: method)
    #expect(response.response.status == 200)
    #expect(response.response.fields["A"] == "secret")
    _ = try await response.response.body.collect()
    #expect(rig.shelf.keys.isEmpty)
    #expect(try await rig.line() == "200 2 network")
  }

  @Test("nothing of a response to HEAD that must not be stored is stored (§5.2.1.5)")
  func noStoreRequest() async throws {
    let rig = EngineRig { request, _ in
      .init(
        200, ["Cache-Control": "max-age=10", "ETag": "\"1\"", "A": request.method.rawValue],
        request.method == .head ? "" : "one")
    }
    #expect(try await rig.line() == "200 one network")
    let head = try await rig.response(method: .head, ["Cache-Control": "no-store"])
    #expect(head.response.fields["A"] == "HEAD")
    #expect(rig.shelf["http://h/a"]?.metadata.fields["A"] == "GET")
  }

  // MARK: Dates and directives

  @Test("A 304 without Date gets the time of its arrival (RFC 9110 §6.6.1)")
  func undated() async throws {
    let rig = EngineRig { request, index in
      request.fields.contains(.ifNoneMatch)
        ? .init(304, ["ETag": "\"1\""])
        : .init(200, ["Date": "Fri, 15 Jan 2027 08:00:00 GMT", "Cache-Control": "max-age=60", "ETag": "\"1\""], "one")
    }
    #expect(HTTPDate.text(rig.clock.now / 1000) == "Fri, 15 Jan 2027 08:00:00 GMT")
    #expect(try await rig.line() == "200 one network")
    rig.clock.pass(seconds: 3600)
    #expect(try await rig.line() == "200 one validated")
    rig.clock.pass(seconds: 5)
    let response = try await rig.response()
    #expect(response.origin == .memory)
    #expect(response.response.fields["Age"] == "5")
    #expect(response.response.fields["Date"] == "Fri, 15 Jan 2027 09:00:00 GMT")
  }

  @Test("a reload reaches the origin server past all caches (RFC 9111 §5.2.1.1); a validation by the cache does not")
  func endToEnd() async throws {
    let rig = EngineRig { _, _ in
      .init(200, ["Cache-Control": "max-age=10, stale-while-revalidate=60", "ETag": "\"1\""])
    }
    _ = try await rig.line(policy: .reload)
    _ = try await rig.line(policy: .reload)
    _ = try await rig.line(method: .head, policy: .reload)
    _ = try await rig.line("/a", ["Cache-Control": "no-transform"], policy: .reload)
    _ = try await rig.line("/a", ["Cache-Control": "no-cache"], policy: .reload)
    _ = try await rig.line("/a", ["Cache-Control": "max-age=5"], policy: .reload)
    _ = try await rig.line(method: .post, policy: .reload)
    _ = try await rig.line(policy: .reload)
    rig.clock.pass(seconds: 11)
    try await rig.response().revalidation?.runInBackground()
    await rig.engine.settled()
    let said = rig.network.requests.map { $0.fields.values(of: .cacheControl).joined(separator: ", ") }
    #expect(
      said == [
        "max-age=0", "max-age=0", "max-age=0", "no-transform, max-age=0", "no-cache", "max-age=5", "", "max-age=0", "",
      ])
  }

  @Test(
    "a request with only-if-cached is never sent, whatever its method (RFC 9111 §5.2.1.7)",
    arguments: [HTTPMethod.post, .put, .delete, .options, HTTPMethod(rawValue: "REPORT")])
  func cacheOnly(method: HTTPMethod) async throws {
    let rig = EngineRig { _, _ in .init(200) }
    #expect(try await rig.line(method: method, policy: .cacheOnly) == "504  generated")
    #expect(try await rig.line(method: method, ["Cache-Control": "only-if-cached"]) == "504  generated")
    var request = rig.request()
    request.body = .bytes([1])
    #expect(try await EngineRig.line(rig.engine.response(to: request, policy: .cacheOnly)) == "504  generated")
    #expect(rig.network.requests.isEmpty)
  }
}
