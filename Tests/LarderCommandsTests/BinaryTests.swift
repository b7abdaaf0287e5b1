import Foundation
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderCommands

/// Where the built `larder` is.
enum LarderBinary {
  /// The executable beside that of the tests.
  static let path: String = {
    #if os(Linux)
      let tests =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    #else
      let tests = CommandLine.arguments[0]
    #endif
    let folder = URL(fileURLWithPath: tests).deletingLastPathComponent()
    let here = folder.appending(path: "larder").path
    // On Apple platforms the tests are in a bundle.
    return FileManager.default.isExecutableFile(atPath: here)
      ? here
      : Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
        .map { URL(fileURLWithPath: $0.bundlePath).deletingLastPathComponent().appending(path: "larder").path } ?? here
  }()
}

/// The built `larder`, run as a process.
struct Binary {
  /// How a process ended and what it wrote.
  struct Ending {
    let code: Int32
    let output: [UInt8]
    let diagnostics: String
    var text: String { String(decoding: output, as: UTF8.self) }
  }

  /// Runs a shell line in which `$larder` is the executable.
  static func shell(_ line: String, environment: [String: String] = [:]) async throws -> Ending {
    try await run("/bin/bash", ["-c", line], environment: ["larder": LarderBinary.path].merging(environment) { $1 })
  }

  static func larder(_ arguments: String...) async throws -> Ending { try await run(LarderBinary.path, arguments) }

  private static func run(
    _ executable: String, _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> Ending {
    let folder = try TemporaryFolder()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    for name in ["out", "err"] { try folder.write([], to: name) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("out")))
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("err")))
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in done.resume() }
      do { try process.run() } catch { done.resume(throwing: error) }
    }
    return Ending(
      code: process.terminationStatus,
      output: try InputFile.read(folder.file("out")),
      diagnostics: String(decoding: try InputFile.read(folder.file("err")), as: UTF8.self))
  }
}

@Suite("The larder process", .timeLimit(.minutes(5)))
struct BinaryTests {
  @Test(
    "Exits with the status of the command",
    arguments: [
      (["--version"], 0), (["get", "--help"], 0), (["gte"], 2), ([], 2), (["metadata", "--file", "/no/such"], 4),
      (["metadata", "--file", "/"], 4), (["payload", "--file", "/bin/ls"], 4),
      (["get", "http://127.0.0.1:1/x"], 3), (["cache", "list", "--cache", "/no/such"], 4),
    ] as [([String], Int32)])
  func status(arguments: [String], code: Int32) async throws {
    let quoted = arguments.map { "'\($0)'" }.joined(separator: " ")
    let ending = try await Binary.shell("\"$larder\" \(quoted)")
    #expect(ending.code == code)
    #expect(ending.diagnostics.isEmpty == (code == 0))
  }

  @Test("If the reader of the output ends early, there is no message and no crash")
  func pipe() async throws {
    let server = try ScriptedServer { _ in .large(pattern: Array(repeating: 0x61, count: 1000), times: 20_000) }
    defer { server.stop() }
    let url = server.text("/x")
    let ending = try await Binary.shell("\"$larder\" get '\(url)' | head -c 10; echo; echo ${PIPESTATUS[0]}")
    #expect(ending.text == "aaaaaaaaaa\n0\n")
    #expect(ending.diagnostics.isEmpty)
  }

  @Test("The same for a reader of fetch")
  func fetchPipe() async throws {
    let server = try ScriptedServer { _ in .large(pattern: Array(repeating: 0x61, count: 1000), times: 20_000) }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let line =
      "\"$larder\" fetch --cache '\(folder.path)' '\(server.text("/x"))' | head -c 10; echo; echo ${PIPESTATUS[0]}"
    let ending = try await Binary.shell(line)
    #expect(ending.text == "aaaaaaaaaa\n0\n")
    #expect(ending.diagnostics.isEmpty)
  }

