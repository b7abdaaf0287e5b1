import Foundation
import LarderCore
import LarderHTTP
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCommands

@Suite("larder record", .timeLimit(.minutes(5)))
struct RecordVerbTests {
  private func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      let isKnown = request.path.hasPrefix("/s/")
      return .response(
        isKnown ? 200 : 404, fields: ["Content-Type": "application/json", "Set-Cookie": "id=secret"],
        body: #"{"accept":"\#(request.fields[.accept] ?? "")"}"#)
    }
  }

  @Test("Responses of any status are recorded without secrets, and added to those in the file")
  func file() async throws {
    let server = try server()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let file = folder.file("exchanges.json")
    let users = try folder.write(Array("ada:lovelace".utf8), to: "user")
    let first = await Rig().run(
      "record", "--user-file", users, "-o", file, server.text("/s/$metadata"), server.text("/s/Orders?sig=hidden"))
    #expect(first.status == .done && first.output.isEmpty, "\(first.diagnostics)")
    #expect(first.diagnostics.contains("recorded: 200 \(server.text("/s/Orders?sig=***"))"))
    #expect(await Rig().run("record", "-o", file, server.text("/other")).status == .done)
    let text = try String(contentsOfFile: file, encoding: .utf8)
    for word in ["secret", "hidden", "lovelace", "Authorization"] { #expect(!text.contains(word), "\(word)") }
    let exchanges = try RecordedExchanges(encoded: Array(text.utf8)).exchanges
    #expect(exchanges.map(\.status) == [200, 200, 404])
    #expect(
      exchanges.map { String(decoding: $0.body, as: UTF8.self).contains("application/xml") } == [true, false, false])
  }

  @Test("Without --output the recording goes to standard output")
  func output() async throws {
    let server = try server()
    defer { server.stop() }
    let outcome = await Rig().run("record", server.text("/s/Orders"))
    #expect(outcome.status == .done)
    #expect(try RecordedExchanges(encoded: outcome.outputBytes).exchanges.count == 1)
  }

  @Test("Credentials that were sent are replaced where the service repeats them, and the last line counts the values")
  func repeatedCredentials() async throws {
    let server = try ScriptedServer { request in
      let (key, authorization) = (request.fields["X-Api-Key"] ?? "", request.fields[.authorization] ?? "")
      return .response(
        200, fields: ["Content-Type": "application/json"],
        body: #"{"you":"\#(key)","field":"\#(authorization)","a":{"password":1234},"url":"\#(request.target)"}"#)
    }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let file = folder.file("exchanges.json")
    let fields = try folder.write(Array("X-Api-Key: an-api-key\n".utf8), to: "fields")
    let user = try folder.write(Array("ada:lovelace1815".utf8), to: "user")
    let options = ["record", "-o", file, "--user-file", user, "-H", "@\(fields)"]
    let outcome = await Rig().run(options + [server.text("/s/Orders?sig=signature"), server.text("/s/lovelace1815")])
    #expect(outcome.status == .done, "\(outcome.diagnostics)")
    let exchanges = try RecordedExchanges(encoded: try InputFile.read(file)).exchanges
    #expect(
      exchanges.map { String(decoding: $0.body, as: UTF8.self) } == [
        #"{"you":"***","field":"***","a":{"password":0},"url":"/s/Orders?sig=***"}"#,
        #"{"you":"***","field":"***","a":{"password":0},"url":"/s/***"}"#,
      ])
    #expect(outcome.diagnostics.split(separator: "\n").last == "replaced: 10 values", "\(outcome.diagnostics)")
  }

  @Test("A new file is accessible to its owner only; an existing one keeps its permissions")
  func permissions() async throws {
    let server = try server()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let file = folder.file("exchanges.json")
    for mode in [0o600, 0o644] {
      #expect(await Rig().run("record", "-o", file, server.text("/s/Orders")).status == .done)
      let attributes = try FileManager.default.attributesOfItem(atPath: file)
      #expect(attributes[.posixPermissions] as? Int == mode)
      chmod(file, 0o644)
    }
  }

  @Test("A response that another process records while the command waits for the folder stays in the file")
  func parallel() async throws {
    let server = try server()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let file = folder.file("exchanges.json")
    let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(descriptor) }
    #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    let other = RecordedExchange(url: "https://h/other", status: 200)
    var context = Rig().context(Collector(), Collector())
    context.diagnostics = OutputPort { bytes in
      // The other process writes during the wait, and ends.
      guard String(decoding: bytes, as: UTF8.self).contains("waiting for another process") else { return }
      #expect(FileManager.default.createFile(atPath: file, contents: Data(RecordedExchanges([other]).encoded)))
      #expect(flock(descriptor, LOCK_UN) == 0)
    }
    #expect(await CommandLineTool.run(["record", "-o", file, server.text("/s/Orders")], in: context) == .done)
    let recording = try RecordedExchanges(encoded: [UInt8](try Data(contentsOf: URL(filePath: file))))
    #expect(recording.exchanges.map(\.url) == [other.url, server.text("/s/Orders")])
  }

  @Test("Links to the file, and the file itself, are for the same recording, also if it does not exist yet")
  func links() async throws {
    let folder = try TemporaryFolder()
    for name in ["real", "links"] {
      try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: false)
    }
    let file = folder.file("real/exchanges.json")
    let (absolute, relative) = (folder.file("links/absolute.json"), folder.file("links/relative.json"))
    try FileManager.default.createSymbolicLink(atPath: absolute, withDestinationPath: file)
    try FileManager.default.createSymbolicLink(atPath: relative, withDestinationPath: "absolute.json")
    for path in [file, absolute, relative] {
      let lock = try await FolderLock.wait(forFile: FolderLock.target(of: path)) { _ in }
      let descriptor = open(folder.file("real"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      defer { close(descriptor) }
      #expect(flock(descriptor, LOCK_EX | LOCK_NB) != 0, "\(path)")
      _ = consume lock
      #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0, "\(path)")
    }
    let server = try server()
    defer { server.stop() }
    for path in [relative, file] {
      #expect(await Rig().run("record", "-o", path, server.text("/s/Orders")).status == .done)
    }
    #expect(try RecordedExchanges(encoded: [UInt8](try Data(contentsOf: URL(filePath: file)))).exchanges.count == 2)
  }

  @Test("The file that a link leads to is replaced as a whole")
  func replacement() async throws {
    let server = try server()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let (file, link) = (folder.file("real.json"), folder.file("link.json"))
    #expect(await Rig().run("record", "-o", file, server.text("/s/Orders")).status == .done)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "real.json")
    // A reader that has opened the file before still has all of it.
    let reader = try #require(FileHandle(forReadingAtPath: file))
    #expect(await Rig().run("record", "-o", link, server.text("/s/Items")).status == .done)
    #expect(try RecordedExchanges(encoded: [UInt8](try #require(try reader.readToEnd()))).exchanges.count == 1)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "real.json")
    #expect(try RecordedExchanges(encoded: [UInt8](try Data(contentsOf: URL(filePath: file)))).exchanges.count == 2)
  }

  @Test("The wait for a folder that another process has locked is noted, ends with an error, and can be cancelled")
  func lockedFolder() async throws {
    let folder = try TemporaryFolder()
    let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(descriptor) }
    #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    let time = Mutex(Duration.zero)
    var environment = LarderEnvironment.system
    environment.uptime = { time.withLock { $0 } }
    environment.sleep = { duration in time.withLock { $0 += duration } }
    var notes: [String] = []
    do {
      _ = try await FolderLock.wait(forFile: folder.file("a.json"), in: environment) { notes.append($0) }
      Issue.record("The lock of another process was ignored")
    } catch let failure as CommandFailure {
      #expect(failure.status == .storage && failure.hint != nil)
      #expect(failure.message.contains("another process has locked the folder \(folder.path)"), "\(failure.message)")
    }
    #expect(notes.count == 1 && notes.first?.contains(folder.path) == true, "\(notes)")
    #expect(time.withLock { $0 } == .seconds(10))
    let path = folder.file("a.json")
    let waiting = Task { _ = try await FolderLock.wait(forFile: path) { _ in } }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(flock(descriptor, LOCK_UN) == 0)
    _ = try await FolderLock.wait(forFile: path) { _ in Issue.record("There is nothing to wait for") }
  }

  @Test("Content with an encoding that is not decoded is not recorded", arguments: ["br", "gzip, br"])
  func encodings(_ coding: String) async throws {
    let server = try ScriptedServer { _ in
      .response(200, fields: ["Content-Type": "text/plain", "Content-Encoding": coding], body: "not really")
    }
    defer { server.stop() }
    let outcome = await Rig().run("record", server.text("/s/Orders?sig=hidden"))
    #expect(outcome.status == .network && outcome.output.isEmpty)
    #expect(outcome.diagnostics.contains("/s/Orders?sig=***: the content is encoded with '\(coding)'"))
  }

  @Test("A pipe is only written to; an empty file is rejected")
  func pipes() async throws {
    let server = try server()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let pipe = folder.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    // Opened for both directions, so that neither side waits for the other.
    let reader = open(pipe, O_RDWR | O_NONBLOCK)
    defer { close(reader) }
    let outcome = await Rig().run("record", "-o", pipe, server.text("/s/Orders"))
    #expect(outcome.status == .done, "\(outcome.diagnostics)")
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(reader, &bytes, bytes.count)
    #expect(try RecordedExchanges(encoded: Array(bytes.prefix(max(0, count)))).exchanges.count == 1)
    let empty = await Rig().run("record", "-o", try folder.write([], to: "empty.json"), server.text("/s/Orders"))
    #expect(empty.status == .storage && empty.diagnostics.contains("it is empty"), "\(empty.diagnostics)")
  }

  @Test("If a URL cannot be requested, or the file is no recording, the file stays as it was")
  func failures() async throws {
    let server = try server()
    let folder = try TemporaryFolder()
    let url = server.text("/s/Orders")
    let file = try folder.write(Array("{}".utf8), to: "other.json")
    let rejected = await Rig().run("record", "-o", file, url)
    #expect(rejected.status == .storage && rejected.diagnostics.contains("not written by 'larder record'"))
    let unwritable = await Rig().run("record", "-o", folder.path, url)
    #expect(
      unwritable.status == .storage && unwritable.diagnostics.contains("it is a folder"), "\(unwritable.diagnostics)"
    )
    #expect(server.requests.isEmpty)
    server.stop()
    let unreachable = await Rig().run("record", "-o", folder.file("new.json"), url)
    #expect(unreachable.status == .network)
    #expect(!FileManager.default.fileExists(atPath: folder.file("new.json")))
    #expect(await Rig().run("record").status == .usage)
  }
}
