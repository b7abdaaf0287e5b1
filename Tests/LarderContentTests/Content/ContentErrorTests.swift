import Foundation
import LarderContent
import LarderHTTP
import Testing

@Suite("Content errors", .timeLimit(.minutes(5)))
struct ContentErrorTests {
  /// Authentication, network, no connection, parse, server, time-out.
  private static func responses(_ error: ContentError) -> [Bool] {
    [
      error.isAuthenticationError, error.isNetworkError, error.isNoConnectionError, error.isParseError,
      error.isServerError, error.isTimeoutError,
    ]
  }

  @Test(
    "The properties of an error by status",
    arguments: [
      (401, "100000"), (403, "100000"), (404, "000010"), (500, "000010"), (503, "000010"), (304, "000010"),
      (204, "000000"),
    ])
  func byStatus(status: Int, expected: String) {
    let error = ContentError(.status(status), url: URL(fileURLWithPath: "/"), httpStatus: status)
    #expect(Self.responses(error).map { $0 ? "1" : "0" }.joined() == expected)
  }

  @Test(
    "The properties of an error by the transport's error",
    arguments: [
      (HTTPTransportError.hostNotFound(host: "h"), "011000"),
      (.cannotConnect(host: "h", reason: ""), "011000"),
      (.tls(host: "h", reason: ""), "010000"),
      (.timeout(phase: "connect"), "011001"),
      (.timeout(phase: "idle"), "010001"),
      (.timeout(phase: "total"), "010001"),
      (.connectionLost(reason: ""), "011000"),
      (.protocolViolation(""), "010000"),
      (.cancelled, "000000"),
      (.invalidRequest(""), "000000"),
    ])
  func byTransport(failure: HTTPTransportError, expected: String) async throws {
    let rig = ManagerRig { _, _ in .failure(failure) }
    let error = await #expect(throws: ContentError.self) { try await rig.manager.content(of: rig.query()) }
    #expect(error.map { Self.responses($0).map { $0 ? "1" : "0" }.joined() } == expected)
    #expect(error?.cause as? HTTPTransportError == failure)
  }

  @Test("a status that is no success comes with fields and the beginning of its content")
  func status() async throws {
    let long = String(repeating: "x", count: ContentError.contentByteLimit + 5)
    let rig = ManagerRig { _, _ in .init(404, ["X-Reason": "gone"], long) }
    let error = await #expect(throws: ContentError.self) { try await rig.manager.content(of: rig.query()) }
    #expect(error?.httpStatus == 404)
    #expect(error?.fields["X-Reason"] == "gone")
    #expect(error?.content.count == ContentError.contentByteLimit)
    #expect(error?.isServerError == true)
  }

  @Test("Content that the parser rejects is not stored, and the next query requests it again")
  func parserRejectsNew() async throws {
    let rig = ManagerRig { _, index in .init(200, ["Cache-Control": "max-age=100"], index == 0 ? "no" : "12") }
    let query = ContentQuery<Int>.json(rig.rig.request("/a").url)
    let error = await #expect(throws: ContentError.self) { try await rig.manager.content(of: query) }
    #expect(error?.isParseError == true)
    #expect(error?.content == Data("no".utf8))
    #expect(try await rig.manager.content(of: query).value == 12)
    #expect(rig.rig.network.requests.count == 2)
  }

  @Test("Stored content that the parser rejects is requested again, without a condition")
  func parserRejectsStored() async throws {
    let rig = ManagerRig { _, index in
      .init(200, ["Cache-Control": "max-age=100", "ETag": "\"1\""], index == 0 ? "no" : "12")
    }
    try await rig.manager.prefetch(rig.query())
    let query = ContentQuery<Int>.json(rig.rig.request("/a").url)
    #expect(try await rig.manager.content(of: query).value == 12)
    #expect(try await rig.manager.content(of: query).value == 12)
    #expect(rig.rig.network.requests.map { $0.fields[.ifNoneMatch] } == [nil, nil])
  }

  @Test("Stored content that the parser rejects stays if the server is unreachable")
  func parserRejectsOffline() async throws {
    let rig = ManagerRig { _, index in
      index == 0 ? .init(200, ["Cache-Control": "max-age=100"], "no") : .failure(.cannotConnect(host: "h", reason: ""))
    }
    try await rig.manager.prefetch(rig.query())
    let query = ContentQuery<Int>.json(rig.rig.request("/a").url)
    let error = await #expect(throws: ContentError.self) { try await rig.manager.content(of: query) }
    #expect(error?.isParseError == true)
    #expect(await rig.trace(rig.query()) == ["final no memory"])
  }

  @Test("content larger than the query takes into memory is a typed error, with length said and without")
  func tooLarge() async throws {
    let rig = ManagerRig { _, _ in .init(200, ["Cache-Control": "max-age=100"], "0123456789") }
    var query = rig.query()
    query.memoryByteLimit = 9
    let error = await #expect(throws: ContentError.self) { try await rig.manager.content(of: query) }
    guard case .tooLarge(limit: 9)? = error?.category else {
      Issue.record("\(String(describing: error))")
      return
    }
    query.memoryByteLimit = 10
    #expect(try await rig.manager.content(of: query).value == "0123456789")
  }

  @Test("If only the cache is allowed and has no response, the error is notCached")
  func notCached() async throws {
    let rig = ManagerRig()
    var query = rig.query()
    query.policy = .cacheOnly
    let error = await #expect(throws: ContentError.self) { try await rig.manager.content(of: query) }
    guard case .notCached? = error?.category else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(error.map { Self.responses($0).contains(true) } == false)
  }
}