  @Test("After the soft TTL, the reader of fetch has all content before the server responds")
  func fetchAtOnce() async throws {
    let gate = ScriptedServer.Gate()
    let server = try ScriptedServer { request in
      if request.target == "/open" {
        gate.open()
        return .response(200)
      }
      let fields: HTTPFields = ["Cache-Control": "max-age=60"]
      return request.index == 0
        ? .response(200, fields: fields, body: "one") : .chunked(200, fields: fields, pieces: ["two"], gate: gate)
    }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let fetch = "\"$larder\" fetch --cache '\(folder.path)' --ttl 1h --soft-ttl 0 '\(server.text("/x"))'"
    // The server ends its second response only after the reader has reached the end of its input.
    let ending = try await Binary.shell(
      "\(fetch); \(fetch) | { cat; \"$larder\" get '\(server.text("/open"))'; }; \"$larder\" fetch --offline --cache '\(folder.path)' '\(server.text("/x"))'"
    )
    #expect(ending.text == "oneonetwo")
    #expect(ending.code == 0 && ending.diagnostics.isEmpty)
  }

  @Test("A clone is created by one process and read by another; a reader may end early")
  func clone() async throws {
    let service = try await onDedicatedThread { try MockSAP(["--no-csrf"]) }
    let folder = try TemporaryFolder()
    let clone = "\"$larder\" -C '\(folder.path)' clone '\(service.salesOrdersV2)' c --query 'o=A_SalesOrder'"
    let created = try await Binary.shell(clone)
    #expect(created.code == 0, "\(created.diagnostics)")
    service.stop()
    let inside = "\"$larder\" -C '\(folder.file("c"))'"
    let queried = try await Binary.shell(
      "\(inside) query 'A_SalesOrder/$count'; \(inside) status --json | head -c 1; echo ${PIPESTATUS[0]}")
    #expect(queried.text == "25{0\n")
    #expect(try await Binary.shell("\(inside) download").code == 3)
    #expect(try await Binary.shell("\(inside) query 'A_SalesOrder(1)/Nothing'").code == 2)
  }

  @Test("If the disk of its cache is full, fetch prints the content and a warning, and exits with 0")
  func fetchWithoutRoom() async throws {
    let content = String(repeating: "0123456789", count: 50_000)
    let server = try ScriptedServer { request in
      .response(200, fields: ["Cache-Control": "max-age=60"], body: request.path == "/kept" ? "kept" : content)
    }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    // No file may be written: as on a full disk, for what is piped alone there is room.
    func fetch(_ path: String, cache: String) async throws -> Binary.Ending {
      try await Binary.shell(
        """
        trap '' XFSZ
        {
          { ulimit -f 0; "$larder" fetch --cache '\(folder.file(cache))' '\(server.text(path))'; } 2>&1 >&3 | cat >&2
          exit ${PIPESTATUS[0]}
        } 3>&1 | cat
        exit ${PIPESTATUS[0]}
        """)
    }
    let new = try await fetch("/x", cache: "new")
    #expect(new.code == 0 && new.text == content, "\(new.code) \(new.diagnostics)")
    let warning = "warning: responses are not cached: The disk of "
    #expect(new.diagnostics.hasPrefix(warning) && new.diagnostics.contains(" is full."), "\(new.diagnostics)")
    _ = try await Binary.shell("\"$larder\" fetch --cache '\(folder.file("old"))' '\(server.text("/kept"))'")
    let old = try await fetch("/x", cache: "old")
    #expect(old.code == 0 && old.text == content, "\(old.code) \(old.diagnostics)")
    #expect(old.diagnostics.contains("The disk of ") && old.diagnostics.contains(" is full."), "\(old.diagnostics)")
    let cached = try await fetch("/kept", cache: "old")
    #expect(cached.code == 0 && cached.text == "kept" && cached.diagnostics.isEmpty, "\(cached.diagnostics)")
    #expect(server.requests.count == 3)
  }

  @Test("A full disk exits with 4 and a message")
  func full() async throws {
    guard FileManager.default.fileExists(atPath: "/dev/full") else {
      print("/dev/full is not on this platform")
      return
    }
    let ending = try await Binary.shell("\"$larder\" --help > /dev/full")
    #expect(ending.code == 4)
    #expect(ending.diagnostics == "larder: The output cannot be written: the disk is full.\n")
  }

