import Foundation
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("Files that verbs write", .timeLimit(.minutes(5)))
struct FileSafetyTests {
  private let folder: TemporaryFolder
  private let server: ScriptedServer

  init() throws {
    folder = try TemporaryFolder()
    server = try ScriptedServer { _ in .response(200, fields: ["Cache-Control": "max-age=60"], body: "content") }
  }

  private var rig: Rig { Rig(input: [1], directory: folder.path) }

  private func text(_ name: String) throws -> String {
    String(decoding: try InputFile.read(folder.file(name)), as: UTF8.self)
  }

  private func mode(_ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: folder.file(name))[.posixPermissions] as? Int
  }

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: folder.file(name), withDestinationPath: folder.file(target))
  }

  @Test("--output keeps a file's permissions, writes through a link, and does not follow a planted link")
  func output() async throws {
    defer { server.stop() }
    _ = try folder.write([1], to: "narrow")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file("narrow"))
    _ = try folder.write(Array("old".utf8), to: "target")
    _ = try folder.write(Array("victim".utf8), to: "victim")
    try link("link", to: "target")
    try link("new.\(ProcessInfo.processInfo.processIdentifier).part", to: "victim")
    for name in ["narrow", "link", "new"] {
      #expect(await rig.run("get", server.text("/x"), "-o", name).status == .done)
    }
    #expect(try mode("narrow") == 0o600 && text("narrow") == "content")
    #expect(try text("target") == "content" && text("victim") == "victim" && text("new") == "content")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("link")) == folder.file("target"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 6)
  }

  @Test("--output to standard output leaves the file behind it in place, and a terminal gets it through the filter")
  func standard() async throws {
    defer { server.stop() }
    guard InputFile.exists("/dev/stdout") else { return print("there is no /dev/stdout") }
    let out = try folder.write([], to: "out")
    let ending = try await Binary.shell(
      "exec 3> '\(out)'; stat -c %i '\(out)'; \"$larder\" get '\(server.text("/x"))' -o /dev/fd/3; echo $?; stat -c %i '\(out)'; cat '\(out)'"
    )
    let lines = ending.text.split(separator: "\n")
    #expect(
      lines.count == 4 && lines[0] == lines[2] && lines[1] == "0" && lines[3] == "content",
      "\(ending.text) \(ending.diagnostics)")
  }

  @Test("output of an encrypted store is readable for its owner only")
  func encrypted() async throws {
    defer { server.stop() }
    let locked = Rig(input: [0x61], environment: ["LARDER_KEY": "secret"], directory: folder.path)
    #expect(await locked.run("object", "put", "--store", "o", "k").status == .done)
    #expect(await locked.run("object", "get", "--store", "o", "k", "-o", "value").status == .done)
    #expect(await locked.run("fetch", "--cache", "fc", server.text("/x"), "-o", "fetched").status == .done)
    #expect(try mode("value") == 0o600 && mode("fetched") == 0o600)
  }

  @Test("a planted file of changes, lock or folder of removed entries is not followed")
  func planted() async throws {
    defer { server.stop() }
    _ = try folder.write(Array("victim".utf8), to: "victim")
    try FileManager.default.createDirectory(atPath: folder.file("elsewhere"), withIntermediateDirectories: false)
    try link("o-changes", to: "victim")
    let put = await rig.run("object", "put", "--store", "o", "k")
    #expect(put.status == .storage && put.diagnostics.contains("symbolic link"), "\(put.diagnostics)")
    #expect(try text("victim") == "victim")
    #expect(await rig.run("fetch", "--cache", "fc", server.text("/x")).status == .done)
    let removed = folder.file("fc/larder.removed")
    try? FileManager.default.removeItem(atPath: removed)
    try link("fc/larder.removed", to: "elsewhere")
    let cleared = await rig.run("cache", "clear", "--cache", "fc")
    #expect(cleared.status == .storage, "\(cleared.output)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("elsewhere")).isEmpty)
  }

  @Test("a clone is not created in another user's folder, or behind a link")
  func stagedElsewhere() async throws {
    defer { server.stop() }
    try FileManager.default.createDirectory(atPath: folder.file("elsewhere"), withIntermediateDirectories: false)
    try link("c.cloning", to: "elsewhere")
    let outcome = await rig.run("clone", server.text("/s/"), "c", "--query", "a=A")
    #expect(outcome.status == .storage, "\(outcome.diagnostics)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("elsewhere")).isEmpty)
  }

  @Test("client certificates and keys that others can read cause a warning, as key files do")
  func certificates() async throws {
    defer { server.stop() }
    for name in ["cert.pem", "key.pem"] { _ = try folder.write(Array("PEM".utf8), to: name) }
    for (mode, count) in [(0o644, 2), (0o600, 0)] {
      for name in ["cert.pem", "key.pem"] {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.file(name))
      }
      let outcome = await rig.run("get", "--cert", "cert.pem", "--key", "key.pem", server.text("/x"))
      #expect(outcome.diagnostics.components(separatedBy: "chmod 600 it").count == count + 1, "\(outcome.diagnostics)")
    }
  }

  @Test("with few open files, there is an error and no crash", arguments: [5, 8, 12, 20, 40, 60, 80, 120])
  func descriptors(limit: Int) async throws {
    defer { server.stop() }
    let url = server.text("/x")
    let verbs = [
      "get '\(url)'", "get --cache tc '\(url)'", "fetch --cache fc '\(url)'", "metadata '\(url)'",
      "object put --store o k in",
      "object list --store o", "clone '\(server.text("/s/"))' c --query a=A", "cache list --cache tc", "parse Things",
      "--version",
      "-C none query A", "payload --file in",
    ]
    let lines = verbs.map { "( ulimit -n \(limit); timeout 20 \"$larder\" \($0) > /dev/null 2>> err ); echo $?" }
    _ = try folder.write(Array("{}".utf8), to: "in")
    let ending = try await Binary.shell("cd '\(folder.path)'\n" + lines.joined(separator: "\n"))
    let codes = ending.text.split(separator: "\n").compactMap { Int($0) }
    #expect(codes.count == verbs.count && codes.allSatisfy { $0 <= 4 }, "\(codes) \(ending.diagnostics)")
    if limit < 60 { #expect(codes.allSatisfy { $0 == 4 }, "\(codes)") }
  }
}
