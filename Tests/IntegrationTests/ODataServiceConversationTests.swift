import Foundation
import LarderCurl
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Testing

/// A conversation with a real service over the real transport.
private func conversation(
  _ root: String, authentication: (any HTTPAuthentication)? = nil,
  _ change: (inout ODataConversationOptions) -> Void = { _ in }
) throws -> ODataConversation {
  var options = ODataConversationOptions()
  change(&options)
  let url = try #require(URL(string: root))
  return try ODataConversation(
    root: url, transport: try CurlTransport(), authentication: authentication, options: options)
}

private func entity(_ response: ODataSingleResponse, _ model: EdmModel) throws -> ODataEntity {
  guard case .entity(let entity) = try response.payload(model: model) else {
    throw ODataServiceError(.malformedResponse("no entity"), operation: "test")
  }
  return entity
}

@Suite("A conversation with mock-sap", .mockSAP("--require-if-match"), .timeLimit(.minutes(5)))
struct ODataServiceConversationTests {
  @Test("Metadata, a collection and an entity in V2 and V4: every value has its declared type")
  func reads() async throws {
    let service = try MockSAP.ofSuite
    for (root, path, version) in [
      (service.salesOrdersV2, "A_SalesOrder", ODataVersion.v2), (service.productsV4, "Product", .v4),
    ] {
      let conversation = try conversation(root)
      let model = try await conversation.metadata()
      #expect(conversation.knownVersion.map { $0.dialect } == version.dialect)
      let response = try await conversation.send(.read("\(path)?$top=3"))
      guard case .collection(let rows) = try response.payload(model: model) else {
        Issue.record("no collection: \(String(decoding: response.payloadBytes.prefix(200), as: UTF8.self))")
        continue
      }
      #expect(rows.entities.count == 3)
      let count = try await conversation.send(.read("\(path)/$count"))
      guard case .count(let number) = try count.payload() else {
        Issue.record("no count")
        continue
      }
      #expect(number >= 3)
    }
  }

