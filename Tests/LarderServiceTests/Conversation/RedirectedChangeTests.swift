import LarderHTTP
import LarderService
import Testing

@Suite("Redirected changes", .timeLimit(.minutes(5)))
struct RedirectedChangeTests {
  /// Follows a redirect to a log-in page if the request allows it, as a transport does.
  static func portal() -> FakeTransport {
    FakeTransport { request, _ throws(HTTPTransportError) in
      request.followsRedirects
        ? FakeResponse(200, [.contentType: "text/html"], "<html>log in</html>")
        : FakeResponse(302, [.location: "https://login.example/"])
    }
  }

  static let content = ODataRequestBody.bytes(Array("{}".utf8), contentType: "application/json")

  @Test(
    "302 to a log-in page is an error, not a successful change",
    arguments: [
      (ODataSingleRequest(.create, "P", body: content), false, HTTPMethod.post),
      (ODataSingleRequest.delete("P(1)"), false, .delete), (ODataSingleRequest.delete("P(1)"), true, .post),
    ])
  func change(_ request: ODataSingleRequest, _ isTunnelled: Bool, _ method: HTTPMethod) async throws {
    let transport = Self.portal()
    let service = try conversation(transport) { options in
      options.csrf = .never
      if isTunnelled { options.tunnelling = .always }
    }
    let error = await serviceError { _ = try await service.send(request) }
    #expect(error?.httpStatus == 302)
    #expect(transport.requests.map(\.method) == [method])
    #expect(transport.requests.allSatisfy { !$0.followsRedirects })
  }

  @Test("a read follows the redirect")
  func read() async throws {
    let transport = Self.portal()
    let response = try await conversation(transport).send(.read("P"))
    #expect(response.httpStatus == 200)
  }
}
