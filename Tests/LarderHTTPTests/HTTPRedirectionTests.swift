import Foundation
import Testing

@testable import LarderHTTP

@Suite("Redirects", .timeLimit(.minutes(5)))
struct HTTPRedirectionTests {
  private func next(_ request: HTTPRequest, _ status: Int, _ location: String?) throws -> HTTPRequest? {
    var redirection = HTTPRedirection()
    return try redirection.next(after: request, status: status, fields: location.map { [.location: $0] } ?? [:])
  }

  private func request(_ url: String, _ method: HTTPMethod = .get) throws -> HTTPRequest {
    HTTPRequest(
      method: method, url: try #require(URL(string: url)),
      fields: [
        .authorization: "Basic x", .cookie: "a=1", .contentType: "text/plain", .accept: "*/*", "X-CSRF-Token": "t",
      ],
      body: method == .get || method == .head ? .none : .text("content"))
  }

  @Test(
    "The method and the content after each status (RFC 9110 §15.4)",
    arguments: [
      (301, HTTPMethod.get, HTTPMethod.get, false), (301, .post, .get, false), (302, .post, .get, false),
      (301, .put, .put, true), (302, .patch, .patch, true), (302, .head, .head, false), (303, .post, .get, false),
      (303, .put, .get, false), (303, .delete, .get, false), (303, .head, .head, false), (307, .post, .post, true),
      (308, .merge, .merge, true), (308, .delete, .delete, true),
    ])
  func methods(status: Int, method: HTTPMethod, expected: HTTPMethod, keepsContent: Bool) throws {
    let next = try #require(try next(request("https://a.example/x", method), status, "/y"))
    #expect(next.method == expected)
    #expect(next.body.length == (keepsContent ? 7 : 0))
    if method != expected { #expect(!next.fields.contains(.contentType)) }
    #expect(next.fields[.authorization] == "Basic x")
  }

  @Test(
    "The new URL is resolved against the old one (RFC 3986 §5)",
    arguments: [
      ("http://a.example/b/c?q", "d", "http://a.example/b/d"),
      ("http://a.example/b/c", "../d?x=1", "http://a.example/d?x=1"),
      ("http://a.example/b", "//c.example/d", "http://c.example/d"),
      ("http://a.example/b", "?z", "http://a.example/b?z"),
      ("http://a.example/b#f", "/c", "http://a.example/c#f"), ("http://a.example/b#f", "/c#g", "http://a.example/c#g"),
      ("http://a.example/", "https://a.example/", "https://a.example/"),
      ("http://a.example/", "/a b?c{d}", "http://a.example/a%20b?c%7Bd%7D"),
      ("http://a.example/", "/caf\u{E9}", "http://a.example/caf%C3%A9"),
      ("http://a.example/", "http://m\u{FC}nchen.example/", "http://xn--mnchen-3ya.example/"),
      ("http://a.example/", "//m%C3%BCnchen.example:81/x", "http://xn--mnchen-3ya.example:81/x"),
    ])
  func resolution(base: String, location: String, expected: String) throws {
    #expect(try next(request(base), 302, location)?.url.absoluteString == expected)
  }

  @Test("Bytes that are not UTF-8, and a % that begins no escape, are requested as they are (RFC 9110 §5.5)")
  func bytes() throws {
    let location = HTTPField(name: .location, bytes: Array("/caf".utf8) + [0xE9] + Array("/100%zz?%".utf8))
    let next = try #require(try next(request("http://a.example/"), 302, location.value))
    #expect(URLReference.sent(next.url.absoluteString) == "http://a.example/caf%E9/100%zz?%")
  }

  @Test("A redirect to a URL that cannot be requested is the server's error, not the caller's")
  func impossible() async throws {
    let request = try request("http://a.example/")
    let error = await #expect(throws: HTTPTransportError.self) {
      try await request.followingRedirects { (hop) async throws(HTTPTransportError) in
        if hop.url.absoluteString != "http://a.example/" { throw .invalidRequest("its port is out of range") }
        return HTTPResponse(status: 302, fields: [.location: "http://b.example:99999/"], url: hop.url)
      }
    }
    guard case .redirectRejected? = error else {
      Issue.record("\(error.debugDescription)")
      return
    }
    await #expect(throws: HTTPTransportError.invalidRequest("no")) {
      try await request.followingRedirects { (_) async throws(HTTPTransportError) in throw .invalidRequest("no") }
    }
  }

  @Test(
    "Credentials are sent only to their origin: scheme, host and port",
    arguments: [
      ("https://a.example/", "https://A.example:443/b", true), ("https://a.example/", "https://b.example/", false),
      ("https://a.example/", "https://a.example:444/", false), ("http://a.example/", "https://a.example/", false),
      ("http://a.example:8080/", "/b", true), ("https://a.example/", "https://a.example.evil.example/", false),
    ])
  func origins(base: String, location: String, keeps: Bool) throws {
    let next = try #require(try next(request(base), 302, location))
    for name in [HTTPFieldName.authorization, .cookie, .csrfToken] { #expect(next.fields.contains(name) == keeps) }
    #expect(next.fields.contains(.accept))
  }

  @Test(
    "Only fields that cannot be credentials are sent to another origin; all are sent to the same origin",
    arguments: [
      ("X-API-Key", false), ("APIKey", false), ("Ocp-Apim-Subscription-Key", false), ("X-Auth-Token", false),
      ("Proxy-Authorization", false), ("sap-client", false), ("Referer", false), ("Accept-Language", true),
      ("If-None-Match", false), ("If-Modified-Since", false), ("If-Match", true), ("If-Range", true), ("Range", true),
      ("User-Agent", true), ("Prefer", true), ("OData-MaxVersion", true),
      ("MaxDataServiceVersion", true), ("cache-control", true),
    ])
  func otherFields(name: String, goesAlong: Bool) throws {
    var request = try request("https://a.example/")
    request.fields[HTTPFieldName(name)] = "v"
    let away = try #require(try next(request, 302, "https://b.example/"))
    #expect(away.fields.contains(HTTPFieldName(name)) == goesAlong)
    let home = try #require(try next(request, 302, "/b"))
    #expect(home.fields[HTTPFieldName(name)] == "v")
  }

  @Test("Conditions of a change are sent along to another origin: they protect it (RFC 9110 §13.1.1)")
  func conditionsOfChanges() throws {
    var request = try request("https://a.example/", .put)
    request.fields[.ifNoneMatch] = "*"
    let next = try #require(try next(request, 307, "https://b.example/"))
    #expect(next.fields[.ifNoneMatch] == "*")
  }

  @Test(
    "A cache's conditions are sent only to the URL that sent the stored response (RFC 9110 §8.8)",
    arguments: [
      (nil, ["1", nil, "1"]), ("https://a.example/b", [nil, "1", nil]), ("https://b.example/", [nil, nil, nil]),
    ] as [(String?, [String?])])
  func validators(sender: String?, expected: [String?]) throws {
    var hop = try request("https://a.example/a")
    hop.validators = HTTPValidators(etag: "1", sender: sender ?? hop.url.absoluteString)
    hop.validators?.setFields(&hop.fields, of: hop.url)
    var sent = [hop.fields[.ifNoneMatch]]
    for location in ["/b", "/a"] {
      hop = try #require(try next(hop, 302, location))
      sent.append(hop.fields[.ifNoneMatch])
    }
    #expect(sent == expected)
  }

  @Test(
    "A response may be stored for the requested URL if it is from the same origin, or from https of the same URL",
    arguments: [
      ("http://a.example/x", "http://a.example/login", true), ("http://a.example/x", "https://a.example/x", true),
      ("http://a.example/x?q", "https://A.example/x?q", true), ("http://a.example/x", "https://a.example/login", false),
      ("http://a.example/x?q", "https://a.example/x", false), ("http://a.example/x", "http://b.example/x", false),
      ("https://a.example/x", "https://a.example:8443/x", false), ("https://a.example/x", "http://a.example/x", false),
    ])
  func storable(requested: String, sender: String, mayAnswer: Bool) throws {
    let (requested, sender) = (try #require(URL(string: requested)), try #require(URL(string: sender)))
    #expect(HTTPRedirection.mayAnswer(for: requested, sender) == mayAnswer)
  }

  @Test(
    "Unsafe redirects are rejected",
    arguments: [
      "http://a.example/", "ftp://a.example/", "file:///etc/passwd", "javascript:alert(1)", "https://u:p@a.example/",
      "https:///x", "https://bad host/", "https://a%2Fb.example/", "https://a\u{2028}b.example/",
    ])
  func rejected(location: String) throws {
    let request = try request("https://a.example/")
    #expect {
      _ = try next(request, 302, location)
    } throws: {
      if case HTTPTransportError.redirectRejected = $0 { true } else { false }
    }
  }

  @Test("A response that is not a redirect, or has no Location, is returned", arguments: [200, 300, 304, 305, 404])
  func responses(status: Int) throws {
    #expect(try next(request("http://a.example/"), status, "/b") == nil)
    #expect(try next(request("http://a.example/"), 302, nil) == nil)
  }

  @Test("Twenty redirects are followed, and the next one is an error")
  func limit() throws {
    var redirection = HTTPRedirection()
    var request = try request("http://a.example/0")
    for step in 1...20 {
      request = try #require(try redirection.next(after: request, status: 302, fields: [.location: "/\(step)"]))
    }
    let last = request
    #expect(throws: HTTPTransportError.tooManyRedirects) {
      try redirection.next(after: last, status: 302, fields: [.location: "/21"])
    }
  }

  @Test("The total timeout covers all redirects, and short content is read so that the connection can be reused")
  func following() async throws {
    var request = try request("http://a.example/0")
    request.timeouts.total = .seconds(60)
    var totals: [Duration] = []
    let response = try await request.followingRedirects { hop throws(HTTPTransportError) in
      totals.append(hop.timeouts.total ?? .zero)
      let isLast = totals.count == 3
      return HTTPResponse(
        status: isLast ? 200 : 302, fields: [.location: "/\(totals.count)"], url: hop.url, body: HTTPBodyStream([1]))
    }
    #expect(response.url.path() == "/2" && totals.count == 3)
    #expect(totals[0] <= .seconds(60) && totals[1] < totals[0] && totals[2] < totals[1])
    request.timeouts.total = .zero
    await #expect(throws: HTTPTransportError.timeout(phase: "total")) {
      _ = try await request.followingRedirects { hop throws(HTTPTransportError) in
        HTTPResponse(status: 302, fields: [.location: "/x"], url: hop.url)
      }
    }
  }
}

