import LarderHTTP
import Testing

@testable import LarderOData

@Suite("Responses of a batch are matched to their requests", .timeLimit(.minutes(5)))
struct BatchResultTests {
  static let requests: [BatchRequestPart] = [
    .single(BatchRequest(url: "A")),
    .changeSet([BatchRequest(id: "1", method: .post, url: "B"), BatchRequest(id: "2", method: .post, url: "C")]),
    .single(BatchRequest(url: "D")),
  ]

  private static func ok(_ id: String? = nil, _ status: Int = 200) -> BatchResponse {
    BatchResponse(id: id, status: status)
  }

  @Test("Parts by their order, members of a change set by Content-ID, also in the angle brackets of mail")
  func order() throws {
    for ids in [("2", "1"), ("<2>", "<1>")] {
      let members = [Self.ok(ids.0, 204), Self.ok(ids.1, 201)]
      let responses = try BatchResult.match(
        [.single(Self.ok()), .changeSet(members), .single(Self.ok())], to: Self.requests)
      #expect(responses == [.single(Self.ok()), .changeSet(members.reversed()), .single(Self.ok())])
    }
  }

  @Test("Without ids, a complete set of members is matched by order")
  func noIDs() throws {
    let members = [Self.ok(nil, 201), Self.ok(nil, 204)]
    let responses = try BatchResult.match(
      [.single(Self.ok()), .changeSet(members), .single(Self.ok())], to: Self.requests)
    #expect(responses[1] == .changeSet(members))
  }

  @Test(
    "In a change set where only some requests have an id, those without one have the responses without one",
    arguments: [
      ([nil, "1", nil], [(nil, 201), ("1", 204), (nil, 200)], "201 204 200"),
      ([nil, "1", nil], [("1", 204), (nil, 201), (nil, 200)], "201 204 200"),
      (["1", nil], [(nil, 204), ("<1>", 201)], "201 204"),
      // One of them could be that of the request with an id, or another's.
      (["1", nil], [(nil, 204), (nil, 201)], "204 201"), ([nil, "1", nil], [("1", 204), (nil, 200)], "- 204 -"),
    ] as [([String?], [(String?, Int)], String)])
  func mixedIDs(ids: [String?], responses: [(String?, Int)], expected: String) {
    let members = ids.map { BatchRequest(id: $0, method: .post, url: "B") }
    let match = BatchMatch([.changeSet(members)])
    #expect(Self.words(match.slots(of: [.changeSet(responses.map { Self.ok($0.0, $0.1) })])) == [expected])
  }

  /// What became of each part, in a word: its status, `-` for none.
  private static func words(_ slots: [BatchResult?]) -> [String] {
    slots.map { slot in
      switch slot {
      case nil: "-"
      case .single(let response): "\(response.status)"
      case .changeSet(let responses): responses.map { "\($0.status)" }.joined(separator: " ")
      case .changeSetFailed(let response): "failed \(response.status)"
      case .changeSetPartly(let responses): responses.map { $0.map { "\($0.status)" } ?? "-" }.joined(separator: " ")
      case .notProcessed: "not processed"
      }
    }
  }

  private static func slots(_ parts: [BatchResponsePart], stops: Bool = false, isComplete: Bool = true) -> [String] {
    var match = BatchMatch(Self.named)
    (match.stopsAtError, match.isComplete) = (stops, isComplete)
    return words(match.slots(of: parts))
  }

  private static let named: [BatchRequestPart] = [
    .single(BatchRequest(id: "a", url: "A")),
    .changeSet([BatchRequest(id: "1", method: .post, url: "B"), BatchRequest(id: "2", method: .post, url: "C")]),
    .single(BatchRequest(id: "d", url: "D")),
  ]

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let parts: [BatchResponsePart]
    let slots: [String]
    var stops = false
    var isComplete = true

