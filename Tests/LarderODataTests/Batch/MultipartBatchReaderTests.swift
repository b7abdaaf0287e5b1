import Foundation
import LarderHTTP
import LarderOData
import LarderTestSupport
import Testing

@Suite("Multipart batches are read", .timeLimit(.minutes(5)))
struct MultipartBatchReaderTests {
  /// A read, a change set of two, a failed read: the shapes of Protocol 4.01 §11.7.7.4.
  static let response = [
    "preamble to be passed over", "--b1", "Content-Type: application/http", "Content-Transfer-Encoding: binary", "",
    "HTTP/1.1 200 OK",
    "Content-Type: application/json", "Content-Length: 19", "", "{\"a\":1,", "\"b\":\"--b2\"}", "--b1",
    "Content-Type: multipart/mixed; boundary=\"c s\"", "",
    "--c s", "Content-Type: application/http", "Content-ID: 1", "", "HTTP/1.1 201 Created",
    "Location: http://host/Orders(1)", "", "created",
    "--c s", "Content-Type: application/http", "", "HTTP/1.1 204 No Content", "content-id: 2", "", "", "--c s--",
    "--b1", "Content-Type: application/http", "",
    "HTTP/1.1 404 Not Found", "Content-Type: text/plain", "", "gone", "--b1--", "epilogue", "",
  ]

  static let parts: [BatchResponsePart] = [
    .single(
      BatchResponse(
        status: 200, fields: ["Content-Type": "application/json", "Content-Length": "19"],
        body: Array("{\"a\":1,\r\n\"b\":\"--b2\"}".utf8.prefix(20)))),
    .changeSet([
      BatchResponse(id: "1", status: 201, fields: ["Location": "http://host/Orders(1)"], body: Array("created".utf8)),
      BatchResponse(id: "2", status: 204, fields: ["content-id": "2"]),
    ]), .single(BatchResponse(status: 404, fields: ["Content-Type": "text/plain"], body: Array("gone".utf8))),
  ]

  private static func collect(_ chunks: [[UInt8]], contentType: String = "multipart/mixed; boundary=b1") throws
    -> [BatchEvent]
  {
    var reader = try MultipartBatchReader(contentType: contentType)
    var events: [BatchEvent] = []
    for event in try chunks.flatMap({ try reader.read($0) }) + reader.finish() {
      if case .content(let more) = event, case .content(let earlier) = events.last {
        events[events.count - 1] = .content(earlier + more)
      } else {
        events.append(event)
      }
    }
    return events
  }

