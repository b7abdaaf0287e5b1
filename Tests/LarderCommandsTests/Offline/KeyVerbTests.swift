import Foundation
import LarderHTTP
import LarderOData
import LarderObjects
import LarderOffline
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("Keys on the command line", .timeLimit(.minutes(1)))
struct KeyArgumentTests {
  private func arguments(_ options: [String: [String]] = [:]) -> ParsedArguments {
    ParsedArguments(path: ["larder", "status"], options: options, operands: [:])
  }

  private func key(_ rig: Rig, _ options: [String: [String]] = [:]) throws -> StorageKey? {
    try KeyAccess.key(arguments(options), rig.context(Collector(), Collector()))
  }

  @Test("64 hexadecimal digits are 32 bytes, anything else a passphrase without its last line break")
  func forms() throws {
    let digits = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F"
    let raw = try StorageKey(bytes: Array(0..<32))
    for text in [digits, digits + "\n", digits.lowercased() + "\r\n"] {
      #expect(try KeyAccess.key(Array(text.utf8)) == raw, "\(text)")
    }
    let cases = [
      ("right", "right"), ("right\n", "right"), ("right\r\n", "right"), ("two\nlines\n", "two\nlines"),
      (" right ", " right "), ("right\n\n", "right\n"), (String(digits.dropLast()), String(digits.dropLast())),
      ("x" + digits.dropFirst(), "x" + digits.dropFirst()),
    ]
    for (text, phrase) in cases {
      #expect(try KeyAccess.key(Array(text.utf8)) == (try StorageKey(passphrase: phrase.utf8)), "\(text)")
    }
    for text in ["", "\n", "\r\n"] { #expect(try KeyAccess.key(Array(text.utf8)) == nil) }
    #expect(try StorageKey(bytes: Array(0..<32)) != (try StorageKey(passphrase: (0..<32).map { UInt8($0) })))
  }

  @Test("the file has precedence over the environment; neither may be empty")
  func places() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Array("from the file\n".utf8), to: "key")
    var rig = Rig()
    #expect(try key(rig) == nil)
    rig.environment["LARDER_KEY"] = "from outside"
    #expect(try key(rig) == (try StorageKey(passphrase: "from outside".utf8)))
    #expect(try key(rig, ["--key-file": [file]]) == (try StorageKey(passphrase: "from the file".utf8)))
    rig.input = Array("from a pipe".utf8)
    #expect(try key(rig, ["--key-file": ["-"]]) == (try StorageKey(passphrase: "from a pipe".utf8)))
    rig.environment["LARDER_KEY"] = ""
    #expect(throws: UsageError.self) { try key(rig) }
    try folder.write([], to: "empty")
    #expect(throws: FileError.self) { try key(rig, ["--key-file": [folder.file("empty")]]) }
    #expect(throws: FileError.self) { try key(rig, ["--key-file": [folder.file("missing")]]) }
  }

  @Test("an error names the path of a key file relative to the folder of -C")
  func place() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write([], to: "empty")
    let rig = Rig(directory: folder.path)
    let missing = #expect(throws: FileError.self) { try key(rig, ["--key-file": ["pass"]]) }
    #expect(missing?.description == "\(folder.file("pass")) cannot be read: No such file or directory")
    let empty = #expect(throws: FileError.self) { try key(rig, ["--key-file": ["empty"]]) }
    #expect(empty?.description == "\(folder.file("empty")) cannot be read: it is empty, but a key is required")
  }

  @Test("standard input can be the key or the value, not both: the second would be empty")
  func inputTwice() async throws {
    let folder = try TemporaryFolder()
    let rig = Rig(input: Array("me:sesame".utf8), directory: folder.path)
    for line in [
      ["object", "put", "--store", "s", "--key-file", "-", "k"],
      ["object", "put", "--store", "s", "--key-file", "-", "k", "-"],
      ["object", "key", "--store", "s", "--key-file", "-", "--new-key-file", "-"],
      ["send", "POST", "http://localhost:1/s/Rows", "--data", "-", "--user-file", "-"],
    ] {
      try folder.write([], to: "s")
      let rejected = await rig.run(line)
      #expect(rejected.status == .usage, "\(line): \(rejected.diagnostics)")
      #expect(rejected.diagnostics.contains("only once") && rejected.diagnostics.contains("Use a file"))
      #expect(try Data(contentsOf: URL(filePath: folder.file("s"))).isEmpty)
    }
  }
}

