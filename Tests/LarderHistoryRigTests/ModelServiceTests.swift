import LarderHTTP
import LarderHistoryRig
import LarderOData
import Testing

@Suite("The model service", .timeLimit(.minutes(5)))
struct ModelServiceTests {
  private func service(_ tune: (inout ModelKind) -> Void = { _ in }) -> ModelService {
    var kind = ModelKind()
    tune(&kind)
    var service = ModelService(kind)
    service.put(.init("Orders", "1"), ["Name": .string("one"), "Note": .null, "Stock": .number("5")])
    service.put(.init("Buyers", "1"), ["Name": .string("buyer")])
    service.put(.init("Photos", "1"), ["Name": .string("photo")], bytes: [1])
    return service
  }

  private func text(_ response: ModelResponse) -> String { String(decoding: response.body, as: UTF8.self) }

  private func send(
    _ method: String, _ path: String, _ body: String = "", _ fields: HTTPFields = [:], to service: inout ModelService
  ) -> ModelResponse {
    service.respond(to: ModelRequest(method, path, fields: fields, body: Array(body.utf8)), from: "A")
  }

  @Test(
    "filters that stores look up with are understood, others are said to be unknown",
    arguments: [
      ("Name eq 'one'", 200, true), ("Name eq 'it''s' or Stock eq 5", 200, true), ("Stock ne 5", 200, false),
      ("endswith(toupper(trim(Name)),'NE') and Stock eq 5", 200, true), ("not (startswith(Name,'o'))", 200, false),
      ("Stock mod 2 eq 1", 501, false), ("year(Name) eq 1", 501, false),
    ])
  func filters(filter: String, status: Int, isPresent: Bool) {
    var service = service()
    let response = send("GET", "Orders?$filter=\(filter)", to: &service)
    #expect(response.status == status)
    if status == 200 { #expect(text(response).contains("\"one\"") == isPresent, "\(text(response))") }
  }

  @Test("a delta shows what has changed and what is gone, with whole expansions")
  func delta() throws {
    var service = service { $0.deltas = .expanded }
    let path = "Orders?$expand=Items"
    let first = send("GET", path, "", [.prefer: "odata.track-changes"], to: &service)
    let link = try #require(JSONNode(first.body)["@odata.deltaLink"]?.string)
    #expect(send("POST", "Orders(1)/Items", "{\"Text\":\"new\"}", to: &service).status == 201)
    service.put(.init("Orders", "2"), ["Name": .string("two")])
    #expect(send("DELETE", "Orders(2)", to: &service).status == 204)
    let changes = try #require(
      JSONNode(send("GET", String(link.dropFirst(ModelService.root.count)), to: &service).body)["value"]?.items)
    #expect(changes.count == 2)
    #expect(changes.first?["Items"]?.items?.first?["Text"]?.string == "new")
    #expect(changes.last?["reason"]?.string == "deleted" && changes.last?["id"]?.string == "Orders(2)")
  }

  @Test("pages of a collection are joined by links", arguments: [false, true])
  func pages(isV2: Bool) throws {
    var service = service { ($0.pageSize, $0.isV2) = (1, isV2) }
    service.put(.init("Orders", "2"), ["Name": .string("two")])
    let first = try JSONNode(send("GET", "Orders", to: &service).body)
    let link = try #require(isV2 ? first["d"]?["__next"]?.string : first["@odata.nextLink"]?.string)
    let second = try JSONNode(send("GET", String(link.dropFirst(ModelService.root.count)), to: &service).body)
    let rows = isV2 ? second["d"]?["results"]?.items : second["value"]?.items
    #expect(rows?.first?["Name"]?.string == "two")
    #expect(isV2 ? second["d"]?["__next"] == nil : second["@odata.nextLink"] == nil)
  }

  @Test("a change set that fails leaves nothing behind, where the service takes back", arguments: [true, false])
  func rollback(rollsBack: Bool) throws {
    var service = service { $0.rollsBack = rollsBack }
    let requests = [
      BatchRequest(
        id: "1", method: .post, url: "Orders", fields: [.contentType: "application/json"],
        body: Array("{\"Name\":\"a\"}".utf8)),
      BatchRequest(id: "2", method: .delete, url: "Orders(9)"),
    ]
    let (type, body) = try MultipartBatchWriter.write([.changeSet(requests)], boundary: "x", contentIDs: .part)
    let response = service.respond(
      to: ModelRequest("POST", "$batch", fields: [.contentType: type], body: body), from: "A")
    #expect(response.parts?.first?.isError == true)
    #expect(service.effects.count == (rollsBack ? 0 : 1))
  }

  @Test("conditions: the entity's ETag for the entity and its links, the stream's for the stream")
  func conditions() throws {
    var service = service { kind in
      (kind.requiresIfMatch, kind.hasMedia, kind.streamETags, kind.hasLinks) = (true, true, .required, true)
    }
    let order = try #require(service.entities[.init("Orders", "1")])
    let photo = try #require(service.entities[.init("Photos", "1")])
    let reference = "{\"@odata.id\":\"Buyers(1)\"}"
    #expect(send("PUT", "Orders(1)/Buyer/$ref", reference, to: &service).status == 428)
    #expect(send("PUT", "Orders(1)/Buyer/$ref", reference, [.ifMatch: "W/\"0\""], to: &service).status == 412)
    #expect(send("PUT", "Orders(1)/Buyer/$ref", reference, [.ifMatch: order.etag], to: &service).status == 204)
    #expect(send("PATCH", "Orders(1)", "{}", [.ifMatch: order.etag], to: &service).status == 412)
    #expect(send("PUT", "Photos(1)/$value", "b", to: &service).status == 428)
    #expect(send("PUT", "Photos(1)/$value", "b", [.ifMatch: photo.etag], to: &service).status == 412)
    #expect(send("PUT", "Photos(1)/$value", "b", [.ifMatch: photo.bytesETag], to: &service).status == 204)
    #expect(service.effects.map(\.kind) == [.link, .media])
  }

  @Test("effects say who did what under which mark, and whether anything is another now")
  func effects() {
    var service = service()
    _ = send("PATCH", "Orders(1)", "{\"Name\":\"x\"}", ["Mark": "m7"], to: &service)
    _ = send("PATCH", "Orders(1)", "{\"Name\":\"x\"}", ["Mark": "m7"], to: &service)
    #expect(service.effects.map(\.mark) == ["m7", "m7"] && service.effects.map(\.isChange) == [true, false])
    #expect(service.effects.first?.overwritten["Name"]?.value == "one")
  }

  @Test("every document that the service describes itself by can be read", arguments: [0, 1, 2])
  func metadata(version: Int) {
    var service = service { ($0.isV2, $0.isV401) = (version == 0, version == 2) }
    let response = send("GET", "$metadata", to: &service)
    #expect(response.status == 200 && text(response).contains("EntityContainer"))
  }
}
