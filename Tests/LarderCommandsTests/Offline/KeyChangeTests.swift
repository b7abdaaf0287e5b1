import Foundation
import LarderObjects
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("A key is set, changed and removed", .odataPy(), .timeLimit(.minutes(5)))
struct KeyChangeTests {
  private let folder: TemporaryFolder
  private let root: String

  init() throws {
    folder = try TemporaryFolder()
    root = try ODataPyService.ofSuite.root
    for name in ["old", "new"] { try write("the \(name) phrase\n", to: name) }
    try write("", to: "empty")
  }

  private func write(_ text: String, to name: String) throws {
    _ = try folder.write(Array(text.utf8), to: name)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file(name))
  }

  private func rig(_ key: String? = nil, in place: String = "shop") -> Rig {
    Rig(environment: key.map { ["LARDER_KEY": $0] } ?? [:], directory: place.isEmpty ? folder.path : folder.file(place))
  }

  /// A clone with a pending change.
  private func clone(_ key: String? = nil) async {
    let cloned = await rig(key, in: "").run("clone", root, "shop", "--query", "products=Products")
    #expect(cloned.status == .done, "\(cloned.diagnostics)")
    let changed = await rig(key).run("update", "Products(1)", #"{"Description":"waiting"}"#)
    #expect(changed.status == .done, "\(changed.diagnostics)")
  }

  /// Whether the clone opens with a key, with all that was in it.
  private func isWhole(_ key: String?) async -> Bool {
    let count = await rig(key).run("query", "Products/$count")
    let value = await rig(key).run("query", "Products(1)/Description/$value")
    let plan = await rig(key).run("upload", "--plan")
    return count.output == "40" && value.output == "waiting" && plan.output.contains("Products(1)")
  }

  private func findsText() -> Bool {
    var search = MarkerSearch(for: ["Flour", "CREATE TABLE", "waiting"])
    search.look(in: folder.file("shop"))
    #expect(search.looks > 0)
    return !search.matches.isEmpty
  }

  @Test("a clone gets its first key, another one, and none; pending changes are kept")
  func clones() async throws {
    await clone()
    #expect(findsText())
    let given = await rig().run("key", "--new-key-file", "../old")
    #expect(given.status == .done && given.output == "encrypted\n", "\(given.diagnostics)")
    #expect(await isWhole("the old phrase"))
    #expect(await rig().run("status").status == .storage)
    #expect(!findsText())
    let changed = await rig().run("key", "--key-file", "../old", "--new-key-file", "../new")
    #expect(changed.status == .done && changed.output == "encrypted with another key\n", "\(changed.diagnostics)")
    #expect(await isWhole("the new phrase"))
    #expect(await rig("the old phrase").run("status").status == .storage)
    #expect(!findsText())
    let again = await rig("the new phrase").run("key", "--new-key-file", "../old", "--json")
    #expect(again.output == "{\"encrypted\":true}\n", "\(again.diagnostics)")
    let removed = await rig("the old phrase").run("key", "--remove")
    #expect(removed.status == .done && removed.output == "not encrypted anymore\n", "\(removed.diagnostics)")
    #expect(await isWhole(nil))
    #expect(findsText())
    let sent = await rig().run("upload")
    #expect(sent.status == .done, "\(sent.diagnostics)")
  }

  @Test("the new key can be read from standard input")
  func input() async throws {
    await clone()
    var rig = self.rig()
    rig.input = Array("the new phrase".utf8)
    #expect(await rig.run("key", "--new-key-file", "-").status == .done)
    #expect(await isWhole("the new phrase"))
  }

  @Test("a wrong, missing, empty or unneeded key is an error with a hint, and the clone is not changed")
  func rejected() async throws {
    await clone("the old phrase")
    let store = URL(filePath: folder.file("shop/store.larder"))
    let before = try Data(contentsOf: store)
    struct Case {
      let key: String?
      let line: [String]
      let status: CommandStatus
      let words: String
    }
    let cases = [
      Case(key: "wrong", line: ["--new-key-file", "../new"], status: .storage, words: "encrypted with another key"),
      Case(key: "wrong", line: ["--remove"], status: .storage, words: "encrypted with another key"),
      Case(key: nil, line: ["--new-key-file", "../new"], status: .storage, words: "no key was given"),
      Case(key: nil, line: ["--remove"], status: .usage, words: "--remove needs the current key"),
      Case(key: "", line: ["--new-key-file", "../new"], status: .usage, words: "LARDER_KEY is empty"),
      Case(
        key: nil, line: ["--key-file", "../empty", "--new-key-file", "../new"], status: .storage,
        words: "it is empty, but a key is required"),
      Case(
        key: "the old phrase", line: ["--new-key-file", "../empty"], status: .storage,
        words: "it is empty, but a key is required"),
      Case(
        key: "the old phrase", line: ["--new-key-file", "none"], status: .storage,
        words: "\(folder.file("shop/none")) cannot be read"),
      Case(key: "the old phrase", line: [], status: .usage, words: "the new key is missing"),
      Case(
        key: "the old phrase", line: ["--remove", "--new-key-file", "../new"], status: .usage,
        words: "cannot be combined"),
    ]
    for one in cases {
      let outcome = await rig(one.key).run(["key"] + one.line)
      #expect(outcome.status == one.status, "\(one): \(outcome.diagnostics)")
      #expect(outcome.diagnostics.contains(one.words), "\(one): \(outcome.diagnostics)")
      #expect(outcome.output.isEmpty)
      #expect(!outcome.diagnostics.contains("phrase"), "\(outcome.diagnostics)")
    }
    #expect(try Data(contentsOf: store) == before)
    #expect(await isWhole("the old phrase"))
    #expect(await rig("the old phrase").run("key", "--remove").status == .done)
    let needless = await rig("the old phrase").run("key", "--new-key-file", "../new")
    #expect(needless.status == .storage && needless.diagnostics.contains("not encrypted"), "\(needless.diagnostics)")
    #expect(needless.diagnostics.contains(KeyAccess.hint))
    let nowhere = await rig(in: "").run("key", "--new-key-file", "new")
    #expect(nowhere.status == .storage && nowhere.diagnostics.contains("this folder is not a clone"))
  }

  @Test("larder object key sets, changes and removes the key of an object store")
  func objects() async throws {
    let rig = self.rig(in: "")
    let line = ["object", "key", "--store", "my.store"]
    let missing = await rig.run(line + ["--new-key-file", "old"])
    #expect(missing.status == .storage && missing.diagnostics.contains("no such file"))
    let store = try await ObjectStore(path: folder.file("my.store"))
    try await store.put([UInt8]("value".utf8), forKey: "a")
    let used = await rig.run(line + ["--new-key-file", "old"])
    #expect(used.status == .storage && used.diagnostics.contains("in use"), "\(used.diagnostics)")
    try await store.close()
    for (keys, words) in [
      (["--new-key-file", "old"], "encrypted\n"),
      (["--key-file", "old", "--new-key-file", "new"], "encrypted with another key\n"),
      (["--key-file", "new", "--remove"], "not encrypted anymore\n"),
    ] {
      let done = await rig.run(line + keys)
      #expect(done.status == .done && done.output == words, "\(done.diagnostics)")
      let key = keys.contains("--remove") ? [] : ["--key-file", keys[keys.count - 1]]
      #expect(await rig.run(["object", "get", "--store", "my.store", "a"] + key).output == "value")
    }
    #expect(await rig.run(line + ["--new-key-file", "old"]).status == .done)
    for (key, words) in [(["--key-file", "new"], "another key"), ([], "no key was given")] {
      let rejected = await rig.run(line + key + ["--new-key-file", "new"])
      #expect(rejected.status == .storage && rejected.diagnostics.contains(words), "\(rejected.diagnostics)")
      #expect(rejected.diagnostics.contains(KeyAccess.hint))
    }
    #expect(await rig.run(["object", "get", "--store", "my.store", "a", "--key-file", "old"]).output == "value")
  }

  @Test("a key file that others can read causes a warning with its path")
  func warning() async throws {
    await clone()
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.file("new"))
    let given = await rig().run("key", "--new-key-file", "../new")
    #expect(given.status == .done)
    #expect(given.diagnostics.contains("\(folder.file("shop"))/../new can be read by other users"))
  }
}
