import Foundation
import LarderOData
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("Changes from the command line: links, actions, media, wrong arguments", .odataPy(), .timeLimit(.minutes(5)))
struct ChangeArgumentTests {
  private func clone() async throws -> CloneRig {
    try await CloneRig(
      try ODataPyService.ofSuite.root, "products=Products?$expand=Category", "categories=Categories",
      "orders=Orders?$expand=Items", "documents=Documents")
  }

  @Test("link, unlink and action are queued; a link takes effect immediately")
  func links() async throws {
    let clone = try await clone()
    func category() async throws -> String { try await clone.value("Products(1)/Category/ID") }
    #expect(try await category() == "1")
    #expect(await clone.run("link", "Products(1)/Category", "Categories(2)").status == .done)
    #expect(try await category() == "2")
    let wrong = await clone.run("unlink", "Products(1)/Category", "Categories(1)")
    #expect(wrong.status == .negative && wrong.diagnostics.contains("the link does not lead to"))
    #expect(await clone.run("unlink", "Products(1)/Category", "Categories(2)").status == .done)
    #expect(await clone.run("query", "Products(1)/Category/ID").status == .negative)
    #expect(await clone.run("link", "Categories(3)/Products/$ref", "Products(1)").status == .done)
    #expect(await clone.run("link", "Categories(3)/Products", "Products(2)").status == .done)
    #expect(await clone.run("unlink", "Categories(3)/Products", "Products(2)").status == .done)
    #expect(await clone.run("action", "EmptyShelves").status == .done)
    #expect(await clone.run("action", "Discontinue", #"{"ids":[5,6]}"#).status == .done)
    let action = try await clone.json("action", "Products(3)/Larder.Shop.Restock", #"{"amount":5}"#, "--json")
    #expect(action["pending"]?.text == "8" && action["operation"]?.string == "invokeAction")
    let plan = try await clone.json("upload", "--plan", "--json").items ?? []
    #expect(
      plan.map { "\($0["method"]?.string ?? "") \($0["url"]?.string ?? "")" }.filter { !$0.hasPrefix("DELETE") } == [
        "PUT Products(1)/Category/$ref", "POST Categories(3)/Products/$ref", "POST Categories(3)/Products/$ref",
        "POST EmptyShelves", "POST Discontinue", "POST Products(3)/Larder.Shop.Restock",
      ])
    #expect(plan.last?["body"]?.string == #"{"amount":5}"#)
  }

