import HTTPCore
import OData
import Testing

@Suite("Answers of a batch find their requests", .timeLimit(.minutes(5)))
struct BatchAnswerTests {
  static let requests: [BatchRequestPart] = [
    .single(BatchRequest(url: "A")),
    .changeSet([BatchRequest(id: "1", method: .post, url: "B"), BatchRequest(id: "2", method: .post, url: "C")]),
    .single(BatchRequest(url: "D")),
  ]

  private static func ok(_ id: String? = nil, _ status: Int = 200) -> BatchResponse {
    BatchResponse(id: id, status: status)
  }

  @Test("Parts by their order, members of a change set by Content-ID")
  func order() throws {
    let answers = try BatchAnswer.match(
      [.single(Self.ok()), .changeSet([Self.ok("2", 204), Self.ok("1", 201)]), .single(Self.ok())], to: Self.requests)
    #expect(answers == [.single(Self.ok()), .changeSet([Self.ok("1", 201), Self.ok("2", 204)]), .single(Self.ok())])
  }

  @Test(
    "Without ids, or with ids of the service's own, members come in order",
    arguments: [[nil, nil], ["7", "8"], ["1", "1"], ["2", nil]] as [[String?]])
  func noIDs(_ ids: [String?]) throws {
    let members = [Self.ok(ids[0], 201), Self.ok(ids[1], 204)]
    let answers = try BatchAnswer.match(
      [.single(Self.ok()), .changeSet(members), .single(Self.ok())], to: Self.requests)
    #expect(answers[1] == .changeSet(members))
  }

  @Test("One error answers a whole change set, in place of the multipart or inside it")
  func failedChangeSet() throws {
    for part in [BatchResponsePart.single(Self.ok(nil, 400)), .changeSet([Self.ok("2", 400)])] {
      let answers = try BatchAnswer.match([.single(Self.ok()), part, .single(Self.ok())], to: Self.requests)
      #expect(answers[1] == .changeSetFailed(part.responses[0]))
    }
  }

