import Foundation
import LarderOData
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("Verbs against mock-sap", .mockSAP(), .serialized, .timeLimit(.minutes(5)))
struct RealServiceTests {
  @Test("metadata, get, send and batch work with V2 and V4")
  func verbs() async throws {
    let service = try MockSAP.ofSuite
    let model = await Rig().run("metadata", service.productsV4, "--json")
    #expect(try JSONNode(model.outputBytes)["version"]?.string == "4.0")
    let list = await Rig().run("get", "--service", service.salesOrdersV2, "A_SalesOrder?$top=1&$select=SalesOrder")
    let read = await Rig(input: list.outputBytes).run("payload", "--file", "-")
    let entity = try #require(try JSONNode(read.outputBytes)["entities"]?.items?.first)
    let url = try #require(entity["id"]?.string)
    let change = Rig(input: Array(#"{"PurchaseOrderByCustomer":"PO 1"}"#.utf8))
    let sent = await change.run(
      "send", "MERGE", url, "--data", "-", "--if-match", "*", "--service", service.salesOrdersV2)
    #expect(sent.status == .done, "\(sent.diagnostics)")
    #expect(await Rig().run("get", url).output.contains("PO 1"))
    let text = "GET A_SalesOrder?$top=1\n---\nGET Nothing\n"
    let batch = await Rig(input: Array(text.utf8)).run("batch", service.salesOrdersV2, "-", "--json")
    #expect(batch.status == .negative)
    #expect(try JSONNode(batch.outputBytes).items?.map { $0["status"]?.text } == ["200", "404"])
    let products = await Rig(input: Array("GET Product?$top=1\n".utf8)).run("batch", service.productsV4, "-")
    #expect(products.status == .done, "\(products.diagnostics)")
  }

  @Test("metadata --update saves the document once, and lists what changes for generated code")
  func update() async throws {
    let service = try MockSAP.ofSuite
    let folder = try TemporaryFolder()
    func update() async -> Outcome {
      await Rig(directory: folder.path).run("metadata", service.productsV4, "--update", "service.xml")
    }
    let first = await update()
    #expect(first.status == .done && first.output.hasSuffix("service.xml is new\n"), "\(first.diagnostics)")
    #expect(await update().output.hasSuffix("service.xml is up to date\n"))
    let saved = try String(contentsOfFile: folder.file("service.xml"), encoding: .utf8)
    #expect(saved.contains("<edmx:Edmx"))
    let other = """
      <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
      <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm"><ComplexType Name="Former"/></Schema>
      </edmx:DataServices></edmx:Edmx>
      """
    try folder.write(Array(other.utf8), to: "service.xml")
    let changed = await update()
    #expect(changed.output.contains("  removed Former: complex type (breaking)\n"), "\(changed.output)")
    let wrong = await Rig(directory: folder.path).run("metadata", "--file", "service.xml", "--update", "x.xml")
    #expect(wrong.status == .usage && wrong.diagnostics.contains("--update needs the URL of a service"))
  }

  @Test("The demonstration: twice with the server, then without it")
  func demo() async throws {
    let service = try MockSAP.ofSuite
    let folder = try TemporaryFolder()
    let options = ["--service-base", service.origin, "--cache", folder.path]
    let read = await Rig().run(["demo", "read"] + options)
    #expect(read.status == .done, "\(read.diagnostics)")
    let rows = read.output.split(separator: "\n").filter { $0.contains("(V") }
    #expect(rows.count == 3)
    #expect(rows.last?.hasSuffix(" bytes") == true)
    service.stop()
    let offline = await Rig().run(["demo", "offline"] + options)
    try service.restart()
    #expect(offline.status == .done, "\(offline.diagnostics)")
    #expect(offline.output.split(separator: "\n").filter { $0.contains("(V") && $0.contains("after ") }.count == 3)
    #expect(offline.output.contains("Cannot connect to 127.0.0.1"))
  }
}