  @Test("options are sent with the request: tag, category, header with a key, condition, PUT")
  func options() async throws {
    let clone = try await clone()
    let created = await clone.run(
      "create", "Orders", #"{"Customer":"Zed","Items":[{"Position":1,"Quantity":1}]}"#, "--tag", "visit",
      "--category", "night", "--unmodifiable", "--header", "X-Order: {key:Orders(1)}")
    #expect(created.status == .done, "\(created.diagnostics)")
    let path = created.output.split(separator: "\n").joined()
    #expect(path.hasPrefix("Orders(-"))
    #expect(await clone.run("update", "Products(2)", #"{"Description":"x"}"#, "--if-match", "*").status == .done)
    let row = try await clone.json("query", "RequestQueue?$orderby=RequestID")["value"]?.items?.first
    #expect(row?["CustomTag"]?.string == "visit" && row?["Category"]?.string == "night")
    let plan = try await clone.json("upload", "--plan", "--json").items ?? []
    #expect(plan.first?["headers"]?["x-order"]?.string == "1")
    #expect(plan.last?["headers"]?["if-match"]?.string == "*")
    // Only the named group is sent.
    #expect(try await clone.json("upload", "--plan", "--json", "--category", "night").items?.count == 1)
    #expect(try await clone.json("upload", "--plan", "--json", "--category", "day").items?.isEmpty == true)
    let stale = await clone.run("update", "Products(3)", #"{"Description":"y"}"#, "--if-match", "W/\"old\"")
    #expect(stale.status == .negative && stale.diagnostics.contains("Products(3)"))
    let whole = await clone.run("update", "Products(4)", #"{"Name":"n","Price":1,"Stock":1,"Tags":[]}"#, "--replace")
    #expect(whole.status == .done, "\(whole.diagnostics)")
    #expect(try await clone.json("upload", "--plan", "--json").items?.last?["method"]?.string == "PUT")
  }

  @Test("bytes of media entities and streams are read from a file, whose name determines their type")
  func media() async throws {
    let clone = try await clone()
    try Data("picture".utf8).write(to: URL(fileURLWithPath: clone.path + "/cat.png"))
    let created = try await clone.json("create", "Documents", "--media", "cat.png", "--json")
    let path = try #require(created["path"]?.string)
    #expect(await clone.run("query", path + "/$value").output == "picture")
    #expect(
      await clone.run("update", "Products(1)/Photo", "--media", "cat.png", "--content-type", "x/y").status == .done)
    #expect(await clone.run("query", "Products(1)/Photo").output == "picture")
    let plan = try await clone.json("upload", "--plan", "--json").items ?? []
    #expect(plan.map { $0["headers"]?["content-type"]?.string } == ["image/png", "x/y"])
    #expect(await clone.run("delete", "Products(1)/Photo").status == .done)
  }

  @Test("JSON is read from a file and from standard input, and an error shows the position")
  func json() async throws {
    var clone = try await clone()
    try Data(#"{"Customer":"file"}"#.utf8).write(to: URL(fileURLWithPath: clone.path + "/order.json"))
    #expect(await clone.run("create", "Orders", "@order.json").status == .done)
    clone.input = Array(#"{"Customer":"pipe"}"#.utf8)
    let piped = await clone.run("create", "Orders", "-")
    #expect(try await clone.value(piped.output.split(separator: "\n").joined() + "/Customer") == "pipe")
    clone.input = Array(#"{"Customer":"#.utf8)
    let truncated = await clone.run("create", "Orders", "-")
    #expect(
      truncated.status == .storage && truncated.diagnostics.contains("standard input: the JSON text ends too early"))
    let comma = await clone.run("create", "Orders", #"{"Customer":"x",}"#)
    #expect(comma.status == .usage)
    let lines = comma.diagnostics.split(separator: "\n")
    #expect(lines.count == 3 && lines[1] == #"  {"Customer":"x",}"#, "\(comma.diagnostics)")
    #expect(lines.last == "                  ^")
    let typed = await clone.run("update", "Orders(1)", #"{"Customer":5}"#)
    #expect(typed.status == .usage && typed.diagnostics.contains("$.Customer"))
    let named = await clone.run("update", "Orders(1)", #"{"Custmer":"x"}"#)
    #expect(named.status == .usage && named.diagnostics.contains("did you mean 'Customer'?"))
    let bare = await clone.run("create", "Orders", "Customer=x")
    #expect(bare.status == .usage && bare.diagnostics.contains("@FILE"))
    let quiet = await clone.run("upload", "--plan", "--json")
    #expect(try JSONNode(quiet.outputBytes).items?.count == 2, "a rejected change must not be pending")
  }

  @Test("a terminal shows the number of pending changes; a pipe gets only what programs need")
  func terminal() async throws {
    var clone = try await clone()
    let quiet = await clone.run("update", "Orders(1)", #"{"Customer":"x"}"#)
    #expect(quiet.output.isEmpty && quiet.diagnostics.isEmpty)
    clone.isTerminal = true
    let shown = await clone.run("update", "Orders(1)", #"{"Customer":"y"}"#, "--json")
    #expect(shown.output.hasPrefix("{\n  \"operation\": \"update\""))
    let plan = await clone.run("upload", "--plan").output
    #expect(plan.hasPrefix("1  PATCH Orders(1)\n") && plan.contains("2  PATCH Orders(1)  (waits for 1)\n"), "\(plan)")
  }

  @Test(
    "a wrong command line is an error, and changes nothing",
    arguments: [
      ["create", "Orders"], ["create"], ["update", "Orders(1)"], ["delete"], ["link", "Products(1)/Category"],
      ["create", "Orders", "{}", "--media", "x"], ["create", "Orders", "{}", "--content-type", "a/b"],
      ["create", "Orders", "@"], ["update", "Orders(1)", "[1]"], ["create", "Ordrs", "{}"],
      ["update", "Orders(", "{}"], ["upload", "--conflicts", "mine"], ["upload", "--batch-size", "x"],
      ["upload", "--lanes", "0"], ["errors"], ["errors", "show"], ["errors", "show", "x"], ["errors", "retry"],
      ["errors", "discard", "1", "--all"], ["undo"], ["create", "Orders", "{}", "--header", "Authorization: x"],
      ["create", "Orders", "{}", "--header", "x"], ["action", "Products(1)/Larder.Shop.Restock"],
      ["link", "Products(1)/Category", "Orders(1)"],
    ])
  func usage(_ arguments: [String]) async throws {
    let clone = try await clone()
    let outcome = await clone.run(arguments)
    #expect(outcome.status == .usage, "\(arguments): \(outcome.diagnostics)")
    #expect(outcome.output.isEmpty && outcome.diagnostics.hasPrefix("larder: "))
    #expect(try await clone.json("status", "--json")["pending"]?.text == "0")
  }

  @Test("a missing entity exits with 1; outside of a clone, the message says how to create one")
  func missing() async throws {
    let clone = try await clone()
    for arguments in [
      ["update", "Orders(99)", "{}"], ["delete", "Orders(99)"], ["undo", "Orders(99)"], ["errors", "show", "5"],
      ["errors", "diff", "5"], ["errors", "retry", "5"], ["errors", "discard", "5"],
      ["create", "Orders", #"{"ID":1}"#],
    ] {
      let outcome = await clone.run(arguments)
      #expect(outcome.status == .negative, "\(arguments): \(outcome.diagnostics)")
    }
    for arguments in [
      ["create", "Orders", "{}"], ["status"], ["upload"], ["sync"], ["errors", "list"], ["undo", "--all"],
    ] {
      let outcome = await Rig(directory: clone.folder.path).run(arguments)
      #expect(outcome.status == .storage && outcome.diagnostics.contains("larder clone"), "\(arguments)")
    }
  }
}
