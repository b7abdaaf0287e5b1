import Foundation
import LarderOData
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("A clone of a real service", .odataPy(), .timeLimit(.minutes(5)))
struct CloneVerbTests {
  private let folder: TemporaryFolder
  private let root: String

  init() throws {
    folder = try TemporaryFolder()
    root = try ODataPyService.ofSuite.root
  }

  private var rig: Rig { Rig(directory: folder.path) }
  private var inside: Rig { Rig(directory: folder.file("shop")) }

  private func clone(_ queries: String...) async -> Outcome {
    await rig.run(["clone", root, "shop"] + queries.flatMap { ["--query", $0] })
  }

  @Test("clone, query, status and log; after the clone nothing needs the service")
  func whole() async throws {
    let cloned = await clone("products=Products?$expand=Category,Supplier", "orders=Orders?$expand=Items")
    #expect(cloned.status == .done, "\(cloned.diagnostics)")
    #expect(cloned.output.contains("products") && cloned.output.contains("40 rows"))
    #expect(cloned.diagnostics.isEmpty)
    let settings = try String(contentsOfFile: folder.file("shop/larder.json"), encoding: .utf8)
    #expect(settings == "{\n  \"service\": \"\(root)/\"\n}\n")

    let count = await inside.run("query", "Products/$count")
    #expect(count.output == "40")
    let json = await inside.run("query", "Products?$filter=ID le 2&$select=ID,Name&$orderby=ID")
    let rows = try JSONNode(json.outputBytes)["value"]?.items ?? []
    #expect(rows.map { $0["Name"]?.string } == ["Flour", "Salt"])
    let csv = await inside.run(
      "query", "--format", "csv", "Products?$filter=ID le 2&$select=ID,Name&$orderby=ID")
    #expect(csv.output == "ID,Name\r\n1,Flour\r\n2,Salt\r\n")
    let table = await inside.run(
      "query", "--format=table", "Orders(1)/Items?$select=Position,Quantity&$orderby=Position")
    #expect(table.output == "Position  Quantity\n       1       2.5\n       2         1\n")

    let status = await inside.run("status", "--json")
    let queries = try JSONNode(status.outputBytes)["queries"]?.items ?? []
    let bytes = try #require(Int(try JSONNode(status.outputBytes)["bytes"]?.text ?? ""))
    #expect(bytes > 50_000)
    #expect(queries.map { $0["name"]?.string }.sorted { ($0 ?? "") < ($1 ?? "") } == ["orders", "products"])
    #expect(queries.allSatisfy { $0["hasPendingDownload"] == .boolean(false) })
    #expect(await inside.run("status").output.contains("complete"))

    let log = await inside.run("log", "--json")
    let events = try JSONNode(log.outputBytes).items ?? []
    #expect(events.contains { $0["query"]?.string == "products" && $0["rows"]?.text == "40" })
    #expect(await inside.run("log", "--limit", "1").output.split(separator: "\n").count == 1)
  }

