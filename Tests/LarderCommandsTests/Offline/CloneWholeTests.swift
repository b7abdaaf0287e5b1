import Foundation
import LarderHTTP
import LarderOData
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCommands
@testable import LarderOffline

/// A service whose sets can be rejected, one by one.
private final class Zoo: Sendable {
  let failing = Mutex<[String: Int]>([:])

  func serve() throws -> ScriptedServer {
    try ScriptedServer { request in
      let path = (request.target.components(separatedBy: "/zoo/").last ?? "").removingPercentEncoding ?? ""
      if path.hasPrefix("$metadata") {
        return .response(200, fields: ["Content-Type": "application/xml"], body: Zoo.metadata)
      }
      let fields: HTTPFields = ["Content-Type": "application/json", "OData-Version": "4.0"]
      let name = String(path.prefix { $0 != "?" && $0 != "/" })
      let expands = path.contains("$expand") ? "\(name)?$expand" : name
      if let status = self.failing.withLock({ $0[name] ?? $0[expands] }) {
        return .response(status, fields: fields, body: #"{"error":{"code":"no","message":"not \#(status)"}}"#)
      }
      if path.contains("/$count") { return .response(200, fields: ["Content-Type": "text/plain"], body: "2") }
      guard let body = Zoo.bodies[name] else { return .response(404, fields: fields) }
      return .response(200, fields: fields, body: body(path))
    }
  }

  private static let bodies: [String: @Sendable (String) -> String] = [
    "Keepers": { path in
      let tags = path.contains("Animals") ? #","Animals":[{"ID":1,"Name":"Ape"},{"ID":2,"Name":"Bear"}]"# : ""
      return #"{"value":[{"ID":7,"Name":"Kim"\#(tags)}]}"#
    },
    "Animals": { path in
      func one(_ id: Int, _ name: String, _ visits: String) -> String {
        let keepers = path.contains("Keepers") ? #","Keepers":[{"ID":7,"Name":"Kim"}]"# : ""
        let inner = keepers + (path.contains("Visits") ? #","Visits":[\#(visits)]"# : "")
        return #"{"ID":\#(id),"Name":"\#(name)"\#(inner)}"#
      }
      return #"{"value":[\#(one(1, "Ape", #"{"Day":1},{"Day":2}"#)),\#(one(2, "Bear", ""))]}"#
    },
    "Cages": { _ in #"{"value":[{"ID":3,"AnimalID":1}]}"# },
    "Office": { path in
      #"{"ID":1,"Name":"Main"\#(path.contains("Head") ? #","Head":{"ID":7,"Name":"Kim"}"# : "")}"#
    },
  ]

  static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="Z" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Animal"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Name" Type="Edm.String"/>
    <NavigationProperty Name="Keepers" Type="Collection(Z.Keeper)" Partner="Animals"/>
    <NavigationProperty Name="Visits" Type="Collection(Z.Visit)" ContainsTarget="true"/></EntityType>
    <EntityType Name="Visit"><Key><PropertyRef Name="Day"/></Key><Property Name="Day" Type="Edm.Int32" Nullable="false"/>
    </EntityType>
    <EntityType Name="Keeper"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Name" Type="Edm.String"/>
    <NavigationProperty Name="Animals" Type="Collection(Z.Animal)" Partner="Keepers"/></EntityType>
    <EntityType Name="Cage"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="AnimalID" Type="Edm.Int32" Nullable="false"/>
    <NavigationProperty Name="Animal" Type="Z.Animal" Nullable="false">
    <ReferentialConstraint Property="AnimalID" ReferencedProperty="ID"/></NavigationProperty></EntityType>
    <EntityType Name="Office"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Name" Type="Edm.String"/><NavigationProperty Name="Head" Type="Z.Keeper"/></EntityType>
    <EntityContainer Name="C">
    <EntitySet Name="Animals" EntityType="Z.Animal"><NavigationPropertyBinding Path="Keepers" Target="Keepers"/></EntitySet>
    <EntitySet Name="Keepers" EntityType="Z.Keeper"><NavigationPropertyBinding Path="Animals" Target="Animals"/></EntitySet>
    <EntitySet Name="Cages" EntityType="Z.Cage"><NavigationPropertyBinding Path="Animal" Target="Animals"/></EntitySet>
    <EntitySet Name="Ghosts" EntityType="Z.Ghost"/>
    <Singleton Name="Office" Type="Z.Office"><NavigationPropertyBinding Path="Head" Target="Keepers"/></Singleton>
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """
}

@Suite("A clone of a whole service", .timeLimit(.minutes(3)))
struct CloneWholeTests {
  private let folder: TemporaryFolder
  private let zoo = Zoo()
  private let server: ScriptedServer

  init() throws {
    folder = try TemporaryFolder()
    server = try zoo.serve()
  }

  private var root: String { server.text("/zoo/") }
  private var rig: Rig { Rig(directory: folder.path) }
  private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.sorted() ?? [] }

  private func inside(_ arguments: String...) async -> Outcome { await rig.run(["-C", "zoo"] + arguments) }

  private func queries() async throws -> [String] {
    try JSONNode((await inside("status", "--json")).outputBytes)["queries"]?.items?.compactMap { $0["query"]?.string }
      ?? []
  }

  @Test(
    "has all sets and singletons, contained entities and links, each link once; a set with a missing type is left out")
  func whole() async throws {
    defer { server.stop() }
    let cloned = await rig.run("clone", root, "--all")
    #expect(cloned.status == .negative, "\(cloned.diagnostics)")
    #expect(cloned.diagnostics.contains("Cloning into 'zoo'"), "\(cloned.diagnostics)")
    #expect(cloned.diagnostics.contains("Ghosts: ") && cloned.diagnostics.contains("Z.Ghost"), "\(cloned.diagnostics)")
    #expect(cloned.diagnostics.contains("left out: Ghosts"), "\(cloned.diagnostics)")
    #expect(names == ["zoo"])
    // Of a link of two collections either end may be expanded.
    let links = try await queries()
    #expect(links.contains("Cages") && links.contains("Office?$expand=Head"), "\(links)")
    #expect(links.joined(separator: " ").components(separatedBy: "Visits").count == 2, "\(links)")
    #expect(links.count == 4 && (links.contains("Keepers") != links.contains("Animals?$expand=Visits")), "\(links)")
    for (query, count) in [
      ("Animals", "2"), ("Keepers", "1"), ("Cages", "1"), ("Animals(1)/Visits", "2"), ("Cages(3)/Animal/Visits", "2"),
    ] {
      let response = await inside("query", query + "/$count")
      #expect(response.output == count, "\(query): \(response.diagnostics)")
    }
    #expect((await inside("query", "Office/Head/Name")).output.contains("Kim"))
    // Nothing of what is left out makes the next download fail.
    let again = await inside("download")
    #expect(again.status == .done, "\(again.diagnostics)")
  }

  @Test("leaves out sets that cannot be read, with the reason, in any position", arguments: [401, 403, 404, 501])
  func rejected(_ status: Int) async throws {
    defer { server.stop() }
    for set in ["Animals", "Keepers", "Cages", "Office"] {
      zoo.failing.withLock { $0 = [set: status] }
      let cloned = await rig.run("clone", root, "--all")
      #expect(cloned.status == .negative, "\(cloned.diagnostics)")
      #expect(
        cloned.diagnostics.contains("\(set): ")
          && cloned.diagnostics.contains(status == 401 ? "credentials" : "\(status)"),
        "\(cloned.diagnostics)")
      #expect(cloned.diagnostics.contains("left out: \([set, "Ghosts"].sorted().joined(separator: ", "))"))
      #expect(try await queries().count == 3)
      zoo.failing.withLock { $0 = [:] }
      #expect((await inside("download", "--query", set)).status == .done)
      #expect((await inside("query", set)).status == .done)
      try FileManager.default.removeItem(atPath: folder.file("zoo"))
    }
  }

  @Test("copies a set without its links if only the links are rejected")
  func withoutLinks() async throws {
    defer { server.stop() }
    zoo.failing.withLock { $0 = ["Office?$expand": 400] }
    let cloned = await rig.run("clone", root, "--all")
    #expect(cloned.status == .negative, "\(cloned.diagnostics)")
    #expect(cloned.diagnostics.contains("Office: downloaded without links to other entities (Head): "))
    #expect(cloned.diagnostics.contains("not 400"))
    #expect(cloned.diagnostics.contains("left out: Ghosts, links of Office"), "\(cloned.diagnostics)")
    #expect((await inside("query", "Office/Name")).output.contains("Main"))
    #expect((await inside("query", "Office/Head")).status == .negative)
  }

  @Test("copies sets without their links if the service rejects all links and several sets")
  func withoutAnyLinks() async throws {
    defer { server.stop() }
    zoo.failing.withLock {
      $0 = ["Office?$expand": 400, "Animals?$expand": 400, "Keepers?$expand": 400, "Keepers": 404, "Cages": 404]
    }
    let cloned = await rig.run("clone", root, "--all")
    #expect(cloned.status == .negative, "\(cloned.diagnostics)")
    #expect(
      cloned.diagnostics.contains("left out: Cages, Ghosts, Keepers, links of Animals, links of Office"),
      "\(cloned.diagnostics)")
    #expect(try await queries().sorted() == ["Animals", "Office"])
    #expect((await inside("query", "Animals/$count")).output == "2")
  }

  @Test("stops if every sign-in is rejected, before a user is locked out, and leaves nothing")
  func signIn() async throws {
    defer { server.stop() }
    zoo.failing.withLock { $0 = ["Animals": 401, "Keepers": 401, "Cages": 401, "Office": 401] }
    let cloned = await rig.run("clone", root, "--all")
    #expect(cloned.status == .network && cloned.diagnostics.contains("--user-file"), "\(cloned.diagnostics)")
    #expect(names == [])
    let signIns = server.requests.filter { !$0.target.hasSuffix("$metadata") }
    #expect(signIns.count == 3, "\(signIns.map(\.target))")
  }

  @Test("if the service becomes unreachable, the rest is downloaded later, and is not left out")
  func away() async throws {
    defer { server.stop() }
    zoo.failing.withLock { $0 = ["Office": 503] }
    let cloned = await rig.run("clone", root, "--all")
    #expect(cloned.status == .network, "\(cloned.diagnostics)")
    #expect(cloned.diagnostics.contains("'larder -C zoo download' resumes"), "\(cloned.diagnostics)")
    // The clone has left out the query already.
    #expect(!cloned.diagnostics.contains("--remove Ghosts"), "\(cloned.diagnostics)")
    zoo.failing.withLock { $0 = [:] }
    let rest = await inside("download")
    #expect((await inside("query", "Office/Name")).output.contains("Main"), "\(rest.diagnostics)")
  }

  // MARK: Choosing

  @Test("without a query, in a pipe: an error lists the sets and says how to choose; nothing is created")
  func pipe() async throws {
    defer { server.stop() }
    let rejected = await rig.run("clone", root)
    #expect(rejected.status == .usage && rejected.output.isEmpty, "\(rejected.diagnostics)")
    for words in ["specify what to copy", "--all", "--query", "\n  Animals\n", "\n  Office"] {
      #expect(rejected.diagnostics.contains(words), "\(words): \(rejected.diagnostics)")
    }
    #expect(names == [])
    server.stop()
    #expect((await rig.run("clone", root)).status == .network)
  }

  @Test(
    "on a terminal, it lists the sets with their numbers of entities, prompts until the input is valid, and copies them"
  )
  func terminal() async throws {
    defer { server.stop() }
    zoo.failing.withLock { $0 = ["Cages": 501] }
    let shown = try await Terminal.larder(["-C", folder.path, "clone", root], typing: "\n9 animls\noffice,1 2-2\n")
    #expect(shown.code == 0, "\(shown.screen)")
    for words in [
      "1  Animals", " 2\r\n", "3  Cages", "?", "one entity", "Enter at least one", "There is no '9'", "whole",
    ] {
      #expect(shown.screen.contains(words), "\(words): \(shown.screen)")
    }
    #expect(try await queries().map { $0.prefix { $0 != "?" } } == ["Office", "Animals", "Keepers"])
    #expect((await inside("query", "Keepers(7)/Animals/$count")).output == "2")
    // The end of the input, instead of a reply.
    let ended = try await Terminal.larder(["-C", folder.path, "clone", root, "other"], typing: "\u{4}")
    #expect(ended.code == 2 && ended.screen.contains("no sets were chosen"), "\(ended.screen)")
    #expect(names == ["zoo"])
    let full = try await Terminal.larder(["-C", folder.path, "clone", root], typing: "all\n")
    #expect(full.code == 4 && full.screen.contains("zoo is not empty"), "\(full.screen)")
  }

  private static let resultRows: [(String, [String]?)] = [
    ("1", ["A"]), ("3,1", ["all", "A"]), ("1-3", ["A", "Bee", "all"]), ("bee", ["Bee"]), ("Bee 2", ["Bee"]),
    ("all", ["all"]), ("0", nil), ("4", nil), ("3-1", nil), ("", nil), (" , ", nil), ("C", nil), ("1 C", nil),
    ("-1", nil),
  ]

  @Test("sets are chosen by numbers, ranges and names", arguments: resultRows.indices)
  func responses(_ place: Int) {
    server.stop()
    let list = SetList(["A", "Bee", "all"].map { ServiceQueries.Source(name: $0, isSet: true) }, ["A": 3])
    let (response, names) = Self.resultRows[place]
    switch list.chosen(response) {
    case .success(let chosen): #expect(chosen == names, "'\(response)'")
    case .failure: #expect(names == nil, "'\(response)'")
    }
    #expect(list.lines[0].hasSuffix("A    3") && list.lines[1].hasSuffix("Bee  ?"))
  }

  // MARK: Names

  @Test("a query without a name has the name of its set; an equals sign after ? or ( belongs to the path")
  func queryNames() async throws {
    defer { server.stop() }
    let cloned = await rig.run(
      "clone", root, "zoo", "--query", "Animals?$filter=ID eq 1", "--query", "Cages(ID=3)", "--query", "k=Keepers")
    #expect(!cloned.diagnostics.contains("--query is"), "\(cloned.diagnostics)")
    let status = try JSONNode((await inside("status", "--json")).outputBytes)["queries"]?.items ?? []
    #expect(status.map { $0["name"]?.string } == ["Animals", "Cages", "k"])
    #expect(status.map { $0["query"]?.string } == ["Animals?$filter=ID eq 1", "Cages(ID=3)", "Keepers"])
    for (arguments, words) in [
      (["--query", "Animals", "--query", "Animals?$top=1"], "two queries are named 'Animals'"),
      (["--query", "=Animals"], "NAME=PATH"), (["--query", "a="], "NAME=PATH"), (["--query", "?$top=1"], "NAME=PATH"),
      (["--query", "Animals", "--all"], "cannot be combined"),
      (["--query", "Animals", "--streams", "b"], "no query with this name"),
      (["--all", "--streams", "Beasts"], "no query with this name"),
    ] {
      let rejected = await rig.run(["clone", root, "other"] + arguments)
      #expect(
        rejected.status == .usage && rejected.diagnostics.contains(words), "\(arguments): \(rejected.diagnostics)")
    }
    #expect(names == ["zoo"])
  }

  private static let folderRows: [(String, String?)] = [
    ("https://h/sap/opu/odata/sap/API_SALES_ORDER_SRV", "API_SALES_ORDER_SRV"),
    ("https://h/sap/opu/odata/sap/API_SALES_ORDER_SRV;v=2/?sap-client=100", "API_SALES_ORDER_SRV"),
    ("https://h/sap/opu/odata4/sap/zshop/srvd/sap/zshop/0001/", "zshop"),
    ("https://services.odata.org/V4/(S(a5b3))/TripPinServiceRW/", "TripPinServiceRW"),
    ("https://h/odata/v4/Catalog/$metadata", "Catalog"), ("https://h/Shop/OData/", "Shop"),
    ("https://h:8080/v1.0/", "h"), ("https://h/", "h"), ("https://h/My%20Shop", "My Shop"),
    ("https://h/caf%C3%A9/", "café"),
    ("https://h/a%2Fb/", nil), ("https://h/x%00y/", nil), ("https://h/-x/", nil), ("https://h/a%0Ab/", nil),
    ("https://h/%FF/", nil), ("https://h/\(String(repeating: "a", count: 300))/", nil), ("https://h/x.cloning/", nil),
  ]

  @Test("the folder is named after the service, or the name is rejected", arguments: folderRows.indices)
  func folders(_ place: Int) throws {
    server.stop()
    let (url, name) = Self.folderRows[place]
    let arguments = ParsedArguments(path: ["larder", "clone"], options: [:], operands: [:])
    let root = try RequestTarget.serviceRoot(url, in: arguments)
    if let name {
      #expect(try CloneName.folder(of: root, arguments) == name)
    } else {
      #expect(throws: UsageError.self) { try CloneName.folder(of: root, arguments) }
    }
  }
}

@Suite("Clones of whole real services", .odataPy(), .mockSAP(), .timeLimit(.minutes(5)))
struct CloneRealWholeTests {
  @Test("V2 and V4 of mock-sap, and V4 of odata-py, are copied completely with their links")
  func services() async throws {
    let sap = try MockSAP.ofSuite
    for (root, queries) in [
      (sap.salesOrdersV2, ["A_SalesOrder?$expand=to_Item&$top=3", "A_SalesOrderItem/$count"]),
      (sap.salesOrdersV4, ["SalesOrder?$top=3", "SalesOrder/$count"]), (sap.businessPartnersV2, []),
      (
        try ODataPyService.ofSuite.root,
        ["Products?$expand=Category,Supplier,Shelves&$top=3", "Shop/Favourite", "Orders(1)/Items"]
      ),
    ] {
      let folder = try TemporaryFolder()
      let rig = Rig(directory: folder.path)
      let cloned = await rig.run("clone", root, "--all", "copy")
      #expect(cloned.status == .done || cloned.diagnostics.contains("left out"), "\(root): \(cloned.diagnostics)")
      for query in queries {
        let response = await rig.run("-C", "copy", "query", query)
        #expect(response.status == .done, "\(query): \(response.diagnostics)\n\(cloned.diagnostics)")
      }
      let again = await rig.run("-C", "copy", "download")
      #expect(again.status == .done, "\(root): \(again.diagnostics)")
    }
  }
}
