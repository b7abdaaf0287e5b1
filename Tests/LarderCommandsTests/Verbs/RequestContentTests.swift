import Dispatch
import Foundation
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderCommands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

@Suite("Request content from files, pipes and devices", .timeLimit(.minutes(5)))
struct RequestContentTests {
  /// A named pipe in a folder of its own, and the thread that writes into it.
  private final class NamedPipe: Sendable {
    let folder: TemporaryFolder
    let path: String

    init() throws {
      folder = try TemporaryFolder()
      path = folder.file("pipe")
      try #require(mkfifo(path, 0o600) == 0)
    }

    /// Writes `count` bytes, waits until `passes` is signalled, writes as many again, and ends; without it writes once.
    func write(_ count: Int, then passes: DispatchSemaphore? = nil) {
      let path = path
      Thread.detachNewThread {
        guard let handle = FileHandle(forWritingAtPath: path) else { return }
        let bytes = Data(repeating: 0x61, count: count)
        try? handle.write(contentsOf: bytes)
        if let passes, passes.wait(timeout: .now() + 30) == .success { try? handle.write(contentsOf: bytes) }
        try? handle.close()
      }
    }
  }

  private static let large = 6 << 20

  /// Counts content. What comes to `/from` is sent on to `/to`, and to `/s/from` it has to come again with a token.
  private static func server(onHead: (@Sendable () -> Void)? = nil) throws -> ScriptedServer {
    var options = ScriptedServer.Options()
    options.keepsContent = false
    options.onHead = { _ in
      onHead?()
      return nil
    }
    return try ScriptedServer(options) { request in
      switch (request.path, request.fields["X-CSRF-Token"]) {
      case ("/from", _): .response(307, fields: ["Location": "/to"])
      case ("/s/", "Fetch"): .response(200, fields: ["X-CSRF-Token": "T"])
      case ("/s/from", let token) where token != "T": .response(403, fields: ["X-CSRF-Token": "Required"])
      default: .response(200, body: "done")
      }
    }
  }

  /// Where a verb has to send its content twice.
  private static func twice(_ verb: String) -> String { verb == "fetch" ? "/from" : "/s/from" }

  private static func run(
    _ verb: String, _ server: ScriptedServer, _ path: String, _ data: String, _ options: String...
  ) async throws -> Outcome {
    let folder = try TemporaryFolder()
    let line =
      switch verb {
      case "fetch": ["fetch", "--cache", folder.path, "-X", "PUT", "-d", data, server.text(path)]
      case "send": ["send", "PUT", server.text(path), "-d", data]
      default: ["batch", server.text(path), data]
      }
    return await Rig().run(line + options)
  }

  @Test("A pipe is sent in chunks while its writer writes", arguments: ["fetch", "send"])
  func pipe(verb: String) async throws {
    let pipe = try NamedPipe()
    let headIsThere = DispatchSemaphore(value: 0)
    let server = try Self.server { headIsThere.signal() }
    defer { server.stop() }
    // The second half is written once the server has the request's head.
    pipe.write(Self.large, then: headIsThere)
    let outcome = try await Self.run(verb, server, "/to", pipe.path)
    #expect(outcome.status == .done, "\(outcome.diagnostics)")
    let request = try #require(server.requests.last)
    #expect(request.contentLength == 2 * Self.large)
    #expect(request.fields["Transfer-Encoding"] == "chunked" && !request.fields.contains(.contentLength))
  }

  @Test("A large file is sent with its length, and again if the request is repeated", arguments: ["fetch", "send"])
  func file(verb: String) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Array(repeating: 0x61, count: Self.large), to: "large")
    let server = try Self.server()
    defer { server.stop() }
    let outcome = try await Self.run(verb, server, Self.twice(verb), file)
    #expect(outcome.status == .done, "\(outcome.diagnostics)")
    let sent = server.requests.filter { $0.method == .put }
    #expect(sent.map(\.contentLength) == [Self.large, Self.large])
    #expect(sent.allSatisfy { $0.fields[.contentLength] == String(Self.large) })
  }

  @Test(
    "A short pipe is sent with its length, and again if the request is repeated",
    arguments: ["fetch", "send"])
  func shortPipe(verb: String) async throws {
    let pipe = try NamedPipe()
    let server = try Self.server()
    defer { server.stop() }
    pipe.write(100_000)
    let outcome = try await Self.run(verb, server, Self.twice(verb), pipe.path)
    #expect(outcome.status == .done, "\(outcome.diagnostics)")
    let sent = server.requests.filter { $0.method == .put }
    #expect(sent.map(\.contentLength) == [100_000, 100_000])
    #expect(sent.allSatisfy { $0.fields[.contentLength] == "100000" })
  }

  @Test("A long pipe cannot be sent twice, and the message says what to do", arguments: ["fetch", "send"])
  func longPipeTwice(verb: String) async throws {
    let pipe = try NamedPipe()
    let server = try Self.server()
    defer { server.stop() }
    pipe.write(Self.large)
    let outcome = try await Self.run(verb, server, Self.twice(verb), pipe.path)
    #expect(outcome.status == .usage)
    #expect(outcome.diagnostics.contains("put the data into a file"))
  }

  @Test("--timeout covers reading a pipe without data", arguments: ["fetch", "send", "batch"])
  func silentPipe(verb: String) async throws {
    let pipe = try NamedPipe()
    let server = try Self.server()
    defer { server.stop() }
    let outcome = try await Self.run(verb, server, "/to", pipe.path, "--timeout", "0.05")
    #expect(outcome.status == .storage)
    #expect(
      outcome.diagnostics.contains("\(pipe.path) cannot be read: it did not end within the time limit of --timeout"))
    #expect(server.requests.isEmpty)
  }

  @Test("--timeout ends a request with endless content", arguments: ["fetch", "send"])
  func endless(verb: String) async throws {
    let server = try Self.server()
    defer { server.stop() }
    let outcome = try await Self.run(verb, server, "/to", "/dev/zero", "--timeout", "0.3")
    #expect([.network, .storage].contains(outcome.status), "\(outcome.diagnostics)")
    #expect(outcome.diagnostics.contains("time"))
  }

  @Test("A batch beyond its limit is rejected")
  func longBatch() async throws {
    let outcome = await Rig().run("batch", "http://127.0.0.1:1/", "/dev/zero")
    #expect(outcome.status == .storage)
    #expect(outcome.diagnostics.contains("/dev/zero cannot be read: it is larger than the limit of 67108864 bytes"))
  }

  @Test("The wait for a pipe ends if the task is cancelled")
  func cancelled() async throws {
    let pipe = try NamedPipe()
    let reader = try InputReader(InputDescriptor(path: pipe.path))
    let task = Task { try await reader.next() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("A regular file is read from its position; a folder and a missing file are errors")
  func regularFile() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Array(0..<100), to: "f")
    let input = try InputDescriptor(path: file)
    #expect(lseek(input.number, 40, SEEK_SET) == 40)
    let rest = InputDescriptor(borrowing: input.number)
    #expect(rest.remainder?.start == 40 && rest.remainder?.count == 60)
    #expect(try rest.read(at: 90, count: 100) == Array(90..<100))
    for path in [folder.path, folder.file("none")] {
      let outcome = await Rig().run("send", "POST", "http://127.0.0.1:1/x", "-d", path)
      #expect(outcome.status == .storage && outcome.diagnostics.contains("\(path) cannot be read: "))
    }
  }
}
