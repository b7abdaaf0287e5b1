import Foundation
@_spi(Stores) import LarderCore
import LarderHTTP
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@Suite("OAuth 2.0 at the token endpoint", .timeLimit(.minutes(5)))
struct OAuth2Tests {
  static func client(_ proof: OAuth2Client.Proof, scope: String? = nil) throws -> OAuth2Client {
    try OAuth2Client(
      tokenEndpoint: try #require(URL(string: "https://id.example/token")), id: "the client", proof: proof,
      scope: scope)
  }

  static let granted = FakeResponse.json(#"{"access_token":"A","token_type":"Bearer","expires_in":3600}"#)

  @Test("the client authenticates in the field, in the form, or not at all (RFC 6749 §2.3.1)")
  func proofs() async throws {
    let cases: [(OAuth2Client.Proof, String?, String)] = [
      (
        .basic(secret: "s:ö"), "Basic " + Data("the%20client:s%3A%C3%B6".utf8).base64EncodedString(),
        "grant_type=client_credentials&scope=a%20b"
      ),
      (
        .body(secret: "s&t"), nil,
        "grant_type=client_credentials&scope=a%20b&client_id=the%20client&client_secret=s%26t"
      ),
      (.none, nil, "grant_type=client_credentials&scope=a%20b&client_id=the%20client"),
    ]
    for (proof, field, form) in cases {
      let transport = FakeTransport([Self.granted])
      let authentication = OAuth2Authentication(
        clientCredentials: try Self.client(proof, scope: "a b"), transport: transport)
      #expect(try await authentication.authorization() == "Bearer A")
      #expect(try await authentication.authorization() == "Bearer A")
      let sent = try #require(transport.requests.first)
      #expect(transport.requests.count == 1)
      #expect(sent.method == .post && sent.fields[.authorization] == field && sent.body.text == form)
      #expect(!sent.followsRedirects, "a secret goes nowhere else")
    }
  }

  @Test("fifty requests wait for one token; its failure is reported to all fifty")
  func singleFlight() async throws {
    for fails in [false, true] {
      let transport = FakeTransport { _, _ throws(HTTPTransportError) in
        for _ in 0..<100 { await Task.yield() }
        return fails ? .json(#"{"error":"invalid_client"}"#, status: 401) : Self.granted
      }
      let authentication = OAuth2Authentication(
        clientCredentials: try Self.client(.none), transport: transport)
      let results = await withTaskGroup(of: String.self) { group in
        for _ in 0..<50 {
          group.addTask {
            do { return try await authentication.authorization() ?? "nil" } catch { return "\(error)" }
          }
        }
        return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      }
      #expect(results == [fails ? "The token endpoint rejected the request: invalid_client" : "Bearer A": 50])
      // Callers after a failure may request a token again; waiting callers share one request.
      #expect(fails ? transport.requests.count < 50 : transport.requests.count == 1)
    }
  }

  @Test("a cancelled caller does not affect the others, who get the token")
  func cancelledWaiter() async throws {
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let tokenRequests = Tally("requests for a token")
    let transport = FakeTransport { _, _ throws(HTTPTransportError) in
      tokenRequests.add()
      for await _ in gate {}
      return Self.granted
    }
    let authentication = OAuth2Authentication(clientCredentials: try Self.client(.none), transport: transport)
    let leaver = Task { try await authentication.authorization() }
    let stayer = Task { try await authentication.authorization() }
    try await tokenRequests.wait(for: 1)
    leaver.cancel()
    await #expect(throws: HTTPAuthenticationError.unreachable(.cancelled)) { try await leaver.value }
    open.finish()
    #expect(try await stayer.value == "Bearer A")
  }

  @Test("a refresh continues if its only caller is cancelled: its token is stored and used")
  func cancelledRefresh() async throws {
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let tokenRequests = Tally("requests for a token")
    let savedTokens = Mutex<[String]>([])
    let transport = FakeTransport { _, _ throws(HTTPTransportError) in
      tokenRequests.add()
      for await _ in gate {}
      if Task.isCancelled { throw .cancelled }
      return .json(#"{"access_token":"A","token_type":"Bearer","expires_in":3600,"refresh_token":"R2"}"#)
    }
    let authentication = OAuth2Authentication(
      refreshToken: "R1", identity: "ann", client: try Self.client(.none), transport: transport,
      onRefreshToken: { token in savedTokens.withLock { $0.append(token) } })
    let leaver = Task { try await authentication.authorization() }
    try await tokenRequests.wait(for: 1)
    leaver.cancel()
    await #expect(throws: HTTPAuthenticationError.unreachable(.cancelled)) { try await leaver.value }
    open.finish()
    #expect(try await authentication.authorization() == "Bearer A")
    #expect(transport.requests.count == 1)
    #expect(savedTokens.withLock { $0 } == ["R2"])
  }

  @Test(
    "responses without a valid token are errors",
    arguments: [
      (200, "", "malformed"), (200, "[]", "malformed"), (200, "{}", "malformed"),
      (200, #"{"access_token":"A"}"#, "malformed"), (200, #"{"access_token":"A","token_type":"mac"}"#, "malformed"),
      (200, #"{"access_token":"A\r\nX: y","token_type":"bearer"}"#, "malformed"),
      (200, #"{"access_token":"A","token_type":"bearer","expires_in":"x"}"#, "malformed"),
      (200, #"{"access_token":"A","token_type":"bearer","expires_in":-1}"#, "malformed"),
      (400, #"{"error":"invalid_grant"}"#, "invalidGrant"), (400, "<html>", "HTTP 400"), (503, "", "unavailable"),
      (429, #"{"error":"invalid_grant"}"#, "unavailable"),
      (302, "", "HTTP 302"),
    ])
  func malformed(status: Int, body: String, expected: String) async throws {
    let transport = FakeTransport([.json(body, status: status)])
    let authentication = OAuth2Authentication(clientCredentials: try Self.client(.none), transport: transport)
    do {
      _ = try await authentication.authorization()
      Issue.record("it should have failed")
    } catch {
      switch error {
      case .malformedTokenResponse: #expect(expected == "malformed")
      case .tokenEndpoint(let code, _): #expect(expected == code)
      case .unavailable: #expect(expected == "unavailable")
      default: #expect(expected == "\(error)" || expected == "invalidGrant" && error == .invalidGrant())
      }
    }
  }

  @Test(
    "a rejection by the token endpoint contains the server's explanation (RFC 6749 §5.2)",
    arguments: ["invalid_grant", "invalid_client"])
  func explained(code: String) async throws {
    let body = #"{"error":"\#(code)","error_description":"AADSTS700082: The refresh token has\r\n expired."}"#
    let authentication = OAuth2Authentication(
      clientCredentials: try Self.client(.none), transport: FakeTransport([.json(body, status: 400)]))
    let error = await #expect(throws: HTTPAuthenticationError.self) { try await authentication.authorization() }
    #expect(error?.description.contains("AADSTS700082: The refresh token has expired.") == true)
  }

  @Test(
    "a token endpoint that is overloaded or unavailable is waited for, and the user need not sign in again",
    arguments: [408, 425, 429, 500, 502, 503, 504])
  func unavailable(status: Int) async throws {
    let waits = Mutex<[Duration]>([])
    let tokens = FakeTransport([
      FakeResponse(status, [.retryAfter: "20"]), .json(#"{"access_token":"A","token_type":"Bearer"}"#),
    ])
    let authentication = OAuth2Authentication(
      refreshToken: "R", identity: "u", client: try Self.client(.none), transport: tokens)
    let transport = FakeTransport([FakeResponse(204)])
    var options = ODataConversationOptions(version: .v4, csrf: .never)
    options.environment.repetitionSleep = { time in waits.withLock { $0.append(time) } }
    let root = try #require(URL(string: "https://h/s/"))
    let service = try ODataConversation(
      root: root, transport: transport, authentication: authentication, options: options)
    _ = try await service.send(
      ODataSingleRequest(.create, "P", body: .bytes(Array("{}".utf8), contentType: "application/json")))
    #expect(waits.withLock { $0 } == [.seconds(20)])
    #expect(transport.requests.map { $0.fields[.authorization] } == ["Bearer A"])
    #expect(tokens.requests.count == 2)
  }

  @Test(
    "an error code for a temporary failure is one with any status (RFC 6749 §4.1.2.1)",
    arguments: ["temporarily_unavailable", "server_error"], [400, 401, 403])
  func temporaryCode(code: String, status: Int) async throws {
    let authentication = OAuth2Authentication(
      clientCredentials: try Self.client(.none),
      transport: FakeTransport([.json(#"{"error":"\#(code)"}"#, status: status, [.retryAfter: "7"])]))
    await #expect(throws: HTTPAuthenticationError.unavailable(status: status, retryAfter: "7")) {
      try await authentication.authorization()
    }
  }

  @Test(
    "a Retry-After with a date counts from the date of the response (RFC 9110 §10.2.3)",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:30 GMT", "7"),
      ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:00 GMT", "0"),
      ("Sun, 06 Nov 1994 08:49:37 GMT", nil, "Sun, 06 Nov 1994 08:49:37 GMT"),
      ("20", "Sun, 06 Nov 1994 08:49:30 GMT", "20"), ("soon", "Sun, 06 Nov 1994 08:49:30 GMT", "soon"),
    ] as [(String, String?, String)])
  func waitUntilDate(field: String, date: String?, expected: String) async throws {
    var fields: HTTPFields = [.retryAfter: field]
    fields[.date] = date
    let authentication = OAuth2Authentication(
      clientCredentials: try Self.client(.none), transport: FakeTransport([FakeResponse(429, fields)]))
    await #expect(throws: HTTPAuthenticationError.unavailable(status: 429, retryAfter: expected)) {
      try await authentication.authorization()
    }
  }

  @Test(
    "the codes of the device flow mean nothing else elsewhere: a client without permission is not a user who denied access",
    arguments: ["access_denied", "expired_token"])
  func codesOfDevices(code: String) async throws {
    let body = #"{"error":"\#(code)","error_description":"Client is not authorized to access X."}"#
    let authentication = OAuth2Authentication(
      clientCredentials: try Self.client(.none), transport: FakeTransport([.json(body, status: 403)]))
    let expected = HTTPAuthenticationError.tokenEndpoint(
      code: code, description: "Client is not authorized to access X.")
    await #expect(throws: expected) { try await authentication.authorization() }
  }

  @Test("a numeric string is a lifetime too, and a very long one does not trap")
  func lifetimes() async throws {
    let clock = TestClock()
    let transport = FakeTransport([
      .json(#"{"access_token":"A","token_type":"bearer","expires_in":"60"}"#),
      .json(#"{"access_token":"B","token_type":"BEARER","expires_in":1e300}"#),
    ])
    let authentication = OAuth2Authentication(
      clientCredentials: try Self.client(.none), transport: transport, environment: clock.environment())
    #expect(try await authentication.authorization() == "Bearer A")
    clock.advance(.seconds(60))
    #expect(try await authentication.authorization() == "Bearer B")
    clock.advance(.seconds(1e8))
    #expect(try await authentication.authorization() == "Bearer B")
  }

  @Test("a new refresh token is passed to the application")
  func refreshToken() async throws {
    let savedTokens = Mutex<[String]>([])
    let transport = FakeTransport([
      .json(#"{"access_token":"A","token_type":"bearer","refresh_token":"R2"}"#)
    ])
    let authentication = OAuth2Authentication(
      refreshToken: "R1", identity: "ann", client: try Self.client(.none), transport: transport,
      onRefreshToken: { token in savedTokens.withLock { $0.append(token) } })
    _ = try await authentication.authorization()
    #expect(savedTokens.withLock { $0 } == ["R2"])
    #expect(transport.requests.first?.body.text == "grant_type=refresh_token&refresh_token=R1&client_id=the%20client")
    #expect(authentication.identity == "oauth2:ann")
  }

  @Test(
    "an empty or malformed refresh token never replaces the one that is valid (RFC 6749 appendix A.17)",
    arguments: [#""""#, #"" ""#, #""a\nb""#, #""ä""#, "null", "5", "[]", #"{"a":"b"}"#])
  func malformedRefreshToken(json: String) async throws {
    let savedTokens = Mutex<[String]>([])
    let response = FakeResponse.json(
      #"{"access_token":"A","token_type":"bearer","expires_in":60,"refresh_token":\#(json)}"#)
    let clock = TestClock()
    let transport = FakeTransport([response, response])
    let authentication = OAuth2Authentication(
      refreshToken: "R1", identity: "ann", client: try Self.client(.none), transport: transport,
      environment: clock.environment(), onRefreshToken: { token in savedTokens.withLock { $0.append(token) } })
    #expect(try await authentication.authorization() == "Bearer A")
    clock.advance(.seconds(60))
    #expect(try await authentication.authorization() == "Bearer A")
    #expect(savedTokens.withLock { $0 }.isEmpty)
    #expect(transport.requests.allSatisfy { $0.body.text.contains("refresh_token=R1&") })
    #expect(transport.requests.count == 2)
  }

  @Test("a device signs in: code, polling, slower polling, token (RFC 8628 §3)")
  func device() async throws {
    let clock = TestClock()
    let transport = FakeTransport([
      .json(
        #"{"device_code":"D","user_code":"WDJB-MJHT","verification_uri":"https://id.example/d","expires_in":600}"#),
      .json(#"{"error":"authorization_pending"}"#, status: 400), .json(#"{"error":"slow_down"}"#, status: 400),
      Self.granted,
    ])
    let flow = try OAuth2DeviceFlow(
      client: try Self.client(.none, scope: "x"),
      deviceEndpoint: try #require(URL(string: "https://id.example/device")),
      transport: transport, environment: clock.environment())
    let prompt = try await flow.start()
    #expect(prompt.userCode == "WDJB-MJHT" && prompt.lifetime == .seconds(600))
    #expect(try await flow.token(for: prompt).accessToken == "A")
    #expect(clock.sleeps == [.seconds(5), .seconds(5), .seconds(10)])
    #expect(
      transport.requests.last?.body.text
        == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=D&client_id=the%20client")
  }

  @Test("a device code that is not confirmed expires")
  func deviceExpires() async throws {
    let clock = TestClock()
    let transport = FakeTransport { _, index throws(HTTPTransportError) in
      index == 0
        ? .json(
          #"{"device_code":"D","user_code":"U","verification_uri":"https://id.example/d","expires_in":17,"interval":5}"#
        )
        : .json(#"{"error":"authorization_pending"}"#, status: 400)
    }
    let flow = try OAuth2DeviceFlow(
      client: try Self.client(.none), deviceEndpoint: try #require(URL(string: "https://id.example/device")),
      transport: transport, environment: clock.environment())
    let prompt = try await flow.start()
    await #expect(throws: HTTPAuthenticationError.deviceCodeExpired) { try await flow.token(for: prompt) }
    #expect(clock.sleeps == [.seconds(5), .seconds(5), .seconds(5)])
  }

  @Test(
    "polling waits as long as an overloaded server requires; a wait longer than the code is valid is an error with the time",
    arguments: [(20, true), (3600, false)])
  func deviceWaits(seconds: Int, succeeds: Bool) async throws {
    let clock = TestClock()
    let transport = FakeTransport([
      .json(#"{"device_code":"D","user_code":"U","verification_uri":"https://id.example/d","expires_in":600}"#),
      .json(#"{"error":"slow_down"}"#, status: 429, [.retryAfter: "\(seconds)"]),
      .json(#"{"error":"authorization_pending"}"#, status: 400), Self.granted,
    ])
    let flow = try OAuth2DeviceFlow(
      client: try Self.client(.none), deviceEndpoint: try #require(URL(string: "https://id.example/device")),
      transport: transport, environment: clock.environment())
    let prompt = try await flow.start()
    guard succeeds else {
      await #expect(throws: HTTPAuthenticationError.unavailable(status: 429, retryAfter: "3600")) {
        try await flow.token(for: prompt)
      }
      #expect(clock.sleeps == [.seconds(5)])
      return
    }
    #expect(try await flow.token(for: prompt).accessToken == "A")
    #expect(clock.sleeps == [.seconds(5), .seconds(20), .seconds(10)])
  }

  @Test("an endpoint without TLS is rejected, except on this machine")
  func needsTLS() throws {
    for (text, isAllowed) in [
      ("http://id.example/t", false), ("http://127.0.0.1:8000/t", true), ("http://localhost/t", true),
      ("ftp://id.example/t", false),
    ] {
      let url = try #require(URL(string: text))
      let client = try? OAuth2Client(tokenEndpoint: url, id: "c", proof: .none)
      #expect((client != nil) == isAllowed, "\(text)")
    }
  }
}
