import Foundation
import LarderHTTP
import LarderOData
import Testing

@testable import LarderService

@Suite("Batches", .timeLimit(.minutes(5)))
struct BatchTests {
  static let raw = ODataRequestBody.bytes(Array(#"{"ID":1}"#.utf8), contentType: "application/json")

  /// A multipart response. Each part is given as a text, `200 {…}`, or as several for a change set.
  static func multipart(_ parts: [[String]]) -> FakeResponse {
    func part(_ text: String, _ boundary: String) -> String {
      let status = text.prefix(3)
      let body = text.dropFirst(4)
      return "--\(boundary)\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
        + "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        + "\(body)\r\n"
    }
    var text = ""
    for members in parts {
      if members.count == 1, let only = members.first {
        text += part(only, "b")
      } else {
        text += "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n"
        text += members.map { part($0, "c") }.joined() + "--c--\r\n"
      }
    }
    return FakeResponse(202, [.contentType: "multipart/mixed; boundary=b"], text + "--b--\r\n")
  }

  static let mixed = ODataBatchRequest([
    .read("P?$filter=Name eq 'ü'"),
    .changeSet([
      ODataSingleRequest(.create, "P", body: raw),
      ODataSingleRequest(.update(.patch), "P(2)", body: raw, ifMatch: "\"2\""),
    ]),
    .single(.delete("P(3)", ifMatch: "*")), .read("P(9)"),
  ])

  static func texts(_ response: ODataBatchResponse) -> [String] {
    response.slots.map { slot in
      switch slot {
      case .response(let response):
        "\(response.httpStatus ?? 0) \(String(decoding: response.payloadBytes, as: UTF8.self))"
      case .changeSet(let responses): "set of \(responses.map { "\($0.httpStatus ?? 0)" }.joined(separator: ","))"
      case .failure(let error):
        "failed \(error.method.map(\.rawValue) ?? "") \(error.httpStatus ?? 0) \(error.payload?.code ?? "")"
      case nil: "nil"
      }
    }
  }

  @Test("multipart for V2: relative URLs, MERGE, Content-IDs of changes, each response in its slot")
  func multipartV2() async throws {
    let transport = FakeTransport([
      Self.multipart([
        ["200 {}"], ["201 {}", "204 "], ["412 {\"error\":{\"code\":\"E\",\"message\":\"m\"}}"], ["200 {\"d\":1}"],
      ])
    ])
    let service = try conversation(transport) { ($0.version, $0.csrf) = (.v2, .never) }
    let response = try await service.send(Self.mixed)
    #expect(Self.texts(response) == ["200 {}", "set of 201,204", "failed DELETE 412 E", "200 {\"d\":1}"])
    let sent = try #require(transport.requests.first)
    #expect(
      transport.trace(.accept, .dataServiceVersion) == [
        "POST /sap/S/$batch | Accept: multipart/mixed | DataServiceVersion: 2.0"
      ])
    let lines = sent.body.text.components(separatedBy: "\r\n")
    #expect(
      lines.filter { $0.hasSuffix("HTTP/1.1") } == [
        "GET P?$filter=Name%20eq%20'%C3%BC' HTTP/1.1", "POST P HTTP/1.1", "MERGE P(2) HTTP/1.1",
        "DELETE P(3) HTTP/1.1", "GET P(9) HTTP/1.1",
      ])
    #expect(
      lines.filter { $0.hasPrefix("Content-ID") } == [
        "Content-ID: 1", "Content-ID: 1", "Content-ID: 2", "Content-ID: 2", "Content-ID: 3", "Content-ID: 3",
      ])
    #expect(lines.filter { $0.hasPrefix("If-Match") } == ["If-Match: \"2\"", "If-Match: *"])
    #expect(!sent.body.text.contains("Authorization"))
  }

  @Test("a failed change set is one failure; parts that the service did not process are reported")
  func failures() async throws {
    let transport = FakeTransport([
      Self.multipart([["200 {}"], ["400 {\"error\":{\"code\":\"F\",\"message\":\"m\"}}"]])
    ])
    let service = try conversation(transport) { $0.version = .v4 }
    let slots = try await service.send(Self.mixed).slots
    #expect(slots.count == 4)
    #expect(slots[1]?.failure?.payload?.code == "F")
    for slot in slots[2...] {
      guard case .notProcessed? = slot?.failure?.category else {
        Issue.record("not as it should be: \(String(describing: slot))")
        continue
      }
    }
  }

  @Test("a missing response does not shift the others: each response has the URL of its request")
  func missing() async throws {
    func part(_ id: Int, _ text: String) -> String {
      "--b\r\nContent-Type: application/http\r\nContent-ID: \(id)\r\n\r\nHTTP/1.1 \(text.prefix(3)) X\r\n"
        + "Content-Type: application/json\r\n\r\n\(text.dropFirst(4))\r\n"
    }
    let fakeResponse = FakeResponse(
      200, [.contentType: "multipart/mixed; boundary=b"],
      part(1, "200 {\"a\":1}") + part(3, "404 {\"error\":{\"code\":\"N\",\"message\":\"m\"}}") + "--b--\r\n")
    let transport = FakeTransport([fakeResponse])
    let service = try conversation(transport) { $0.version = .v4 }
    let slots = try await service.send(ODataBatchRequest([.read("A"), .read("B"), .read("C")])).slots
    let ids = transport.requests.first?.body.text.components(separatedBy: "\r\n").filter { $0.hasPrefix("Content-ID") }
    #expect(ids == ["Content-ID: 1", "Content-ID: 2", "Content-ID: 3"])
    #expect(slots.count == 3 && slots[0]?.response?.url.hasSuffix("/A") == true)
    guard case .malformedResponse? = slots[1]?.failure?.category else {
      Issue.record("B has a response: \(String(describing: slots[1]))")
      return
    }
    #expect(slots[2]?.failure?.payload?.code == "N" && slots[2]?.failure?.url?.hasSuffix("/C") == true)
  }

  @Test("JSON for 4.01: responses by id in any order; multipart from then on if the service rejects JSON")
  func json() async throws {
    let fakeResponse =
      #"{"responses":[{"id":"4","status":200,"body":{"b":2}},{"id":"1","atomicityGroup":"g","status":201},"#
      + #"{"id":"2","status":204},{"id":"3","status":204},{"id":"5","status":404,"body":{"error":{"code":"N","message":"m"}}}]}"#
    let json = FakeTransport([.json(fakeResponse)])
    let service = try conversation(json) { $0.version = .v401 }
    var batch = Self.mixed
    batch.continuesOnError = true
    let response = try await service.send(batch)
    #expect(Self.texts(response).last == "failed GET 404 N")
    #expect(Self.texts(response)[1] == "set of 201,204")
    let sent = try #require(json.requests.first)
    #expect(sent.fields[.contentType] == "application/json" && sent.fields[.prefer] == "continue-on-error")

    let rejecting = FakeTransport([FakeResponse(415), Self.multipart([["200 {}"]]), Self.multipart([["200 {}"]])])
    let other = try conversation(rejecting) { $0.version = .v401 }
    for _ in 0..<2 { #expect(Self.texts(try await other.send(ODataBatchRequest([.read("P")]))) == ["200 {}"]) }
    let types = rejecting.requests.map { $0.fields[.contentType]?.prefix(9) }
    #expect(types == ["applicati", "multipart", "multipart"])
  }

  @Test(
    "a JSON batch with changes is sent again as multipart only after a 415; after a 406 it may have been executed",
    arguments: [(415, 2), (406, 1)])
  func rejectedChanges(_ status: Int, _ count: Int) async throws {
    let multipart = Self.multipart([["201 {}"]])
    let transport = FakeTransport([FakeResponse(status), multipart, multipart])
    let service = try conversation(transport) { $0.version = .v401 }
    let batch = ODataBatchRequest([.single(ODataSingleRequest(.create, "P", body: Self.raw))])
    if count == 2 {
      #expect(Self.texts(try await service.send(batch)) == ["201 {}"])
    } else {
      #expect(await serviceError { _ = try await service.send(batch) }?.httpStatus == status)
    }
    #expect(transport.requests.count == count)
    // Later batches are multipart in both cases.
    _ = try await service.send(ODataBatchRequest([.read("P")]))
    #expect(transport.requests.last?.fields[.contentType]?.hasPrefix("multipart") == true)
    let reads = FakeTransport([FakeResponse(status), Self.multipart([["200 {}"]])])
    let other = try conversation(reads) { $0.version = .v401 }
    #expect(Self.texts(try await other.send(ODataBatchRequest([.read("P")]))) == ["200 {}"])
  }

  @Test(
    "JSON on request is sent to services from V4 on; the error for others says so",
    arguments: [.v2, .v4] as [ODataVersion])
  func requestedJSON(_ version: ODataVersion) async throws {
    let transport = FakeTransport([.json(#"{"responses":[{"id":"1","status":200,"body":{}}]}"#)])
    let service = try conversation(transport) { $0.version = version }
    let batch = ODataBatchRequest([.read("P")], format: .json)
    if version == .v4 {
      #expect(Self.texts(try await service.send(batch)) == ["200 {}"])
      #expect(transport.requests.first?.fields[.contentType] == "application/json")
    } else {
      let error = await serviceError { _ = try await service.send(batch) }
      #expect(error.map { "\($0)" }?.contains("JSON batches before OData V4") == true, "\(String(describing: error))")
      #expect(transport.requests.isEmpty)
    }
  }

  @Test("in JSON, a request names the request that it refers to")
  func dependsOn() async throws {
    let transport = FakeTransport([FakeResponse(500)])
    let service = try conversation(transport) { $0.version = .v401 }
    var create = ODataSingleRequest(.create, "P", body: Self.raw)
    create.contentID = "new"
    let batch = ODataBatchRequest([.changeSet([create, ODataSingleRequest(.create, "$new/Parts", body: Self.raw)])])
    _ = await serviceError { _ = try await service.send(batch) }
    #expect(transport.requests.first?.body.text.contains(#""dependsOn":["new"]"#) == true)
  }

  @Test(
    "a batch with changes is sent once, a batch of reads is repeated; if the batch is rejected as a whole, the error is thrown"
  )
  func repetition() async throws {
    let once = FakeTransport([FakeResponse(503)])
    let error = await serviceError { _ = try await conversation(once) { $0.version = .v2 }.send(Self.mixed) }
    #expect(error?.httpStatus == 503 && once.requests.count == 1)
    let reads = FakeTransport([FakeResponse(503), Self.multipart([["200 {}"], ["304 "]])])
    var conditional = ODataSingleRequest.read("P(1)")
    conditional.fields[.ifNoneMatch] = "\"1\""
    let response = try await conversation(reads).send(ODataBatchRequest([.read("P"), .single(conditional)]))
    #expect(response.slots[1]?.response?.isNotModified == true)
    #expect(reads.requests.count == 2)
  }

  @Test(
    "responses that are not a batch, or not to this batch, are malformed",
    arguments: [
      FakeResponse(200, [.contentType: "text/html"], "<html>"), .json("{}"), .json("["),
      FakeResponse(202, [.contentType: "multipart/mixed"], "--b--"), Self.multipart([["200 {}"], ["200 {}"]]),
      FakeResponse(
        202, [.contentType: "multipart/mixed; boundary=b"], "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 2"),
    ])
  func malformed(fakeResponse: FakeResponse) async throws {
    let service = try conversation(FakeTransport([fakeResponse]))
    let error = await serviceError { _ = try await service.send(ODataBatchRequest([.read("P")])) }
    guard case .malformedResponse? = error?.category else {
      Issue.record("another category: \(String(describing: error))")
      return
    }
  }

  @Test("requests that a batch cannot contain are rejected before anything is sent")
  func invalid() async throws {
    let transport = FakeTransport([])
    let service = try conversation(transport) { $0.version = .v2 }
    var twice = ODataSingleRequest.delete("P(1)")
    twice.contentID = "1"
    let stream = ODataRequestBody.stream(length: nil, contentType: "a/b") { HTTPBodyStream([1]) }
    let batches = [
      ODataBatchRequest([]), ODataBatchRequest([.changeSet([])]), ODataBatchRequest([.changeSet([.read("P")])]),
      ODataBatchRequest([.single(twice), .single(twice)]),
      ODataBatchRequest([.single(.updateMedia("P(1)/$value", to: stream))]),
      ODataBatchRequest([.read("https://evil.example/P")]), ODataBatchRequest([.read("P")], format: .json),
    ]
    for batch in batches { #expect(await serviceError { _ = try await service.send(batch) } != nil) }
    #expect(transport.requests.isEmpty)
  }
}
