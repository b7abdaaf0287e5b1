import LarderContent
import LarderHTTP
import Testing

@Suite("The client's conditions through the engine (RFC 9111 §4.3.2)", .timeLimit(.minutes(5)))
struct ConditionsThroughEngineTests {
  static let origin = RangedOrigin("content")

  @Test("a condition that the fresh response meets gets 304, for GET and HEAD")
  func notModified() async throws {
    let rig = EngineRig(Self.origin)
    _ = try await rig.line([:])
    #expect(try await rig.line(["If-None-Match": "\"v1\""]) == "304  memory")
    #expect(try await rig.line("/a", method: .head, ["If-None-Match": "\"v1\""]) == "304  memory")
    #expect(try await rig.line(["If-None-Match": "\"v0\""]) == "200 content memory")
    rig.clock.pass(seconds: 5)
    let response = try await rig.response("/a", ["If-None-Match": "W/\"v1\", \"x\""])
    #expect(response.response.fields["ETag"] == "\"v1\"")
    #expect(response.response.fields["Age"] == "5")
    #expect(response.response.fields["Cache-Status"] == "larder; hit; ttl=55")
    #expect(response.response.fields["Content-Type"] == nil)
    #expect(rig.network.requests.count == 1)
  }

  @Test("a condition comes before a range (RFC 9110 §13.2.2)")
  func beforeRange() async throws {
    let rig = EngineRig(Self.origin)
    _ = try await rig.line([:])
    #expect(try await rig.range("0-1", ["If-None-Match": "\"v1\""]) == "304  memory")
    #expect(try await rig.range("0-1", ["If-None-Match": "\"v0\""]) == "206 co memory")
    #expect(try await rig.range("0-1", ["If-Range": "\"v1\""]) == "206 co memory")
    #expect(try await rig.range("0-1", ["If-Range": "\"v0\""]) == "200 content memory")
  }

  @Test("a validation evaluates the client's condition too")
  func validation() async throws {
    let rig = EngineRig(Self.origin)
    _ = try await rig.line([:])
    rig.clock.pass(seconds: 61)
    #expect(try await rig.line(["If-None-Match": "\"v1\""]) == "304  validated")
    rig.clock.pass(seconds: 61)
    #expect(try await rig.line(["If-None-Match": "\"v0\""]) == "200 content validated")
    #expect(rig.network.requests.map { $0.fields[.ifNoneMatch] ?? "-" } == ["-", "\"v1\"", "\"v1\", \"v0\""])
  }

  @Test("a 304 that names the client's tag alone is for the client; the stored response is validated next time")
  func clientIsNewer() async throws {
    let rig = EngineRig { request, index in
      var origin = Self.origin
      if index > 0 { origin = RangedOrigin("newer") }
      origin.etag = index > 0 ? "\"v2\"" : "\"v1\""
      return origin.scripted(request)
    }
    _ = try await rig.line([:])
    let response = try await rig.response("/a", ["If-None-Match": "\"v2\"", "Cache-Control": "no-cache"])
    #expect(try await EngineRig.line(response) == "304  network")
    #expect(response.response.fields["ETag"] == "\"v2\"")
    #expect(rig.network.requests.last?.fields[.ifNoneMatch] == "\"v1\", \"v2\"")
    #expect(try await rig.line([:]) == "200 newer network")
  }

  @Test("A 304 without a tag is not used: the client's own request follows")
  func unclear() async throws {
    let rig = EngineRig { request, index in
      index == 0 ? Self.origin.scripted(request) : .init(304, [:])
    }
    _ = try await rig.line([:])
    #expect(try await rig.line(["If-None-Match": "\"v2\"", "Cache-Control": "no-cache"]) == "304  network")
    #expect(rig.network.requests.map { $0.fields[.ifNoneMatch] ?? "-" } == ["-", "\"v1\", \"v2\"", "\"v2\""])
  }

  @Test("without a stored response conditions go to the server as they are")
  func nothingStored() async throws {
    let rig = EngineRig(Self.origin)
    #expect(try await rig.line(["If-None-Match": "\"v1\""]) == "304  network")
    #expect(try await rig.line([:]) == "200 content network")
  }

  @Test(
    "If-Match and If-Unmodified-Since are the server's to evaluate (RFC 9110 §13.1.1, §13.1.4)",
    arguments: ["If-Match", "If-Unmodified-Since"] as [HTTPFieldName])
  func forOrigin(name: HTTPFieldName) async throws {
    let rig = EngineRig { request, _ in
      request.fields.contains(name) ? .init(412, [:], "no") : Self.origin.scripted(request)
    }
    _ = try await rig.line([:])
    let fields = HTTPFields([HTTPField(name: name, value: "\"x\"")])
    #expect(try await rig.line(fields) == "412 no network")
    #expect(try await rig.line([:]) == "200 content memory")
    #expect(try await rig.line("/a", fields, policy: .cacheOnly) == "200 content memory")
  }
}
