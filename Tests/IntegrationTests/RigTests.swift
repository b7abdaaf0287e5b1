import Foundation
import LarderTestSupport
import Synchronization
import Testing

@Suite("Test support: mock-sap", .mockSAP("--no-csrf"), .timeLimit(.minutes(5)))
struct RigMockSAPTests {
  @Test("One instance serves the suite, with the data of its seed")
  func responses() throws {
    let service = try MockSAP.ofSuite
    let response = try service.process.send("/sap/opu/odata/sap/API_SALES_ORDER_SRV/A_SalesOrder/$count")
    #expect(response.status == 200)
    #expect(response.text == "25")
    #expect(try MockSAP.ofSuite.process.processID == service.process.processID)
  }

  @Test("The control plane adds and clears faults, and lists the requests")
  func control() throws {
    let service = try MockSAP.ofSuite
    let target = "/sap/opu/odata/sap/API_PRODUCT_SRV/A_Product?$top=1"
    try service.addFault(.init(match: "API_PRODUCT_SRV", method: "GET", status: 503, message: "asleep", count: 1))
    #expect(try service.process.send(target, fields: ["X-Mark": "rig"]).status == 503)
    #expect(try service.process.send(target).status == 200)
    try service.addFault(.init(match: "API_PRODUCT_SRV", status: 500))
    try service.clearFaults()
    #expect(try service.process.send(target).status == 200)
    let productRequests = try service.requests().filter { $0.path.contains("A_Product") }
    #expect(productRequests.map(\.status) == [503, 200, 200])
    #expect(productRequests.first?.fields["x-mark"] == "rig")
    #expect(productRequests.first?.query.contains("$top=1") == true)
    #expect(try service.scenarios().isEmpty == false)
  }

  @Test("An invalid control request throws an error with the response")
  func controlError() throws {
    let service = try MockSAP.ofSuite
    #expect(throws: MockSAPControlError.self) { try service.addFault(.init(status: 7)) }
    #expect(throws: MockSAPControlError.self) { try service.revokeTokens() }
  }
}

@Suite("Test support: starting and stopping services", .timeLimit(.minutes(5)))
struct RigLifeTests {
  @Test("A stopped service rejects connections; restarted, it responds on the same port with fresh data")
  func stopsAndRestarts() async throws {
    let service = try await onDedicatedThread { try MockSAP() }
    let port = service.port
    let first = try #require(service.process.processID)
    service.stop()
    #expect(kill(first, 0) != 0, "the process is gone when stop returns")
    #expect(throws: PlainHTTPError.self) { try service.process.send("/_mock/health") }
    try await onDedicatedThread { try service.restart() }
    #expect(service.port == port)
    #expect(service.process.processID != first)
    #expect(try service.process.send("/_mock/health").status == 200)
    try service.advanceClock(days: 3)
    try service.reset()
    service.stop()
    service.stop()
  }

  @Test("An unknown option makes the start fail with the service's output")
  func badOption() async {
    let error = await #expect(throws: ServiceStartError.self) {
      try await onDedicatedThread { try MockSAP(["--no-such-option"]) }
    }
    #expect(error?.reason == "it ended with status 2")
    #expect(error?.output.contains("unrecognized arguments: --no-such-option") == true)
    #expect(error?.description.hasPrefix("mocksap did not start: it ended with status 2. It printed:") == true)
  }

  @Test("A missing module makes the start fail with Python's message")
  func badModule() async {
    let error = await #expect(throws: ServiceStartError.self) {
      try await onDedicatedThread {
        try ServiceProcess(.init(module: "nosuchmodule", arguments: [], readyText: "listening on", probe: "/"))
      }
    }
    #expect(error?.output.contains("nosuchmodule") == true)
  }

  @Test("A probe with another status than 200 makes the start fail with the response")
  func badProbe() async {
    let error = await #expect(throws: ServiceStartError.self) {
      try await onDedicatedThread {
        try ServiceProcess(.init(module: "mocksap", arguments: [], readyText: "listening on", probe: "/nowhere"))
      }
    }
    #expect(error?.reason.hasPrefix("/nowhere: status 404") == true)
  }

  @Test("A suite without the trait gets an error with the trait's name")
  func noTrait() {
    #expect(throws: ServiceStartError.self) { try MockSAP.ofSuite }
    #expect(throws: ServiceStartError.self) { try ODataPyService.ofSuite }
  }

  @Test("Two concurrent instances have different ports and separate data")
  func two() async throws {
    let one = try await onDedicatedThread { try MockSAP(["--seed", "1"]) }
    let two = try await onDedicatedThread { try MockSAP(["--seed", "2"]) }
    #expect(one.port != two.port)
    #expect((20_000..<32_768).contains(one.port))
    let target = "/sap/opu/odata/sap/API_SALES_ORDER_SRV/A_SalesOrder?$top=5"
    #expect(try one.process.send(target).body != two.process.send(target).body)
  }
}

@Suite("Test support: folders and seeds", .timeLimit(.minutes(5)))
struct RigFileTests {
  @Test("A temporary folder is deleted with its value")
  func temporaryFolder() throws {
    let path: String
    do {
      let folder = try TemporaryFolder()
      path = folder.path
      try folder.write([1, 2, 3], to: "file")
      #expect(FileManager.default.contents(atPath: folder.file("file")) == Data([1, 2, 3]))
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("A seed gives the sequence of SplitMix64")
  func seeds() {
    var one = PrintedSeed(seed: 1_234_567)
    // The first outputs for this seed, as published with the algorithm's reference implementations.
    #expect(
      (0..<3).map { _ in one.next() } == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
      ])
  }
}