  @Test("After an error the rest may be missing (Protocol 4.01 §11.7.2); without one a missing answer is named")
  func missing() throws {
    let stopped = try BatchAnswer.match([.single(Self.ok()), .single(Self.ok(nil, 409))], to: Self.requests)
    #expect(stopped == [.single(Self.ok()), .changeSetFailed(Self.ok(nil, 409)), .notProcessed])
    let error = #expect(throws: BatchError.self) { try BatchAnswer.match([.single(Self.ok())], to: Self.requests) }
    #expect(error?.part == "2" && error?.problem == .countMismatch(expected: 3, found: 1))
    let inside = #expect(throws: BatchError.self) {
      try BatchAnswer.match([.single(Self.ok()), .changeSet([Self.ok()]), .single(Self.ok())], to: Self.requests)
    }
    #expect(inside?.part == "2.2")
    let more = Array(repeating: BatchResponsePart.single(Self.ok()), count: 4)
    #expect(throws: BatchError.self) { try BatchAnswer.match(more, to: Self.requests) }
  }

  @Test("JSON answers are found by id, in any order")
  func json() throws {
    let (_, written) = try JSONBatchWriter.write(Self.requests)
    let ids = written.map { $0.requests.map { $0.id ?? "" } }
    #expect(ids == [["3"], ["1", "2"], ["4"]])
    let all = [Self.ok("4"), Self.ok("2", 204), Self.ok("3"), Self.ok("1", 201)]
    #expect(
      try BatchAnswer.match(json: all, to: written) == [
        .single(Self.ok("3")), .changeSet([Self.ok("1", 201), Self.ok("2", 204)]), .single(Self.ok("4")),
      ])
    #expect(
      try BatchAnswer.match(json: [Self.ok("3"), Self.ok("2", 400)], to: written) == [
        .single(Self.ok("3")), .changeSetFailed(Self.ok("2", 400)), .notProcessed,
      ])
    for bad in [all + [Self.ok("9")], all + [Self.ok("1")], all.dropLast() + [Self.ok(nil)], Array(all.dropFirst())] {
      #expect(throws: BatchError.self) { try BatchAnswer.match(json: bad, to: written) }
    }
  }

  @Test("An answer that is no batch is a refusal, or an error where it claims success")
  func wholeAnswer() throws {
    let html: HTTPFields = ["Content-Type": "text/html"]
    let refused = try BatchAnswers.read(
      status: 403, fields: ["Content-Type": "application/json"], body: Array("{}".utf8), requests: Self.requests)
    #expect(
      refused
        == .refused(BatchResponse(status: 403, fields: ["Content-Type": "application/json"], body: Array("{}".utf8))))
    let error = #expect(throws: BatchError.self) {
      try BatchAnswers.read(status: 200, fields: html, body: [], requests: Self.requests)
    }
    #expect(error?.problem == .notABatch(contentType: "text/html"))
    let multipart = "--b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n--b--"
    let parts = try BatchAnswers.read(
      status: 202, fields: ["Content-Type": "multipart/mixed; boundary=b"], body: Array(multipart.utf8),
      requests: [.single(BatchRequest(url: "A"))])
    #expect(parts == .parts([.single(Self.ok())]))
  }

  private static func read(_ text: String, _ type: String) throws(BatchError) -> BatchAnswers {
    try BatchAnswers.read(
      status: 200, fields: ["Content-Type": type], body: Array(text.utf8), requests: Self.requests)
  }

  @Test(
    "Of a multipart that is cut off, the parts before are there, and the place of the cut",
    arguments: [
      ("--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 20", 1),
      ("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\n", 1),
      (
        "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n--c\r\n\r\n"
          + "HTTP/1.1 200 OK\r\n\r\n\r\n--c--\r\n--b\r\n", 2
      ), ("--b\r\nContent-Type: application/http\r\nno field\r\n", 1), ("--b--", 1),
    ])
  func cutMultipart(rest: String, whole: Int) throws {
    let text = "--b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n" + rest
    guard case .incomplete(let slots, let error) = try Self.read(text, "multipart/mixed; boundary=b") else {
      Issue.record("nothing is missed")
      return
    }
    #expect(slots.map { $0 != nil } == [true, whole > 1, false])
    #expect(slots[0] == .single(Self.ok()))
    #expect(error.part?.first == (whole > 1 ? "3" : "2"))
  }

  @Test("Of a JSON answer that is cut off, the items before are there, in whatever order")
  func cutJSON() throws {
    let requests: [BatchRequestPart] = [
      .single(BatchRequest(id: "1", url: "A")), .single(BatchRequest(id: "2", url: "B")),
    ]
    for end in ["", ",", #",{"id":"1","sta"#, "]}", "x"] {
      let text = #"{"responses":[{"id":"2","status":204}"# + end
      let found = try BatchAnswers.read(
        status: 200, fields: ["Content-Type": "application/json"], body: Array(text.utf8), requests: requests)
      guard case .incomplete(let slots, _) = found else {
        Issue.record("nothing is missed")
        return
      }
      #expect(slots == [nil, .single(Self.ok("2", 204))])
    }
  }

  @Test("Where no part is whole, or there are more than were asked for, the error is thrown")
  func nothingWhole() {
    for text in ["", "--b\r\n", "--b\r\n\r\nHTTP/1.1 200 OK\r\nA: b", "--b--"] {
      #expect(throws: BatchError.self) { try Self.read(text, "multipart/mixed; boundary=b") }
    }
    let four = String(repeating: "--b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n", count: 4)
    #expect(throws: BatchError.self) { try Self.read(four + "--b--", "multipart/mixed; boundary=b") }
    #expect(throws: BatchError.self) { try Self.read(#"{"responses":["#, "application/json") }
  }

  @Test("A reader that has thrown still gives out what came before in the same chunk")
  func completed() throws {
    var reader = try MultipartBatchReader(contentType: "multipart/mixed; boundary=b")
    let text = "--b\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhi\r\n--b\r\n\r\nHTTP/1.1 x\r\n"
    #expect(throws: BatchError.self) { try reader.read(Array(text.utf8)) }
    #expect(reader.completed().count == 3 && reader.completed().isEmpty)
  }
}
