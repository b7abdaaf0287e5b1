import Foundation
import LarderCore
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderContent

@Suite("A change invalidates the responses of all callers (RFC 9111 §4.4)", .timeLimit(.minutes(5)))
struct CallersInvalidationTests {
  private static let anna: HTTPFields = [.authorization: "Bearer anna"]
  private static let bert: HTTPFields = [.authorization: "Bearer bert"]

  private static func rig(_ fields: HTTPFields = [:]) -> EngineRig {
    EngineRig { request, index in
      if request.method != .get { return .init(204) }
      return .init(200, ["ETag": "\"\(index)\"", "Cache-Control": "max-age=100"] + fields, "\(index)")
    }
  }

  @Test("one caller's change makes what others have outdated, and leaves other resources", arguments: [anna, [:]])
  func others(changing: HTTPFields) async throws {
    let rig = Self.rig()
    for fields in [[:], Self.anna, Self.bert] { _ = try await rig.line("/a", fields) }
    _ = try await rig.line("/b", Self.bert)
    _ = try await rig.line("/a", method: .put, changing)
    for (fields, index) in zip([[:], Self.anna, Self.bert], 5...) {
      #expect(try await rig.line("/a", fields) == "200 \(index) network")
    }
    #expect(try await rig.line("/b", Self.bert) == "200 3 memory")
  }

  @Test("also where another process has stored it")
  func otherProcess() async throws {
    let rig = Self.rig()
    _ = try await rig.line("/a", Self.bert)
    var options = rig.engine.options
    options.environment = .at { rig.clock.now }
    let second = HTTPCache(cache: rig.shelf, transport: rig.network, options: options)
    _ = try await second.response(to: rig.request("/a", method: .delete, Self.anna))
    #expect(try await rig.line("/a", Self.bert) == "200 2 network")
  }

  @Test("also the variants of another caller")
  func variants() async throws {
    let rig = Self.rig(["Vary": "Accept-Language"])
    let german = Self.bert + ["Accept-Language": "de"]
    _ = try await rig.line("/a", german)
    _ = try await rig.line("/a", method: .patch, Self.anna)
    #expect(try await rig.line("/a", german) == "200 2 network")
  }

  @Test("also a response that another caller is receiving")
  func inProgress() async throws {
    let rig = EngineRig { request, _ in request.method == .put ? .init(204) : nil }
    async let first = rig.line("/a", Self.bert)
    let exchange = await rig.network.exchange(0)
    _ = try await rig.line("/a", method: .put, Self.anna)
    exchange.respond(200, ["Cache-Control": "max-age=100"], length: 3)
    exchange.send("old")
    exchange.finish()
    #expect(try await first == "200 old network")
    async let second = rig.line("/a", Self.bert)
    let again = await rig.network.exchange(2)
    again.respond(200, ["Cache-Control": "max-age=100"], length: 3)
    again.send("new")
    again.finish()
    #expect(try await second == "200 new network")
  }

  @Test("the record of callers is written once for each, and for none where requests say nothing of theirs")
  func record() async throws {
    let rig = Self.rig()
    for path in ["/a", "/b", "/c"] {
      _ = try await rig.line(path)
      #expect(!rig.shelf.keys.contains { $0.hasPrefix(" #callers") } || path != "/a")
      _ = try await rig.line(path, Self.anna)
      _ = try await rig.line(path, Self.bert)
    }
    #expect(rig.shelf.log.count { $0.hasPrefix("store  #callers") } == 2)
  }

  @Test("the latest callers are known, up to a limit")
  func limit() async throws {
    let shelf = ShelfCache()
    let known = KnownCallers()
    let count = KnownCallers.limit + 3
    for number in 0..<count { try await known.note(" #\(number)", in: shelf, now: 0) }
    for callers in [known, KnownCallers()] {
      let all = try await callers.all(in: shelf)
      #expect(all.count == KnownCallers.limit)
      #expect(all.first == " #3" && all.last == " #\(count - 1)")
    }
  }
}
