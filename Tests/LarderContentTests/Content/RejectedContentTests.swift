import Foundation
import LarderHTTP
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderContent

@Suite("Content that a query's parser rejects never replaces or removes what is stored", .timeLimit(.minutes(5)))
struct RejectedContentTests {
  typealias Scripted = ManualNetwork.Scripted

  struct Rejection: Error {}

  /// Good content, stale after 10 s, then a sign-in page with status 200 and more fields.
  private static func rig(_ page: HTTPFields, over cache: (any Cache)? = nil) async throws -> (ManagerRig, Responses) {
    let responses = Responses([Scripted(200, ["ETag": "\"1\"", "Cache-Control": "max-age=10"], "[1]")])
    let rig = ManagerRig(over: cache) { request, _ in responses.next(request) }
    #expect(try await rig.manager.content(of: json(rig)).value == [1])
    rig.rig.clock.pass(seconds: 11)
    responses.add(Scripted(200, page, "<html>"))
    return (rig, responses)
  }

  private static func json(_ rig: ManagerRig, policy: ContentPolicy = .standard) -> ContentQuery<[Int]> {
    var query = ContentQuery<[Int]>.json(rig.query().url)
    query.policy = policy
    return query
  }

  /// Responses in order; without any more of them, the server is unreachable.
  final class Responses: Sendable {
    private let list: Mutex<[Scripted]>
    init(_ list: [Scripted]) { self.list = Mutex(list) }
    func add(_ response: Scripted) { list.withLock { $0.append(response) } }
    func next(_ request: HTTPRequest) -> Scripted {
      list.withLock { $0.isEmpty ? .failure(.cannotConnect(host: "h", reason: "a test")) : $0.removeFirst() }
    }
  }

  static let pages: [HTTPFields] = [
    [:], ["Cache-Control": "max-age=60", "ETag": "\"page\""], ["Cache-Control": "no-store"],
    ["Vary": "Accept-Language"],
    ["Vary": "*"], ["Content-Type": "text/html", "Cache-Control": "no-cache"],
  ]

  @Test("the former content stays, and the parser's error is thrown", arguments: Self.pages, ProvidedCache.allCases)
  func stays(page: HTTPFields, provided: ProvidedCache) async throws {
    let cache = try await provided.make()
    let (rig, responses) = try await Self.rig(page, over: cache.cache)
    let error = await #expect(throws: ContentError.self) { try await rig.manager.content(of: Self.json(rig)) }
    #expect(error?.isParseError == true)
    #expect(try await rig.manager.content(of: Self.json(rig, policy: .cacheOnly)).value == [1])
    #expect(try await rig.manager.content(of: Self.json(rig, policy: .staleWhenUnreachable)).value == [1])
    responses.add(Scripted(304, ["ETag": "\"1\""]))
    #expect(try await rig.manager.content(of: Self.json(rig)).origin == .validated)
    #expect(rig.rig.network.requests.last?.fields[.ifNoneMatch] == "\"1\"")
  }

  @Test("a loop over the responses, and a listener", arguments: [false, true])
  func inOrder(byListener: Bool) async throws {
    let (rig, _) = try await Self.rig(["Cache-Control": "max-age=60"])
    var query = Self.json(rig)
    query.softTTL = .seconds(5)
    query.ttl = .seconds(100)
    let ends = Mutex<[String]>([])
    if byListener {
      let listener = ContentListener<[Int]>(
        intermediate: { response in ends.withLock { $0.append("intermediate \(response.value)") } },
        final: { response in ends.withLock { $0.append("final \(response.value)") } },
        failed: { error in ends.withLock { $0.append("failed \(error.isParseError)") } })
      await rig.manager.schedule(query, listener: listener).finished()
    } else {
      do throws(ContentError) {
        for try await response in rig.manager.responses(to: query) {
          ends.withLock { $0.append("\(response.isIntermediate ? "intermediate" : "final") \(response.value)") }
        }
      } catch {
        ends.withLock { $0.append("failed \(error.isParseError)") }
      }
    }
    #expect(ends.withLock { $0 } == ["intermediate [1]", "failed true"])
    #expect(try await rig.manager.content(of: Self.json(rig, policy: .cacheOnly)).value == [1])
  }

  @Test("stored content that the parser rejects is requested without conditions, and stays until a parser accepts")
  func storedIsRejected() async throws {
    let (rig, responses) = try await Self.rig(["Cache-Control": "max-age=60"])
    let text = rig.query()
    #expect(try await rig.manager.content(of: text).value == "<html>")
    responses.add(Scripted(200, [:], "<again>"))
    await #expect(throws: ContentError.self) { try await rig.manager.content(of: Self.json(rig)) }
    #expect(rig.rig.network.requests.last?.fields.contains(.ifNoneMatch) == false)
    #expect(try await rig.manager.content(of: text).value == "<html>")
    responses.add(Scripted(200, ["Cache-Control": "max-age=60"], "[2]"))
    #expect(try await rig.manager.content(of: Self.json(rig)).value == [2])
    #expect(try await rig.manager.content(of: text).value == "[2]")
  }

  @Test("in a shared transfer one parser that accepts is enough", arguments: [true, false])
  func shared(accepts: Bool) async throws {
    let rig = ManagerRig()
    let url = rig.query().url
    let rejecting = ContentQuery<String>(url) { _ in throw Rejection() }
    let other = ContentQuery<String>(url) { data in
      if accepts { return String(decoding: data, as: UTF8.self) } else { throw Rejection() }
    }
    let first = immediately { try await rig.manager.content(of: rejecting).value }
    let second = immediately { try await rig.manager.content(of: other).value }
    let exchange = await rig.rig.network.exchange(0)
    exchange.respond(200, ["Cache-Control": "max-age=60"], length: 3)
    exchange.send("new")
    exchange.finish()
    await #expect(throws: ContentError.self) { try await first.value }
    let value = try? await second.value
    #expect(value == (accepts ? "new" : nil))
    await rig.rig.engine.settled()
    #expect(rig.rig.network.requests.count == 1)
    #expect((rig.rig.shelf["http://h/a"] != nil) == accepts)
  }

  @Test("the response of a redirect is stored whatever the parser says of its target's content")
  func redirect() async throws {
    let rig = ManagerRig { request, _ in
      request.url.path == "/a"
        ? Scripted(301, ["Location": "/b", "Cache-Control": "max-age=60"])
        : Scripted(200, ["Cache-Control": "max-age=60"], "<html>")
    }
    await #expect(throws: ContentError.self) { try await rig.manager.content(of: Self.json(rig)) }
    #expect(rig.rig.shelf["http://h/a"]?.metadata.status == 301)
    #expect(rig.rig.shelf["http://h/b"] == nil)
  }
}
