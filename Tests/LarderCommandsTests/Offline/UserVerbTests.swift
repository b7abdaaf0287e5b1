import Foundation
import LarderOData
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("A clone that users share", .odataPy(), .timeLimit(.minutes(3)))
struct UserVerbTests {
  private let folder: TemporaryFolder
  private let root: String

  init() throws {
    folder = try TemporaryFolder()
    root = try ODataPyService.ofSuite.root
    for user in ["ada", "bob"] {
      _ = try folder.write(Array("the key of \(user)\n".utf8), to: "\(user).key")
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file("\(user).key"))
    }
  }

  /// A line in the clone, as a user whose key comes from a file of that name; nil for no user.
  private func run(_ user: String?, isPlain: Bool = false, _ arguments: String...) async -> Outcome {
    var line = arguments
    if let user { line += ["--user", user] }
    if let user, !isPlain { line += ["--key-file", "../\(user).key"] }
    return await Rig(directory: folder.file("shop")).run(line)
  }

  private func clone(_ user: String, isPlain: Bool = false, text: String? = nil) async throws {
    let key = isPlain ? [] : ["--key-file", "\(user).key"]
    let cloned = await Rig(directory: folder.path).run(
      ["clone", root, "shop", "--query", "products=Products", "--user", user] + key)
    try #require(cloned.status == .done, "\(cloned.diagnostics)")
    let json = #"{"Description":"\#(text ?? "of " + user)"}"#
    let changed = await run(user, isPlain: isPlain, "update", "Products(1)", json)
    try #require(changed.status == .done, "\(changed.diagnostics)")
  }

  private func description(_ user: String, _ arguments: String...) async -> String {
    let line = ["query", "Products(1)/Description/$value", "--user", user, "--key-file", "../\(user).key"] + arguments
    let outcome = await Rig(directory: folder.file("shop")).run(line)
    return outcome.output.trimmingCharacters(in: .newlines) + outcome.diagnostics
  }

  @Test("each user has a copy: another user's copy is set aside and restored with its pending changes")
  func setAside() async throws {
    try await clone("ada")
    let rejected = await run("bob", "status")
    #expect(rejected.status == .negative)
    #expect(rejected.diagnostics.contains("belongs to another user") && rejected.diagnostics.contains("set-aside"))
    let missing = await run("bob", "status", "--on-user-switch", "set-aside")
    #expect(missing.status == .negative, "\(missing.diagnostics)")
    #expect(missing.diagnostics.contains("no copy in this clone yet") && missing.diagnostics.contains("--query"))
    let download = await run("bob", "download", "--on-user-switch", "set-aside")
    #expect(download.status == .negative && download.diagnostics.contains("--query"), "\(download.diagnostics)")
    #expect(await description("ada") == "of ada")

    let cloned = await run("bob", "download", "--on-user-switch", "set-aside", "--query", "products=Products")
    #expect(cloned.status == .done, "\(cloned.diagnostics)")
    #expect(await description("bob") != "of ada")
    let sent = await run("bob", "upload", "--json")
    #expect(sent.status == .done && sent.output.contains("\"sent\":0"), "\(sent.output)\(sent.diagnostics)")
    // Another's copy is no part of the own one's size.
    let copy = "shop/store.larder-user-" + String(repeating: "0", count: 32)
    _ = try folder.write([UInt8](repeating: 7, count: 32 << 20), to: copy)
    let sized = await run("bob", "status", "--json")
    let status = try JSONSerialization.jsonObject(with: Data(sized.output.utf8)) as? [String: Any]
    let bytes = try #require(status?["bytes"] as? Int, "\(sized.output)\(sized.diagnostics)")
    #expect(bytes > 0 && bytes < 32 << 20)
    try FileManager.default.removeItem(atPath: folder.file(copy))
    let wrong = await Rig(directory: folder.file("shop")).run(
      "status", "--user", "ada", "--key-file", "../bob.key", "--on-user-switch", "set-aside")
    #expect(wrong.status == .storage && wrong.diagnostics.contains(KeyAccess.hint), "\(wrong.diagnostics)")
    #expect(await description("ada", "--on-user-switch", "set-aside") == "of ada")
    let pending = await run("ada", "status", "--json")
    #expect(pending.output.contains("\"pending\":1"), "\(pending.output)")
    var search = MarkerSearch(for: ["of ada", "CREATE TABLE"])
    search.look(in: folder.file("shop"))
    #expect(search.matches == [])
  }

  @Test("a plain copy reports its number of pending changes, and is only set aside with a key")
  func plain() async throws {
    try await clone("ada", isPlain: true)
    let rejected = await run("bob", isPlain: true, "query", "Products/$count")
    #expect(
      rejected.status == .negative && rejected.diagnostics.contains("1 pending change"), "\(rejected.diagnostics)")
    #expect(rejected.output.isEmpty)
    let key = await run("bob", isPlain: true, "key", "--new-key-file", "../bob.key")
    #expect(key.status == .negative && key.diagnostics.contains("another user"), "\(key.diagnostics)")
    let line = ["download", "--user", "bob", "--on-user-switch", "set-aside", "--query", "products=Products"]
    let rig = Rig(directory: folder.file("shop"))
    let unkeyed = await rig.run(line)
    #expect(unkeyed.status == .storage && unkeyed.diagnostics.contains("--former-key-file"), "\(unkeyed.diagnostics)")
    let cloned = await rig.run(line + ["--former-key-file", "../ada.key"])
    #expect(cloned.status == .done, "\(cloned.diagnostics)")
    #expect(await rig.run("query", "Products(1)/Description/$value").output.contains("of ada") == false)
    let back = await run("ada", "status", "--on-user-switch", "set-aside", "--former-key-file", "../bob.key")
    #expect(back.status == .done, "\(back.diagnostics)")
    #expect(await description("ada") == "of ada")
  }

  @Test("upload-first: the copy is removed after its user has uploaded; with pending changes it stays")
  func uploadFirst() async throws {
    try await clone("ada", isPlain: true, text: "sent")
    func take() async -> Outcome {
      await run(
        "bob", isPlain: true, "download", "--on-user-switch", "upload-first", "--query", "products=Products")
    }
    let early = await take()
    #expect(early.status == .negative && early.diagnostics.contains("1 pending change"), "\(early.diagnostics)")
    #expect(await run("ada", isPlain: true, "upload").status == .done)
    let cloned = await take()
    #expect(cloned.status == .done, "\(cloned.diagnostics)")
    #expect(await run("ada", isPlain: true, "status").status == .negative)
    #expect(await run("bob", isPlain: true, "query", "Products/$count").status == .done)
  }

  @Test("the user can be set in the environment; incompatible options are an error")
  func usage() async throws {
    try await clone("ada")
    var rig = Rig(environment: ["LARDER_STORE_USER": "ada"], directory: folder.file("shop"))
    #expect(await rig.run("status", "--key-file", "../ada.key").status == .done)
    #expect(await rig.run("status", "--user", "bob", "--key-file", "../bob.key").status == .negative)
    rig.environment["LARDER_STORE_USER"] = ""
    #expect(await rig.run("status", "--key-file", "../ada.key").status == .usage)
    rig.environment = [:]
    #expect(await rig.run("status", "--key-file", "../ada.key").status == .done, "whoever it is of")
    for line in [
      ["status", "--on-user-switch", "set-aside"], ["status", "--user", "bob", "--on-user-switch", "burn"],
      ["status", "--user", "bob", "--former-key-file", "../ada.key"],
      ["status", "--user", "bob", "--on-user-switch", "upload-first", "--former-key-file", "../ada.key"],
    ] {
      #expect(await rig.run(line).status == .usage, "\(line)")
    }
  }
}
