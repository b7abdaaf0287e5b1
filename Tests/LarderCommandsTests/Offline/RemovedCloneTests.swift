import Foundation
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("Stores that are removed or emptied", .timeLimit(.minutes(5)))
struct RemovedCloneTests {
  /// A service that runs `work` when its rows are requested.
  private func serve(_ work: @escaping @Sendable () -> Void) throws -> ScriptedServer {
    let metadata = """
      <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices><Schema Namespace="N" \
      xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="T"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" \
      Type="Edm.Int32" Nullable="false"/></EntityType><EntityContainer Name="C"><EntitySet Name="Things" EntityType="N.T"/>\
      </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
      """
    return try ScriptedServer { request in
      if request.target.contains("metadata") {
        return .response(200, fields: ["Content-Type": "application/xml", "OData-Version": "4.0"], body: metadata)
      }
      work()
      return .response(
        200, fields: ["Content-Type": "application/json", "OData-Version": "4.0"],
        body: #"{"value":[{"ID":1},{"ID":2}]}"#)
    }
  }

  @Test(
    "a clone whose folder or store is removed meanwhile fails and leaves nothing",
    arguments: ["", "/clone", "/clone/*"], [false, true])
  func clone(what: String, makesAnew: Bool) async throws {
    let folder = try TemporaryFolder()
    let staging = folder.file("d.cloning")
    let server = try serve {
      let manager = FileManager.default
      if what.hasSuffix("*") {
        for name in (try? manager.contentsOfDirectory(atPath: staging + "/clone")) ?? [] {
          try? manager.removeItem(atPath: staging + "/clone/" + name)
        }
      } else {
        try? manager.removeItem(atPath: staging + what)
        if makesAnew { try? manager.createDirectory(atPath: staging + "/clone", withIntermediateDirectories: true) }
      }
    }
    defer { server.stop() }
    let outcome = await Rig(directory: folder.path).run("clone", server.text("/s/"), "d", "--query", "t=Things")
    #expect(outcome.status == .storage, "\(outcome.output) \(outcome.diagnostics)")
    #expect(outcome.diagnostics.contains("removed during the clone"), "\(outcome.diagnostics)")
    #expect(!InputFile.exists(folder.file("d")))
  }

  @Test("a download and a sync into a clone that is removed meanwhile fail", arguments: ["download", "sync"])
  func download(verb: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("d")
    let flag = folder.file("remove")
    let server = try serve {
      if FileManager.default.fileExists(atPath: flag) { try? FileManager.default.removeItem(atPath: path) }
    }
    defer { server.stop() }
    #expect(
      await Rig(directory: folder.path).run("clone", server.text("/s/"), "d", "--query", "t=Things").status == .done)
    _ = try folder.write([], to: "remove")
    let outcome = await Rig(directory: path).run(verb)
    #expect(outcome.status != .done, "\(outcome.output)")
    #expect(outcome.diagnostics.contains("larder: "), "\(outcome.diagnostics)")
  }

  @Test(
    "a truncated object store is reported as damaged, with and without a key; a new empty file is not",
    arguments: [nil, "secret"], [0, 4096])
  func emptied(key: String?, length: Int) async throws {
    let folder = try TemporaryFolder()
    let rig = Rig(input: [1], environment: key.map { ["LARDER_KEY": $0] } ?? [:], directory: folder.path)
    #expect(await rig.run("object", "put", "--store", "o", "k").status == .done)
    try Data(count: length).write(to: URL(filePath: folder.file("o")))
    for line in [["get", "--store", "o", "k"], ["put", "--store", "o", "k"], ["list", "--store", "o"]] {
      let outcome = await rig.run(["object"] + line)
      #expect(outcome.status == .storage, "\(line): \(outcome.output)")
      #expect(outcome.diagnostics.contains("damaged"), "\(outcome.diagnostics)")
    }
    #expect(InputFile.size(folder.file("o")) == length)
    _ = try folder.write([], to: "new")
    #expect(await rig.run("object", "put", "--store", "new", "k").status == .done)
  }

  @Test("a truncated store of a clone is reported as damaged", arguments: [nil, "secret"])
  func emptiedClone(key: String?) async throws {
    let server = try serve {}
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let environment = key.map { ["LARDER_KEY": $0] } ?? [:]
    let outside = Rig(environment: environment, directory: folder.path)
    #expect(await outside.run("clone", server.text("/s/"), "d", "--query", "t=Things").status == .done)
    try Data().write(to: URL(filePath: folder.file("d/store.larder")))
    let inside = Rig(environment: environment, directory: folder.file("d"))
    for line in [["query", "Things"], ["download"], ["status"]] {
      let outcome = await inside.run(line)
      #expect(outcome.status == .storage && outcome.diagnostics.contains("damaged"), "\(line): \(outcome.diagnostics)")
    }
  }

  @Test(
    "a truncated technical cache is replaced with a warning; listing it reports the damage",
    arguments: [nil, "secret"], [0, 4096, 5000])
  func cache(key: String?, length: Int) async throws {
    let server = try ScriptedServer { _ in
      .response(200, fields: ["Content-Type": "application/json"], body: #"{"ID":1}"#)
    }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let rig = Rig(environment: key.map { ["LARDER_KEY": $0] } ?? [:], directory: folder.path)
    let line = ["get", "--cache", "tc", server.text("/s/X")]
    #expect(await rig.run(line).diagnostics.isEmpty)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("tc"))
    let file = folder.file("tc/" + (try #require(names.first { $0.hasSuffix(".larder-cache") })))
    try Data(count: length).write(to: URL(filePath: file))
    let list = await rig.run("cache", "list", "--cache", "tc")
    #expect(list.status == .storage && list.diagnostics.contains("damaged"), "\(list.diagnostics)")
    let again = await rig.run(line)
    #expect(again.status == .done && again.output == #"{"ID":1}"#)
    #expect(again.diagnostics.contains("warning:") && again.diagnostics.contains("was damaged"), "\(again.diagnostics)")
    #expect(await rig.run(line).diagnostics.isEmpty)
  }
}
