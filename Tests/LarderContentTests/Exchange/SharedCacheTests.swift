import Foundation
import LarderContent
import LarderCore
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("A cache that several clients share (RFC 9111 §5.2.2.7)", .timeLimit(.minutes(5)))
struct SharedCacheTests {
  private static let anna: HTTPFields = [.cookie: "session=anna"]
  private static let ben: HTTPFields = [.cookie: "session=ben"]

  private func rig(
    isShared: Bool = true, _ respond: @escaping @Sendable (HTTPRequest, Int) -> ManualNetwork.Scripted?
  ) -> EngineRig {
    EngineRig(respond) { $0.isShared = isShared }
  }

  /// Fields of responses that are meant for one client.
  static let personal: [HTTPFields] = [
    ["Cache-Control": "private, max-age=60"], ["Cache-Control": "max-age=60", "Set-Cookie": "session=anna"],
    ["Cache-Control": "max-age=60, private=\"X\""], ["Cache-Control": "public, max-age=60", "Set-Cookie": "a=b"],
    ["Cache-Control": "private"],
  ]

  @Test("A response for one client is not stored for requests without credentials", arguments: personal)
  func anonymous(fields: HTTPFields) async throws {
    let rig = rig { _, index in .init(200, fields, "\(index)") }
    for index in 0..<3 {
      let response = try await rig.response()
      #expect(response.response.fields["Cache-Status"]?.contains("stored") == false)
      #expect(try await EngineRig.line(response) == "200 \(index) network")
    }
    #expect(rig.shelf.keys.isEmpty)
    // A cache of one user keeps it, but for what is fresh for no time.
    let privateRig = self.rig(isShared: false) { _, index in .init(200, fields, "\(index)") }
    _ = try await privateRig.line()
    #expect(!privateRig.shelf.keys.isEmpty)
  }

  @Test("It is stored for requests with credentials, separately for each", arguments: personal.dropLast())
  func apart(fields: HTTPFields) async throws {
    let rig = rig { request, index in .init(200, fields, "\(index) \(request.fields[.cookie] ?? "nobody")") }
    #expect(try await rig.line("/a", Self.anna) == "200 0 session=anna network")
    #expect(try await rig.line("/a", Self.ben) == "200 1 session=ben network")
    #expect(try await rig.line("/a", Self.anna) == "200 0 session=anna memory")
    #expect(try await rig.line("/a", Self.ben) == "200 1 session=ben memory")
    #expect(try await rig.line("/a") == "200 2 nobody network")
    #expect(try await rig.line("/a") == "200 3 nobody network")
  }

  @Test("Other responses are stored for all requests without credentials")
  func common() async throws {
    let rig = rig { _, index in .init(200, ["Cache-Control": "max-age=60"], "\(index)") }
    #expect(try await rig.line() == "200 0 network")
    #expect(try await rig.line() == "200 0 memory")
  }

  @Test("Two concurrent clients without credentials get a response each")
  func sharedTransfer() async throws {
    for fields in Self.personal {
      let rig = EngineRig(configure: { $0.isShared = true })
      let first = immediately { try await rig.line() }
      let exchange = await rig.network.exchange(0)
      let second = immediately { try await rig.line() }
      exchange.respond(200, fields, length: 3)
      exchange.send("one")
      exchange.finish()
      let again = await rig.network.exchange(1)
      again.respond(200, fields, length: 3)
      again.send("two")
      again.finish()
      #expect(try await first.value == "200 one network")
      #expect(try await second.value == "200 two network")
    }
  }

  @Test("An error for one client is not used for another")
  func sharedError() async throws {
    let rig = EngineRig(configure: { $0.isShared = true })
    let first = immediately { try await rig.line() }
    let exchange = await rig.network.exchange(0)
    let second = immediately { try await rig.line() }
    exchange.respond(500, ["Set-Cookie": "session=anna"], length: 3)
    exchange.send("one")
    exchange.finish()
    let again = await rig.network.exchange(1)
    again.respond(500, ["Set-Cookie": "session=ben"], length: 3)
    again.send("two")
    again.finish()
    #expect(try await first.value == "200 one network".replacing("200", with: "500"))
    #expect(try await second.value == "500 two network")
  }