  @Test("A change: rejected without its ETag, token fetched with the session, merged with the ETag, then 412")
  func change() async throws {
    let service = try MockSAP.ofSuite
    for (root, set) in [(service.salesOrdersV2, "A_SalesOrder"), (service.salesOrdersV4, "SalesOrder")] {
      let conversation = try conversation(root)
      let model = try await conversation.metadata()
      let list = try await conversation.send(.read("\(set)?$top=1")).payload(model: model)
      guard case .string(let number)? = list.entities?.first?["SalesOrder"] else {
        Issue.record("no order")
        return
      }
      let path = "\(set)('\(number)')"
      let first = try await conversation.send(.read(path))
      let etag = try #require(try first.etag ?? entity(first, model).etag)
      let patch = ODataEntity(properties: [ODataProperty("PurchaseOrderByCustomer", .string("Larder 'ü' 1"))])
      let missing = await #expect(throws: ODataServiceError.self) {
        try await conversation.send(.update(path, to: patch))
      }
      #expect(missing?.httpStatus == 428)
      #expect(missing?.payload?.message.isEmpty == false)
      _ = try await conversation.send(.update(path, to: patch, ifMatch: etag))
      let second = try await conversation.send(.read(path))
      #expect(try entity(second, model)["PurchaseOrderByCustomer"] == .string("Larder 'ü' 1"))
      let stale = await #expect(throws: ODataServiceError.self) {
        try await conversation.send(.update(path, to: patch, ifMatch: etag))
      }
      #expect(stale?.httpStatus == 412)
      var conditional = ODataSingleRequest.read(path)
      conditional.fields[.ifNoneMatch] = try second.etag ?? entity(second, model).etag
      #expect(try await conversation.send(conditional).isNotModified)
    }
  }

  @Test("An entity is created and deleted")
  func createAndDelete() async throws {
    let conversation = try conversation(try MockSAP.ofSuite.salesOrdersV2)
    let model = try await conversation.metadata()
    let order = ODataEntity(properties: [
      ODataProperty("SalesOrderType", .string("OR")), ODataProperty("SalesOrganization", .string("1010")),
      ODataProperty("DistributionChannel", .string("10")), ODataProperty("OrganizationDivision", .string("00")),
      ODataProperty("SoldToParty", .string("10100001")),
    ])
    let created = try entity(try await conversation.send(.create(order, in: "A_SalesOrder")), model)
    guard case .string(let number)? = created["SalesOrder"] else {
      Issue.record("the order has no number")
      return
    }
    let path = "A_SalesOrder('\(number)')"
    let read = try await conversation.send(.read(path))
    _ = try await conversation.send(.delete(path, ifMatch: try read.etag ?? entity(read, model).etag))
    let gone = await #expect(throws: ODataServiceError.self) { try await conversation.send(.read(path)) }
    #expect(gone?.httpStatus == 404)
    #expect(gone?.description.contains(number) == true, "the place is named")
  }

  @Test("A batch: two reads, a change with its ETag and one without, each with its own response")
  func batch() async throws {
    let service = try MockSAP.ofSuite
    for (root, set) in [(service.salesOrdersV2, "A_SalesOrder"), (service.salesOrdersV4, "SalesOrder")] {
      let conversation = try conversation(root)
      let model = try await conversation.metadata()
      let list = try await conversation.send(.read("\(set)?$top=2")).payload(model: model)
      guard case .string(let number)? = list.entities?.last?["SalesOrder"] else {
        Issue.record("no order")
        return
      }
      let path = "\(set)('\(number)')"
      let first = try await conversation.send(.read(path))
      let patch = ODataEntity(properties: [ODataProperty("PurchaseOrderByCustomer", .string("batched"))])
      let responses = try await conversation.send(
        ODataBatchRequest(
          [
            .read("\(set)?$top=1"), .read("\(set)('none')"),
            .changeSet([.update(path, to: patch, ifMatch: try first.etag ?? entity(first, model).etag)]),
            .changeSet([.update(path, to: patch)]), .read(path),
          ], continuesOnError: true))
      #expect(responses.slots.count == 5)
      #expect(responses.slots[0]?.response?.httpStatus == 200)
      #expect(responses.slots[1]?.failure?.httpStatus == 404)
      guard case .changeSet(let changes)? = responses.slots[2] else {
        Issue.record("the change failed: \(String(describing: responses.slots[2]?.failure?.debugDescription))")
        continue
      }
      #expect(changes.count == 1)
      #expect(responses.slots[3]?.failure?.httpStatus == 428)
      let last = try #require(responses.slots[4]?.response)
      #expect(try entity(last, model)["PurchaseOrderByCustomer"] == .string("batched"))
    }
  }

  @Test("Temporary faults are retried; lasting faults are reported")
  func faults() async throws {
    let service = try MockSAP.ofSuite
    let conversation = try conversation(service.businessPartnersV2) {
      $0.retry = HTTPRetryPolicy(attemptLimit: 3, baseDelay: .milliseconds(5))
    }
    try service.addFault(.init(match: "BUSINESS_PARTNER", method: "GET", status: 503, message: "asleep", count: 2))
    #expect(try await conversation.send(.read("A_BusinessPartner?$top=1")).httpStatus == 200)
    try service.addFault(.init(match: "BUSINESS_PARTNER", method: "GET", status: 503, message: "asleep", count: 3))
    let error = await #expect(throws: ODataServiceError.self) {
      try await conversation.send(.read("A_BusinessPartner?$top=1"))
    }
    #expect(error?.httpStatus == 503 && error?.isTransient == true)
    try service.clearFaults()
  }
}

@Suite("Authentication with mock-sap", .timeLimit(.minutes(5)))
struct ODataServiceSignInTests {
  @Test(
    "Basic: accepted with the password, rejected without, with a typed error that does not contain the secret",
    .mockSAP("--auth", "ann:s3cret"))
  func basic() async throws {
    let service = try MockSAP.ofSuite
    let right = try conversation(
      service.productsV2, authentication: try BasicAuthentication(user: "ann", password: "s3cret"))
    #expect(try await right.send(.read("A_Product?$top=1")).httpStatus == 200)
    let wrong = try conversation(
      service.productsV2, authentication: try BasicAuthentication(user: "ann", password: "wr0ng"))
    let error = await #expect(throws: ODataServiceError.self) { try await wrong.send(.read("A_Product?$top=1")) }
    guard case .authentication(.rejected)? = error?.category else {
      Issue.record("another category: \(String(describing: error))")
      return
    }
    #expect(error?.debugDescription.contains("wr0ng") == false)
  }