  @Test("An interrupt ends the request: 130, the last event is cancelled, the server sees the client disconnect")
  func interrupt() async throws {
    let server = try ScriptedServer { _ in .hang }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let url = server.text("/x")
    try folder.write([], to: "events")
    let line = """
      "$larder" get --cache '\(folder.file("c"))' --events '\(url)' > '\(folder.file("events"))' &
      while [ "$(wc -l < '\(folder.file("events"))')" -lt 2 ] && kill -0 $!; do sleep 0.05; done
      kill -INT $!; wait $!
      """
    // A shell without job control starts background jobs with SIGINT ignored; `set -m` gives them the usual.
    let ending = try await Binary.shell("set -m\n" + line)
    #expect(ending.code == 130)
    let events = String(decoding: try InputFile.read(folder.file("events")), as: UTF8.self)
    #expect(
      events.split(separator: "\n").last
        == #"{"event":"requestFinished","status":"cancelled","payloadBytes":null,"httpStatus":null,"notModified":false}"#
    )
    #expect(ending.diagnostics.contains("larder: interrupted\n"))
  }

  @Test("SIGTERM ends the process: 143")
  func terminate() async throws {
    let server = try ScriptedServer { _ in .hang }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let events = try folder.write([], to: "events")
    let line = """
      "$larder" get --events '\(server.text("/x"))' > '\(events)' &
      while [ "$(wc -l < '\(events)')" -lt 1 ] && kill -0 $!; do sleep 0.05; done
      kill -TERM $!; wait $!
      """
    let ending = try await Binary.shell(line)
    #expect(ending.code == 143)
    #expect(ending.diagnostics.contains("larder: interrupted\n"))
  }

  @Test("A proxy serves until a signal ends it: 0, and its port is free again")
  func proxy() async throws {
    let server = try ScriptedServer { _ in .response(200, fields: ["Cache-Control": "max-age=60"], body: "kept") }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let log = try folder.write([], to: "log")
    let line = """
      "$larder" proxy --upstream '\(server.text("/base"))' --port 0 --cache '\(folder.file("c"))' > '\(log)' &
      while [ "$(wc -l < '\(log)')" -lt 1 ] && kill -0 $!; do sleep 0.05; done
      url=$(sed -n 's/^Listening on //p' '\(log)')
      for i in 1 2; do "$larder" get "${url}x"; done
      kill -TERM $!; wait $!; echo " $?"
      "$larder" get "${url}x"; echo $?
      """
    let ending = try await Binary.shell(line)
    #expect(ending.text == "keptkept 0\n3\n")
    #expect(server.requests.map(\.target) == ["/base/x"])
    let lines = String(decoding: try InputFile.read(log), as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines.dropFirst().map { $0.split(separator: " ").last } == ["uri-miss", "hit"])
  }

  @Test("Secrets in the environment reach the server, and a user file that others can read causes a warning")
  func secrets() async throws {
    let server = try ScriptedServer { request in .response(200, body: request.fields[.authorization] ?? "none") }
    defer { server.stop() }
    let url = server.text("/x")
    let basic = try await Binary.shell(
      "\"$larder\" get '\(url)'", environment: ["LARDER_USER": "u", "LARDER_PASSWORD": "p:q"])
    #expect(basic.text == "Basic dTpwOnE=")
    let token = try await Binary.shell("\"$larder\" get '\(url)'", environment: ["LARDER_TOKEN": "T"])
    #expect(token.text == "Bearer T")
    let folder = try TemporaryFolder()
    let file = try folder.write(Array("bearer abc\n".utf8), to: "user")
    let open = try await Binary.shell("chmod 644 '\(file)'; \"$larder\" get --user-file '\(file)' '\(url)'")
    #expect(open.text == "Bearer abc")
    #expect(open.diagnostics.contains("warning:") && open.diagnostics.contains("chmod 600"))
    let closed = try await Binary.shell("chmod 600 '\(file)'; \"$larder\" get --user-file '\(file)' '\(url)'")
    #expect(closed.diagnostics.isEmpty)
  }

  @Test("The bash completion completes verbs, options, words and files")
  func completion() async throws {
    let folder = try TemporaryFolder()
    try folder.write([], to: "some file.xml")
    func complete(_ words: String) async throws -> String {
      let script = """
        source <("$larder" completion bash); cd '\(folder.path)'
        COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }
        _larder; printf '%s\\n' "${COMPREPLY[@]}"
        """
      return try await Binary.shell(script).text
    }
    #expect(try await complete("larder me") == "metadata\n")
    #expect(try await complete("larder cache l") == "list\n")
    #expect(try await complete("larder get --pas") == "--passive\n")
    #expect(try await complete("larder send PA") == "PATCH\n")
    #expect(try await complete("larder metadata --file so") == "some file.xml\n")
    #expect(try await complete("larder -C get me") == "metadata\n")
  }
}
