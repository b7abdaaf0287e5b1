import Foundation
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderCommands

/// On Apple platforms threads have 512 kB of stack. On Linux the process's limit (`ulimit -s`) sets the size for each new thread.
@Suite("Deeply nested queries and documents, on threads with 512 kB of stack", .timeLimit(.minutes(10)))
struct SmallStackTests {
  private let server: ScriptedServer
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    server = try ScriptedServer { request in Self.response(request) }
  }

  private static func response(_ request: ScriptedServer.Request) -> ScriptedServer.Response {
    let json: HTTPFields = ["Content-Type": "application/json", "OData-Version": "4.0"]
    guard request.path.contains("$metadata") else {
      let thing = #"{"ID":1,"Name":"a","Price":1.5,"Tags":["x"],"Any":null,"Up":null,"Down":[]}"#
      return .response(200, fields: json, body: #"{"@odata.context":"$metadata#Things","value":["# + thing + "]}")
    }
    return .response(
      200, fields: ["Content-Type": "application/xml"],
      body: """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="T"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/><Property Name="Price" Type="Edm.Decimal" Scale="variable"/>
        <Property Name="Tags" Type="Collection(Edm.String)"/><Property Name="Any" Type="Edm.Untyped"/>
        <NavigationProperty Name="Up" Type="N.T"/><NavigationProperty Name="Down" Type="Collection(N.T)" Partner="Up"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Things" EntityType="N.T"><NavigationPropertyBinding Path="Up" Target="Things"/>
        <NavigationPropertyBinding Path="Down" Target="Things"/></EntitySet></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """)
  }

  /// A text that contains something the given number of times.
  struct Family: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let text: @Sendable (Int) -> String

    init(_ name: String, _ text: @escaping @Sendable (Int) -> String) {
      testDescription = name
      self.text = text
    }

    /// One part around another.
    static func around(_ before: String, _ left: String, _ middle: String, _ right: String, _ after: String = "")
      -> Family
    {
      Family(left + "…" + right) { count in
        before + String(repeating: left, count: count) + middle + String(repeating: right, count: count) + after
      }
    }
  }

  static let queries: [Family] = [
    .around("Things?$filter=", "(", "ID eq 1", ")"), .around("Things?$filter=", "not ", "(ID eq 1)", ""),
    .around("Things?$filter=", "tolower(", "Name", ")", " eq 'a'"), .around("Things?$filter=", "-", "ID", "", " eq 1"),
    .around("Things?$filter=ID", " add 1", "", "", " gt 1"), .around("Things?$filter=", "(1 add ", "ID", ")", " gt 1"),
    .around("Things?$filter=", "(1.5 mul ", "Price", ")", " gt 1"),
    .around("Things?$filter=ID eq 1", " or ID eq 2", "", ""),
    .around("Things?$filter=", "(ID eq 2 or ", "ID eq 1", ")"),
    .around("Things?$filter=ID eq 1", " and ID ne 2", "", ""),
    .around("Things?$filter=ID in (1", ",1", "", "", ")"),
    .around("Things?$filter=", "concat('a',", "Name", ")", " ne 'a'"),
    .around("Things?$filter=", "Down/any(x:x/ID eq 1 or x/", "ID eq 1", ")"),
    .around("Things?$filter=", "Up/", "ID eq 1", ""), .around("Things?$expand=", "Down($expand=", "Up", ")"),
    .around("Things?$expand=", "Down($filter=ID eq 1;$expand=", "Up", ")"), .around("Things(1)", "/Up", "", ""),
    Family("$levels=") { "Things?$expand=Up($levels=\($0))" }, .around("Things?$orderby=ID", ",ID", "", ""),
    .around("Things?$orderby=", "(", "ID", ")"), .around("Things?$apply=filter(ID gt 0)", "/filter(ID gt 0)", "", ""),
    .around("Things?$apply=", "concat(identity,", "identity", ")"),
    .around("Things?$compute=", "(1 add ", "ID", ")", " as C"),
    .around("Things?$filter=", "case(ID eq 1:", "1", ",true:2)", " eq 1"), .around("Things?$search=", "(", "a", ")"),
    .around("Things?$search=", "NOT ", "a", ""),
    .around("Things?$filter=", "Down/$count($filter=", "ID eq 1", ") gt 0"),
    .around("Things?$filter=Tags eq ", "[", "", "]"),
  ]

  private static let depths = [1, 20, 40, 60, 90, 110, 1000, 3000]

  /// Runs larder with small stacks. It must return a result, or report an error; the exit status is the result.
  private func run(_ arguments: String, _ note: String) async throws -> Int32 {
    let ending = try await Binary.shell("ulimit -s 512; exec \"$larder\" \(arguments)")
    #expect(ending.code >= 0 && ending.code < 5, "\(note): ended with \(ending.code) \(ending.diagnostics.suffix(200))")
    if ending.code != 0 {
      #expect(ending.diagnostics.hasPrefix("larder: "), "\(note): \(ending.diagnostics.prefix(100))")
      #expect(!ending.diagnostics.contains("The store failed"), "\(note): \(ending.diagnostics.prefix(200))")
    }
    return ending.code
  }

  private func quoted(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }

  @Test("queries of a clone: each depth is executed or rejected")
  func copy() async throws {
    defer { server.stop() }
    let copy = quoted(folder.file("c"))
    let cloned = try await run(
      "clone \(quoted(server.text("/s/"))) \(copy) --query 'things=Things?$expand=Up,Down'", "clone")
    #expect(cloned == 0)
    for family in Self.queries {
      var respondedCount = 0
      for depth in Self.depths {
        let text = family.text(depth)
        // One argument of a program may have 128 KiB.
        guard text.utf8.count < 100_000 else { break }
        let note = "\(family.testDescription) \(depth)"
        if try await run("-C \(copy) query \(quoted(text))", note) == 0 { respondedCount = depth }
      }
      #expect(respondedCount >= 1, "\(family.testDescription)")
    }
  }

  @Test("payloads, changes and metadata: each depth is read or rejected")
  func documents() async throws {
    defer { server.stop() }
    let copy = quoted(folder.file("d"))
    #expect(try await run("clone \(quoted(server.text("/s/"))) \(copy) --query things=Things", "clone") == 0)
    let context = #"{"@odata.context":"$metadata#Things","#
    let families: [(verb: String, family: Family)] = [
      ("payload --file FILE", .around(context + #""value":[{"ID":1,"Any":"#, "[", "1", "]", "}]}")),
      ("payload --file FILE", .around(context + #""value":[{"ID":1,"Any":"#, #"{"a":"#, "1", "}", "}]}")),
      ("payload --file FILE", .around(context + #""value":"#, #"[{"ID":1,"Down":"#, "[]", "}]", "}")),
      ("payload --file FILE", .around("", "<a>", "", "</a>")),
      (
        "payload --file FILE",
        .around(
          #"<entry xmlns="http://www.w3.org/2005/Atom">"#, "<content><entry>", "", "</entry></content>", "</entry>")
      ),
      ("metadata --file FILE", .around("", "<a>", "", "</a>")),
      ("-C \(copy) create Things @FILE", .around(#"{"ID":9,"Any":"#, "[", "1", "]", "}")),
      ("-C \(copy) create Things @FILE", .around(#"{"ID":8,"Up":"#, #"{"ID":7,"Up":"#, "null", "}", "}")),
      ("batch \(quoted(server.text("/s/"))) FILE", .around("GET Things?$filter=", "(", "ID eq 1", ")", "\n")),
    ]
    for (verb, family) in families {
      for depth in Self.depths + [100_000] {
        let file = try folder.write(Array(family.text(depth).utf8), to: "document")
        _ = try await run(verb.replacing("FILE", with: quoted(file)), "\(verb) \(family.testDescription) \(depth)")
      }
    }
  }
}