@Suite("A clone, a cache and a store under a key", .odataPy(), .timeLimit(.minutes(5)))
struct KeyVerbTests {
  private let folder: TemporaryFolder
  private let root: String
  private static let phrase = "Sesam-öffne-dich-8841"

  init() throws {
    folder = try TemporaryFolder()
    root = try ODataPyService.ofSuite.root
    _ = try folder.write(Array((Self.phrase + "\n").utf8), to: "key")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file("key"))
  }

  private func rig(_ key: String?) -> Rig {
    Rig(environment: key.map { ["LARDER_KEY": $0] } ?? [:], directory: folder.path)
  }

  private func inside(_ key: String?) -> Rig {
    Rig(environment: key.map { ["LARDER_KEY": $0] } ?? [:], directory: folder.file("shop"))
  }

  private func clone(_ key: String?) async -> Outcome {
    await rig(key).run("clone", root, "shop", "--query", "products=Products")
  }

  @Test("every verb of a clone works with the key; without it, the message says how to pass it, and the status is 4")
  func verbs() async throws {
    #expect(await clone(Self.phrase).status == .done)
    let work: [[String]] = [
      ["query", "Products/$count"], ["status"], ["log"], ["update", "Products(1)", #"{"Description":"here"}"#],
      ["upload", "--plan"], ["undo", "Products(1)"], ["errors", "list"], ["delete", "Products(2)"], ["undo", "--all"],
      ["download"], ["upload"], ["sync"], ["link", "Products(1)/Category", "Categories(1)"],
    ]
    for line in work {
      let done = await inside(Self.phrase).run(line)
      #expect(done.status == .done, "\(line): \(done.diagnostics)")
      let filed = await inside(nil).run(line + ["--key-file", "../key"])
      let isSecond = line.contains("undo") || line.contains("delete")
      #expect(filed.status == .done || isSecond && filed.status == .negative, "\(line): \(filed.diagnostics)")
    }
    for line in work {
      for (key, words) in [(nil, "no key was given"), ("wrong", "encrypted with another key")] as [(String?, String)] {
        let rejected = await inside(key).run(line)
        #expect(rejected.status == .storage, "\(line): \(rejected.diagnostics)")
        #expect(rejected.diagnostics.contains(words), "\(line): \(rejected.diagnostics)")
        #expect(rejected.diagnostics.contains(KeyAccess.hint), "\(line): \(rejected.diagnostics)")
        #expect(rejected.output.isEmpty)
      }
    }
    var search = MarkerSearch(for: ["Flour", "CREATE TABLE", "Products", Self.phrase])
    search.look(in: folder.file("shop"))
    #expect(search.matches == [] && search.looks > 0)
  }

  @Test("a plain clone rejects a key with a message")
  func plain() async throws {
    #expect(await clone(nil).status == .done)
    let rejected = await inside(Self.phrase).run("status")
    #expect(rejected.status == .storage)
    #expect(rejected.diagnostics.contains("not encrypted") && rejected.diagnostics.contains(KeyAccess.hint))
    let empty = await inside("").run("status")
    #expect(empty.status == .usage && empty.diagnostics.contains("LARDER_KEY"))
  }

  @Test("a key is never an argument")
  func argument() async throws {
    #expect(await clone(Self.phrase).status == .done)
    let rejected = await inside(nil).run("status", "--key", Self.phrase)
    #expect(rejected.status == .usage)
    #expect(!rejected.diagnostics.contains(Self.phrase), "\(rejected.diagnostics)")
  }

  @Test("a key from standard input is read once, even if a download opens the store twice")
  func input() async throws {
    try FileManager.default.createDirectory(atPath: folder.file("shop"), withIntermediateDirectories: true)
    _ = try folder.write(Array(#"{"service":"\#(root)/"}"#.utf8), to: "shop/larder.json")
    let provider = try OfflineODataProvider(
      serviceRoot: try #require(URL(string: root + "/")), transport: NoService(),
      parameters: OfflineODataParameters(
        path: folder.file("shop"), encryptionKey: try StorageKey(passphrase: Self.phrase.utf8)))
    try await provider.add(OfflineODataDefiningQuery("products", "Products"))
    // The file is made, and not even metadata come.
    await #expect(throws: OfflineODataError.self) { try await provider.open() }
    var rig = inside(nil)
    rig.input = Array(Self.phrase.utf8)
    let done = await rig.run("download", "--key-file", "-")
    #expect(done.status == .done && done.output.contains("40 rows"), "\(done.diagnostics)")
    #expect(await inside(Self.phrase).run("query", "Products/$count").output == "40")
  }

  private struct NoService: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
      throw .cannotConnect(host: "nowhere", reason: "a test")
    }
  }

  @Test("larder get encrypts cached responses with the key, and its cache opens only with it")
  func cache() async throws {
    let url = root + "/Products(1)"
    let line = ["get", "--cache", "cache", url]
    let first = await rig(Self.phrase).run(line)
    #expect(first.status == .done, "\(first.diagnostics)")
    let stored = await rig(nil).run(line + ["--passive", "--key-file", "key"])
    #expect(stored.status == .done && stored.output == first.output, "\(stored.diagnostics)")
    for (key, words) in [(nil, "no key was given"), ("wrong", "another key")] as [(String?, String)] {
      let rejected = await rig(key).run(line)
      #expect(rejected.status == .storage && rejected.diagnostics.contains(words), "\(rejected.diagnostics)")
      #expect(rejected.diagnostics.contains(KeyAccess.hint))
    }
    var search = MarkerSearch(for: ["Flour", "CREATE TABLE"])
    search.look(in: folder.file("cache"))
    #expect(search.matches == [] && search.looks > 0)
    for line in [["cache", "list", "--cache", "cache"], ["cache", "show", "--cache", "cache", url]] {
      for (key, option) in [(Self.phrase, []), (nil, ["--key-file", "key"])] as [(String?, [String])] {
        let looked = await rig(key).run(line + option)
        #expect(looked.status == .done, "\(line): \(looked.diagnostics)")
        #expect(line[1] == "show" ? looked.output == first.output : looked.output.contains(url), "\(looked.output)")
      }
      let rejected = await rig(nil).run(line)
      #expect(rejected.status == .storage && rejected.diagnostics.contains(KeyAccess.hint), "\(rejected.diagnostics)")
    }
    let needless = await rig(nil).run("get", url, "--key-file", "key")
    #expect(needless.status == .usage && needless.diagnostics.contains("--cache"))
  }

  @Test("larder object opens an application's store with its key of 32 bytes")
  func object() async throws {
    let key = try StorageKey(bytes: (0..<32).map { UInt8($0) &* 7 })
    let store = try await ObjectStore(path: folder.file("my.store"), encryptionKey: key)
    try await store.put([UInt8]("secret value".utf8), forKey: "a")
    try await store.close()
    let digits = (0..<32).map { String(format: "%02x", UInt8($0) &* 7) }.joined()
    let got = await rig(digits).run("object", "get", "--store", "my.store", "a")
    #expect(got.status == .done && got.output == "secret value", "\(got.diagnostics)")
    let rejected = await rig(nil).run("object", "list", "--store", "my.store")
    #expect(rejected.status == .storage && rejected.diagnostics.contains(KeyAccess.hint), "\(rejected.diagnostics)")
  }
}
