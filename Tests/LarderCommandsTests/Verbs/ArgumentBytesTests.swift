import Foundation
@_spi(Stores) import LarderCore
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderCommands

/// Arguments that are not UTF-8, as ``LarderProcess`` passes them.
@Suite("larder: arguments with bytes that are not UTF-8", .timeLimit(.minutes(5)))
struct ArgumentBytesTests {
  private static let name = ByteText.text(of: Array("caf".utf8) + [0xE9])

  @Test(
    "Keys, labels and names of folders are rejected as wrong usage: two of them must not become one",
    arguments: [
      ["object", "put", "--store", "s", name], ["object", "put", "--store", "s", "k", "--label", name],
      ["object", "get", "--store", "s", name], ["object", "remove", "--store", "s", "a", name],
      ["object", "list", "--store", name], ["cache", "list", "--cache", name], ["-C", name, "--version"],
    ])
  func rejected(arguments: [String]) async throws {
    let folder = try TemporaryFolder()
    let outcome = await Rig(directory: folder.path).run(arguments)
    #expect(outcome.status == .usage, "\(outcome.diagnostics)")
    #expect(outcome.diagnostics.contains("is not UTF-8"), "\(outcome.diagnostics)")
  }

  @Test("A URL, a header field and the name of an output file keep their bytes")
  func kept() async throws {
    let folder = try TemporaryFolder()
    let server = try ScriptedServer { _ in .response(200, fields: [.contentType: "text/plain"], body: "content") }
    defer { server.stop() }
    let outcome = await Rig(directory: folder.path).run(
      "fetch", "--cache", folder.file("cache"), server.text("/\(Self.name)"), "-H", "X-Name: \(Self.name)", "-o",
      Self.name)
    try #require(outcome.status == .done, "\(outcome.diagnostics)")
    let request = try #require(server.requests.first)
    #expect(request.target == "/caf%E9")
    #expect(request.fields["X-Name"].map { HTTPField(name: "X", value: $0).bytes } == Array("caf".utf8) + [0xE9])
    let bytes = try InputFile.read(folder.file(Self.name))
    #expect(bytes == Array("content".utf8))
    #expect(!InputFile.exists(folder.file("caf\u{FFFD}")))
    #expect(FileManager.default.fileExists(atPath: folder.file(Self.name)) == false)
  }
}
