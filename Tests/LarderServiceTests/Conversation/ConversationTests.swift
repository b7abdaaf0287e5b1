import Foundation
import LarderHTTP
import LarderOData
import Testing

@testable import LarderService

@Suite("A conversation", .timeLimit(.minutes(5)))
struct ConversationTests {
  static let metadataV4 = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>\
    <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="P"><Key>\
    <PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>\
    <Property Name="Name" Type="Edm.String"/></EntityType><EntityContainer Name="C">\
    <EntitySet Name="P" EntityType="S.P"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  @Test("a read sends the highest versions of both families until the service's version is known")
  func versions() async throws {
    let transport = FakeTransport { _, index throws(HTTPTransportError) in
      .json("{\"value\":[]}", index == 0 ? ["OData-Version": "4.0"] : [:])
    }
    let service = try conversation(transport)
    let first = try await service.send(.read("P?$filter=Name eq 'a'"))
    #expect(first.version == .v4)
    _ = try await service.send(.read("P/$count"))
    #expect(
      transport.trace(.accept, .maxDataServiceVersion, .odataMaxVersion) == [
        "GET /sap/S/P?$filter=Name%20eq%20'a' | Accept: application/json | MaxDataServiceVersion: 3.0 | "
          + "OData-MaxVersion: 4.01",
        "GET /sap/S/P/$count | Accept: text/plain, */*;q=0.1 | OData-MaxVersion: 4.01",
      ])
  }

  @Test("the metadata is read once for twenty callers, and gives the version")
  func metadataOnce() async throws {
    let transport = FakeTransport { _, _ throws(HTTPTransportError) in
      for _ in 0..<50 { await Task.yield() }
      return FakeResponse(200, [.contentType: "application/xml"], Self.metadataV4)
    }
    let service = try conversation(transport)
    let names = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<20 { group.addTask { try await service.metadata().schemas.count } }
      return try await group.reduce(0, +)
    }
    #expect(names == 20)
    #expect(transport.requests.count == 1)
    #expect(service.knownVersion == .v4)
  }

  @Test("unreadable metadata is an error with its position, and is requested again")
  func badMetadata() async throws {
    let transport = FakeTransport([FakeResponse(200, [:], "<edmx"), FakeResponse(200, [:], Self.metadataV4)])
    let service = try conversation(transport)
    let error = await serviceError { _ = try await service.metadata() }
    guard case .malformedResponse(let detail)? = error?.category else {
      Issue.record("another category: \(String(describing: error))")
      return
    }
    #expect(detail.contains("line"))
    #expect(try await service.metadata().version == .v4)
  }

  @Test("a rejection contains the status and the service's message; its texts contain the message, but no query")
  func rejection() async throws {
    let transport = FakeTransport([
      .json(#"{"error":{"code":"SY/530","message":{"lang":"en","value":"Ann Smith has no such order"}}}"#, status: 404)
    ])
    let service = try conversation(transport)
    let error = await serviceError { _ = try await service.send(.read("P('Ann')?$select=Secret&access_token=xyz")) }
    #expect(error?.httpStatus == 404)
    #expect(error?.payload?.code == "SY/530")
    #expect(error?.payload?.message == "Ann Smith has no such order")
    let summary = "HTTP 404: there is no such resource [SY/530]: Ann Smith has no such order"
    #expect(error?.description == "read (GET https://erp.example/sap/S/P('Ann')): \(summary)")
    #expect(error?.localizedDescription == "\(summary) (read, GET https://erp.example/sap/S/P('Ann')).")
    #expect(error?.debugDescription.contains("Ann Smith has no such order") == true)
    #expect(error?.debugDescription.contains("xyz") == false)
  }

  @Test(
    "the texts of a rejection contain the service's explanation on one line, shortened and without secrets",
    arguments: [
      ("See\nhttps://h/x?access_token=xyz\tnow", "See https://h/x?access_token=*** now"),
      (String(repeating: "a", count: 400), String(repeating: "a", count: 300) + "…"),
    ])
  func explanation(message: String, words: String) {
    let payload = ODataErrorPayload(code: "", message: message)
    let error = ODataServiceError(.http(status: 501, payload: payload), operation: "create")
    #expect(error.description == "create: HTTP 501: the service failed: \(words)")
    #expect(error.localizedDescription == "HTTP 501: the service failed: \(words) (create).")
  }

  @Test("the texts of a rejection contain the text that a gateway sent instead of an error")
  func gatewayText() {
    let page = Array("<html><head><title>x</title></head><body><p>Busy.</p></body></html>".utf8)
    let response = ODataSingleResponse(
      httpStatus: 503, fields: [.contentType: "text/html"], payloadBytes: page, url: "https://h/S/")
    let error = ODataServiceError(.http(status: 503, payload: nil), operation: "read", response: response)
    #expect(error.description == "read: HTTP 503: the service failed: Busy.")
    #expect(error.localizedDescription == "HTTP 503: the service failed: Busy (read).")
  }

  @Test(
    "the texts of a rejection in XML contain no secrets of elements",
    arguments: [
      ("<Fault><a>No.</a><access_token>S</access_token></Fault>", "No. ***"),
      ("<Fault>&lt;password&gt;S&lt;/password&gt;</Fault>", "<password>***</password>"),
      // The end tag is behind the part of the page that is shown.
      ("<a><style>" + String(repeating: " ", count: 65_500) + "</style><secret>S S S</secret></a>", "***"),
    ])
  func secretElement(page: String, words: String) {
    let response = ODataSingleResponse(
      httpStatus: 500, fields: [.contentType: "application/xml"], payloadBytes: Array(page.utf8), url: "https://h/S/")
    let error = ODataServiceError(.http(status: 500, payload: nil), operation: "read", response: response)
    #expect(error.description == "read: HTTP 500: the service failed: \(words)")
  }

  @Test("304 is a response to a conditional read, and an error for any other request")
  func notModified() async throws {
    let transport = FakeTransport([FakeResponse(304), FakeResponse(304)])
    let service = try conversation(transport)
    var request = ODataSingleRequest.read("P(1)")
    request.fields[.ifNoneMatch] = "\"1\""
    let response = try await service.send(request)
    #expect(response.isNotModified && response.httpStatus == 304)
    let error = await serviceError { _ = try await service.send(.read("P(1)")) }
    #expect(error?.httpStatus == 304)
  }

  @Test("reads are repeated after temporary failures, with waits on the injected clock")
  func retries() async throws {
    let clock = TestClock()
    let transport = FakeTransport([
      .failure(.connectionLost(reason: "x")), FakeResponse(503, [.retryAfter: "3"]), .json("{}"),
    ])
    let service = try conversation(transport, clock: clock)
    #expect(try await service.send(.read("P")).httpStatus == 200)
    #expect(clock.sleeps.count == 2 && clock.sleeps.last == .seconds(3))

    let lost = FakeTransport([.failure(.connectionLost(reason: "x"))])
    let other = try conversation(lost, clock: clock)
    let error = await serviceError {
      _ = try await other.send(ODataSingleRequest(.create, "P", body: .bytes([], contentType: "a/b")))
    }
    guard case .communication(.connectionLost)? = error?.category else {
      Issue.record("another category: \(String(describing: error))")
      return
    }
    #expect(lost.requests.count == 1, "a POST is not repeated")
  }

  @Test(
    "a change that may have been executed is not reported as failed because of a later attempt that does not show its outcome",
    arguments: [
      (
        FakeResponse.failure(.connectionLost(reason: "x")), FakeResponse.failure(.cannotConnect(host: "h", reason: "")),
        0
      ),
      (.failure(.connectionLost(reason: "x")), FakeResponse(429), 0), (FakeResponse(502), FakeResponse(401), 502),
      (FakeResponse(503), .failure(.hostNotFound(host: "h")), 503),
      (.failure(.timeout(phase: "idle")), FakeResponse(404), 404),
      (.failure(.cannotConnect(host: "h", reason: "")), FakeResponse(429), 429),
      (FakeResponse(504), FakeResponse(500), 500),
    ])
  func keepsDoubt(first: FakeResponse, later: FakeResponse, status: Int) async throws {
    let transport = FakeTransport([first] + Array(repeating: later, count: 8))
    let service = try conversation(transport, clock: TestClock())
    let error = await serviceError { _ = try await service.send(ODataSingleRequest(.delete, "P(1)")) }
    #expect((error?.httpStatus ?? 0) == status)
    if status == 0 {
      guard case .communication(.connectionLost)? = error?.category else {
        Issue.record("another category: \(String(describing: error))")
        return
      }
    }
    #expect(transport.requests.count > 1)
  }

  @Test("a failed condition after an attempt that may have been executed is not reported as another client's change")
  func keepsDoubtOfCondition() async throws {
    let transport = FakeTransport([FakeResponse(503), FakeResponse(412)])
    let service = try conversation(transport, clock: TestClock())
    var request = ODataSingleRequest(.delete, "P(1)")
    request.ifMatch = "\"1\""
    let error = await serviceError { [request] in _ = try await service.send(request) }
    #expect(error?.httpStatus == 503 && transport.requests.count == 2)
    let reading = try conversation(
      FakeTransport(
        [.failure(.connectionLost(reason: "x"))]
          + Array(repeating: .failure(.cannotConnect(host: "h", reason: "")), count: 8)), clock: TestClock())
    let read = await serviceError { _ = try await reading.send(.read("P")) }
    guard case .communication(.cannotConnect)? = read?.category else {
      Issue.record("another category: \(String(describing: read))")
      return
    }
  }

  @Test("a service that rejects JSON is sent requests for Atom from then on")
  func atom() async throws {
    let transport = FakeTransport([FakeResponse(415), FakeResponse(200), FakeResponse(200)])
    let service = try conversation(transport)
    _ = try await service.send(.read("P"))
    _ = try await service.send(.read("Q"))
    let atom = "application/atom+xml, application/xml;q=0.9"
    #expect(
      transport.trace(.accept) == [
        "GET /sap/S/P | Accept: application/json", "GET /sap/S/P | Accept: \(atom)", "GET /sap/S/Q | Accept: \(atom)",
      ])
  }

  @Test("methods: PATCH is MERGE for V2; tunnelling always, and automatically after 405")
  func methods() async throws {
    let raw = ODataRequestBody.bytes(Array("{}".utf8), contentType: "application/json")
    for (version, method) in [(ODataVersion.v2, "MERGE"), (.v3, "PATCH"), (.v4, "PATCH"), (.v401, "PATCH")] {
      let transport = FakeTransport([FakeResponse(204)])
      let service = try conversation(transport) { $0.version = version }
      _ = try await service.send(ODataSingleRequest(.update(.patch), "P(1)", body: raw, ifMatch: "\"1\""))
      #expect(transport.trace(.ifMatch) == ["\(method) /sap/S/P(1) | If-Match: \"1\""])
    }
    let always = FakeTransport([FakeResponse(204)])
    _ = try await conversation(always) { ($0.version, $0.tunnelling) = (.v2, .always) }
      .send(ODataSingleRequest(.update(.patch), "P(1)", body: raw))
    #expect(always.trace(.httpMethod) == ["POST /sap/S/P(1) | X-HTTP-Method: MERGE"])
    let automatic = FakeTransport([FakeResponse(405), FakeResponse(204), FakeResponse(204), FakeResponse(405)])
    let service = try conversation(automatic) { ($0.version, $0.tunnelling) = (.v4, .automatic) }
    _ = try await service.send(.delete("P(1)"))
    _ = try await service.send(.delete("P(2)"))
    let error = await serviceError {
      _ = try await service.send(ODataSingleRequest(.update(.replace), "P(3)", body: raw))
    }
    #expect(error?.httpStatus == 405)
    #expect(
      automatic.trace(.httpMethod) == [
        "DELETE /sap/S/P(1)", "POST /sap/S/P(1) | X-HTTP-Method: DELETE",
        "POST /sap/S/P(2) | X-HTTP-Method: DELETE", "PUT /sap/S/P(3)",
      ])
  }

  @Test("a media resource is streamed from the given offset, and never read into memory as a whole")
  func media() async throws {
    let transport = FakeTransport([
      FakeResponse(200, [.contentType: "image/png"], "abcdef"),
      FakeResponse(206, ["Content-Range": "bytes 3-5/6"], "def"), FakeResponse(200, [:], "abcdef"),
      FakeResponse(206, ["Content-Range": "bytes 0-5/6"], "abcdef"), FakeResponse(404),
    ])
    let service = try conversation(transport)
    let whole = try await service.stream(.readMedia("P(1)/$value"))
    #expect(whole.contentType == "image/png" && whole.offset == 0)
    #expect(try await whole.body.collect() == Array("abcdef".utf8))
    let rest = try await service.stream(.readMedia("P(1)/$value"), from: 3, etag: "\"1\"")
    #expect(rest.offset == 3)
    #expect(transport.requests.last?.fields["Range"] == "bytes=3-")
    #expect(transport.requests.last?.fields["If-Range"] == "\"1\"")
    #expect(try await service.stream(.readMedia("P(1)/$value"), from: 3).offset == 0)
    let wrong = await serviceError { _ = try await service.stream(.readMedia("P(1)/$value"), from: 3) }
    guard case .malformedResponse? = wrong?.category else {
      Issue.record("another category: \(String(describing: wrong))")
      return
    }
    let missing = await serviceError { _ = try await service.stream(.readMedia("P(2)/$value")) }
    #expect(missing?.httpStatus == 404)
  }

  @Test(
    "a part that was not requested is not mistaken for the complete resource (RFC 9110 §15.3.7)",
    arguments: ["bytes 0-2/6", "bytes 0-5/6", "bytes 3-5/6"])
  func unaskedPart(range: String) async throws {
    let fakeResponse = FakeResponse(206, ["Content-Range": range, .contentType: "application/json"], "{}")
    let service = try conversation(FakeTransport([fakeResponse]))
    let error = await serviceError { _ = try await service.stream(.readMedia("P(1)/$value")) }
    guard case .malformedResponse? = error?.category else {
      Issue.record("another category: \(String(describing: error))")
      return
    }
  }

  @Test("a response beyond the limit is an error and is not read into memory")
  func tooLarge() async throws {
    let transport = FakeTransport([FakeResponse(200, [:], String(repeating: "x", count: 101))])
    let service = try conversation(transport) { $0.payloadByteLimit = 100 }
    let error = await serviceError { _ = try await service.send(.read("P")) }
    guard case .communication(.bodyTooLarge(limit: 100))? = error?.category else {
      Issue.record("another category: \(String(describing: error))")
      return
    }
  }

  @Test("messages that accompany a response are read from either header")
  func messages() async throws {
    let transport = FakeTransport([
      .json("{}", ["sap-message": #"{"code":"A/1","message":"Saved","severity":"info","details":[]}"#]),
      .json("{}", ["sap-messages": #"[{"code":"B","message":"Low stock","numericSeverity":3}]"#]),
      .json("{}", ["sap-messages": "nonsense"]),
    ])
    let service = try conversation(transport)
    #expect(try await service.send(.read("P")).messages.map(\.text) == ["Saved"])
    #expect(try await service.send(.read("P")).messages.map(\.severity) == [.warning])
    let bad = try await service.send(.read("P"))
    #expect(throws: ODataServiceError.self) { try bad.messages }
  }

  @Test("a media entity cannot be created from values if the model marks it as one (Protocol 4.01 §11.4.7.1)")
  func mediaEntities() async throws {
    let model = Self.metadataV4.replacingOccurrences(of: #"Name="P"><Key>"#, with: #"Name="P" HasStream="true"><Key>"#)
    let transport = FakeTransport([
      FakeResponse(200, [.contentType: "application/xml"], model), .json(#"{"ID":1}"#), .json(#"{"ID":2}"#),
    ])
    let service = try conversation(transport)
    _ = try await service.metadata()
    let values = ODataEntity(properties: [ODataProperty("Name", .string("lost"))])
    let error = await serviceError { _ = try await service.send(.create(values, in: "P")) }
    guard case .invalidRequest(let why)? = error?.category, why.contains("createMedia") else {
      Issue.record("it was sent: \(String(describing: error))")
      return
    }
    #expect(transport.requests.count == 1)
    _ = try await service.send(.createMedia(.bytes([1], contentType: "image/x"), in: "P"))
    // Bytes of the caller are sent unchanged.
    _ = try await service.send(
      ODataSingleRequest(.create, "P", body: .bytes(Array("{}".utf8), contentType: "application/json")))
    #expect(transport.requests.count == 3)
  }
}
