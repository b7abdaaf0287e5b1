import Foundation
import LarderHTTP
import LarderOData
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCommands

@Suite("A clone with a failing query", .timeLimit(.minutes(3)))
struct CloneQueryTests {
  private let folder: TemporaryFolder
  private let things = Things()
  private let server: ScriptedServer

  init() throws {
    folder = try TemporaryFolder()
    server = try things.serve()
  }

  private var rig: Rig { Rig(directory: folder.path) }

  private func inside(_ arguments: String...) async -> Outcome { await rig.run(["-C", "copy"] + arguments) }

  private func clone(_ queries: String...) async -> Outcome {
    await rig.run(["clone", server.text("/s/"), "copy"] + queries.flatMap { ["--query", $0] })
  }

  private static let failures: [(query: String, response: ScriptedServer.Response, words: String)] = [
    ("b=Nothings", .response(404), "did you mean"),
    ("b=Others", .response(404), "404"),
    (
      "b=Others",
      .response(
        403, fields: ["Content-Type": "application/json"], body: #"{"error":{"code":"no","message":"not yours"}}"#),
      "not yours"
    ),
    (
      "b=Others", .response(500, fields: ["Content-Type": "text/plain"], body: "the table is locked"),
      "the table is locked"
    ),
    ("b=Others", .response(200, fields: ["Content-Type": "application/json"], body: "{"), "malformed"),
  ]

  @Test(
    "the others are downloaded; the message names the failed query, the reason and what to do",
    arguments: failures.indices)
  func others(_ place: Int) async throws {
    defer { server.stop() }
    let failure = Self.failures[place]
    things.state.withLock { $0.failing["Others"] = failure.response }
    let cloned = await clone("a=Things", failure.query, "c=Odds")
    #expect(cloned.status != .done && cloned.status != .storage, "\(cloned.diagnostics)")
    #expect(
      cloned.output.contains("a  whole") && cloned.output.contains("c  whole") && cloned.output.contains("b  failed"))
    #expect(cloned.diagnostics.contains("larder: b: "), "\(cloned.diagnostics)")
    if failure.words != "malformed" { #expect(cloned.diagnostics.contains(failure.words), "\(cloned.diagnostics)") }
    #expect(cloned.diagnostics.contains("'larder -C copy download' resumes"), "\(cloned.diagnostics)")
    #expect(cloned.diagnostics.contains("'larder -C copy download --remove b'"), "\(cloned.diagnostics)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["copy"])
    for set in ["Things", "Odds"] { #expect((await inside("query", "\(set)/$count")).output == "6") }
    if failure.query == "b=Others" { #expect((await inside("query", "Others/$count")).status == .negative) }

    // It is tried again, with the same words, until it works or is taken out.
    let again = await inside("download")
    #expect(again.status == cloned.status && again.diagnostics.contains("larder: b: "), "\(again.diagnostics)")
    #expect(again.diagnostics.contains("download --remove b'"), "\(again.diagnostics)")
    things.state.withLock { $0.failing = [:] }
    if failure.query == "b=Others" {
      #expect((await inside("download")).status == .done)
    } else {
      #expect((await inside("download", "--remove", "b", "--query", "b=Others")).status == .done)
    }
    #expect((await inside("query", "Others/$count")).output == "6")
    #expect((await inside("download", "--remove", "b")).status == .done)
  }

  @Test("if the service becomes unreachable, the downloaded rows are kept, and the rest is downloaded later")
  func away() async throws {
    defer { server.stop() }
    things.state.withLock { $0.failing["Odds"] = .close }
    let cloned = await clone("a=Things", "c=Odds")
    #expect(cloned.status == .network, "\(cloned.diagnostics)")
    #expect(cloned.diagnostics.contains("'larder -C copy download' resumes"), "\(cloned.diagnostics)")
    #expect(!cloned.diagnostics.contains("--remove"), "\(cloned.diagnostics)")
    #expect((await inside("query", "Things/$count")).output == "6")
    things.state.withLock { $0.failing = [:] }
    #expect((await inside("download")).status == .done)
    #expect((await inside("query", "Odds/$count")).output == "6")
  }

  @Test("a download without a query fails and says how to add one; removing the last one warns")
  func none() async throws {
    defer { server.stop() }
    #expect(await clone("a=Things").status == .done)
    let removed = await inside("download", "--remove", "a")
    #expect(removed.status == .done && removed.diagnostics.contains("no defining query"), "\(removed.diagnostics)")
    for verb in ["download", "sync"] {
      let rejected = await inside(verb)
      #expect(rejected.status == .negative, "\(verb): \(rejected.diagnostics)")
      #expect(rejected.diagnostics.contains("no defining query"), "\(verb): \(rejected.diagnostics)")
      #expect(rejected.diagnostics.contains("/copy download --query NAME=PATH'"), "\(rejected.diagnostics)")
    }
    #expect((await inside("download", "--query", "a=Things")).status == .done)
    #expect((await inside("query", "Things/$count")).output == "6")
  }
}

@Suite("The folder of a clone", .timeLimit(.minutes(3)))
struct CloneTargetTests {
  private let folder: TemporaryFolder
  private let things = Things()
  private let server: ScriptedServer
  private let manager = FileManager.default

  init() throws {
    folder = try TemporaryFolder()
    server = try things.serve()
  }

  private var names: [String] { ((try? manager.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }

  private func clone(_ target: String = "copy", in place: String = "", _ queries: [String] = ["a=Things"]) async
    -> Outcome
  {
    await Rig(directory: place.isEmpty ? folder.path : folder.file(place)).run(
      ["clone", server.text("/s/"), target] + queries.flatMap { ["--query", $0] })
  }

  private func run(_ target: String, _ arguments: String...) async -> Outcome {
    await Rig(directory: folder.path).run(["-C", target] + arguments)
  }

  /// Leaves a clone that was killed: its metadata and some rows have come.
  private func interrupt(at request: Int = 4) async throws {
    things.arm(SIGKILL, at: request)
    _ = try await things.larder(
      ["-C", folder.path, "clone", server.text("/s/"), "copy", "--query", "a=Things", "--query", "b=Others"])
    try #require(names == ["copy.cloning"])
  }

  @Test("an empty folder is used with its permissions, by any of its names")
  func forms() async throws {
    defer { server.stop() }
    for target in ["copy", "copy/", "./copy", "link", "link/"] {
      try manager.createDirectory(
        atPath: folder.file("copy"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      try manager.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: "copy")
      let cloned = await clone(target)
      #expect(cloned.status == .done, "\(target): \(cloned.diagnostics)")
      #expect((await run("copy", "query", "Things/$count")).output == "6")
      let rights = try manager.attributesOfItem(atPath: folder.file("copy"))[.posixPermissions] as? Int
      #expect(rights == 0o700, "\(target)")
      #expect(names == ["copy", "link"], "\(target)")
      for name in names { try manager.removeItem(atPath: folder.file(name)) }
    }
    try manager.createDirectory(atPath: folder.file("copy"), withIntermediateDirectories: false)
    #expect((await clone(".", in: "copy")).status == .done)
    #expect((await run("copy", "query", "Things/$count")).output == "6")
    #expect((await clone("a/b/copy")).status == .done)
    #expect((await run("a/b/copy", "query", "Things/$count")).output == "6")
    #expect(try manager.contentsOfDirectory(atPath: folder.file("a/b")) == ["copy"])
  }

  @Test("existing files are not changed, and the message says what to do")
  func taken() async throws {
    defer { server.stop() }
    try folder.write([1], to: "file")
    try manager.createSymbolicLink(atPath: folder.file("nowhere"), withDestinationPath: "missing")
    for name in ["full", "wait.cloning"] {
      try manager.createDirectory(atPath: folder.file(name), withIntermediateDirectories: false)
      try folder.write([1], to: "\(name)/own")
    }
    try manager.createDirectory(atPath: folder.file("bare"), withIntermediateDirectories: false)
    try folder.write(Array(#"{"service":"http://h/"}"#.utf8), to: "bare/larder.json")
    let before = names
    for (target, words) in [
      ("file", "not a folder"), ("nowhere", "not a folder"), ("full", "not empty"), ("wait", "created there first"),
      ("bare", "delete the folder"), ("file/copy", "cannot be written"),
    ] {
      let rejected = await clone(target)
      #expect(rejected.status == .storage, "\(target): \(rejected.diagnostics)")
      #expect(rejected.diagnostics.contains(words), "\(target): \(rejected.diagnostics)")
    }
    #expect(names == before)
    #expect(try manager.contentsOfDirectory(atPath: folder.file("wait.cloning")) == ["own"])
    // Empty folders of these names are no hindrance.
    for name in ["copy", "copy.cloning"] {
      try manager.createDirectory(atPath: folder.file(name), withIntermediateDirectories: false)
    }
    #expect(await clone().status == .done)
    #expect(!names.contains("copy.cloning"))
  }

  @Test("an interrupted clone can be resumed with other queries: those of the last command apply")
  func otherQueries() async throws {
    for request in [1, 3, 6] {
      try await interrupt(at: request)
      #expect((await clone(queries: ["b=Others?$top=2", "c=Odds"])).status == .done)
      let status = try JSONNode((await run("copy", "status", "--json")).outputBytes)["queries"]?.items ?? []
      #expect(status.map { $0["name"]?.string } == ["b", "c"], "at \(request)")
      #expect(status.map { $0["query"]?.string } == ["Others?$top=2", "Odds"], "at \(request)")
      #expect((await run("copy", "query", "Odds/$count")).output == "6")
      #expect((await run("copy", "query", "Things/$count")).output != "6", "at \(request)")
      #expect(names == ["copy"])
      try manager.removeItem(atPath: folder.file("copy"))
    }
    server.stop()
  }

  private func clone(queries: [String]) async -> Outcome { await clone("copy", queries) }

  @Test("an interrupted clone of another service is rejected")
  func otherService() async throws {
    defer { server.stop() }
    try await interrupt()
    let other = try things.serve()
    defer { other.stop() }
    let line = ["clone", other.text("/s/"), "copy", "--query", "a=Things"]
    let rejected = await Rig(directory: folder.path).run(line)
    #expect(rejected.status == .storage && rejected.diagnostics.contains(server.text("/s/")), "\(rejected.diagnostics)")
    #expect(rejected.diagnostics.contains("delete ") && names == ["copy.cloning"], "\(rejected.diagnostics)")
    try manager.removeItem(atPath: folder.file("copy.cloning"))
    #expect(await Rig(directory: folder.path).run(line).status == .done)
  }

  @Test("an interrupted clone with a key is only resumed with that key")
  func otherKey() async throws {
    defer { server.stop() }
    things.arm(SIGKILL, at: 4)
    let line = ["clone", server.text("/s/"), "copy", "--query", "a=Things"]
    _ = try await things.larder(["-C", folder.path] + line, environment: ["LARDER_KEY": "mine"])
    for key in ["another", nil] {
      let rig = Rig(environment: key.map { ["LARDER_KEY": $0] } ?? [:], directory: folder.path)
      let rejected = await rig.run(line)
      #expect(rejected.status == .storage && rejected.diagnostics.contains(KeyAccess.hint), "\(rejected.diagnostics)")
      #expect(rejected.diagnostics.contains("delete that folder"), "\(rejected.diagnostics)")
      #expect(names == ["copy.cloning"])
    }
    var search = MarkerSearch(for: ["Things", "CREATE TABLE"])
    search.look(in: folder.path)
    #expect(search.matches == [])
    let rig = Rig(environment: ["LARDER_KEY": "mine"], directory: folder.path)
    #expect(await rig.run(line).status == .done)
    #expect(await rig.run("-C", "copy", "query", "Things/$count").output == "6")
  }

  @Test("of two clones into one folder, the second fails and does not change the first")
  func twice() async throws {
    defer { server.stop() }
    // No process gets the signal: the response is withheld.
    things.arm(SIGKILL, at: 4)
    let first = Task { await clone() }
    try await server.waitForRequests(4)
    let second = await clone()
    #expect(second.status == .storage && second.diagnostics.contains("another process"), "\(second.diagnostics)")
    #expect((await run("copy", "status")).status == .done)
    first.cancel()
    let interrupted = await first.value
    #expect(interrupted.status == .interrupted && names == ["copy.cloning"], "\(interrupted.diagnostics)")
    #expect(await clone().status == .done)
    #expect((await run("copy", "query", "Things/$count")).output == "6" && names == ["copy"])
  }

  @Test("status describes an unfinished clone, by its future name and its current name")
  func status() async throws {
    defer { server.stop() }
    try await interrupt()
    for place in ["copy", "copy.cloning"] {
      let text = await run(place, "status")
      #expect(text.status == .done && text.diagnostics.isEmpty, "\(text.diagnostics)")
      for words in [server.text("/s/"), "not finished", "'larder clone \(server.text("/s/")) ", "delete "] {
        #expect(text.output.contains(words), "\(place): \(words) in \(text.output)")
      }
      let json = try JSONNode((await run(place, "status", "--json")).outputBytes)
      #expect(json["isFinished"] == .boolean(false) && json["folder"]?.string?.hasSuffix("copy.cloning") == true)
      let rejected = await run(place, "update", "Things(1)", "{}")
      #expect(
        rejected.status == .negative && rejected.diagnostics.contains("unfinished clone"), "\(rejected.diagnostics)")
    }
    #expect((await run("other", "status")).status == .usage)
    #expect((await run("copy", "metadata", "--file", "x")).status == .negative)
  }

  @Test("the files of a process that was killed after its work are removed by a later one")
  func leftover() async throws {
    defer { server.stop() }
    #expect(await clone().status == .done)
    try manager.createDirectory(atPath: folder.file("copy.cloning"), withIntermediateDirectories: false)
    try folder.write(Array(#"{"service":"\#(server.text("/s/"))"}"#.utf8), to: "copy.cloning/clone.json")
    #expect((await run("copy", "query", "Things/$count")).output == "6")
    #expect(await clone().status == .storage)
    #expect(names == ["copy"])
  }
}
