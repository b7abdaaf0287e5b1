import Foundation
import LarderHTTP
import LarderOData
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCommands

@Suite("Messages about failed changes", .timeLimit(.minutes(3)))
struct ErrorWordsTests {
  private let things = Things()
  private let server: ScriptedServer

  init() throws { server = try things.serve() }

  private func fail(_ name: String, _ response: ScriptedServer.Response?) {
    things.state.withLock { $0.failing[name] = response }
  }

  private func clone() async throws -> CloneRig { try await CloneRig(server.text("/s/"), "a=Things") }

  @Test("an action is listed by its name and shown with its parameters, and its hint names existing verbs")
  func lostCall() async throws {
    defer { server.stop() }
    let clone = try await clone()
    #expect(await clone.run("action", "Restock", #"{"amount":5}"#).status == .done)
    #expect(await clone.run("status").output.contains("\nRestock "))
    fail("POST Restock", .close)
    #expect(await clone.run("upload", "--batch-size", "0").status == .network)
    // Until the next upload has looked, the change is uncertain, and everybody who lists it says so.
    #expect(await clone.run("status").output.contains("1 pending (1 uncertain"))
    #expect(try await clone.json("status", "--json")["uncertain"]?.text == "1")
    #expect(await clone.run("upload", "--plan").output.contains("uncertain"))
    #expect(try await clone.json("upload", "--plan", "--json").items?.first?["isUncertain"] == .boolean(true))
    #expect(await clone.run("query", "RequestQueue?$select=Status").output.contains("Uncertain"))
    fail("POST Restock", nil)
    let upload = await clone.run("upload", "--batch-size", "0")
    #expect(upload.status == .negative && upload.diagnostics.contains("POST Restock"), "\(upload.diagnostics)")
    let list = await clone.run("errors", "list").output
    #expect(list.contains(" Restock ") && list.contains("unclear"), "\(list)")
    let shown = await clone.run("errors", "show", "1").output
    #expect(shown.contains("\"amount\": 5"), "\(shown)")
    #expect(shown.contains("retry or discard") && !shown.contains("requeue"), "\(shown)")
    #expect(await clone.run("status").output.contains("\nRestock "))
  }

  @Test("undo looks up an uncertain change first, and discards it if it did not take effect")
  func undoOfUncertain() async throws {
    defer { server.stop() }
    let clone = try await clone()
    #expect(await clone.run("update", "Things(1)", #"{"Name":"mine"}"#).status == .done)
    fail("PATCH Things", .close)
    #expect(await clone.run("upload", "--batch-size", "0").status == .network)
    #expect(await clone.run("status").output.contains("(1 uncertain"))
    fail("Things", .close)
    let offline = await clone.run("undo", "Things(1)")
    #expect(offline.status == .negative && offline.diagnostics.contains("not known"), "\(offline.diagnostics)")
    #expect(try await clone.value("Things(1)/Name") == "mine")
    fail("Things", nil)
    let undone = await clone.run("undo", "Things(1)")
    #expect(undone.status == .done && undone.output == "1 change undone\n", "\(undone.diagnostics)")
    #expect(try await clone.value("Things(1)/Name") == "a")
  }

