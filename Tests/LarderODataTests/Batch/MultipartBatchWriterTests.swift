import LarderHTTP
import LarderOData
import Testing

@Suite("Multipart batches are written", .timeLimit(.minutes(5)))
struct MultipartBatchWriterTests {
  static let parts: [BatchRequestPart] = [
    .single(BatchRequest(url: "Products?$top=1", fields: ["Accept": "application/json"])),
    .changeSet([
      BatchRequest(
        id: "1", method: .post, url: "Orders", fields: ["Content-Type": "application/json"], body: Array("{}".utf8)),
      BatchRequest(id: "2", method: .delete, url: "$1/Items(5)", fields: ["If-Match": "W/\"1\""]),
    ]),
  ]

  @Test("The bytes are those of the standard's example (Protocol 4.01 §11.7.7.1)")
  func bytes() throws {
    let (type, body) = try MultipartBatchWriter.write(
      MultipartBatchWriterTests.parts, boundary: "b36", contentIDs: .part)
    #expect(type == "multipart/mixed; boundary=b36")
    let expected = [
      "--b36", "Content-Type: application/http", "Content-Transfer-Encoding: binary", "",
      "GET Products?$top=1 HTTP/1.1", "Accept: application/json", "", "", "--b36",
      "Content-Type: multipart/mixed; boundary=changeset_1_b36", "", "--changeset_1_b36",
      "Content-Type: application/http", "Content-Transfer-Encoding: binary", "Content-ID: 1", "",
      "POST Orders HTTP/1.1", "Content-Type: application/json", "Content-Length: 2", "", "{}", "--changeset_1_b36",
      "Content-Type: application/http",
      "Content-Transfer-Encoding: binary", "Content-ID: 2", "", "DELETE $1/Items(5) HTTP/1.1", "If-Match: W/\"1\"", "",
      "", "--changeset_1_b36--", "--b36--", "",
    ]
    #expect(String(decoding: body, as: UTF8.self) == expected.joined(separator: "\r\n"))
  }

  @Test(
    "What is written is read back, with Content-IDs in every place",
    arguments: [MultipartBatchWriter.ContentIDPlacement.part, .request, .both])
  func roundTrip(_ placement: MultipartBatchWriter.ContentIDPlacement) throws {
    let (type, body) = try MultipartBatchWriter.write(
      MultipartBatchWriterTests.parts, boundary: "batch_1", contentIDs: placement)
    var requests = try MultipartBatchReader.requests(body, contentType: type)
    guard case .changeSet(var members) = requests[1] else { throw BatchError(.truncated) }
    members[0].fields[.contentLength] = nil
    requests[1] = .changeSet(members)
    #expect(requests == MultipartBatchWriterTests.parts)
    let inner =
      String(decoding: body, as: UTF8.self).components("POST Orders HTTP/1.1\r\n").last?.components("\r\n\r\n").first
      ?? ""
    #expect(inner.contains("Content-ID: 1") == (placement != .part))
  }

  @Test("Absolute, host-relative and relative URLs are written unchanged; host-relative ones get a Host field")
  func urls() throws {
    func head(_ url: String, host: String?) throws -> String {
      let (_, body) = try MultipartBatchWriter.write(
        [.single(BatchRequest(url: url))], boundary: "b", contentIDs: .part, host: host)
      return String(decoding: body, as: UTF8.self)
    }
    #expect(
      try head("https://host/service/Products", host: nil).contains(
        "GET https://host/service/Products HTTP/1.1\r\n\r\n"))
    #expect(
      try head("/service/Products", host: "host:81").contains("GET /service/Products HTTP/1.1\r\nHost: host:81\r\n"))
    #expect(try head("Products('%C3%A4')", host: nil).contains("GET Products('%C3%A4') HTTP/1.1\r\n\r\n"))
    #expect(throws: BatchError.self) { try head("/service/Products", host: nil) }
  }

  static let rejected: [(String, BatchRequestPart)] = [
    ("a line end in a value", .single(BatchRequest(url: "A", fields: ["X": "a\r\nB: c"]))),
    ("a line end in an id", .single(BatchRequest(id: "1\r\nX: y", url: "A"))),
    ("a line end in the URL", .single(BatchRequest(url: "A HTTP/1.1\r\nX: y"))),
    ("a space in the URL", .single(BatchRequest(url: "A B"))), ("no URL", .single(BatchRequest(url: ""))),
    ("letters beyond ASCII in the URL", .single(BatchRequest(url: "ä"))),
    ("a method of two words", .single(BatchRequest(method: HTTPMethod(rawValue: "GET X"), url: "A"))),
    (
      "the boundary in the content",
      .single(BatchRequest(method: .post, url: "A", body: Array("x\r\n--batch_1--".utf8)))
    ), ("a read in a change set", .changeSet([BatchRequest(url: "A")])),
    ("a member of the JSON format", .single(BatchRequest(url: "A", dependsOn: ["1"]))),
  ]

  @Test("Requests that would break the format are rejected, with the part's number", arguments: rejected)
  func rejects(_ name: String, _ part: BatchRequestPart) throws {
    var writer = try MultipartBatchWriter(boundary: "batch_1", contentIDs: .both)
    _ = try writer.write(.single(BatchRequest(url: "First")))
    let error = #expect(throws: BatchError.self, "\(name)") { try writer.write(part) }
    #expect(error?.part?.hasPrefix("2") == true)
  }

  @Test("Boundaries are checked")
  func boundaries() {
    for boundary in ["", "a b", "a\r\nb", "ä", String(repeating: "x", count: 51)] {
      #expect(throws: BatchError.self) { try MultipartBatchWriter(boundary: boundary, contentIDs: .part) }
    }
  }
}

extension String {
  fileprivate func components(_ separator: String) -> [String] {
    split(separator: separator, omittingEmptySubsequences: false).map(String.init)
  }
}
