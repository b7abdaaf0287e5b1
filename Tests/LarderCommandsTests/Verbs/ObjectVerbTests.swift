import Foundation
import LarderOData
import LarderObjects
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("larder object", .timeLimit(.minutes(5)))
struct ObjectVerbTests {
  /// A store in a folder of its own.
  struct Store {
    let folder: TemporaryFolder
    var path: String { folder.file("my.store") }

    init() throws { folder = try TemporaryFolder() }

    func run(_ verb: String, _ arguments: String..., rig: Rig = Rig()) async -> Outcome {
      await rig.run(["object", verb, "--store", path] + arguments)
    }

    func put(_ key: String, _ text: String = "x", _ options: String...) async throws {
      let outcome = await Rig(input: Array(text.utf8)).run(["object", "put", "--store", path, key] + options)
      try #require(outcome.status == .done, "\(outcome.diagnostics)")
      #expect(outcome.output.isEmpty && outcome.diagnostics.isEmpty)
    }

    /// The keys that `list --json` gives.
    func keys(_ options: String...) async throws -> [String] {
      let outcome = await Rig().run(["object", "list", "--json", "--store", path] + options)
      try #require(outcome.status == .done, "\(outcome.diagnostics)")
      return try JSONNode(outcome.outputBytes).items?.map { $0["key"]?.string ?? "?" } ?? []
    }

    /// Works with the store as an application does.
    func with(_ body: (ObjectStore) async throws -> Void) async throws {
      let store = try await ObjectStore(path: path)
      try await body(store)
      try await store.close()
    }
  }

  @Test("Any bytes are read back unchanged, from standard input and from a file")
  func bytes() async throws {
    let store = try Store()
    let all = (0...255).map(UInt8.init) + [0x0A, 0x0D, 0x0A]
    let put = await store.run("put", "all", rig: Rig(input: all))
    #expect(put.status == .done && put.output.isEmpty && put.diagnostics.isEmpty)
    let got = await store.run("get", "all")
    #expect(got.status == .done && got.outputBytes == all && got.diagnostics.isEmpty)

    let file = try store.folder.write(Array("from a file".utf8), to: "given")
    #expect(await store.run("put", "all", file, rig: Rig(input: all)).status == .done)
    #expect(await store.run("get", "all").output == "from a file")
    #expect(await store.run("put", "all", "-").status == .done)
    let empty = await store.run("get", "all")
    #expect(empty.status == .done && empty.outputBytes.isEmpty)
  }

  @Test("An application reads stored bytes as Data, and its encoded values are printed as JSON")
  func application() async throws {
    let store = try Store()
    try await store.put("raw", "abc", "--label", "b", "--label", "a", "--label", "b")
    try await store.with { objects in
      #expect(try await objects.value(Data.self, forKey: "raw") == Data("abc".utf8))
      #expect(try await objects.metadata(forKey: "raw")?.labels == ["a", "b"])
      try await objects.put(["name": "Ada"], forKey: "friend")
    }
    #expect(await store.run("get", "friend").output == #"{"name":"Ada"}"#)
    let shown = await store.run("get", "friend", rig: Rig(isTerminal: true))
    #expect(shown.output == "{\n  \"name\": \"Ada\"\n}\n")
  }

  @Test("A terminal gets text with a line break at the end, and no binary content")
  func terminal() async throws {
    let store = try Store()
    try await store.put("text", "abc")
    #expect(await store.run("get", "text", rig: Rig(isTerminal: true)).output == "abc\n")
    #expect(await store.run("put", "binary", rig: Rig(input: [0, 27, 255])).status == .done)
    let rejected = await store.run("get", "binary", rig: Rig(isTerminal: true))
    #expect(rejected.status == .usage && rejected.output.isEmpty)
    #expect(rejected.diagnostics.contains("--output FILE"))
    let file = store.folder.file("out")
    let written = await store.run("get", "binary", "--output", file, rig: Rig(isTerminal: true))
    #expect(written.status == .done && written.output.isEmpty)
    #expect(try Data(contentsOf: URL(filePath: file)) == Data([0, 27, 255]))
  }

