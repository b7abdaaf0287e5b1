import Foundation
import LarderHTTP
import LarderService
import Synchronization
import Testing

@Suite("Credentials, cookies and tokens", .timeLimit(.minutes(5)))
struct CredentialTests {
  static let change = ODataSingleRequest(.create, "P", body: .bytes(Array("{}".utf8), contentType: "application/json"))

  @Test("credentials, cookies and the fields of the options are sent only to the service's origin")
  func sameOrigin() async throws {
    let transport = FakeTransport { _, index throws(HTTPTransportError) in
      FakeResponse(200, index == 0 ? [.setCookie: "s=1; Path=/"] : [:])
    }
    let service = try conversation(
      transport, authentication: try BasicAuthentication(user: "Ann", password: "pässword")
    ) { $0.fields = ["APIKey": "k"] }
    for path in [
      "P", "/other", "https://erp.example/x", "https://evil.example/x", "//evil.example/x", "http://erp.example/x",
    ] {
      _ = try await service.send(.read(path))
    }
    let value = "Authorization: Basic " + Data("Ann:pässword".utf8).base64EncodedString()
    #expect(
      transport.trace(.authorization, .cookie, "APIKey") == [
        "GET /sap/S/P | \(value) | APIKey: k", "GET /other | \(value) | Cookie: s=1 | APIKey: k",
        "GET /x | \(value) | Cookie: s=1 | APIKey: k", "GET /x", "GET /x", "GET /x",
      ])
  }

  @Test(
    "the client certificate is shown only to the service's origin, whatever a link contains, and to no token endpoint")
  func certificate() async throws {
    let transport = FakeTransport { request, _ throws(HTTPTransportError) in
      request.url.path == "/token" ? OAuth2Tests.granted : .json("{}")
    }
    let client = try OAuth2Tests.client(.none)
    let service = try conversation(
      transport, authentication: OAuth2Authentication(clientCredentials: client, transport: transport))
    for path in ["P", "https://evil.example/x", "https://erp.example/x"] { _ = try await service.send(.read(path)) }
    #expect(
      transport.requests.map { "\($0.url.host() ?? "") \($0.showsCertificate)" } == [
        "id.example false", "erp.example true", "evil.example false", "erp.example true",
      ])
    // A token endpoint on the service's origin, and one whose origin is given in the options.
    for (audience, shows) in [
      (HTTPCertificateAudience.origin(try #require(URL(string: "https://id.example:443/s/"))), true),
      (.requested, true),
      (.origin(try #require(URL(string: "https://erp.example/s/"))), false),
    ] {
      let transport = FakeTransport([OAuth2Tests.granted])
      var client = client
      client.certificateAudience = audience
      _ = try await OAuth2Authentication(clientCredentials: client, transport: transport).authorization()
      #expect(transport.requests.map(\.showsCertificate) == [shows])
    }
  }

  @Test("printing a response shows the length of its content")
  func printed() async throws {
    let transport = FakeTransport([FakeResponse(200, [:], "\u{1}\u{2}secret")])
    let response = try await conversation(transport).send(.read("P"))
    var dumped = ""
    dump(response, to: &dumped)
    for text in ["\(response)", String(reflecting: response), dumped] {
      #expect(text.contains("8 bytes") && !text.contains("115") && !text.contains("secret"), "\(text)")
    }
  }

  @Test("after a 401 the token is renewed and the request repeated once; a second 401 is returned")
  func renewal() async throws {
    let rejectedTokens = Mutex<[String?]>([])
    let authentication = BearerAuthentication(identity: "ann") { rejected in
      rejectedTokens.withLock { $0.append(rejected) }
      return rejected == nil ? "old" : "new"
    }
    let transport = FakeTransport([FakeResponse(401), FakeResponse(200), FakeResponse(401), FakeResponse(401)])
    let service = try conversation(transport, authentication: authentication)
    _ = try await service.send(.read("P"))
    let error = await serviceError { _ = try await service.send(.read("P")) }
    guard case .authentication(.rejected)? = error?.category else {
      Issue.record("another category: \(String(describing: error))")
      return
    }
    #expect(error?.httpStatus == 401)
    #expect(rejectedTokens.withLock { $0 } == [nil, "old", nil, "old"])
    #expect(transport.requests.count == 4)
  }

  @Test("a rejected fixed token is not sent again")
  func fixedToken() async throws {
    let transport = FakeTransport([FakeResponse(401, [.wwwAuthenticate: "Bearer error=\"invalid_token\""])])
    let service = try conversation(transport, authentication: BearerAuthentication(token: "t"))
    let error = await serviceError { _ = try await service.send(.read("P")) }
    #expect(transport.requests.count == 1)
    #expect(error?.debugDescription.contains("Bearer t") == false)
  }

  /// A SAP Gateway: changes require the token of the session, which begins with the fetch of the token.
  static func gateway(rejectingHead: Bool = false, tokens: [String] = ["T"]) -> FakeTransport {
    let fetched = Mutex(0)
    return FakeTransport { request, _ throws(HTTPTransportError) in
      if request.method == .get || request.method == .head {
        guard request.fields[.csrfToken] == "Fetch" else { return .json("{}") }
        if rejectingHead, request.method == .head { return FakeResponse(405) }
        for _ in 0..<50 { await Task.yield() }
        let number = fetched.withLock { count in
          count += 1
          return min(count, tokens.count) - 1
        }
        return FakeResponse(200, [.csrfToken: tokens[number], .setCookie: "SAP_SESSIONID=\(number); Path=/"])
      }
      guard let token = request.fields[.csrfToken], token == tokens.last, request.fields[.cookie] != nil else {
        return FakeResponse(403, [.csrfToken: "Required"])
      }
      return FakeResponse(201)
    }
  }

  @Test(
    "automatic: the change is rejected, the token fetched with HEAD, and the change sent again in the session; the next change uses the token"
  )
  func automatic() async throws {
    let transport = Self.gateway()
    let service = try conversation(transport)
    _ = try await service.send(Self.change)
    _ = try await service.send(Self.change)
    #expect(
      transport.trace(.csrfToken, .cookie) == [
        "POST /sap/S/P", "HEAD /sap/S/ | X-CSRF-Token: Fetch",
        "POST /sap/S/P | X-CSRF-Token: T | Cookie: SAP_SESSIONID=0",
        "POST /sap/S/P | X-CSRF-Token: T | Cookie: SAP_SESSIONID=0",
      ])
  }

  @Test("the token is fetched with GET if HEAD is rejected; mode always fetches it before the first change")
  func headRejected() async throws {
    let transport = Self.gateway(rejectingHead: true)
    let service = try conversation(transport) { $0.csrf = .always }
    _ = try await service.send(Self.change)
    #expect(
      transport.trace(.csrfToken) == [
        "HEAD /sap/S/ | X-CSRF-Token: Fetch", "GET /sap/S/ | X-CSRF-Token: Fetch", "POST /sap/S/P | X-CSRF-Token: T",
      ])
  }

  @Test("an expired token is replaced once")
  func replaced() async throws {
    let transport = Self.gateway(tokens: ["old", "new"])
    let service = try conversation(transport) { $0.csrf = .always }
    _ = try await service.send(Self.change)
    #expect(
      transport.trace(.csrfToken) == [
        "HEAD /sap/S/ | X-CSRF-Token: Fetch", "POST /sap/S/P | X-CSRF-Token: old",
        "HEAD /sap/S/ | X-CSRF-Token: Fetch", "POST /sap/S/P | X-CSRF-Token: new",
      ])
  }

  @Test("thirty concurrent changes share one fetch")
  func shared() async throws {
    let transport = Self.gateway()
    let service = try conversation(transport) { $0.csrf = .always }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<30 { group.addTask { _ = try await service.send(Self.change) } }
      try await group.waitForAll()
    }
    #expect(transport.requests.count { $0.method == .head } == 1)
    #expect(transport.requests.count { $0.method == .post } == 30)
  }

  @Test("a new session removes the token")
  func newSession() async throws {
    let transport = Self.gateway()
    let service = try conversation(transport)
    _ = try await service.send(Self.change)
    service.endSession()
    _ = try await service.send(Self.change)
    #expect(transport.requests.map(\.method) == [.post, .head, .post, .head, .post])
  }

  @Test("it is an error if a service returns no token or rejects its own; mode never returns the plain 403")
  func failures() async throws {
    let silent = FakeTransport { request, _ throws(HTTPTransportError) in
      request.method == .post ? FakeResponse(403, [.csrfToken: "Required"]) : FakeResponse(404)
    }
    let first = await serviceError { _ = try await conversation(silent).send(Self.change) }
    #expect(first?.description.contains("HEAD 404, GET 404") == true)
    let stubborn = FakeTransport { request, _ throws(HTTPTransportError) in
      request.method == .post ? FakeResponse(403, [.csrfToken: "Required"]) : FakeResponse(200, [.csrfToken: "T"])
    }
    let second = await serviceError { _ = try await conversation(stubborn).send(Self.change) }
    guard case .csrf? = second?.category else {
      Issue.record("another category: \(String(describing: second))")
      return
    }
    #expect(stubborn.requests.count == 3)
    let never = await serviceError { _ = try await conversation(stubborn) { $0.csrf = .never }.send(Self.change) }
    guard case .http(status: 403, _)? = never?.category else {
      Issue.record("another category: \(String(describing: never))")
      return
    }
  }

  /// Where a service gives its token.
  enum TokenPlace: String, CaseIterable, Sendable {
    case rootWith404 = "/sap/S/"
    case metadata = "/sap/S/$metadata"
    case set = "/sap/S/P"
  }

  @Test(
    "a token that the root does not give is requested from the metadata, then from the set; any response of the service has it",
    arguments: [
      (TokenPlace.rootWith404, false, ["HEAD /sap/S/"]),
      (.metadata, false, ["HEAD /sap/S/", "GET /sap/S/", "HEAD /sap/S/$metadata"]),
      (
        .set, false,
        [
          "HEAD /sap/S/", "GET /sap/S/", "HEAD /sap/S/$metadata", "GET /sap/S/$metadata", "HEAD /sap/S/P",
          "GET /sap/S/P?$top=1",
        ]
      ),
      (
        .set, true,
        [
          "HEAD /sap/S/", "GET /sap/S/", "HEAD /sap/S/$metadata", "GET /sap/S/$metadata", "HEAD /sap/S/P",
          "GET /sap/S/P?$top=1",
        ]
      ),
    ])
  func tokenPlaces(place: TokenPlace, isBatch: Bool, requests: [String]) async throws {
    let transport = FakeTransport { request, _ throws(HTTPTransportError) in
      if request.method == .post {
        return FakeResponse(request.fields[.csrfToken] == "T" ? 202 : 403, [.csrfToken: "Required"])
      }
      let path = request.url.path
      // A set that rejects HEAD, as those of some gateways.
      guard place.rawValue == path || place.rawValue == path + "/", place != .set || request.method == .get else {
        return FakeResponse(404)
      }
      return FakeResponse(place == .set ? 200 : 404, [.csrfToken: "T"])
    }
    let service = try conversation(transport) { ($0.csrf, $0.version) = (.always, .v4) }
    if isBatch {
      _ = await serviceError { _ = try await service.send(ODataBatchRequest([.changeSet([Self.change])])) }
    } else {
      _ = try await service.send(Self.change)
    }
    #expect(transport.trace().dropLast() == requests[...])
    #expect(transport.requests.last?.fields[.csrfToken] == "T")
  }

  @Test("a token of another origin, to which the request for it was redirected, does not count")
  func foreignToken() async throws {
    let transport = FakeTransport { request, _ throws(HTTPTransportError) in
      var response = FakeResponse(request.method == .post ? 403 : 200, [.csrfToken: "T"])
      if request.method != .post { response.url = URL(string: "https://login.example/form") }
      return response
    }
    let service = try conversation(transport) { $0.csrf = .always }
    let error = await serviceError { _ = try await service.send(Self.change) }
    guard case .csrf? = error?.category else {
      Issue.record("another category: \(String(describing: error))")
      return
    }
    #expect(transport.requests.allSatisfy { $0.method != .post })
  }
}