  @Test("a download updates the rows, also of named queries, and prints its method")
  func download() async throws {
    #expect(await clone("products=Products", "orders=Orders").status == .done)
    let service = try ODataPyService.ofSuite
    let fields = ["Content-Type": "application/json", "If-Match": "*"]
    let changed = try service.process.send(
      "/shop/Products(7)", method: "PATCH", fields: fields, body: Array(#"{"Description":"brand new"}"#.utf8))
    #expect(changed.status < 300)
    let named = await inside.run("download", "orders")
    #expect(named.status == .done, "\(named.diagnostics)")
    #expect(!named.output.contains("products"))
    #expect(!(await inside.run("query", "Products(7)/Description")).output.contains("brand new"))
    let all = await inside.run("download", "--json")
    let report = try JSONNode(all.outputBytes).items ?? []
    #expect(report.map { $0["name"]?.string } == ["orders", "products"])
    #expect(report.last?["strategy"]?.string == "changes")
    #expect((await inside.run("query", "Products(7)/Description")).output.contains("brand new"))
  }

  @Test("a later download adds and removes queries")
  func queries() async throws {
    #expect(await clone("products=Products").status == .done)
    let added = await inside.run("download", "--query", "categories=Categories")
    #expect(added.status == .done, "\(added.diagnostics)")
    #expect((await inside.run("query", "Categories/$count")).output == "3")
    // The same query is one whose addition was interrupted; another one of that name is a mistake.
    #expect((await inside.run("download", "--query", "categories=Categories")).status == .done)
    #expect((await inside.run("download", "--query", "categories=Suppliers")).status == .usage)
    #expect((await inside.run("download", "--remove", "products")).status == .done)
    let removed = await inside.run("query", "Products/$count")
    #expect(removed.status == .negative && removed.diagnostics.contains("'Products'"), "\(removed.diagnostics)")
    let unknown = await inside.run("download", "categoris")
    #expect(unknown.status == .negative)
    #expect(unknown.diagnostics.contains("categories"))
  }

  @Test("a missing entity and an unsupported query exit with 1")
  func negative() async throws {
    #expect(await clone("products=Products").status == .done)
    let missing = await inside.run("query", "Products(4711)")
    #expect(missing.status == .negative)
    #expect(missing.output.isEmpty)
    let malformed = await inside.run("query", "Products?$filter=Nme eq 1")
    #expect(malformed.status == .usage)
    #expect(malformed.diagnostics.contains("Name"))
  }

  @Test("--explain shows the SQL, its parameters and SQLite's plan")
  func explain() async throws {
    #expect(await clone("products=Products").status == .done)
    let explained = await inside.run("query", "--explain", "Products?$filter=Name eq 'Salt'")
    #expect(explained.status == .done)
    #expect(explained.output.contains("SELECT"))
    #expect(explained.output.contains("?1 = 'Salt'"))
    #expect(explained.output.contains("SCAN") || explained.output.contains("SEARCH"))
  }

  @Test("a set that was not cloned is an error with its query; --local reads its local entities")
  func local() async throws {
    #expect(await clone("products=Products").status == .done)
    let missing = await inside.run("query", "Orders")
    #expect(missing.status == .negative)
    #expect(missing.output.isEmpty)
    #expect(missing.diagnostics.contains("'Orders' would"))
    let link = await inside.run("query", "Products(1)/Supplier")
    #expect(link.status == .negative, "\(link.output)")
    #expect(await inside.run("create", "Orders", #"{"Customer":"Zed"}"#).status == .done)
    #expect(await inside.run("query", "Orders").status == .negative)
    let local = await inside.run("query", "--local", "Orders")
    #expect(local.status == .done)
    #expect(local.output.contains("Zed"))
    #expect(await inside.run("query", "--local", "Products/$count").output == "0")
    let explained = await inside.run("query", "--local", "--explain", "Orders")
    #expect(explained.output.contains("local rows only"))
    #expect(explained.output.contains("\"@state\" & 1"))
  }

  @Test("a terminal gets a table and progress; a pipe gets JSON only")
  func terminal() async throws {
    #expect(await clone("products=Products").status == .done)
    var shown = inside
    shown.isTerminal = true
    let table = await shown.run("query", "Products?$filter=ID eq 1&$select=ID,Name")
    #expect(table.output == "ID  Name\n 1  Flour\n")
  }

  @Test("nothing is left if the service rejects the request or no query fits")
  func leavesNothing() async throws {
    for arguments in [
      ["clone", root + "/nowhere", "shop", "--query", "a=Products"], ["clone", root, "shop", "--query", "a=Prodcts"],
      ["clone", root, "shop", "--query", "a=Producs", "--query", "b=Prodcts"],
      ["clone", root, "shop/below/it", "--query", "a=Prodcts"],
      ["clone", "http://127.0.0.1:1/x", "shop", "--query", "a=Products"],
    ] {
      let outcome = await rig.run(arguments)
      #expect(outcome.status != .done)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty, "\(arguments) left a folder")
    }
    try FileManager.default.createDirectory(atPath: folder.file("shop"), withIntermediateDirectories: false)
    #expect((await clone("a=Prodcts")).status == .usage)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("shop")).isEmpty)
  }

  @Test("the root may be the URL of its metadata, and have a query option")
  func roots() async throws {
    let cloned = await rig.run("clone", root + "/$metadata?x=1", "shop", "--query", "c=\(root)/Categories?$top=1")
    #expect(cloned.status == .done, "\(cloned.diagnostics)")
    #expect((await inside.run("query", "Categories/$count")).output == "1")
    let status = try JSONNode((await inside.run("status", "--json")).outputBytes)
    #expect(status["service"]?.string == root + "/?x=1")
    #expect(status["queries"]?.items?.first?["query"]?.string == "Categories?$top=1")
  }

  @Test("CSV has a header line also without rows, and null is not an error")
  func emptyResponses() async throws {
    #expect(await clone("products=Products").status == .done)
    let none = await inside.run("query", "--format", "csv", "Products?$select=ID,Name&$filter=ID lt 0")
    #expect(none.output == "ID,Name\r\n")
    let missing = await inside.run("query", "--format", "csv", "Products?$filter=Description eq null&$top=1&$select=ID")
    let id = missing.output.split(whereSeparator: \.isNewline).last.map(String.init) ?? "1"
    let null = await inside.run("query", "--format", "csv", "Products(\(id))/Description")
    #expect(null.status == .done, "\(null.diagnostics)")
  }

  @Test("a position in a URL is shown on separate lines; an unknown query is reported with the known ones")
  func words() async throws {
    #expect(await clone("products=Products", "orders=Orders").status == .done)
    let malformed = await inside.run("query", "Products?$filter=Nme eq 1")
    let lines = malformed.diagnostics.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count >= 3 && lines[1].hasPrefix("  Products?$filter=Nme"), "\(malformed.diagnostics)")
    #expect(lines.count >= 3 && lines[2].hasSuffix("^"))
    #expect((await inside.run("download", "xyz")).diagnostics.contains("orders, products"))
  }

  @Test("a folder that is not empty is rejected and not changed")
  func notEmpty() async throws {
    #expect(await clone("products=Products").status == .done)
    let again = await clone("products=Products")
    #expect(again.status == .storage)
    #expect(again.diagnostics.contains("download"))
    #expect((await inside.run("query", "Products/$count")).output == "40")
  }

  @Test("a wrong command line is reported before anything is created")
  func usage() async throws {
    for arguments in [
      ["clone", root, "shop"], ["clone", root, "shop", "--query", ""], ["clone", root, "shop", "--query", "a="],
      ["clone", root, "shop", "--all", "--query", "Products"],
      ["clone", root, "shop", "--query", "a=Products", "--query", "a=Orders"],
      ["clone", root + "?$top=1", "shop", "--query", "a=Products"],
      ["clone", root + "#x", "shop", "--query", "a=Products"], ["clone", "shop", "shop", "--query", "a=Products"],
      ["clone", root, "shop", "--query", "a=Products", "--streams", "b"],
      ["clone", root, "shop", "--query", "a=Products", "--page-size", "0"],
    ] {
      let outcome = await rig.run(arguments)
      #expect(outcome.status == .usage, "\(arguments): \(outcome.diagnostics)")
      #expect(!FileManager.default.fileExists(atPath: folder.file("shop")))
    }
  }

  @Test("outside of a clone, the verbs say how to create one")
  func outside() async throws {
    for arguments in [["status"], ["log"], ["query", "Products"], ["download"]] {
      let outcome = await rig.run(arguments)
      #expect(outcome.status == .storage)
      #expect(outcome.diagnostics.contains("larder clone"))
    }
  }
}

@Suite("A clone of a service that fails", .mockSAP("--no-csrf"), .serialized, .timeLimit(.minutes(5)))
struct InterruptedCloneTests {
  @Test("an interrupted clone keeps the downloaded rows; download resumes it")
  func interrupted() async throws {
    let service = try MockSAP.ofSuite
    let folder = try TemporaryFolder()
    try service.addFault(.init(match: "A_SalesOrderItem", method: "GET", status: 503))
    let rig = Rig(directory: folder.path)
    let interrupted = await rig.run(
      "clone", service.salesOrdersV2, "orders", "--query", "a=A_SalesOrder", "--query", "b=A_SalesOrderItem")
    #expect(interrupted.status == .network)
    #expect(interrupted.diagnostics.contains("download"))
    let inside = Rig(directory: folder.file("orders"))
    // Downloaded rows can be read without a network; other queries fail with a hint.
    #expect((await inside.run("query", "A_SalesOrder/$count")).output == "25")
    let incomplete = await inside.run("query", "A_SalesOrderItem/$count")
    #expect(incomplete.status == .negative)
    #expect(incomplete.diagnostics.contains("larder download"))
    #expect((await inside.run("status")).output.contains("incomplete"))
    #expect((await inside.run("log")).status == .done)
    #expect(
      interrupted.output.contains("a  whole") && interrupted.output.contains("b  failed"), "\(interrupted.output)")
    // The downloaded rows and the reason of the failure can be read without a network.
    let status = try JSONNode((await inside.run("status", "--json")).outputBytes)["queries"]?.items ?? []
    #expect(status.map { $0["rows"]?.text } == ["25", "0"])
    #expect(status.map { $0["hasPendingDownload"] } == [.boolean(false), .boolean(true)])
    let log = await inside.run("log")
    #expect(log.status == .done && log.output.contains("503"), "\(log.output)\(log.diagnostics)")
    #expect((await inside.run("log")).output.split(separator: "\n").count == log.output.split(separator: "\n").count)
    let failed = await inside.run("download", "--json")
    #expect(failed.status == .network)
    let report = try JSONNode(failed.outputBytes).items ?? []
    #expect(report.map { $0["name"]?.string } == ["a", "b"])
    #expect(report.last?["error"]?.string?.contains("503") == true)
    try service.clearFaults()
    let rest = await inside.run("download")
    #expect(rest.status == .done, "\(rest.diagnostics)")
    #expect((await inside.run("query", "A_SalesOrder/$count")).output == "25")
    #expect((await inside.run("query", "A_SalesOrderItem/$count")).output == "62")
  }

  @Test("a query that fails the first download can be removed")
  func removed() async throws {
    let service = try MockSAP.ofSuite
    let folder = try TemporaryFolder()
    try service.addFault(.init(match: "A_SalesOrderItem", method: "GET", status: 503))
    let interrupted = await Rig(directory: folder.path).run(
      "clone", service.salesOrdersV2, "orders", "--query", "a=A_SalesOrder", "--query", "b=A_SalesOrderItem")
    #expect(interrupted.status == .network)
    let inside = Rig(directory: folder.file("orders"))
    let rest = await inside.run("download", "--remove", "b")
    #expect(rest.status == .done, "\(rest.diagnostics)")
    #expect((await inside.run("query", "A_SalesOrder/$count")).output == "25")
    try service.clearFaults()
  }
}
