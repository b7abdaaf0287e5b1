import Foundation
import LarderHTTP
import LarderOData
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCommands

/// A service of pages that writes `$count` into its own links when the count is requested, and rejects those.
private func countingServer(rejectsAll: Bool = false) throws -> ScriptedServer {
  try ScriptedServer { request in
    let path = request.target.components(separatedBy: "/s/").last ?? ""
    if path.hasPrefix("$metadata") {
      return .response(
        200, fields: ["Content-Type": "application/xml"],
        body: """
          <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
          <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="T">
          <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
          <EntityContainer Name="C"><EntitySet Name="A" EntityType="N.T"/><EntitySet Name="B" EntityType="N.T"/>
          </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
          """)
    }
    let fields: HTTPFields = ["Content-Type": "application/json", "OData-Version": "4.0"]
    let counts = path.contains("$count=true")
    if path.contains("$skiptoken"), counts || rejectsAll {
      return .response(400, fields: fields, body: #"{"error":{"code":"opt","message":"no $count here"}}"#)
    }
    if path.contains("$skiptoken") { return .response(200, fields: fields, body: #"{"value":[{"ID":3}]}"#) }
    let link = "\(path.prefix(1))?$skiptoken='x y'\(counts ? "&$count=true" : "")"
    let count = counts ? #""@odata.count":3,"# : ""
    return .response(
      200, fields: fields, body: #"{\#(count)"value":[{"ID":1},{"ID":2}],"@odata.nextLink":"\#(link)"}"#)
  }
}

@Suite("Download options that a service rejects", .timeLimit(.minutes(3)))
struct OptionRejectionTests {
  @Test("a set whose next link is rejected after $count is downloaded without it; the next set is requested without it")
  func count() async throws {
    let folder = try TemporaryFolder()
    let server = try countingServer()
    defer { server.stop() }
    let rig = Rig(directory: folder.path)
    let cloned = await rig.run("clone", server.text("/s/"), "copy", "--query", "A")
    #expect(cloned.status == .done, "\(cloned.diagnostics)")
    #expect(cloned.diagnostics.contains("without $count"), "\(cloned.diagnostics)")
    #expect((await rig.run("-C", "copy", "query", "A/$count")).output == "3")
    // The service's own link, as it was given.
    let links = server.requests.map(\.target).filter { $0.contains("skiptoken") }
    #expect(links.first == "/s/A?$skiptoken='x%20y'&$count=true" && links.last == "/s/A?$skiptoken='x%20y'", "\(links)")
    let before = server.requests.count
    #expect((await rig.run("-C", "copy", "download", "--query", "B")).status == .done)
    #expect((await rig.run("-C", "copy", "query", "B/$count")).output == "3")
    let requested = server.requests.dropFirst(before).map(\.target)
    #expect(requested.contains("/s/B") && !requested.contains { $0.contains("count") }, "\(requested)")
  }

  @Test("the error names the options of the rejected URL, without their data")
  func url() async throws {
    let folder = try TemporaryFolder()
    let server = try countingServer(rejectsAll: true)
    defer { server.stop() }
    let cloned = await Rig(directory: folder.path).run("clone", server.text("/s/"), "copy", "--query", "A")
    #expect(cloned.status == .negative, "\(cloned.diagnostics)")
    #expect(cloned.diagnostics.contains("/s/A?$skiptoken=…") && cloned.diagnostics.contains("no $count here"))
    #expect(!cloned.diagnostics.contains("x%20y"), "\(cloned.diagnostics)")
  }
}

@Suite("Properties that the metadata mark as the service's own", .timeLimit(.minutes(3)))
struct AllowOptionTests {
  private let folder: TemporaryFolder
  private let server: ScriptedServer

  init() throws {
    folder = try TemporaryFolder()
    server = try ScriptedServer { request in
      let path = request.target.components(separatedBy: "/s/").last ?? ""
      if path.hasPrefix("$metadata") {
        return .response(
          200, fields: ["Content-Type": "application/xml"],
          body: """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="T">
            <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false">
            <Annotation Term="Org.OData.Core.V1.Computed"/></Property>
            <Property Name="By" Type="Edm.String"><Annotation Term="Org.OData.Core.V1.Permissions"
            EnumMember="Org.OData.Core.V1.Permission/Read"/></Property>
            <Property Name="Pin" Type="Edm.String"><Annotation Term="Org.OData.Core.V1.Permissions"
            EnumMember="Org.OData.Core.V1.Permission/None"/></Property><Property Name="Name" Type="Edm.String"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="Ts" EntityType="N.T"/></EntityContainer></Schema>
            </edmx:DataServices></edmx:Edmx>
            """)
      }
      let fields: HTTPFields = ["Content-Type": "application/json", "OData-Version": "4.0"]
      if request.method == .post {
        return .response(201, fields: fields, body: String(decoding: request.body, as: UTF8.self))
      }
      return .response(200, fields: fields, body: #"{"value":[]}"#)
    }
  }

  private func run(_ arguments: String..., input: String = "") async -> Outcome {
    await Rig(input: Array(input.utf8), directory: folder.path).run(["-C", "copy"] + arguments)
  }

  @Test("are rejected with the option in the message; with the option they are queued and sent")
  func allow() async throws {
    defer { server.stop() }
    let cloned = await Rig(directory: folder.path).run("clone", server.text("/s/"), "copy", "--query", "Ts")
    #expect(cloned.status == .done, "\(cloned.diagnostics)")
    for (json, name) in [(#"{"ID":7,"Name":"a"}"#, "ID"), (#"{"By":"me"}"#, "By"), (#"{"Pin":"1"}"#, "Pin")] {
      let rejected = await run("create", "Ts", json)
      #expect(rejected.status == .usage && rejected.diagnostics.contains("--allow \(name)"), "\(rejected.diagnostics)")
    }
    let other = await run("create", "Ts", #"{"ID":7,"By":"me"}"#, "--allow", "ID")
    #expect(other.status == .usage && other.diagnostics.contains("--allow By"), "\(other.diagnostics)")
    let unused = await run("create", "Ts", #"{"ID":7}"#, "--allow", "ID", "--allow", "Nme")
    #expect(unused.status == .usage && unused.diagnostics.contains("--allow Nme"), "\(unused.diagnostics)")
    let created = await run("create", "Ts", #"{"ID":7,"Name":"a"}"#, "--allow", "ID")
    #expect(created.status == .done && created.output == "Ts(7)\n", "\(created.diagnostics)")
    let changed = await run("change", "-", "--allow", "ID", input: #"{"create":"Ts","content":{"ID":8}}"#)
    #expect(changed.status == .done && changed.output == "Ts(8)\n", "\(changed.diagnostics)")
    #expect((await run("upload")).status != .usage)
    let posts = server.requests.filter { $0.method == .post }.map { String(decoding: $0.body, as: UTF8.self) }
    #expect(posts.contains { $0.contains(#""ID":7"#) }, "\(posts)")
  }
}