  @Test("Without a value, get exits with 1; without a file, every verb except put exits with 4")
  func absent() async throws {
    let store = try Store()
    for (verb, rest) in [("get", ["k"]), ("list", []), ("remove", ["k"])] {
      let outcome = await Rig().run(["object", verb, "--store", store.path] + rest)
      #expect(outcome.status == .storage && outcome.diagnostics.contains("no such file"), "\(verb)")
    }
    #expect(!FileManager.default.fileExists(atPath: store.path))
    try await store.put("here")
    for options in [[], ["--metadata"], ["--json"], ["--output", store.folder.file("out")]] {
      let outcome = await Rig().run(["object", "get", "--store", store.path, "there"] + options)
      #expect(outcome.status == .negative && outcome.output.isEmpty)
      #expect(outcome.diagnostics.hasPrefix("larder: the key \"there\" has no value\n"))
    }
    #expect(!FileManager.default.fileExists(atPath: store.folder.file("out")))
  }

  @Test("--metadata and --json print details and no bytes, except into --output")
  func metadata() async throws {
    let store = try Store()
    let begin = Date()
    try await store.put("k", "12345", "--label", "l", "--expires", "2h")
    try await store.with { objects in for _ in 0..<3 { _ = try await objects.value(Data.self, forKey: "k") } }
    let lines = await store.run("get", "k", "--metadata").output.split(separator: "\n")
    #expect(lines.prefix(4) == ["key        k", "labels     l", "bytes      5", "coding     bytes"])
    #expect(lines.last == "requested  3" && lines.count == 8)

    let file = store.folder.file("out")
    let json = try JSONNode(await store.run("get", "k", "--json", "--output", file).outputBytes)
    #expect(try Data(contentsOf: URL(filePath: file)) == Data("12345".utf8))
    #expect(json["key"]?.string == "k" && json["bytes"]?.text == "5" && json["coding"]?.string == "bytes")
    #expect(json["labels"]?.items == [.string("l")] && json["timesRequested"]?.text == "3" && json["next"] == nil)
    func time(_ name: String) throws -> Date {
      Date(try #require(json[name]?.string.flatMap { ODataDateTimeOffset($0) }, "\(name)"))
    }
    let (created, expires) = (try time("created"), try time("expires"))
    #expect(try time("updated") == created)
    #expect(created > begin - 2 && created <= Date())
    #expect(abs(expires.timeIntervalSince(created) - 7200) < 120)
  }

  @Test("A value with an expiry in the past is absent everywhere")
  func expired() async throws {
    let store = try Store()
    try await store.put("old", "x", "--expires", "2001-01-01")
    try await store.put("new", "x", "--expires", "9999-12-31T23:59Z")
    #expect(await store.run("get", "old").status == .negative)
    #expect(try await store.keys() == ["new"])
  }

  @Test(
    "Times are durations and dates only",
    arguments: [
      ("90", 1090.0), ("15m", 1900), ("2h", 8200), ("1d", 87_400), ("1970-01-02", 86_400),
      ("1970-01-01T00:01Z", 60), ("1970-01-01T01:00:00.5+01:00", 0.5), ("yesterday", nil), ("1970-01-01T00:00", nil),
      ("-5", nil), ("10000-01-01", nil), ("-0001-01-01", nil), ("", nil), ("99999999999999999999", nil),
      ("1970-02-30", nil), ("1970-01-01Z", nil),
    ] as [(String, Double?)])
  func times(text: String, seconds: Double?) {
    let now = Date(timeIntervalSince1970: 1000)
    #expect(TimePoint.parse(text, .later, now: now)?.timeIntervalSince1970 == seconds)
    if TimeSpan.parse(text) != nil {
      #expect(TimePoint.parse(text, .earlier, now: now)?.timeIntervalSince1970 == seconds.map { 2000 - $0 })
    }
  }

  @Test("list: ranges and prefixes of keys, labels and their prefixes, in both orders")
  func selections() async throws {
    let store = try Store()
    #expect(await store.run("put", "z").status == .done)
    for key in ["b/2", "a", "b/1", "c"] { try await store.put(key, "x", "--label", "all", "--label", "of \(key)") }
    #expect(try await store.keys() == ["a", "b/1", "b/2", "c", "z"])
    #expect(try await store.keys("--reverse") == ["z", "c", "b/2", "b/1", "a"])
    #expect(try await store.keys("--prefix", "b/") == ["b/1", "b/2"])
    #expect(try await store.keys("--from", "b", "--to", "c") == ["b/1", "b/2", "c"])
    #expect(try await store.keys("--from", "b/2") == ["b/2", "c", "z"])
    #expect(try await store.keys("--to", "b/1") == ["a", "b/1"])
    #expect(try await store.keys("--from", "c", "--to", "a") == [])
    #expect(try await store.keys("--label", "all") == ["a", "b/1", "b/2", "c"])
    #expect(try await store.keys("--label", "all", "--prefix", "b/", "--reverse") == ["b/2", "b/1"])
    #expect(try await store.keys("--label-prefix", "of b") == ["b/1", "b/2"])
    #expect(try await store.keys("--label", "none") == [])
  }

  @Test("--limit ends the list with a cursor, and every value is listed once", arguments: [[], ["--reverse"]])
  func pages(order: [String]) async throws {
    let store = try Store()
    let names = (0..<7).map { "k\($0)" }
    for name in names { try await store.put(name, "x", "--label", "all") }
    for selection in [[], ["--label", "all"], ["--label-prefix", "a"]] {
      var seen: [String] = []
      var after: [String] = []
      for page in 0..<3 {
        let outcome = await Rig().run(
          ["object", "list", "--json", "--limit", "3", "--store", store.path] + selection + order + after)
        let items = try JSONNode(outcome.outputBytes).items ?? []
        seen += items.compactMap { $0["key"]?.string }
        let next = items.last?["next"]?.string
        #expect(items.dropLast().allSatisfy { $0["next"] == nil })
        #expect((next == nil) == (page == 2))
        #expect(outcome.diagnostics == (next.map { "There are more values: --after \($0)\n" } ?? ""))
        after = next.map { ["--after=\($0)"] } ?? []
      }
      #expect(seen == (order.isEmpty ? names : names.reversed()))
    }
    let exact = await store.run("list", "--limit", "7")
    #expect(exact.diagnostics.isEmpty)
  }

  @Test("A list longer than a page is complete, as JSON and as a table with one header")
  func longList() async throws {
    let store = try Store()
    let names = (0..<600).map { "k" + String(1000 + $0) }
    try await store.with { objects in
      try await objects.transaction { changes in
        for name in names { try changes.put(Data([1]), forKey: name, labels: ["l"]) }
      }
    }
    #expect(try await store.keys() == names)
    #expect(try await store.keys("--limit", "513") == Array(names.prefix(513)))
    let lines = await store.run("list").output.split(separator: "\n")
    #expect(lines.count == 601)
    #expect(lines.first?.split(separator: " ") == ["bytes", "updated", "expires", "requested", "key", "labels"])
    let cells = lines.dropFirst().map { $0.split(separator: " ") }
    #expect(cells.map { $0.count == 6 ? String($0[4]) : "?" } == names)
    #expect(cells.allSatisfy { $0[0] == "1" && $0[2] == "-" && $0[3] == "0" && $0[5] == "l" })
  }

  @Test("Control characters in keys and labels do not reach the terminal")
  func harmless() async throws {
    let store = try Store()
    try await store.put("a\u{1B}[2J\nb", "x", "--label", "l\u{07}")
    for options in [["list"], ["get", "--metadata", "a\u{1B}[2J\nb"]] {
      let outcome = await Rig(isTerminal: true).run(["object"] + options + ["--store", store.path])
      #expect(outcome.status == .done)
      #expect(!outcome.output.contains("\u{1B}") && !outcome.output.contains("\u{07}"))
      #expect(outcome.output.contains("a\\u{1B}[2J b"))
    }
    #expect(try await store.keys() == ["a\u{1B}[2J\nb"])
  }

  @Test("remove: by keys, together; if some have no value, the exit status is 1")
  func deleteKeys() async throws {
    let store = try Store()
    for key in ["a", "b", "c", "d"] { try await store.put(key) }
    let done = await store.run("remove", "a", "a")
    #expect(done.status == .done && done.output == "removed: 1\n")
    let some = await store.run("remove", "--json", "x", "b", "y")
    #expect(some.status == .negative && some.output == "{\"removed\":1,\"missing\":[\"x\",\"y\"]}\n")
    #expect(some.diagnostics == "larder: 2 keys have no value, such as \"x\"\n")
    #expect(try await store.keys() == ["c", "d"])
    // All or none: a key that cannot be one ends it before anything is removed.
    let wrong = await store.run("remove", "c", String(repeating: "k", count: 1025))
    #expect(wrong.status == .usage)
    #expect(try await store.keys() == ["c", "d"])
  }

  @Test("remove: by label, by age, all")
  func deleteMany() async throws {
    let store = try Store()
    for (key, label) in [("a", "one"), ("b", "two"), ("c", "two"), ("d", "one")] {
      try await store.put(key, "x", "--label", label)
    }
    #expect(await store.run("remove", "--label", "two").output == "removed: 2\n")
    #expect(await store.run("remove", "--label", "two", "--json").output == "{\"removed\":0,\"missing\":[]}\n")
    #expect(try await store.keys() == ["a", "d"])
    #expect(await store.run("remove", "--not-updated-since", "1d").output == "removed: 0\n")
    #expect(await store.run("remove", "--not-updated-since", "2001-01-01T00:00Z").output == "removed: 0\n")
    #expect(await store.run("remove", "--not-updated-since", "9999-01-01").output == "removed: 2\n")
    try await store.put("e")
    #expect(await store.run("remove", "--all").output == "removed: 1\n")
    #expect(try await store.keys() == [])
  }

  @Test(
    "Contradictory or malformed options exit with 2 and change nothing",
    arguments: [
      ["remove"], ["remove", "--all", "k"], ["remove", "--all", "--label", "l"], ["remove", "--label", "l", "k"],
      ["remove", "--not-updated-since", "1d", "--label", "l"], ["remove", "--not-updated-since", "soon"],
      ["remove", "--label", String(repeating: "l", count: 1025)], ["list", "--limit", "0"], ["list", "--limit", "all"],
      ["list", "--label", "l", "--label-prefix", "l"], ["list", "--prefix", "k", "--from", "k"],
      ["list", "--prefix", "k", "--to", "k"], ["list", "--after", "nothing!"], ["list", "k"],
      // The place after "k" in the order of keys is none in an order of labels, nor in another range.
      ["list", "--label", "l", "--after", "AABr"], ["list", "--prefix", "j", "--after", "AABr"],
      ["put"], ["put", "k", "a", "b"], ["put", "k", "--expires", "never"], ["get"], ["get", "a", "b"],
      ["put", String(repeating: "k", count: 1025)], ["put", "k", "--label", String(repeating: "l", count: 1025)],
      ["put", "k", "--label="], ["get", String(repeating: "k", count: 1025)], ["nothing"],
    ])
  func wrong(arguments: [String]) async throws {
    let store = try Store()
    try await store.put("k", "before")
    let outcome = await Rig().run(["object"] + arguments + ["--store", store.path])
    #expect(outcome.status == .usage, "\(outcome)")
    #expect(outcome.output.isEmpty || outcome.output == "[")
    #expect(outcome.diagnostics.hasPrefix("larder: "))
    #expect(await store.run("get", "k").output == "before")
  }

  @Test(
    "Every command needs --store, and put checks it before it reads", arguments: ["put k", "get k", "list", "remove k"])
  func storeIsMissing(command: String) async {
    let outcome = await Rig().run(["object"] + command.split(separator: " ").map(String.init))
    #expect(outcome.status == .usage && outcome.diagnostics.hasPrefix("larder: --store FILE is missing\n"))
  }

  @Test("Another kind of file exits with 4 and is not changed; a missing input exits with 4")
  func foreign() async throws {
    let store = try Store()
    let other = try store.folder.write(Array("no store of ours, but a text".utf8), to: "other")
    for (verb, rest) in [("put", ["k"]), ("get", ["k"]), ("list", []), ("remove", ["--all"])] {
      let outcome = await Rig().run(["object", verb, "--store", other] + rest)
      #expect(outcome.status == .storage && outcome.output.isEmpty && !outcome.diagnostics.isEmpty, "\(verb)")
    }
    #expect(try Data(contentsOf: URL(filePath: other)) == Data("no store of ours, but a text".utf8))
    let missing = await store.run("put", "k", store.folder.file("missing"))
    #expect(missing.status == .storage)
    #expect(!FileManager.default.fileExists(atPath: store.path))
  }

  @Test(
    "If the store is read-only, get and list exit with 4 and a message, and print nothing",
    arguments: [["get", "k"], ["list"]])
  func readOnly(command: [String]) async throws {
    guard let folder = try SealedFolder() else {
      print("nothing can be mounted here, and root may write everywhere: not tried")
      return
    }
    let arguments = ["object", command[0], "--store", folder.file("my.store")] + command.dropFirst()
    try #require(await Rig(input: [1]).run(["object", "put", "--store", folder.file("my.store"), "k"]).status == .done)
    try #require(folder.seal())
    let rejected = await Rig().run(arguments)
    #expect(rejected.status == .storage && rejected.output.isEmpty)
    #expect(rejected.diagnostics.contains("is read-only"), "\(rejected.diagnostics)")
    try #require(folder.unseal())
    let allowed = await Rig().run(arguments)
    #expect(allowed.status == .done && !allowed.output.isEmpty)
  }

  @Test("A value that is too large is rejected, and the store is not created")
  func tooLarge() async throws {
    let store = try Store()
    // A file with a hole of 512 MiB and one byte: it is read no further than the limit.
    let file = store.folder.file("large")
    #expect(FileManager.default.createFile(atPath: file, contents: nil))
    let handle = try FileHandle(forWritingTo: URL(filePath: file))
    try handle.truncate(atOffset: (512 << 20) + 1)
    try handle.close()
    let outcome = await store.run("put", "k", file)
    #expect(outcome.status == .storage && outcome.diagnostics.contains("larger than 536870912 bytes"))
    #expect(!FileManager.default.fileExists(atPath: store.path))
  }

  @Test("-C is the base of relative paths, of the store and of the file")
  func directory() async throws {
    let store = try Store()
    _ = try store.folder.write(Array("content".utf8), to: "in")
    let place = store.folder.url.path(percentEncoded: false)
    #expect(await Rig().run("object", "put", "-C", place, "--store", "my.store", "k", "in").status == .done)
    #expect(await store.run("get", "k").output == "content")
  }

  @Test("An open store of the application sees what the command changes")
  func beside() async throws {
    let store = try Store()
    try await store.with { objects in
      try await objects.put(Data("one".utf8), forKey: "k")
      try await store.put("k", "two")
      #expect(try await objects.value(Data.self, forKey: "k") == Data("two".utf8))
      #expect(await store.run("remove", "k").status == .done)
      #expect(try await objects.value(Data.self, forKey: "k") == nil)
    }
  }
}
