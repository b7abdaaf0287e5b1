import Foundation
import LarderOData
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("Several changes in one transaction from the command line", .odataPy(), .serialized, .timeLimit(.minutes(5)))
struct ChangeSetVerbTests {
  private func clone() async throws -> CloneRig {
    try await CloneRig(
      try ODataPyService.ofSuite.root, "products=Products?$expand=Category", "categories=Categories",
      "orders=Orders?$expand=Items")
  }

  private static let file = """
    {"create":"Categories","as":"c","content":{"ID":70,"Name":"made"},"tag":"first"}

    {"create":"Orders","as":"o","content":{"ID":80,"Customer":"Ada"}}
    {"create":"$o/Items","content":{"Position":1,"Quantity":2.5}}
    {"update":"Products(1)","content":{"Stock":7,"Category@odata.bind":"$c"}}
    {"update":"Products(2)/Name","content":"Rock salt"}
    {"link":"Products(3)/Category","to":"Categories(2)"}
    {"delete":"Products(9)"}
    {"action":"Products(4)/Larder.Shop.Restock","content":{"amount":5}}
    """

  @Test(
    "Lines become one transaction: applied together, sent as one change set, executed completely",
    arguments: [true, false])
  func whole(isJSON: Bool) async throws {
    try ODataPyService.ofSuite.restart()
    var clone = try await clone()
    clone.input = Array(Self.file.utf8)
    if isJSON {
      let reported = try await clone.json("change", "-", "--json")
      let changes = reported["changes"]?.items ?? []
      #expect(reported["pending"]?.text == "8")
      #expect(
        changes.map { "\($0["operation"]?.string ?? "") \($0["path"]?.string ?? "")" } == [
          "create Categories(70)", "create Orders(80)", "create Orders(80)/Items(1)", "update Products(1)",
          "update Products(2)/Name", "updateLink Products(3)/Category/$ref", "delete Products(9)",
          "invokeAction Products(4)/Larder.Shop.Restock",
        ])
    } else {
      let outcome = await clone.run("change", "-")
      #expect(outcome.status == .done, "\(outcome.diagnostics)")
      #expect(outcome.output == "Categories(70)\nOrders(80)\nOrders(80)/Items(1)\n")
    }
    #expect(try await clone.value("Products(1)/Category/Name") == "made")
    #expect(try await clone.value("Orders(80)/Items(1)/Quantity") == "2.5")
    let plan = try await clone.json("upload", "--plan", "--json").items ?? []
    #expect(plan.count == 8 && Set(plan.map { $0["transaction"]?.text ?? "" }).count == 1)
    let report = try await clone.json("upload", "--json")
    #expect(report["sent"]?.text == "8" && report["failed"]?.text == "0" && report["pending"]?.text == "0")
    let there = try await self.clone()
    #expect(try await there.value("Products(1)/Stock") == "7")
    #expect(try await there.value("Products(2)/Name") == "Rock salt")
    #expect(try await there.value("Products(4)/Stock") == "45")
    #expect(try await there.value("Orders(80)/Items(1)/Quantity") == "2.5")
    #expect(await there.run("query", "Products(9)").status == .negative)
  }

  @Test("An invalid change is reported with its line, and nothing is changed")
  func rejected() async throws {
    var clone = try await clone()
    let cases: [(String, CommandStatus, String)] = [
      (#"{"update":"Products(1)","content":{"Stok":1}}"#, .usage, "did you mean 'Stock'"),
      (#"{"update":"Products(1)","content":{"Stock":"x"}}"#, .usage, "content.Stock"),
      (#"{"update":"Products(4711)","content":{"Stock":1}}"#, .negative, "4711"),
      (#"{"delete":"Products(5)","ifMatch":"W/\"no\""}"#, .negative, "Products(5)"),
      (#"{"updat":"Products(1)"}"#, .usage, "there is no change named 'updat'"),
      (#"{"delete":"Products(1)","content":{}}"#, .usage, "'delete' does not accept \"content\""),
      (#"{"link":"Products(1)/Category"}"#, .usage, "needs \"to\""),
      (#"{"update":"Products(1)"}"#, .usage, "needs \"content\""),
      (#"{"create":"$x/Items","content":{}}"#, .usage, "no earlier change has the name 'x'"),
      (#"{"create":"Orders","delete":"Products(1)"}"#, .usage, "must have exactly one of"),
      (#"["create"]"#, .usage, "must be a JSON object"), (#"{"create":"#, .storage, "standard input:2:"),
    ]
    for (line, status, words) in cases {
      clone.input = Array((#"{"update":"Products(6)","content":{"Stock":1}}"# + "\n" + line + "\n").utf8)
      let outcome = await clone.run("change", "-")
      #expect(outcome.status == status && outcome.output.isEmpty, "\(line): \(outcome.diagnostics)")
      #expect(outcome.diagnostics.contains("standard input:2: "), "\(outcome.diagnostics)")
      #expect(outcome.diagnostics.contains(words), "\(outcome.diagnostics)")
    }
    for (member, hint) in [("content", nil), ("contnt", "did you mean 'content'?")] as [(String, String?)] {
      clone.input = Array("{\"delete\":\"Products(1)\",\"\(member)\":{}}\n".utf8)
      let diagnostics = await clone.run("change", "-").diagnostics.lowercased()
      #expect(hint.map(diagnostics.contains) ?? !diagnostics.contains("did you mean"), "\(diagnostics)")
    }
    clone.input = Array("\n\n".utf8)
    #expect(await clone.run("change", "-").status == .usage)
    #expect(try await clone.json("query", "RequestQueue")["value"]?.items?.isEmpty == true)
  }

  private static let product =
    #"{"create":"Products","as":"p","content":{"Name":"x","Price":1,"Category@odata.bind":"Categories(2)"}}"#
  private static let category = #"{"create":"Categories","as":"c","content":{"ID":71,"Name":"n"}}"#

  @Test(
    "unlink compares the target with the current link, by any of its names",
    arguments: [
      (#"{"link":"Products(1)/Category","to":"Categories(3)"}"#, "Products(1)/Category", "Categories(1)", false),
      (#"{"link":"Products(1)/Category","to":"Categories(3)"}"#, "Products(1)/Category", "Categories(3)", true),
      (product, "$p/Category", "Categories(3)", false), (product, "$p/Category", "Categories(2)", true),
      (category, "Products(1)/Category", "$c", false),
      (category + "\n" + #"{"link":"Products(1)/Category","to":"$c"}"#, "Products(1)/Category", "$c", true),
    ])
  func unlinking(lines: String, path: String, target: String, isRight: Bool) async throws {
    var clone = try await clone()
    clone.input = Array((lines + "\n{\"unlink\":\"\(path)\",\"to\":\"\(target)\"}\n").utf8)
    let outcome = await clone.run("change", "-")
    #expect(outcome.status == (isRight ? .done : .negative), "\(outcome.diagnostics)")
    guard !isRight else { return }
    #expect(
      outcome.diagnostics.contains("standard input:2: ") && outcome.diagnostics.contains("the link does not lead to"))
    #expect(try await clone.json("query", "RequestQueue")["value"]?.items?.isEmpty == true)
  }

  @Test("Paths are printed as the clone has them; names refer to entities that were created with a query too")
  func paths() async throws {
    var clone = try await clone()
    let root = try ODataPyService.ofSuite.root
    clone.input = Array(
      """
      {"create":"Orders?sap-client=100","as":"o","content":{"ID":4780,"Customer":"Ada"}}
      {"create":"$o/Items","content":{"Position":1,"Quantity":2.5}}
      {"update":"$o/Items(1)","content":{"Quantity":3}}
      {"update":"\(root)/Products(1)?sap-client=100","content":{"Stock":7}}
      {"delete":"$o"}
      """.utf8)
    let reported = try await clone.json("change", "-", "--json")["changes"]?.items ?? []
    #expect(
      reported.map { $0["path"]?.string ?? "" } == [
        "Orders(4780)", "Orders(4780)/Items(1)", "Orders(4780)/Items(1)", "Products(1)", "Orders(4780)",
      ])
  }

  @Test("It needs no network: incomplete credentials are not checked")
  func withoutNetwork() async throws {
    let clone = try await clone()
    let rig = Rig(
      input: Array(#"{"delete":"Products(1)"}"#.utf8), environment: ["LARDER_PASSWORD": "of nobody"],
      directory: clone.path)
    let outcome = await rig.run("change", "-")
    #expect(outcome.status == .done, "\(outcome.diagnostics)")
  }
}
