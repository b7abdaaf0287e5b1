import Foundation
import LarderOData
import LarderTestSupport
import Testing

@testable import LarderCommands

/// A clone in a folder of its own, and command lines that work in it.
struct CloneRig {
  let folder: TemporaryFolder
  var input: [UInt8] = []
  var isTerminal = false

  /// Clones a service; throws where that fails.
  init(_ root: String, _ queries: String...) async throws {
    folder = try TemporaryFolder()
    let created = await Rig(directory: folder.path).run(
      ["clone", root, "copy"] + queries.flatMap { ["--query", $0] })
    try #require(created.status == .done, "\(created.diagnostics)")
  }

  var path: String { folder.file("copy") }

  func run(_ arguments: String...) async -> Outcome { await run(arguments) }

  func run(_ arguments: [String]) async -> Outcome {
    await Rig(input: input, directory: path, isTerminal: isTerminal).run(arguments)
  }

  /// A line's output as JSON; the line has to end well.
  func json(_ arguments: String..., status: CommandStatus = .done) async throws -> JSONNode {
    let outcome = await run(arguments)
    #expect(outcome.status == status, "\(arguments): \(outcome.diagnostics)")
    return try JSONNode(outcome.outputBytes)
  }

  /// The value of a property, as the copy has it.
  func value(_ path: String) async throws -> String {
    let node = try await json("query", path)
    return (node["d"]?.members?.first?.value ?? node["value"])?.text ?? "null"
  }
}

/// One of mock-sap's two sales order services: the same orders in V2 and in V4.
struct OrderService: Sendable, CustomTestStringConvertible {
  let isV4: Bool
  var set: String { isV4 ? "SalesOrder" : "A_SalesOrder" }
  var query: String { "orders=\(set)?$expand=to_Item" }
  var method: String { isV4 ? "PATCH" : "MERGE" }
  var order: String { "\(set)('0000004712')" }
  var testDescription: String { isV4 ? "V4" : "V2" }
  static let both = [OrderService(isV4: false), OrderService(isV4: true)]

  func root(_ service: MockSAP) -> String { isV4 ? service.salesOrdersV4 : service.salesOrdersV2 }