  @Test("A response that becomes private by a 304, HEAD or partial response is removed", arguments: ["304", "HEAD"])
  func confirmed(how: String) async throws {
    let rig = rig { request, index in
      let fields: HTTPFields = ["ETag": "\"1\"", "Cache-Control": index == 0 ? "max-age=1" : "private, max-age=60"]
      if request.method == .head { return .init(200, fields) }
      return request.fields.contains(.ifNoneMatch) ? .init(304, fields) : .init(200, fields, "v\(index)")
    }
    #expect(try await rig.line() == "200 v0 network")
    rig.clock.pass(seconds: 5)
    if how == "HEAD" {
      _ = try await rig.line("/a", method: .head)
    } else {
      #expect(try await rig.line() == "200 v0 validated")
    }
    #expect(rig.shelf.keys.allSatisfy { !$0.hasPrefix("http://h/a") }, "\(rig.shelf.keys)")
    #expect(try await rig.line() == "200 v2 network")
  }

  @Test("Entries of a private cache without credentials are not used by a shared one, and changes invalidate both")
  func sameFolder() async throws {
    let privateRig = rig(isShared: false) { _, index in
      .init(200, ["Cache-Control": "private, max-age=600", "ETag": "\"1\""], "own \(index)")
    }
    #expect(try await privateRig.line() == "200 own 0 network")
    #expect(try await privateRig.line("/a", ["Authorization": "a"]) == "200 own 1 network")
    var options = HTTPCacheOptions()
    options.isShared = true
    options.environment = .at { privateRig.clock.now }
    let network = ManualNetwork { request, index in
      request.method == .post ? .init(200) : .init(200, ["Cache-Control": "max-age=600"], "shared \(index)")
    }
    let shared = HTTPCache(cache: privateRig.shelf, transport: network, options: options)
    #expect(try await EngineRig.line(shared.response(to: privateRig.request())) == "200 shared 0 network")
    #expect(try await EngineRig.line(shared.response(to: privateRig.request())) == "200 shared 0 memory")
    // The same credentials are the same caller.
    let authorized = privateRig.request("/a", ["Authorization": "a"])
    #expect(try await EngineRig.line(shared.response(to: authorized)) == "200 own 1 memory")
    _ = try await EngineRig.line(shared.response(to: privateRig.request(method: .post)))
    #expect(try await EngineRig.line(shared.response(to: privateRig.request())) == "200 shared 2 network")
    #expect(try await privateRig.line() == "200 own 2 network")
    _ = try await privateRig.line(method: .post)
    #expect(try await EngineRig.line(shared.response(to: privateRig.request())) == "200 shared 3 network")
  }

  @Test("Credentials of the transport apply to all clients and do not distinguish them")
  func ownCredentials() async throws {
    let network = ManualNetwork { _, index in .init(200, ["Cache-Control": "private, max-age=600"], "\(index)") }
    var options = HTTPCacheOptions()
    options.isShared = true
    let shelf = ShelfCache()
    let engine = HTTPCache(cache: shelf, transport: Signed(network: network), options: options)
    let request = EngineRig().request()
    #expect(try await EngineRig.line(engine.response(to: request)) == "200 0 network")
    #expect(try await EngineRig.line(engine.response(to: request)) == "200 1 network")
    var known = request
    known.fields[.authorization] = "a"
    #expect(try await EngineRig.line(engine.response(to: known)) == "200 2 network")
    #expect(try await EngineRig.line(engine.response(to: known)) == "200 2 memory")
  }

  private struct Signed: HTTPTransport {
    let network: ManualNetwork
    var identity: String { "a certificate" }
    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
      try await network.send(request)
    }
  }
}