@Suite("Validation of requests", .timeLimit(.minutes(5)))
struct HTTPRequestValidationTests {
  @Test(
    "A URL must be absolute, http or https, with a host and without credentials",
    arguments: ["/a", "ftp://a/", "file:///etc/passwd", "http:///a", "http://u:p@a/", "http://u@a/", "a"])
  func urls(text: String) throws {
    let request = HTTPRequest(url: try #require(URL(string: text)))
    #expect(throws: HTTPTransportError.self) { try request.validate() }
  }

  static let bad: [HTTPRequest] = {
    guard let url = URL(string: "http://a.example/") else { return [] }
    return [
      HTTPRequest(method: HTTPMethod(rawValue: "GET /x HTTP/1.1\r\nA:"), url: url),
      HTTPRequest(method: HTTPMethod(rawValue: ""), url: url),
      HTTPRequest(method: HTTPMethod(rawValue: "CONNECT"), url: url),
      HTTPRequest(url: url, fields: ["A": "b\r\nC: d"]), HTTPRequest(url: url, fields: ["A\r\nB": "c"]),
      HTTPRequest(url: url, fields: ["A": "b\0"]), HTTPRequest(method: .head, url: url, body: .text("x")),
      HTTPRequest(method: .post, url: url, fields: ["Transfer-Encoding": "chunked"], body: .text("x")),
      HTTPRequest(method: .post, url: url, fields: ["Content-Length": "2"], body: .text("x")),
      HTTPRequest(method: .post, url: url, fields: ["Content-Length": "x"], body: .text("x")),
      HTTPRequest(method: .post, url: url, body: .stream(length: -1, open: { HTTPBodyStream([]) })),
    ]
  }()

  @Test("Requests that could smuggle bytes are rejected", arguments: bad)
  func smuggling(request: HTTPRequest) {
    #expect(throws: HTTPTransportError.self) { try request.validate() }
  }

  @Test("Ordinary requests are valid")
  func ordinary() throws {
    let url = try #require(URL(string: "https://a.example:8443/b?$filter=x#f"))
    try HTTPRequest(method: .merge, url: url, fields: ["Content-Length": "1"], body: .text("x")).validate()
    try HTTPRequest(url: url, fields: ["X-Empty": "", "X-Text": "Grüße"]).validate()
  }
}
