import Foundation
import LarderHTTP
import LarderOData
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCommands

/// A token endpoint that accepts each refresh token once, as services do that detect stolen tokens, and a resource that
/// requires one of its access tokens.
private final class Issuer: Sendable {
  private struct State {
    var next = 1
    var sent: [String: Int] = [:]
    var replacement: String?
  }

  private let state = Mutex(State())

  /// How often each refresh token was sent.
  var sent: [String: Int] { state.withLock { $0.sent } }
  /// The refresh token that is valid.
  var current: String { state.withLock { "R\($0.next)" } }

  /// - Parameter replacement: the JSON of each response's `refresh_token`; nil gives a new one.
  init(replacement: String? = nil) { state.withLock { $0.replacement = replacement } }

  func respond(_ request: ScriptedServer.Request) -> ScriptedServer.Response {
    guard request.path == "/token" else {
      let field = request.fields[.authorization] ?? ""
      return .response(field.hasPrefix("Bearer A") ? 200 : 401, body: field)
    }
    let token = request.text.split(separator: "&").first { $0.hasPrefix("refresh_token=") }?.dropFirst(14) ?? ""
    return state.withLock { state in
      state.sent[String(token), default: 0] += 1
      guard token == "R\(state.next)" else {
        return .response(400, fields: ["Content-Type": "application/json"], body: #"{"error":"invalid_grant"}"#)
      }
      if state.replacement == nil { state.next += 1 }
      let refreshToken = state.replacement ?? "\"R\(state.next)\""
      return .response(
        200, fields: ["Content-Type": "application/json"],
        body:
          #"{"access_token":"A\#(state.next)","token_type":"Bearer","expires_in":3600,"refresh_token":\#(refreshToken)}"#
      )
    }
  }
}

@Suite("Several processes with one refresh token", .serialized, .timeLimit(.minutes(5)))
struct SharedTokenTests {
  private static func userFile(_ server: ScriptedServer, in folder: TemporaryFolder) throws -> String {
    let text = #"{"tokenURL":"\#(server.text("/token"))","clientID":"c","refreshToken":"R1","user":"me"}"#
    let file = try folder.write(Array(text.utf8), to: "user")
    chmod(file, 0o600)
    return file
  }

  private static func member(_ name: String, of file: String) throws -> String? {
    try JSONNode(try InputFile.read(file))[name]?.string
  }

  @Test("Eight at once all succeed, and no refresh token is sent twice")
  func eight() async throws {
    let issuer = Issuer()
    let server = try ScriptedServer { issuer.respond($0) }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let file = try Self.userFile(server, in: folder)
    let line = """
      pids=; for i in 1 2 3 4 5 6 7 8; do
        "$larder" get --user-file '\(file)' '\(server.text("/x"))' >'\(folder.file("out"))'$i 2>&1 & pids="$pids $!"
      done
      for pid in $pids; do wait $pid; echo -n $?; done
      """
    let ending = try await Binary.shell(line)
    let outputs = try (1...8).map { try String(contentsOfFile: folder.file("out\($0)"), encoding: .utf8) }
    #expect(ending.text == "00000000", "\(outputs)")
    #expect(outputs.allSatisfy { $0.hasPrefix("Bearer A") }, "\(outputs)")
    #expect(issuer.sent.values.allSatisfy { $0 == 1 }, "\(issuer.sent)")
    #expect(try Self.member("refreshToken", of: file) == issuer.current)
    #expect(try Self.member("user", of: file) == "me")
    #expect(await Rig().run("get", "--user-file", file, server.text("/x")).status == .done)
    #expect(!InputFile.isReadableByOthers(file) && !InputFile.isReadableByOthers(file + ".lock"))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix("out") }
    #expect(names.sorted() == ["user", "user.lock"])
  }

  @Test("A process that waited uses the tokens of the other one, and does not refresh again")
  func waited() async throws {
    let issuer = Issuer()
    let server = try ScriptedServer { issuer.respond($0) }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let file = try Self.userFile(server, in: folder)
    let lock = try FileLock(file + ".lock")
    _ = try folder.write(Array("a secret".utf8), to: "user.17.part")
    var context = Rig().context(Collector(), Collector())
    let output = Collector()
    context.output = output.port
    context.diagnostics = OutputPort { bytes in
      guard String(decoding: bytes, as: UTF8.self).contains("waiting for another process") else { return }
      // The other process saves its tokens during the wait, and ends.
      let text =
        #"{"tokenURL":"\#(server.text("/token"))","clientID":"c","user":"me","refreshToken":"R2","accessToken":"A9"}"#
      _ = FileManager.default.createFile(atPath: file, contents: Data(text.utf8))
      lock.release()
    }
    #expect(await CommandLineTool.run(["get", "--user-file", file, server.text("/x")], in: context) == .done)
    #expect(output.text == "Bearer A9")
    #expect(issuer.sent.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: folder.file("user.17.part")))
  }

  @Test("The wait for another process ends with --timeout, and nothing is sent")
  func timeout() async throws {
    let issuer = Issuer()
    let server = try ScriptedServer { issuer.respond($0) }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let file = try Self.userFile(server, in: folder)
    let lock = try FileLock(file + ".lock")
    defer { lock.release() }
    let outcome = await Rig().run("get", "--timeout", "0.1", "--user-file", file, server.text("/x"))
    #expect(outcome.status == .network && outcome.diagnostics.contains("user.lock"), "\(outcome.diagnostics)")
    #expect(issuer.sent.isEmpty)
  }

  @Test("If the file cannot be locked, the token is refreshed with a warning")
  func unlockable() async throws {
    let issuer = Issuer()
    let server = try ScriptedServer { issuer.respond($0) }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let file = try Self.userFile(server, in: folder)
    try FileManager.default.createDirectory(atPath: file + ".lock", withIntermediateDirectories: false)
    let outcome = await Rig().run("get", "--user-file", file, server.text("/x"))
    #expect(outcome.status == .done && outcome.output == "Bearer A2")
    #expect(outcome.diagnostics.contains("warning: the token is refreshed without a lock"), "\(outcome.diagnostics)")
    #expect(try Self.member("refreshToken", of: file) == "R2")
  }

  @Test("An empty or malformed refresh token leaves the one in the file", arguments: [#""""#, #""a\u0000b""#, "7"])
  func malformed(json: String) async throws {
    let issuer = Issuer(replacement: json)
    let server = try ScriptedServer { issuer.respond($0) }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let file = try Self.userFile(server, in: folder)
    for _ in 0..<2 { #expect(await Rig().run("get", "--user-file", file, server.text("/x")).status == .done) }
    #expect(issuer.sent == ["R1": 2])
    #expect(try Self.member("refreshToken", of: file) == "R1")
  }

  @Test("A link to the file has the same lock, and stays a link")
  func linked() async throws {
    let issuer = Issuer()
    let server = try ScriptedServer { issuer.respond($0) }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let file = try Self.userFile(server, in: folder)
    try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: "user")
    #expect(await Rig().run("get", "--user-file", folder.file("link"), server.text("/x")).status == .done)
    #expect(try Self.member("refreshToken", of: file) == "R2")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("link")) == "user")
    #expect(FileManager.default.fileExists(atPath: file + ".lock"))
  }
}