  /// A change by somebody else.
  func send(_ text: String, _ service: MockSAP) async {
    let rig = Rig(input: Array(#"{"PurchaseOrderByCustomer":"\#(text)"}"#.utf8))
    let sent = await rig.run("send", method, root(service) + "/" + order, "--data", "-", "--if-match", "*")
    #expect(sent.status == .done, "\(sent.diagnostics)")
  }

  /// What the server has.
  func served(_ path: String, _ service: MockSAP) async throws -> JSONNode? {
    let got = await Rig().run("get", "\(root(service))/\(path)")
    guard got.status == .done else { return nil }
    let node = try JSONNode(got.outputBytes)
    return node["d"] ?? node
  }
}

@Suite("Changes from the command line", .mockSAP(), .serialized, .timeLimit(.minutes(5)))
struct ChangeVerbTests {
  @Test(
    "create, update and delete take effect immediately, are pending, and are uploaded", arguments: OrderService.both)
  func whole(_ orders: OrderService) async throws {
    let service = try MockSAP.ofSuite
    defer { try? service.reset() }
    let clone = try await CloneRig(orders.root(service), orders.query)
    let created = await clone.run(
      "create", orders.set, #"{"SalesOrderType":"OR","SoldToParty":"1000006","PurchaseOrderByCustomer":"new"}"#,
      "--tag",
      "mine")
    #expect(created.status == .done, "\(created.diagnostics)")
    let path = created.output.split(separator: "\n").joined()
    #expect(path.hasPrefix("\(orders.set)('larder-"))
    #expect(try await clone.value("\(path)/PurchaseOrderByCustomer") == "new")
    let updated = try await clone.json("update", orders.order, #"{"PurchaseOrderByCustomer":"mine"}"#, "--json")
    #expect(updated["path"]?.string == orders.order)
    #expect(updated["pending"]?.text == "2")
    #expect(updated["entity"]?["PurchaseOrderByCustomer"]?.string == "mine")
    #expect(await clone.run("delete", "\(orders.set)('0000004713')").status == .done)
    #expect(await clone.run("query", "\(orders.set)('0000004713')").status == .negative)

    let status = try await clone.json("status", "--json")
    #expect(status["pending"]?.text == "3" && status["failed"]?.text == "0")
    let pending = status["entities"]?.items ?? []
    #expect(pending.map { $0["entity"]?.string } == [path, orders.order, "\(orders.set)('0000004713')"])
    #expect(pending.map { $0["methods"]?.items?.first?.text } == ["POST", orders.method, "DELETE"])
    let plan = try await clone.json("upload", "--plan", "--json").items ?? []
    #expect(plan.map { $0["method"]?.string } == ["POST", orders.method, "DELETE"])
    #expect(plan.map { $0["url"]?.string } == [orders.set, orders.order, "\(orders.set)('0000004713')"])

    let sent = try await clone.json("upload", "--json")
    #expect(["sent", "failed", "pending"].map { sent[$0]?.text } == ["3", "0", "0"])
    #expect(try await clone.json("status", "--json")["entities"]?.items?.isEmpty == true)
    #expect(try await orders.served(orders.order, service)?["PurchaseOrderByCustomer"]?.string == "mine")
    #expect(try await orders.served("\(orders.set)('0000004713')", service) == nil)
    // The path from before the service gave a key stays valid.
    let key = try await clone.value("\(path)/SalesOrder")
    #expect(!key.hasPrefix("larder-"))
    #expect(
      try await orders.served("\(orders.set)('\(key)')", service)?["PurchaseOrderByCustomer"]?.string == "new")
  }

  @Test(
    "a conflict is in the archive with its three versions, and is retried or discarded", arguments: OrderService.both)
  func conflict(_ orders: OrderService) async throws {
    let service = try MockSAP.ofSuite
    defer { try? service.reset() }
    let clone = try await CloneRig(orders.root(service), orders.query)
    for isRetried in [true, false] {
      let mine = isRetried ? "mine" : "mine again"
      #expect(await clone.run("update", orders.order, #"{"PurchaseOrderByCustomer":"\#(mine)"}"#).status == .done)
      await orders.send("theirs", service)
      let upload = await clone.run("upload")
      #expect(upload.status == .negative)
      #expect(upload.output == "sent 0, failed 1, pending 0\n")
      #expect(upload.diagnostics.contains("larder") && upload.diagnostics.contains("412"), "\(upload.diagnostics)")

      let rows = try await clone.json("errors", "list", "--json").items ?? []
      #expect(rows.count == 1)
      let id = try #require(rows.first?["RequestID"]?.text)
      #expect(rows.first?["HTTPStatusCode"]?.text == "412")
      #expect(rows.first?["RequestMethod"]?.string == orders.method)
      let diff = try await clone.json("errors", "diff", id, "--json")
      let property = diff["properties"]?.items?.first { $0["name"]?.string == "PurchaseOrderByCustomer" }
      #expect(property?["changedBy"]?.string == "both")
      #expect(property?["mine"]?.string == mine && property?["theirs"]?.string == "theirs")
      let text = await clone.run("errors", "diff", id).output
      #expect(text.contains("base") && text.contains("!  PurchaseOrderByCustomer"), "\(text)")
      let shown = await clone.run("errors", "show", id).output
      #expect(shown.contains("412") && shown.contains("\"PurchaseOrderByCustomer\": \"\(mine)\""), "\(shown)")

      if isRetried {
        #expect(await clone.run("errors", "retry", id).output == "1 change queued again for 'larder upload'\n")
        #expect(try await clone.json("sync", "--json")["upload"]?["sent"]?.text == "1")
      } else {
        #expect(try await clone.json("errors", "discard", "--all", "--json")["discarded"]?.text == "1")
        #expect(await clone.run("sync").status == .done)
      }
      let expected = isRetried ? "mine" : "theirs"
      #expect(try await orders.served(orders.order, service)?["PurchaseOrderByCustomer"]?.string == expected)
      #expect(try await clone.value("\(orders.order)/PurchaseOrderByCustomer") == expected)
      #expect(await clone.run("errors", "list").output.isEmpty)
    }
  }

  @Test(
    "--conflicts resolves conflicts immediately",
    arguments: [("client", "mine", 0), ("server", "theirs", 0), ("merge", "theirs", 1)])
  func policies(_ policy: String, _ winner: String, _ failed: Int) async throws {
    let service = try MockSAP.ofSuite
    defer { try? service.reset() }
    let orders = OrderService.both[1]
    let clone = try await CloneRig(orders.root(service), orders.query)
    #expect(await clone.run("update", orders.order, #"{"PurchaseOrderByCustomer":"mine"}"#).status == .done)
    await orders.send("theirs", service)
    let sent = try await clone.json(
      "upload", "--conflicts", policy, "--json", status: failed > 0 ? .negative : .done)
    #expect(sent["failed"]?.text == "\(failed)")
    #expect(try await orders.served(orders.order, service)?["PurchaseOrderByCustomer"]?.string == winner)
  }

  @Test("undo restores one entity or all")
  func undo() async throws {
    let service = try MockSAP.ofSuite
    let orders = OrderService.both[0]
    let clone = try await CloneRig(orders.root(service), orders.query)
    let before = try await clone.value("\(orders.order)/PurchaseOrderByCustomer")
    for _ in 0..<2 { _ = await clone.run("update", orders.order, #"{"PurchaseOrderByCustomer":"mine"}"#) }
    #expect(await clone.run("delete", "\(orders.set)('0000004713')").status == .done)
    #expect(await clone.run("undo", orders.order).output == "2 changes undone\n")
    #expect(try await clone.value("\(orders.order)/PurchaseOrderByCustomer") == before)
    #expect(try await clone.json("undo", "--all", "--json")["undone"]?.text == "1")
    #expect(await clone.run("query", "\(orders.set)('0000004713')").status == .done)
    #expect(await clone.run("undo", "\(orders.set)('1')").status == .negative)
    #expect(await clone.run("undo").status == .usage)
    #expect(await clone.run("undo", "--all", orders.order).status == .usage)
  }

  @Test("without a server, changes stay pending, and the message says what to do")
  func noServer() async throws {
    let service = try MockSAP.ofSuite
    let orders = OrderService.both[0]
    let clone = try await CloneRig(orders.root(service), orders.query)
    #expect(await clone.run("update", orders.order, #"{"PurchaseOrderByCustomer":"mine"}"#).status == .done)
    service.stop()
    let upload = await clone.run("upload")
    let json = await clone.run("sync", "--json")
    try service.restart()
    #expect(upload.status == .network && upload.output.isEmpty)
    #expect(upload.diagnostics.contains("1 change still pending: 'larder -C"), "\(upload.diagnostics)")
    #expect(json.status == .network)
    let report = try JSONNode(json.outputBytes)
    #expect(report["upload"]?["pending"]?.text == "1" && report["download"]?.items?.isEmpty == true)
    #expect(report["error"]?.string?.contains("Could not connect") == true)
    #expect(await clone.run("upload").status == .done)
  }

  @Test("a change that the service rejects is archived with the service's message, and its dependents are held")
  func rejected() async throws {
    let service = try MockSAP.ofSuite
    defer { try? service.reset() }
    let orders = OrderService.both[0]
    let clone = try await CloneRig(orders.root(service), orders.query)
    #expect(await clone.run("create", orders.set, #"{"SalesOrderType":"OR"}"#, "--tag", "first").status == .done)
    let path = try await clone.json("status", "--json")["entities"]?.items?.first?["entity"]?.string ?? ""
    #expect(await clone.run("update", path, #"{"PurchaseOrderByCustomer":"mine"}"#).status == .done)
    try service.addFault(.init(match: "A_SalesOrder", status: 400, message: "No such party"))
    let upload = await clone.run("upload", "--batch-size", "0")
    try service.clearFaults()
    #expect(upload.status == .negative && upload.output == "sent 0, failed 2, pending 0\n", "\(upload.diagnostics)")
    #expect(upload.diagnostics.contains("No such party"))
    let table = await clone.run("errors", "list").output.split(separator: "\n")
    #expect(table.count == 3 && table[1].contains("first") && table[2].contains("held"), "\(table)")
    let status = try await clone.json("status", "--json")
    #expect(["pending", "failed", "held"].map { status[$0]?.text } == ["0", "1", "1"])
    let text = await clone.run("status").output
    #expect(text.contains("1 rejected") && text.contains("1 held"), "\(text)")
    #expect(await clone.run("errors", "diff", "1").status == .negative)
    #expect(await clone.run("errors", "retry", "--all").status == .done)
    #expect(try await clone.json("upload", "--json")["sent"]?.text == "2")
  }

  @Test("the status of an upload reports remaining changes, also of a transaction after a rejected change")
  func remains() async throws {
    let service = try MockSAP.ofSuite
    defer { try? service.reset() }
    let orders = OrderService.both[0]
    var clone = try await CloneRig(orders.root(service), orders.query)
    #expect(await clone.run("update", orders.order, #"{"PurchaseOrderByCustomer":"bad"}"#).status == .done)
    try service.addFault(.init(match: "A_SalesOrder", status: 400, message: "No such party"))
    #expect(await clone.run("upload", "--batch-size", "0").status == .negative)
    try service.clearFaults()
    clone.input = Array(
      """
      {"update":"\(orders.set)('0000004713')","content":{"PurchaseOrderByCustomer":"x"}}
      {"update":"\(orders.order)","content":{"PurchaseOrderByCustomer":"y"}}
      """.utf8)
    #expect(await clone.run("change", "-").status == .done)
    let upload = await clone.run("upload")
    #expect(upload.status == .negative && upload.output == "sent 0, failed 0, pending 0\n")
    #expect(upload.diagnostics.contains("errors list"), "\(upload.diagnostics)")
    let report = try await clone.json("upload", "--json", status: .negative)
    #expect(report["remaining"]?.text == "3")
    // Nothing of this group remains.
    #expect(await clone.run("upload", "--category", "other").status == .done)
    #expect(await clone.run("errors", "retry", "1", "--as-update").status != .done)
    #expect(await clone.run("errors", "retry", "1", "--as-update", "--key", "7").status == .usage)
    #expect(await clone.run("errors", "retry", "--all", "--key", "7").status == .usage)
    #expect(await clone.run("errors", "retry", "3").output == "3 changes queued again for 'larder upload'\n")
    #expect(await clone.run("upload").status == .done)
  }

  @Test("a conflict that a download has detected is shown and resolved before the upload")
  func noticed() async throws {
    let service = try MockSAP.ofSuite
    defer { try? service.reset() }
    let orders = OrderService.both[1]
    let clone = try await CloneRig(orders.root(service), orders.query)
    #expect(await clone.run("update", orders.order, #"{"PurchaseOrderByCustomer":"mine"}"#).status == .done)
    await orders.send("theirs", service)
    #expect(await clone.run("download").status == .done)
    #expect(await clone.run("errors", "diff", "1").output.contains("!  PurchaseOrderByCustomer"))
    #expect(await clone.run("errors", "retry", "1").status == .done)
    #expect(try await clone.json("upload", "--json")["sent"]?.text == "1")
    #expect(try await orders.served(orders.order, service)?["PurchaseOrderByCustomer"]?.string == "mine")
  }
}