  @Test(
    "Client credentials: one token for many requests, a new one when it is revoked", .mockSAP("--oauth", "app:s3cret"))
  func clientCredentials() async throws {
    let service = try MockSAP.ofSuite
    let client = try OAuth2Client(
      tokenEndpoint: try #require(URL(string: service.origin + "/sap/bc/sec/oauth2/token")), id: "app",
      proof: .basic(secret: "s3cret"))
    let conversation = try conversation(
      service.salesOrdersV2,
      authentication: OAuth2Authentication(clientCredentials: client, transport: try CurlTransport()))
    try await withThrowingTaskGroup(of: Int?.self) { group in
      for _ in 0..<10 {
        group.addTask { try await conversation.send(.read("A_SalesOrder?$top=1")).httpStatus }
      }
      for try await status in group { #expect(status == 200) }
    }
    #expect(try service.requests().count { $0.path.hasSuffix("/token") } == 1)
    try service.revokeTokens()
    #expect(try await conversation.send(.read("A_SalesOrder?$top=1")).httpStatus == 200)
    #expect(try service.requests().count { $0.path.hasSuffix("/token") } == 2)
    let patch = ODataEntity(properties: [ODataProperty("PurchaseOrderByCustomer", .string("x"))])
    let rejected = await #expect(throws: ODataServiceError.self) {
      try await conversation.send(.update("A_SalesOrder('none')", to: patch, ifMatch: "*"))
    }
    #expect(rejected?.httpStatus == 404, "token and session come before the rejection")
  }

  @Test("A wrong secret throws a typed error", .mockSAP("--oauth", "app:s3cret"))
  func wrongSecret() async throws {
    let service = try MockSAP.ofSuite
    let client = try OAuth2Client(
      tokenEndpoint: try #require(URL(string: service.origin + "/sap/bc/sec/oauth2/token")), id: "app",
      proof: .basic(secret: "wr0ng"))
    let conversation = try conversation(
      service.salesOrdersV2,
      authentication: OAuth2Authentication(clientCredentials: client, transport: try CurlTransport()))
    let error = await #expect(throws: ODataServiceError.self) {
      try await conversation.send(.read("A_SalesOrder?$top=1"))
    }
    guard case .authentication(.tokenEndpoint(code: "invalid_client", _))? = error?.category else {
      Issue.record("another category: \(String(describing: error?.debugDescription))")
      return
    }
  }
}

@Suite("A conversation with odatapy", .odataPy(), .timeLimit(.minutes(5)))
struct ODataServiceShopTests {
  @Test("The model and the sets of a 4.01 service are read, and every row matches the model")
  func reads() async throws {
    let conversation = try conversation(try ODataPyService.ofSuite.root)
    let model = try await conversation.metadata()
    let sets = try #require(model.defaultContainer?.entitySets.map(\.name))
    #expect(!sets.isEmpty)
    for set in sets {
      let response = try await conversation.send(.read("\(set)?$top=2"))
      guard case .collection = try response.payload(model: model) else {
        Issue.record("\(set): no collection")
        continue
      }
    }
  }

  @Test("A batch in both formats", arguments: [ODataBatchRequest.Format.multipart, .json])
  func batch(format: ODataBatchRequest.Format) async throws {
    let conversation = try conversation(try ODataPyService.ofSuite.root)
    let model = try await conversation.metadata()
    let set = try #require(model.defaultContainer?.entitySets.first?.name)
    let responses = try await conversation.send(
      ODataBatchRequest(
        [.read("\(set)?$top=1"), .read("Nothing"), .read("\(set)/$count")], format: format,
        continuesOnError: true))
    #expect(responses.slots.map { $0?.response?.httpStatus ?? $0?.failure?.httpStatus } == [200, 404, 200])
    guard case .collection(let rows)? = try responses.slots[0]?.response?.payload(model: model) else {
      Issue.record("no collection")
      return
    }
    #expect(rows.entities.count == 1)
  }
}