@Suite("Test support: odatapy", .odataPy("--page-size", "25"), .timeLimit(.minutes(5)))
struct RigODataPyTests {
  private func object(_ target: String, accept: String = "application/json") throws -> [String: Any] {
    let response = try ODataPyService.ofSuite.process.send(target, fields: ["Accept": accept])
    try #require(response.status == 200, "\(target): \(response.status) \(response.text.prefix(300))")
    return try #require(try response.json() as? [String: Any])
  }

  @Test("Returns its model as XML and as JSON")
  func metadata() throws {
    let service = try ODataPyService.ofSuite
    let xml = try service.process.send("/shop/$metadata")
    #expect(xml.fields["content-type"]?.hasPrefix("application/xml") == true)
    #expect(xml.text.contains("<EntityType Name=\"Perishable\" BaseType=\"Larder.Shop.Product\">"))
    #expect(xml.text.contains("ContainsTarget=\"true\""))
    let json = try object("/shop/$metadata?$format=application/json")
    #expect((json["Larder.Shop"] as? [String: Any])?["AllTypes"] != nil)
  }

  @Test("Returns collections in pages, with next links, and a delta link on the last page")
  func pages() throws {
    let first = try object("/shop/Products?$count=true")
    #expect((first["value"] as? [Any])?.count == 25)
    #expect(first["@odata.count"] as? Int == 40)
    #expect(first["@odata.nextLink"] != nil)
    let service = try ODataPyService.ofSuite
    let tracked = try service.process.send("/shop/Categories", fields: ["Prefer": "odata.track-changes"])
    #expect(tracked.text.contains("@odata.deltaLink"))
    let paged = try service.process.send("/shop/Products", fields: ["Prefer": "odata.track-changes"])
    #expect(!paged.text.contains("@odata.deltaLink"))
  }

  @Test("Has contained entities, streams and operations")
  func behaviour() throws {
    let order = try object("/shop/Orders(1)?$expand=Items($expand=Product($select=Name))")
    #expect((order["Items"] as? [[String: Any]])?.last?["Position"] as? Int == 2)
    #expect(try object("/shop/Orders(1)/Items(2)")["ProductID"] as? Int == 4)
    for direction in ["asc", "desc"] {
      let orders = try object("/shop/Orders?$orderby=ID%20\(direction)&$expand=Items($expand=Product)")
      let items = try #require(orders["value"] as? [[String: Any]]).flatMap { $0["Items"] as? [[String: Any]] ?? [] }
      #expect(items.count == 3)
      for item in items { #expect((item["Product"] as? [String: Any])?["ID"] as? Int == item["ProductID"] as? Int) }
    }
    let dry = try object("/shop/Orders(1)/Items?$filter=Product/Category/ID%20eq%201")["value"] as? [[String: Any]]
    #expect(dry?.map { $0["Position"] as? Int } == [1])
    let service = try ODataPyService.ofSuite
    #expect(try service.process.send("/shop/Products(1)/Photo").fields["content-type"] == "image/png")
    #expect(try service.process.send("/shop/Documents(1)/$value").text == "Flour 2.95\nSalt 0.80\n")
    #expect(try object("/shop/Echo(text='a''b')")["value"] as? String == "a'b")
    #expect(try object("/shop/Below(price=1.5)?$select=Name")["value"] as? [[String: Any]] != nil)
    #expect(try service.process.send("/shop/Products(1)/Larder.Shop.PriceIn(factor=1.5)").text.contains("4.425"))
    let json = ["Content-Type": "application/json"]
    let restocked = try service.process.send(
      "/shop/Products(1)/Larder.Shop.Restock", method: "POST", fields: json, body: Array(#"{"amount":5}"#.utf8))
    #expect(restocked.text.contains(#""Stock":125"#))
    #expect(restocked.fields["etag"] == #"W/"2""#)
  }

  @Test("Checks ETags: 304 for the current one, 428 without one, 412 for an old one")
  func etags() throws {
    let service = try ODataPyService.ofSuite
    let path = "/shop/Products(5)"
    #expect(try service.process.send(path, fields: ["If-None-Match": #"W/"1""#]).status == 304)
    let body = Array(#"{"Rating":1}"#.utf8)
    var fields = ["Content-Type": "application/json"]
    #expect(try service.process.send(path, method: "PATCH", fields: fields, body: body).status == 428)
    fields["If-Match"] = #"W/"0""#
    #expect(try service.process.send(path, method: "PATCH", fields: fields, body: body).status == 412)
    fields["If-Match"] = #"W/"1""#
    #expect(try service.process.send(path, method: "PATCH", fields: fields, body: body).status == 204)
  }

  @Test("Returns the extreme values of every primitive type exactly")
  func allTypes() throws {
    let response = try ODataPyService.ofSuite.process.send(
      "/shop/AllTypes(1)", fields: ["Accept": "application/json;IEEE754Compatible=true"])
    #expect(response.text.contains(#""Decimal":"123456789012345678901234.0123456789""#))
    #expect(response.text.contains(#""Int64":"9223372036854775807""#))
    #expect(response.text.contains(#""Duration":"P12DT23H59M59.999999S""#))
  }
}