  @Test("A response is read with line ends of CRLF and of LF")
  func lineEnds() throws {
    let bytes = Array(MultipartBatchReaderTests.response.joined(separator: "\r\n").utf8)
    // The length declared for the first part is one too short; boundaries decide.
    #expect(
      try MultipartBatchReader.responses(bytes, contentType: "multipart/mixed; boundary=b1")
        == MultipartBatchReaderTests.parts)
    let lines = Array(MultipartBatchReaderTests.response.joined(separator: "\n").utf8)
    let parsed = try MultipartBatchReader.responses(
      lines, contentType: "Multipart/Mixed;charset=utf-8; Boundary=\"b1\"")
    #expect(parsed.map { $0.responses.map(\.status) } == [[200], [201, 204], [404]])
    #expect(parsed.first?.responses.first?.body == Array("{\"a\":1,\n\"b\":\"--b2\"}".utf8))
  }

  @Test("Split at every position, into two chunks and into single bytes, the events are the same")
  func chunks() throws {
    for separator in ["\r\n", "\n"] {
      let bytes = Array(MultipartBatchReaderTests.response.joined(separator: separator).utf8)
      let whole = try MultipartBatchReaderTests.collect([bytes])
      for length in 0...bytes.count {
        #expect(
          try MultipartBatchReaderTests.collect([Array(bytes[..<length]), Array(bytes[length...])]) == whole,
          "cut at \(length)")
      }
      #expect(try MultipartBatchReaderTests.collect(bytes.map { [$0] }) == whole)
    }
  }

  @Test("Truncated at any position, the batch is an error, or only its end is missing")
  func truncation() throws {
    let text = MultipartBatchReaderTests.response.joined(separator: "\r\n").replacing("Length: 19", with: "Length: 20")
    let bytes = Array(text.utf8)
    let whole = MultipartBatchReaderTests.parts
    var accepted: [Int] = []
    for length in 0..<bytes.count {
      do {
        let parsed = try MultipartBatchReader.responses(
          Array(bytes[..<length]), contentType: "multipart/mixed; boundary=b1")
        accepted.append(length)
        let full = zip(parsed, whole).allSatisfy {
          $0.responses.map(\.body) == $1.responses.prefix($0.responses.count).map(\.body)
        }
        #expect(full, "cut at \(length): \(parsed)")
      } catch {
        #expect(error.problem == .truncated || error.part != nil, "cut at \(length): \(error)")
      }
    }
    // Accepted: truncation after the whole batch, after the change set, or after a response without content.
    #expect(accepted.count < 60, "\(accepted)")
  }

  @Test("A missing last boundary is not an error if the content before it is complete")
  func missingEnd() throws {
    let head = "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
    for tail in ["true", "true\r\n", "true\r\n\r\n"] {
      let parsed = try MultipartBatchReader.responses(
        Array((head + tail).utf8), contentType: "multipart/mixed;boundary=b")
      #expect(parsed.first?.responses.first?.body == Array("true".utf8))
    }
    for tail in ["tru", "", "trueX"] {
      let error = #expect(throws: BatchError.self) {
        try MultipartBatchReader.responses(Array((head + tail).utf8), contentType: "multipart/mixed;boundary=b")
      }
      #expect(error?.problem == .truncated && error?.part == "1")
    }
    let empty = "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"
    #expect(try MultipartBatchReader.responses(Array(empty.utf8), contentType: "multipart/mixed;boundary=b").count == 1)
  }

  @Test("Lengths: right, too short, too long, absent; line ends that servers add are not content")
  func lengths() throws {
    for (length, content, expected) in [
      ("Content-Length: 4", "true", "true"), ("Content-Length: 4", "true\r\n\r\n", "true"),
      ("Content-Length: 2", "true", "true"),
      ("Content-Length: 2", "true\r\n", "true\r\n"), ("Content-Length: 400", "true", "true"),
      ("Content-Length: x", "true", "true"), ("A: b", "true\r\n", "true\r\n"),
      ("Content-Length: 6", "true\r\n", "true\r\n"), ("Content-Length: 0", "\r\n\r\n", ""),
      ("Content-Length: 3", "a\n\n", "a\n\n"), ("Content-Length: 3", "a\n\nb", "a\n\nb"),
      ("Content-Length: 1", "a\n\nb\n", "a\n\nb\n"),
    ] {
      let text = "--b\r\n\r\nHTTP/1.1 200 OK\r\n\(length)\r\n\r\n\(content)\r\n--b--"
      let parsed = try MultipartBatchReader.responses(Array(text.utf8), contentType: "multipart/mixed;boundary=b")
      #expect(parsed.first?.responses.first?.body == Array(expected.utf8), "\(length) \(content.debugDescription)")
    }
  }

  @Test("A change set's missing last boundary, its boundary used again, and one response for all of it")
  func changeSets() throws {
    let lines = [
      "--b", "Content-Type: multipart/mixed; boundary=c", "", "--c", "Content-Type: application/http", "",
      "HTTP/1.1 204 No Content", "", "", "--b",
      "Content-Type: multipart/mixed; boundary=c", "", "--c", "Content-Type: application/http", "",
      "HTTP/1.1 201 Created", "", "x", "--c--", "", "--b",
      "Content-Type: application/http", "", "HTTP/1.1 400 Bad Request", "Content-Length: 3", "", "bad", "--b--",
    ]
    let parsed = try MultipartBatchReader.responses(
      Array(lines.joined(separator: "\r\n").utf8), contentType: "multipart/mixed;boundary=b")
    #expect(parsed.count == 3)
    #expect(parsed.map { $0.responses.map(\.status) } == [[204], [201], [400]])
    if case .single(let error) = parsed[2] {
      #expect(error.body == Array("bad".utf8))
    } else {
      Issue.record("the third part is one answer")
    }
  }

  static let rejected: [(String, BatchError.Problem)] = [
    ("", .truncated), ("nothing here", .truncated), ("--b\r\n--b--", .truncated), ("--b\r\n\r\n--b--", .truncated),
    ("--b\r\nContent-Type: text/html\r\n\r\n<p>\r\n--b--", .unexpectedPart(contentType: "text/html")),
    ("--b\r\nno field\r\n\r\n", .malformedLine("no field")),
    ("--b\r\n\r\nHTTP/1.1 abc\r\n\r\n--b--", .malformedLine("HTTP/1.1 abc")),
    ("--b\r\n\r\nHTTP/1.1 200 OK\r\n: x\r\n\r\n--b--", .malformedLine(": x")),
    ("--b\r\nContent-Type: multipart/mixed\r\n\r\n", .badBoundary("")),
    (
      "--b\r\nContent-Type: multipart/mixed;boundary=c\r\n\r\n--c\r\nContent-Type: multipart/mixed;boundary=d\r\n\r\n--d",
      .tooLarge(what: "nested multiparts", limit: 2)
    ),
  ]

  @Test("Text that is not a batch is a typed error", arguments: rejected)
  func rejects(_ text: String, _ problem: BatchError.Problem) {
    let error = #expect(throws: BatchError.self) {
      try MultipartBatchReader.responses(Array(text.utf8), contentType: "multipart/mixed; boundary=b")
    }
    #expect(error?.problem == problem)
  }

  @Test("Media types without a boundary, and other media types, are rejected by name")
  func mediaTypes() {
    for type in ["application/json", "", "text/html; boundary=b"] {
      let error = #expect(throws: BatchError.self) { try MultipartBatchReader(contentType: type) }
      if case .notABatch = error?.problem {} else { Issue.record("\(type): \(String(describing: error))") }
    }
    for type in [
      "multipart/mixed", "multipart/mixed; boundary=", "multipart/mixed; boundary=\"\"",
      "multipart/mixed; boundary=\(String(repeating: "x", count: 300))",
    ] {
      #expect(throws: BatchError.self) { try MultipartBatchReader(contentType: type) }
    }
  }

  @Test("Limits on headers, parts and contents are enforced")
  func limits() throws {
    var limits = BatchLimits()
    limits.headerBytes = 1_000
    limits.parts = 3
    limits.bodyBytes = 10
    let type = "multipart/mixed;boundary=b"
    let long = "--b\r\nContent-Type: " + String(repeating: "x", count: 2_000)
    #expect(throws: BatchError.self) {
      try MultipartBatchReader.responses(Array(long.utf8), contentType: type, limits: limits)
    }
    let many = "--b\r\n" + String(repeating: "A: b\r\n", count: 400)
    #expect(throws: BatchError.self) {
      try MultipartBatchReader.responses(Array(many.utf8), contentType: type, limits: limits)
    }
    let part = "--b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n12345\r\n"
    #expect(
      try MultipartBatchReader.responses(
        Array((String(repeating: part, count: 3) + "--b--").utf8), contentType: type, limits: limits
      ).count == 3)
    let error = #expect(throws: BatchError.self) {
      try MultipartBatchReader.responses(
        Array((String(repeating: part, count: 4) + "--b--").utf8), contentType: type, limits: limits)
    }
    #expect(error?.problem == .tooLarge(what: "parts", limit: 3))
    let big = "--b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n12345678901\r\n--b--"
    #expect(throws: BatchError.self) {
      try MultipartBatchReader.responses(Array(big.utf8), contentType: type, limits: limits)
    }
    // Text before the first boundary may be long: it is not kept.
    let preamble = String(repeating: "-", count: 5_000) + "\r\n" + part + "--b--"
    #expect(try MultipartBatchReader.responses(Array(preamble.utf8), contentType: type, limits: limits).count == 1)
    // The end of such a line is not a boundary, whatever the chunks.
    var reader = try MultipartBatchReader(contentType: type, limits: limits)
    let inside = Array((String(repeating: "x", count: 500) + "--b--\r\n" + part + "--b--").utf8)
    let events = try inside.flatMap { try reader.read([$0]) } + reader.finish()
    #expect(events.contains(.messageEnded))
  }

  @Test("Requests of other products are read completely")
  func samples() throws {
    var read = 0
    for file in SharedOData.files(in: "samples/payloads/batch", suffix: "") where !file.hasDirectoryPath {
      let bytes = Array(try Data(contentsOf: file))
      let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
      let boundary = String(decoding: start.dropFirst(2).prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
      let type = "multipart/mixed; boundary=\(boundary)"
      let whole = try MultipartBatchReaderTests.collect([bytes], contentType: type)
      for length in stride(from: 0, to: bytes.count, by: 7) {
        #expect(
          try MultipartBatchReaderTests.collect([Array(bytes[..<length]), Array(bytes[length...])], contentType: type)
            == whole)
      }
      let messages = whole.filter { if case .message = $0 { true } else { false } }
      #expect(!messages.isEmpty, "\(file.lastPathComponent)")
      print("\(file.lastPathComponent): \(messages.count) messages")
      read += 1
    }
    #expect(SharedOData.folder == nil || read == 6)
  }

  @Test("A request of V2 tools: Content-IDs among the request's fields, blank lines before the boundary")
  func v2Request() throws {
    let text = """
      --batch_123
      Content-Type: multipart/mixed; boundary=changeset_1


      --changeset_1
      Content-Type: application/http
      Content-Transfer-Encoding: binary

      POST Rooms HTTP/1.1
      Content-Type: application/atom+xml
      Content-ID: 2
      Content-Length: 8

      <entry/>

      --changeset_1--


      --batch_123
      Content-Type: application/http

      GET $2/Seats?$filter=a eq 1 HTTP/1.1


      --batch_123--
      """
    let parts = try MultipartBatchReader.requests(Array(text.utf8), contentType: "multipart/mixed; boundary=batch_123")
    #expect(
      parts == [
        .changeSet([
          BatchRequest(
            id: "2", method: .post, url: "Rooms",
            fields: ["Content-Type": "application/atom+xml", "Content-Length": "8"], body: Array("<entry/>".utf8))
        ]),
        .single(BatchRequest(method: .get, url: "$2/Seats?$filter=a%20eq%201")),
      ])
  }

  @Test("Garbage never crashes the reader, whatever the chunks")
  func garbage() {
    var random = PrintedSeed(for: "MultipartBatchReaderTests.garbage")
    let original = Array(MultipartBatchReaderTests.response.joined(separator: "\r\n").utf8)
    var rejected = 0
    for _ in 0..<1_000 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0...2, using: &random) {
        case 0: bytes[place] = [0x0A, 0x0D, 0x2D, 0x00, 0xFF, 0x3A].randomElement(using: &random) ?? 0
        case 1: bytes.remove(at: place)
        default: bytes.insert(contentsOf: bytes.suffix(Int.random(in: 0...40, using: &random)), at: place)
        }
      }
      let length = Int.random(in: 0...bytes.count, using: &random)
      let whole = Result { try MultipartBatchReaderTests.collect([bytes]) }
      let inPieces = Result {
        try MultipartBatchReaderTests.collect([Array(bytes[..<length]), Array(bytes[length...])])
      }
      switch (whole, inPieces) {
      case (.success(let one), .success(let other)): #expect(one == other)
      case (.failure, .failure): rejected += 1
      default: Issue.record("chunks change the outcome: \(whole) and \(inPieces)")
      }
    }
    #expect(rejected > 50)
  }
}
