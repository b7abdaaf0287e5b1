import Foundation
import LarderHTTP
import LarderOData
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("larder batch: Content-IDs, byte order marks, and responses that break off", .timeLimit(.minutes(3)))
struct BatchVerbTests {
  private static func part(_ status: Int, _ body: String = "", id: String? = nil) -> String {
    "--b\r\nContent-Type: application/http\r\n\(id.map { "Content-ID: \($0)\r\n" } ?? "")\r\nHTTP/1.1 \(status) X\r\n\r\n\(body)\r\n"
  }

  /// What the service was sent, read back.
  private func sent(_ text: String) async throws -> [BatchRequestPart] {
    let server = try ScriptedServer { _ in .response(500) }
    defer { server.stop() }
    _ = await Rig(input: Array(text.utf8)).run("batch", server.text("/svc/"), "-")
    let request = try #require(server.requests.first)
    return try MultipartBatchReader.requests(request.body, contentType: request.fields["Content-Type"] ?? "")
  }

  @Test("each request of a change set has a unique Content-ID")
  func contentIDs() async throws {
    let parts = try await sent(
      "changeset {\nPOST P\n\n{}\n---\nPOST P\nContent-ID: 1\n\n{}\n---\nDELETE P(1)\n}\n---\nGET P\n---\nchangeset {\nDELETE P(2)\n}\n"
    )
    #expect(parts.map { $0.requests.map(\.id) } == [["2", "1", "3"], [nil], ["4"]])
    let old = try await sent("changeset {\nMERGE P(1)\n\n{}\n---\nDELETE P(2)\n}\n")
    #expect(old.map { $0.requests.map(\.id) } == [[nil, nil]])
  }

  @Test("a raw value is not requested as JSON; an Accept that is given is sent")
  func rawValues() async throws {
    let parts = try await sent(
      "GET P(1)/Photo/$value\n---\nGET P/$count\n---\nGET P\n---\nGET P(1)/Note/$value\nAccept: text/html\n\n")
    #expect(
      parts.flatMap(\.requests).map { $0.fields["Accept"] }
        == ["*/*", "text/plain, */*;q=0.1", "application/json", "text/html"])
  }

  private static let marked = [
    "GET P(1)\n", #"{"requests":[{"id":"1","method":"get","url":"P(1)"}]}"#,
    "--x\r\nContent-Type: application/http\r\n\r\nGET P(1) HTTP/1.1\r\n\r\n\r\n--x--\r\n",
    "POST /svc/$batch HTTP/1.1\r\nHost: h\r\n\r\n--x\r\nContent-Type: application/http\r\n\r\nGET P(1) HTTP/1.1\r\n\r\n\r\n--x--\r\n",
  ]

  @Test("a byte order mark before the batch is ignored", arguments: marked)
  func mark(_ text: String) async throws {
    let server = try ScriptedServer { request in
      request.fields["Content-Type"] == "application/json"
        ? .response(
          200, fields: ["Content-Type": "application/json"], body: #"{"responses":[{"id":"1","status":200,"body":{}}]}"#
        )
        : .response(
          200, fields: ["Content-Type": "multipart/mixed; boundary=b"], body: Self.part(200, "{}") + "--b--\r\n")
    }
    defer { server.stop() }
    let outcome = await Rig(input: [0xEF, 0xBB, 0xBF] + Array(text.utf8)).run("batch", server.text("/svc/"), "-")
    #expect(outcome.status == .done && outcome.output.hasPrefix("1  GET P(1)  200"), "\(outcome.diagnostics)")
    #expect(server.requests.first?.body.first != 0xEF)
  }

  private static let text = "GET P(1)\n---\nGET P(2)\n---\nchangeset {\nPOST P\n\n{}\n---\nPOST P\n\n{}\n}\n"

  private static let inner =
    "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n"
    + "--c\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 201 X\r\n\r\nmade\r\n--c\r\nContent-Type: application/http\r\n\r\nHTTP/1"

  private static let truncated: [(body: String, shown: String)] = [
    (part(200, "{}") + "--b\r\nContent-Type: applica", "1  GET P(1)  200  2 bytes\n{}\n"),
    (part(200, "{}") + part(404) + "--b", "1  GET P(1)  200  2 bytes\n{}\n2  GET P(2)  404\n"),
    (
      part(200, "{}") + part(204) + inner,
      "1  GET P(1)  200  2 bytes\n{}\n2  GET P(2)  204\n3.1  POST P  201  4 bytes\nmade\n"
    ),
    // An id that is another's contradicts the order.
    (part(200, "{}", id: "9") + "--b\r\n", ""),
  ]

  @Test(
    "the parts before the break are shown, then the error, for a lost connection and for truncated content",
    arguments: truncated.indices, [0, 50])
  func endsEarly(_ place: Int, _ missing: Int) async throws {
    let (body, shown) = Self.truncated[place]
    let server = try ScriptedServer { _ in
      .raw(
        "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=b\r\nContent-Length: \(body.utf8.count + missing)\r\n\r\n"
          + body)
    }
    defer { server.stop() }
    let outcome = await Rig(input: Array(Self.text.utf8)).run("batch", server.text("/svc/"), "-")
    #expect(outcome.status == .network)
    #expect(outcome.output == shown, "\(outcome.diagnostics)")
    #expect(outcome.diagnostics.contains("larder: "), "\(outcome.diagnostics)")
  }
}
