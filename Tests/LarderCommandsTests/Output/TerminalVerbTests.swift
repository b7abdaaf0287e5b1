import Foundation
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("Hostile data on a terminal and in a pipe", .timeLimit(.minutes(5)))
struct TerminalVerbTests {
  /// What steers a terminal, directs the writing, or is not seen.
  static let unsafeText = "a\u{1B}]0;x\u{07}b\u{9B}31m\u{7F}\u{202E}\u{61C}\u{200B}\u{FEFF}\u{E0041}z"
  private let server: ScriptedServer
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    server = try ScriptedServer { request in Self.response(request) }
  }

  private static func response(_ request: ScriptedServer.Request) -> ScriptedServer.Response {
    let path = request.path.components(separatedBy: "/s/").last ?? ""
    let json: HTTPFields = ["Content-Type": "application/json", "OData-Version": "4.0"]
    let name = unsafeText.unicodeScalars.map {
      $0.value < 0x20 ? "\\u00" + ($0.value < 16 ? "0" : "") + String($0.value, radix: 16) : String($0)
    }
    .joined()
    switch path {
    case "$metadata":
      return .response(
        200, fields: ["Content-Type": "application/xml"],
        body: """
          <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices><Schema Namespace="N" \
          xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="T"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" \
          Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"><Annotation Term="Org.OData.Core.V1.Description" \
          String="\u{202E}\u{9B}\u{200B}"/></Property></EntityType><EntityContainer Name="C"><EntitySet Name="Things" EntityType="N.T"/>\
          </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
          """)
    case "Things" where request.method == .post, "Things(1)" where request.method == .patch:
      return .response(
        400, fields: json,
        body: "{\"error\":{\"code\":\"\(name)\",\"message\":\"\(name)\",\"details\":[{\"message\":\"d\(name)\"}]}}")
    case "Things":
      return .response(
        200, fields: json, body: "{\"@odata.context\":\"$metadata#Things\",\"value\":[{\"ID\":1,\"Name\":\"\(name)\"}]}"
      )
    case "text": return .response(200, fields: ["Content-Type": "text/plain"], body: "x\u{202E}\u{9B}\u{FEFF}y")
    case "fails": return .response(500, fields: ["Content-Type": "text/plain"], body: unsafeText)
    default: return .response(404, fields: json, body: "{\"error\":{\"code\":\"1\",\"message\":\"\(name)\"}}")
    }
  }

  /// Runs a command line with both streams a terminal, and says what should not be there.
  private func offences(_ arguments: [String], input: [UInt8] = []) async -> [String] {
    let (output, diagnostics) = (Collector(), Collector())
    var context = Rig(input: input, directory: folder.path).context(output, diagnostics)
    context.output = output.port(isTerminal: true)
    context.diagnostics = diagnostics.port(isTerminal: true)
    _ = await CommandLineTool.run(arguments, in: context)
    #expect(!(output.bytes + diagnostics.bytes).isEmpty, "\(arguments)")
    // Progress is drawn again in its place; the hostile data has no such sequence.
    let drawn = diagnostics.text.replacing(/\u{1B}\[(?:\d*A|[GKJ])/, with: "")
    return Harmless.offences(output.text) + Harmless.offences(drawn)
  }

  private func file(_ name: String, _ text: String) throws -> String { try folder.write(Array(text.utf8), to: name) }

  @Test("no verb lets it reach a terminal")
  func everyVerb() async throws {
    defer { server.stop() }
    let rig = Rig(directory: folder.path)
    let unsafeText = Self.unsafeText
    let root = server.text("/s/")
    #expect(await rig.run("clone", root, "c", "--query", "things=Things").status == .done)
    for (key, value) in [("k", unsafeText), (unsafeText, "x")] {
      let put = await Rig(input: Array(value.utf8), directory: folder.path).run(
        "object", "put", "--store", "o", key, "--label", "l\(unsafeText)")
      #expect(put.status == .done, "\(put.diagnostics)")
    }
    let batch = try file("batch", "GET Things\n\nGET text\n")
    let payload = try file("payload.json", #"{"value":[{"Name":"\#("x\u{9B}\u{202E}\u{7F}y")"}]}"#)
    let lines: [[String]] = [
      ["get", root + "Things"], ["get", root + "text"], ["get", root + "fails"], ["get", root + "nothing", "-i"],
      ["get", "--cache", "tc", root + "Things"], ["get", "--events", root + "Things"], ["get", root + unsafeText],
      ["fetch", "--cache", "fc", root + "text"], ["fetch", "--cache", "fc", root + "text", "--json"],
      ["metadata", root], ["metadata", root, "--json"], ["cache", "list", "--cache", "tc"], ["batch", root, batch],
      ["batch", root, batch, "--json"], ["send", "POST", root + "Things", "--data", payload],
      ["payload", "--file", payload], ["payload", "--file", payload, "--json"], ["parse", unsafeText],
      ["parse", "Things?$filter=Name eq '\(unsafeText)'"],
      ["-C", "c", "query", "Things", "--format", "table"], ["-C", "c", "query", "Things", "--format", "csv"],
      ["-C", "c", "query", "Things", "--format", "json"], ["-C", "c", "query", "Things(1)/Name/$value"],
      ["-C", "c", "query", "Things(1)/Name"],
      ["-C", "c", "query", "Things?$filter=Name eq '\(unsafeText)'", "--explain"],
      ["-C", "c", "query", unsafeText], ["-C", "c", "update", "Things(1)", #"{"Name":"\#("x\u{9B}\u{202E}y")"}"#],
      ["-C", "c", "status"], ["-C", "c", "upload", "--plan"], ["-C", "c", "upload"], ["-C", "c", "errors", "list"],
      ["-C", "c", "errors", "list", "--json"], ["-C", "c", "errors", "show", "1"], ["-C", "c", "errors", "diff", "1"],
      ["-C", "c", "log"], ["-C", "c", "log", "--json"], ["-C", "c", "download", unsafeText],
      ["object", "list", "--store", "o"], ["object", "list", "--store", "o", "--json"],
      ["object", "get", "--store", "o", "k"],
      ["object", "get", "--store", "o", "--metadata", unsafeText],
      ["object", "get", "--store", "o", "no\(unsafeText)"], [unsafeText],
      ["get", "--\(unsafeText)"],
    ]
    for line in lines {
      let violations = await offences(line)
      #expect(violations == [], "\(line)")
    }
  }

  @Test("the process itself on a pseudo-terminal: results, and a file that is the terminal")
  func process() async throws {
    defer { server.stop() }
    let spawn = "python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' \"$larder\""
    for line in [
      "get '\(server.text("/s/text"))'", "get '\(server.text("/s/Things"))'",
      "get '\(server.text("/s/Things"))' -o /dev/tty",
    ] {
      let ending = try await Binary.shell("\(spawn) \(line)")
      #expect(ending.code == 0 && ending.text.contains(#"\u{202E}"#), "\(line): \(ending.text) \(ending.diagnostics)")
      #expect(Harmless.offences(ending.text) == [], "\(line): \(ending.text)")
    }
  }

  @Test("in a pipe, CSV, JSON and values are unchanged")
  func pipe() async throws {
    defer { server.stop() }
    let rig = Rig(directory: folder.path)
    #expect(await rig.run("clone", server.text("/s/"), "c", "--query", "things=Things").status == .done)
    let inside = Rig(directory: folder.file("c"))
    #expect(await inside.run("query", "Things", "--format", "csv").output == "ID,Name\r\n1,\(Self.unsafeText)\r\n")
    #expect(await inside.run("query", "Things(1)/Name/$value").output == Self.unsafeText)
    #expect(await rig.run("get", server.text("/s/text")).output == "x\u{202E}\u{9B}\u{FEFF}y")
  }
}