    init(_ name: String, _ parts: [BatchResponsePart], _ slots: [String], stops: Bool = false, isComplete: Bool = true)
    {
      (testDescription, self.parts, self.slots, self.stops, self.isComplete) = (name, parts, slots, stops, isComplete)
    }
  }

  private static let set = BatchResponsePart.changeSet([ok("1", 201), ok("2", 204)])

  static let cases: [Case] = [
    Case("ids tell all", [.single(ok("a")), set, .single(ok("d"))], ["200", "201 204", "200"]),
    Case("ids in change sets alone (4.0, V2)", [.single(ok()), set, .single(ok())], ["200", "201 204", "200"]),
    Case("out of order", [.single(ok("d", 404)), set, .single(ok("a"))], ["200", "201 204", "404"]),
    Case("the first is missing", [set, .single(ok("d", 404))], ["-", "201 204", "404"]),
    Case("a change set is missing", [.single(ok("a")), .single(ok("d", 404))], ["200", "-", "404"]),
    Case("an error and no ids: which is missing?", [.single(ok()), .single(ok(nil, 404))], ["-", "-", "-"]),
    Case("one is there twice", [.single(ok("a")), .single(ok("a")), set, .single(ok("d"))], ["-", "201 204", "200"]),
    Case("one stands for another", [.single(ok("a")), set, .single(ok("a", 201))], ["-", "201 204", "-"]),
    Case(
      "one that was not requested", [.single(ok("a")), .single(ok("z")), set, .single(ok("d"))],
      ["200", "201 204", "200"]),
    Case("ids of the service's own", [.single(ok("7")), set, .single(ok("d"))], ["-", "201 204", "200"]),
    Case(
      "more than requested, and no ids", [.single(ok()), set, .single(ok()), .single(ok())], ["-", "201 204", "-"]),
    Case(
      "a member is missing", [.single(ok("a")), .changeSet([ok("2", 204)]), .single(ok("d"))], ["200", "- 204", "200"]),
    Case(
      "two members for one", [.single(ok("a")), .changeSet([ok("1"), ok("1")]), .single(ok("d"))], ["200", "-", "200"]),
    Case(
      "a member without its id", [.single(ok("a")), .changeSet([ok("1"), ok()]), .single(ok("d"))],
      ["200", "200 -", "200"]),
    Case(
      "members without ids, one missing", [.single(ok("a")), .changeSet([ok()]), .single(ok("d"))], ["200", "-", "200"]),
    Case(
      "a member failed, another was done and has a response",
      [.single(ok("a")), .changeSet([ok("1", 201), ok("2", 400)]), .single(ok("d"))], ["200", "201 400", "200"]),
    Case(
      "a change set's one error", [.single(ok("a")), .single(ok(nil, 400)), .single(ok("d"))],
      ["200", "failed 400", "200"]),
    Case(
      "its one error, truncated after it", [.single(ok("a")), .changeSet([ok("2", 400)])], ["200", "- 400", "-"],
      isComplete: false),
    Case("a change set where one was requested", [set, set, .single(ok("d"))], ["-", "-", "200"]),
    Case("truncated", [.single(ok("a")), set], ["200", "201 204", "-"], isComplete: false),
    Case("truncated, without ids", [.single(ok()), set], ["-", "201 204", "-"], isComplete: false),
    // Protocol 4.01 §11.7.7.5: processing stops at the first error, whose response is the last.
    Case("stopped", [.single(ok()), .single(ok(nil, 409))], ["200", "failed 409", "not processed"], stops: true),
    Case("stopped at once", [.single(ok("a", 409))], ["409", "not processed", "not processed"], stops: true),
    Case(
      "stopped, but the change set is missing", [.single(ok("a")), .single(ok("d", 409))], ["200", "-", "409"],
      stops: true),
    Case("an error that did not stop it", [.single(ok("a", 409)), set], ["409", "201 204", "-"], stops: true),
    Case("stopped, or truncated?", [.single(ok("a", 409))], ["409", "-", "-"], stops: true, isComplete: false),
    Case("no error, and yet the end", [.single(ok("a")), set], ["200", "201 204", "-"], stops: true),
  ]

  @Test(
    "A response is matched by its id, and by its position only if all are present and no id contradicts",
    arguments: cases
  )
  func matched(one: Case) {
    #expect(Self.slots(one.parts, stops: one.stops, isComplete: one.isComplete) == one.slots)
  }

  @Test("Content-IDs that each change set restarts are distinguished by their part")
  func numberedAnew() throws {
    let set = BatchRequestPart.changeSet([
      BatchRequest(id: "1", method: .post, url: "B"), BatchRequest(id: "2", method: .post, url: "C"),
    ])
    let response = BatchResponsePart.changeSet([Self.ok("2", 204), Self.ok("1", 201)])
    let matched = try BatchResult.match([response, response], to: [set, set])
    #expect(Self.words(matched) == ["201 204", "201 204"])
    #expect(throws: BatchError.self) { try BatchResult.match([response], to: [set, set]) }
  }

  @Test("One error is the response to a whole change set, in place of the multipart or inside it")
  func failedChangeSet() throws {
    for part in [BatchResponsePart.single(Self.ok(nil, 400)), .changeSet([Self.ok("2", 400)])] {
      let responses = try BatchResult.match([.single(Self.ok()), part, .single(Self.ok())], to: Self.requests)
      #expect(responses[1] == .changeSetFailed(part.responses[0]))
    }
  }

  @Test(
    "Where the service was to stop, the rest may be missing (Protocol 4.01 §11.7.7.5); else the first that is is named")
  func missing() throws {
    let parts = [BatchResponsePart.single(Self.ok()), .single(Self.ok(nil, 409))]
    let stopped = try BatchResult.match(parts, to: Self.requests, stopsAtError: true)
    #expect(stopped == [.single(Self.ok()), .changeSetFailed(Self.ok(nil, 409)), .notProcessed])
    let error = #expect(throws: BatchError.self) { try BatchResult.match(parts, to: Self.requests) }
    #expect(error?.part == "1" && error?.problem == .countMismatch(expected: 4, found: 2))
    let inside = #expect(throws: BatchError.self) {
      try BatchResult.match([.single(Self.ok()), .changeSet([Self.ok("1")]), .single(Self.ok())], to: Self.requests)
    }
    #expect(inside?.part == "2.2")
    let more = Array(repeating: BatchResponsePart.single(Self.ok()), count: 4)
    #expect(throws: BatchError.self) { try BatchResult.match(more, to: Self.requests) }
  }

  @Test("JSON responses are matched by id, in any order")
  func json() throws {
    let (_, written) = try JSONBatchWriter.write(Self.requests)
    let ids = written.map { $0.requests.map { $0.id ?? "" } }
    #expect(ids == [["3"], ["1", "2"], ["4"]])
    func matched(_ responses: [BatchResponse], stops: Bool = false) -> [String] {
      var match = BatchMatch(written)
      match.stopsAtError = stops
      return Self.words(match.slots(of: responses))
    }
    let all = [Self.ok("4"), Self.ok("2", 204), Self.ok("3"), Self.ok("1", 201)]
    #expect(matched(all) == ["200", "201 204", "200"])
    #expect(matched([Self.ok("3"), Self.ok("2", 400)]) == ["200", "failed 400", "-"])
    #expect(matched([Self.ok("3"), Self.ok("2", 400)], stops: true) == ["200", "failed 400", "not processed"])
    // An error, and one of the parts before it has no response: nothing says that the service stopped.
    #expect(matched([Self.ok("2", 400)], stops: true) == ["-", "failed 400", "-"])
    #expect(matched([Self.ok("3"), Self.ok("2", 400), Self.ok("9")], stops: true) == ["200", "failed 400", "-"])
    #expect(matched(all + [Self.ok("9")]) == ["200", "201 204", "200"])
    #expect(matched(all + [Self.ok("4", 500)]) == ["200", "201 204", "-"])
    #expect(matched(all + [Self.ok("1", 500)]) == ["200", "- 204", "200"])
    #expect(matched([Self.ok("3"), Self.ok("1", 201), Self.ok("4")]) == ["200", "201 -", "200"])
    #expect(matched([Self.ok("4"), Self.ok("2", 204), Self.ok(), Self.ok("1", 201)]) == ["-", "201 204", "200"])
    for bad in [all + [Self.ok("1")], all.dropLast() + [Self.ok(nil)], Array(all.dropFirst())] {
      #expect(throws: BatchError.self) { try BatchResult.match(json: bad, to: written) }
    }
  }

  @Test("A number as an id is read as text (JSON Format 4.01 §19.1 has strings)")
  func numbers() throws {
    let body = #"{"responses":[{"id":2,"status":204},{"id":1,"status":201}]}"#
    let matched = try BatchResults.read(
      status: 200, fields: ["Content-Type": "application/json"], body: Array(body.utf8),
      requests: [.single(BatchRequest(id: "1", url: "A")), .single(BatchRequest(id: "2", url: "B"))])
    guard case .parts(let parts) = matched else {
      Issue.record("\(matched)")
      return
    }
    #expect(Self.words(parts) == ["201", "204"])
  }

  @Test("A response that is not a batch is a rejection, or an error if its status is a success")
  func wholeResponse() throws {
    let html: HTTPFields = ["Content-Type": "text/html"]
    let rejected = try BatchResults.read(
      status: 403, fields: ["Content-Type": "application/json"], body: Array("{}".utf8), requests: Self.requests)
    #expect(
      rejected
        == .rejected(BatchResponse(status: 403, fields: ["Content-Type": "application/json"], body: Array("{}".utf8))))
    let error = #expect(throws: BatchError.self) {
      try BatchResults.read(status: 200, fields: html, body: [], requests: Self.requests)
    }
    #expect(error?.problem == .notABatch(contentType: "text/html"))
    let multipart = "--b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n--b--"
    let parts = try BatchResults.read(
      status: 202, fields: ["Content-Type": "multipart/mixed; boundary=b"], body: Array(multipart.utf8),
      requests: [.single(BatchRequest(url: "A"))])
    #expect(parts == .parts([.single(Self.ok())]))
  }

  private static func read(_ text: String, _ type: String) throws(BatchError) -> BatchResults {
    try BatchResults.read(status: 200, fields: ["Content-Type": type], body: Array(text.utf8), requests: Self.named)
  }

  @Test(
    "A truncated multipart gives the parts that can be matched, and the position where it ends",
    arguments: [
      ("--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 20", 1),
      ("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\n", 1),
      (
        "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-ID: 1\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n"
          + "--c\r\nContent-ID: 2\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n--c--\r\n--b\r\n", 2
      ), ("--b\r\nContent-Type: application/http\r\nno field\r\n", 1), ("--b--", 1),
    ])
  func truncatedMultipart(rest: String, whole: Int) throws {
    let text = "--b\r\nContent-ID: a\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n" + rest
    guard case .incomplete(let slots, let error) = try Self.read(text, "multipart/mixed; boundary=b") else {
      Issue.record("nothing is missed")
      return
    }
    #expect(slots.map { $0 != nil } == [true, whole > 1, false])
    #expect(slots[0] == .single(Self.ok("a")))
    #expect(error.part?.first == (whole > 1 ? "3" : "2"))
  }

  @Test("A truncated JSON response gives its complete items, in any order")
  func truncatedJSON() throws {
    let requests: [BatchRequestPart] = [
      .single(BatchRequest(id: "1", url: "A")), .single(BatchRequest(id: "2", url: "B")),
    ]
    for end in ["", ",", #",{"id":"1","sta"#, "]}", "x"] {
      let text = #"{"responses":[{"id":"2","status":204}"# + end
      let matched = try BatchResults.read(
        status: 200, fields: ["Content-Type": "application/json"], body: Array(text.utf8), requests: requests)
      guard case .incomplete(let slots, _) = matched else {
        Issue.record("nothing is missed")
        return
      }
      #expect(slots == [nil, .single(Self.ok("2", 204))])
    }
  }

  @Test("If no part is complete, or there are more than were requested, the error is thrown")
  func nothingWhole() {
    for text in ["", "--b\r\n", "--b\r\n\r\nHTTP/1.1 200 OK\r\nA: b", "--b--"] {
      #expect(throws: BatchError.self) { try Self.read(text, "multipart/mixed; boundary=b") }
    }
    let four = String(repeating: "--b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n", count: 4)
    #expect(throws: BatchError.self) { try Self.read(four + "--b--", "multipart/mixed; boundary=b") }
    #expect(throws: BatchError.self) { try Self.read(#"{"responses":["#, "application/json") }
  }

  @Test("After an error, a reader still returns the items before it in the same chunk")
  func completed() throws {
    var reader = try MultipartBatchReader(contentType: "multipart/mixed; boundary=b")
    let text = "--b\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhi\r\n--b\r\n\r\nHTTP/1.1 x\r\n"
    #expect(throws: BatchError.self) { try reader.read(Array(text.utf8)) }
    #expect(reader.completed().count == 3 && reader.completed().isEmpty)
  }
}