  @Test("a transaction that is rejected as one batch is reported by its requests, not as $batch")
  func rejectedBatch() async throws {
    defer { server.stop() }
    var clone = try await clone()
    clone.input = Array(
      (#"{"action":"Restock","content":{"amount":5}}"# + "\n" + #"{"update":"Things(1)","content":{"Name":"mine"}}"#)
        .utf8)
    #expect(await clone.run("change", "-").status == .done)
    fail("POST $batch", .response(413))
    #expect(await clone.run("upload").status == .negative)
    let list = await clone.run("errors", "list").output
    #expect(list.contains(" Restock ") && list.contains("PATCH"), "\(list)")
    let rows = try await clone.json("errors", "list", "--json").items ?? []
    #expect(rows.map { $0["RequestURL"]?.string } == ["Restock", "Things(1)"])
    #expect(await clone.run("errors", "show", "1").output.contains("\"amount\": 5"))
  }

  @Test("for a transaction without batches, the message names the option that allows it")
  func noBatches() async throws {
    defer { server.stop() }
    for arguments in [["--batch-size", "0"], []] {
      var clone = try await clone()
      clone.input = Array(
        (#"{"update":"Things(1)","content":{"Name":"mine"}}"# + "\n"
          + #"{"update":"Things(2)","content":{"Name":"mine"}}"#).utf8)
      #expect(await clone.run("change", "-").status == .done)
      fail("POST $batch", .response(501))
      for verb in ["upload", "sync"] {
        let upload = await clone.run([verb] + arguments)
        #expect(upload.status == .negative, "\(upload.diagnostics)")
        #expect(upload.diagnostics.contains("--split-transactions"), "\(upload.diagnostics)")
        #expect(
          upload.diagnostics.contains("which the service does not support") == arguments.isEmpty,
          "\(upload.diagnostics)")
      }
      let split = await clone.run(["upload", "--split-transactions"] + arguments)
      #expect(split.status == .done, "\(split.diagnostics)")
    }
  }

  @Test("diff shows the service's version for a change rejected with 404, and the clone's version for one with 409")
  func diff() async throws {
    defer { server.stop() }
    let clone = try await clone()
    #expect(await clone.run("update", "Things(1)", #"{"Name":"mine"}"#).status == .done)
    #expect(await clone.run("create", "Things", #"{"ID":7,"Name":"made here"}"#).status == .done)
    fail("PATCH Things", .response(404))
    fail("POST Things", .response(409))
    #expect(await clone.run("upload", "--batch-size", "0").status == .negative)
    let gone = await clone.run("errors", "diff", "1")
    #expect(gone.status == .done, "\(gone.diagnostics)")
    #expect(gone.output.contains("theirs") && gone.output.contains("mine"), "\(gone.output)")
    let json = try await clone.json("errors", "diff", "1", "--json")
    // The service rejects the change with 404, and has the entity when it is read.
    #expect(json["isTheirsKnown"] == .boolean(true) && json["theirs"]?["Name"]?.string == "a")
    #expect(json["mine"]?["Name"]?.string == "mine")
    let taken = await clone.run("errors", "diff", "2")
    #expect(taken.status == .done && taken.output.contains("made here"), "\(taken.output)\(taken.diagnostics)")
    #expect(try await clone.json("errors", "diff", "2", "--json")["mine"]?["Name"]?.string == "made here")
  }

  static let responses: [(type: String?, body: String, words: String)] = [
    ("text/plain", "Table is \u{1B}[31mlocked\u{7}\r\n  by  batch ", "Table is [31mlocked by batch"),
    (
      "text/plain; charset=utf-8", "Table is locked \(String(repeating: "für immer ", count: 2000))",
      "Table is locked für"
    ),
    (
      "text/html",
      "<html><head><title>No</title><style>p {x: 1}</style><script>if (a<b) {}</script></head>"
        + "<body><h1>Oops</h1>\n<p>Table &lt;T&gt; is&nbsp;locked</p></body></html>", "Oops Table <T> is locked"
    ),
    (
      "application/xml", "<?xml version=\"1.0\"?><fault><!-- x --><reason>Table is locked</reason></fault>",
      "Table is locked"
    ),
    (nil, "Table is locked", "Table is locked"),
    ("application/json", #"{"fault":"Table is locked"}"#, #"{"fault":"Table is locked"}"#),
  ]

  @Test("a 500 with a text is reported with status and text, on one short line", arguments: responses.indices)
  func text(_ place: Int) async throws {
    defer { server.stop() }
    let (type, body, words) = Self.responses[place]
    let response = ScriptedServer.Response.response(500, fields: type.map { ["Content-Type": $0] } ?? [:], body: body)
    let clone = try await clone()
    #expect(await clone.run("update", "Things(1)", #"{"Name":"mine"}"#).status == .done)
    fail("Things", response)
    let upload = await clone.run("upload", "--batch-size", "0")
    let list = await clone.run("errors", "list")
    let show = await clone.run("errors", "show", "1")
    let download = await clone.run("download")
    let get = await Rig().run("get", server.text("/s/Things"))
    for text in [upload.diagnostics, list.output, show.output, download.diagnostics, get.diagnostics] {
      #expect(text.contains("500") && text.contains(words), "\(text)")
      #expect(!text.contains("script") && !text.contains("{x: 1}") && !text.contains("\u{1B}"), "\(text)")
      #expect(text.split(separator: "\n").allSatisfy { $0.count < 800 }, "\(text)")
    }
  }

  @Test("bytes that are not text are not shown")
  func bytes() async throws {
    defer { server.stop() }
    let clone = try await clone()
    fail("Things", .response(500, fields: ["Content-Type": "image/png"], body: "PNG PNG"))
    let download = await clone.run("download")
    #expect(download.diagnostics.contains("500") && !download.diagnostics.contains("PNG"), "\(download.diagnostics)")
  }

  @Test("parameters in the URL are shown one by one, decoded")
  func parameters() throws {
    let row = try JSONNode(
      Array(#"{"RequestID":1,"RequestMethod":"POST","RequestURL":"Confirm?Note='a%20%26%20b'&Order=5L"}"#.utf8))
    #expect(ErrorsText.entity(row) == "Confirm")
    let text = ErrorsText.details(row, style: .plain)
    #expect(text.contains("RequestURL     Confirm?Note='a%20%26%20b'&Order=5L\n"), "\(text)")
    #expect(text.contains("Parameters\n  Note = 'a & b'\n  Order = 5L\n"), "\(text)")
  }
}
