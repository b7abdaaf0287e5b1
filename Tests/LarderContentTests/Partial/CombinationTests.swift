import LarderContent
import LarderHTTP
import Testing

@Suite("Combining partial content (RFC 9111 §3.4)", .timeLimit(.minutes(5)))
struct CombinationTests {
  static let content = PartialSamples.bytes(26)

  static func combination(
    _ entry: CacheEntry, _ range: Range<Int>, _ length: Int?, fields: HTTPFields = PartialSamples.strong
  ) -> Combination? {
    let response = PartialSamples.response(range, length, fields: fields)
    return Combination(entry, with: ReceivedPart(range: range, length: length), response, StoredRules(response))
  }

  static let rows: [([Range<Int>], Range<Int>, [Range<Int>])] = [
    ([0..<5], 5..<9, [0..<9]), ([0..<5], 3..<9, [0..<9]), ([0..<5], 7..<9, [0..<5, 7..<9]), ([5..<9], 0..<5, [0..<9]),
    ([5..<9, 20..<22], 8..<21, [5..<22]), ([5..<9, 20..<22], 0..<25, [0..<25]), ([5..<9], 6..<7, [5..<9]),
    ([0..<2, 4..<6, 8..<10], 1..<9, [0..<10]),
  ]

  @Test("gives every byte of both, each once", arguments: rows)
  func combine(stored: [Range<Int>], received: Range<Int>, result: [Range<Int>]) throws {
    let entry = PartialSamples.parts(stored, of: Self.content, length: 26)
    let combination = try #require(Self.combination(entry, received, 26))
    #expect(combination.metadata.content == .parts(result, length: 26))
    #expect(combination.metadata.status == 206)
    let bytes = PartialSamples.content(
      combination, stored: entry.bytesInMemory ?? [], received: Array(Self.content[received]))
    #expect(PartialSamples.text(bytes) == PartialSamples.text(result.flatMap { Self.content[$0] }))
    #expect(combination.length == bytes.count)
    #expect(combination.changesMetadataOnly == (stored == result))
  }

  @Test("of everything is whole: 200, with a length and without Content-Range")
  func completed() throws {
    let entry = PartialSamples.parts([0..<5], of: Self.content, length: 26)
    let metadata = try #require(Self.combination(entry, 5..<26, 26)).metadata
    #expect(metadata.content == .whole)
    #expect(metadata.status == 200)
    #expect(metadata.fields["Content-Length"] == "26")
    #expect(metadata.fields["Content-Range"] == nil)
  }

  @Test("learns the length from either")
  func lengths() throws {
    let unknown = PartialSamples.parts([0..<5], of: Self.content, length: nil)
    #expect(Self.combination(unknown, 5..<26, 26)?.metadata.content == .whole)
    #expect(Self.combination(unknown, 5..<26, nil)?.metadata.content == .parts([0..<26], length: nil))
    let known = PartialSamples.parts([0..<5], of: Self.content, length: 26)
    #expect(Self.combination(known, 5..<26, nil)?.metadata.content == .whole)
    #expect(Self.combination(known, 5..<25, 25) == nil)
    #expect(Self.combination(known, 5..<27, nil) == nil)
    #expect(Self.combination(PartialSamples.parts([0..<9], of: Self.content, length: nil), 1..<5, 5) == nil)
  }

  @Test(
    "parts with different codings are parts of different representations, even with one strong tag (RFC 9110 §8.8.1)",
    arguments: [
      (nil, nil, true), (nil, "identity", true), ("gzip", "GZIP", true), (nil, "gzip", false), ("gzip", nil, false),
      ("gzip", "br", false), ("gzip", "gzip, gzip", false),
    ] as [(String?, String?, Bool)])
  func codings(stored: String?, received: String?, combines: Bool) {
    var (storedFields, receivedFields) = (PartialSamples.strong, PartialSamples.strong)
    storedFields["Content-Encoding"] = stored
    receivedFields["Content-Encoding"] = received
    for entry in [
      PartialSamples.parts([0..<5], of: Self.content, length: 26, fields: storedFields),
      PartialSamples.whole(Self.content, fields: storedFields),
    ] {
      #expect((Self.combination(entry, 5..<9, 26, fields: receivedFields) != nil) == combines)
    }
  }

  @Test("takes the newer fields, keeps the others, and is as new as the response (§3.2)")
  func fields() throws {
    var stored = PartialSamples.strong
    stored["A"] = "1"
    stored["B"] = "1"
    stored["Age"] = "30"
    var entry = PartialSamples.parts([0..<5], of: Self.content, length: 26, fields: stored)
    entry = entry.with(entry.metadata.invalidated)
    var news = PartialSamples.strong
    news["B"] = "2"
    news["Connection"] = "close"
    news["Cache-Control"] = "max-age=99"
    let metadata = try #require(Self.combination(entry, 5..<9, 26, fields: news)).metadata
    #expect(metadata.fields["A"] == "1")
    #expect(metadata.fields["B"] == "2")
    #expect(metadata.fields["Cache-Control"] == "max-age=99")
    #expect(metadata.fields["Age"] == nil)
    #expect(metadata.fields["Connection"] == nil)
    #expect(metadata.fields["Content-Range"] == nil)
    #expect(metadata.fields["Content-Length"] == nil)
    #expect(metadata.responseMilliseconds == PartialSamples.now + 1000)
    #expect(!metadata.isInvalidated)
  }

  static let date = "Tue, 14 Nov 2023 22:13:20 GMT"

  @Test(
    "needs the same strong validator in both",
    arguments: [
      (["ETag": "\"v1\""], ["ETag": "\"v1\""], true), (["ETag": "\"v1\""], ["ETag": "\"v2\""], false),
      (["ETag": "\"v1\""], [:], false), ([:], ["ETag": "\"v1\""], false), ([:], [:], false),
      (["ETag": "W/\"v1\""], ["ETag": "W/\"v1\""], false), (["ETag": "\"v1\""], ["ETag": "W/\"v1\""], false),
      (["ETag": "v1"], ["ETag": "v1"], false),
      (
        ["Date": "Tue, 14 Nov 2023 22:13:20 GMT", "Last-Modified": "Tue, 14 Nov 2023 22:13:19 GMT"],
        ["Date": "Tue, 14 Nov 2023 22:15:00 GMT", "Last-Modified": "Tue, 14 Nov 2023 22:13:19 GMT"], true
      ),
      (
        ["Date": "Tue, 14 Nov 2023 22:13:19 GMT", "Last-Modified": "Tue, 14 Nov 2023 22:13:19 GMT"],
        ["Date": "Tue, 14 Nov 2023 22:15:00 GMT", "Last-Modified": "Tue, 14 Nov 2023 22:13:19 GMT"], false
      ),
      (
        ["Date": "Tue, 14 Nov 2023 22:13:20 GMT", "Last-Modified": "Tue, 14 Nov 2023 22:13:19 GMT", "ETag": "\"v1\""],
        ["Date": "Tue, 14 Nov 2023 22:15:00 GMT", "Last-Modified": "Tue, 14 Nov 2023 22:13:19 GMT"], false
      ),
    ] as [(HTTPFields, HTTPFields, Bool)])
  func validators(stored: HTTPFields, received: HTTPFields, combines: Bool) {
    let entry = PartialSamples.parts([0..<5], of: Self.content, length: 26, fields: stored)
    #expect((Self.combination(entry, 5..<9, 26, fields: received) != nil) == combines)
  }

  @Test(
    "Last-Modified is strong a second before the server's Date, a minute before one that may be this cache's (§8.8.2.2)",
    arguments: [(0, -1, false), (0, -60, false), (0, -61, true), (-1, -1, false), (-1, -2, true), (5, 4, true)])
  func clocks(date: Int64, changed: Int64, isStrong: Bool) {
    let rules = FreshnessTests.rules(date: date, changed: changed)
    #expect((StrongValidator(rules) != nil) == isStrong)
  }

  @Test("a part of what is stored whole changes its metadata alone")
  func whole() throws {
    let entry = PartialSamples.whole(Self.content)
    let combination = try #require(Self.combination(entry, 5..<9, 26))
    #expect(combination.segments == [.stored(0..<26)])
    #expect(combination.changesMetadataOnly)
    #expect(combination.metadata.content == .whole)
    #expect(combination.metadata.responseMilliseconds == PartialSamples.now + 1000)
    #expect(Self.combination(entry, 5..<9, 27) == nil)
    #expect(Self.combination(entry, 5..<27, nil) == nil)
    #expect(Self.combination(PartialSamples.whole(Self.content, status: 404), 5..<9, 26) == nil)
  }

  @Test("keeps a limited number of ranges, and always the new one")
  func limit() throws {
    let length = 10_000
    let content = PartialSamples.bytes(length)
    let ranges = (0..<Combination.limit).map { ($0 * 10)..<($0 * 10 + ($0 == 7 ? 1 : 2)) }
    let entry = PartialSamples.parts(ranges, of: content, length: length)
    let combination = try #require(Self.combination(entry, 9000..<9001, length))
    guard case .parts(let parts, _) = combination.metadata.content else { throw PartialTestError.notInParts }
    #expect(parts.count == Combination.limit)
    #expect(parts.last == 9000..<9001)
    #expect(!parts.contains(ranges[7]))
    let bytes = PartialSamples.content(
      combination, stored: entry.bytesInMemory ?? [], received: [content[9000]])
    #expect(bytes == parts.flatMap { content[$0] })
    #expect(bytes.count == combination.length)
  }

  @Test("damaged parts are not combined")
  func damaged() {
    let metadata = CacheMetadata(
      url: "http://a/", status: 206, fields: PartialSamples.strong, requestTime: 0, responseTime: 0,
      content: .parts([0..<9], length: 26))
    #expect(Self.combination(CacheEntry(metadata: metadata, bytes: [1]), 5..<9, 26) == nil)
  }
}

enum PartialTestError: Error { case notInParts }

@Suite("Storing parts (RFC 9111 §3.3)", .timeLimit(.minutes(5)))
struct PartialStoringTests {
  @Test("A 206 is stored as its range, with its Content-Range and Content-Length")
  func part() throws {
    let response = PartialSamples.response(5..<9, 26)
    let part = try #require(ReceivedPart(status: 206, fields: response.fields))
    let metadata = try #require(response.storing(part, inResponseTo: [:]))
    #expect(metadata.content == .parts([5..<9], length: 26))
    #expect(metadata.status == 206)
    #expect(metadata.fields["Content-Range"] == nil)
    #expect(metadata.fields["Content-Length"] == nil)
    let shorter = try #require(part.prefix(2))
    #expect(response.storing(shorter, inResponseTo: [:])?.content == .parts([5..<7], length: 26))
  }

  @Test("a 206 with everything is a 200")
  func whole() throws {
    let response = PartialSamples.response(0..<26, 26)
    let metadata = try #require(
      response.storing(ReceivedPart(range: 0..<26, length: 26), inResponseTo: ["Range": "bytes=0-"]))
    #expect(metadata.content == .whole)
    #expect(metadata.status == 200)
    #expect(metadata.fields["Content-Length"] == "26")
  }

  @Test("A response to If-Range may lack fields, and is not stored alone (RFC 9110 §15.3.7)")
  func ifRange() {
    let response = PartialSamples.response(5..<9, 26)
    #expect(response.storing(ReceivedPart(range: 5..<9, length: 26), inResponseTo: ["If-Range": "\"v1\""]) == nil)
  }

  static func response(_ fields: HTTPFields, status: Int = 200) -> CacheMetadata {
    var all = PartialSamples.strong
    for field in fields { all[field.name] = field.value.isEmpty ? nil : field.value }
    return CacheMetadata(url: "http://a/", status: status, fields: all, requestTime: 0, responseTime: 0)
  }

  @Test("The beginning of an interrupted 200 is stored")
  func interrupted() throws {
    let response = Self.response(["Content-Length": "26"])
    let metadata = try #require(response.interrupted(after: 7, StoredRules(response)))
    #expect(metadata.content == .parts([0..<7], length: 26))
    #expect(metadata.status == 206)
    #expect(metadata.fields["Content-Length"] == nil)
    #expect(Self.response(["Content-Length": "26, 26"]).interrupted(after: 7, StoredRules(response)) != nil)
  }

  @Test(
    "unless nothing came, or it could not be completed",
    arguments: [
      ([:], 7, 200), (["Content-Length": "26"], 0, 200), (["Content-Length": "26"], 26, 200),
      (["Content-Length": "26"], 27, 200), (["Content-Length": "26"], 7, 203),
      (["Content-Length": "26", "ETag": ""], 7, 200),
      (["Content-Length": "26", "ETag": "W/\"v1\""], 7, 200), (["Content-Length": "x"], 7, 200),
      (["Content-Length": "26, 27"], 7, 200), (["Content-Length": "-26"], 7, 200),
      (["Content-Length": "99999999999999999999"], 7, 200),
      (["Content-Length": "26", "Transfer-Encoding": "chunked"], 7, 200),
    ] as [(HTTPFields, Int, Int)])
  func notStored(fields: HTTPFields, count: Int, status: Int) {
    let response = Self.response(fields, status: status)
    #expect(response.interrupted(after: count, StoredRules(response)) == nil)
  }
}

@Suite("Responses to a request for missing ranges", .timeLimit(.minutes(5)))
struct CompletionOutcomeTests {
  static let entry = PartialSamples.parts([0..<5], of: PartialSamples.bytes(26), length: 26)

  static func outcome(_ response: CacheMetadata) -> CompletionOutcome {
    CompletionOutcome.of(response, StoredRules(response), to: entry)
  }

  @Test("206 of the same representation is combined")
  func combines() {
    guard case .combine(let combination, let part) = Self.outcome(PartialSamples.response(5..<26, 26)) else {
      Issue.record("not combined")
      return
    }
    #expect(combination.metadata.content == .whole)
    #expect(part == ReceivedPart(range: 5..<26, length: 26))
  }

  @Test("a part of anything else, or none, requires the client's own request")
  func contradictions() {
    var other = PartialSamples.strong
    other["ETag"] = "\"v2\""
    #expect(Self.outcome(PartialSamples.response(5..<26, 26, fields: other)) == .requestAgain)
    #expect(Self.outcome(PartialSamples.response(5..<27, 27)) == .requestAgain)
    var parts = PartialSamples.response(5..<26, 26)
    parts.fields["Content-Type"] = "multipart/byteranges; boundary=a"
    #expect(Self.outcome(parts) == .requestAgain)
    parts.fields["Content-Range"] = nil
    #expect(Self.outcome(parts) == .requestAgain)
  }

  @Test(
    "the status decides about the rest",
    arguments: [
      (200, CompletionOutcome.replace), (304, .requestAgain), (412, .requestAgain), (416, .requestAgain),
      (404, .forward),
      (500, .forward), (302, .forward),
    ])
  func statuses(status: Int, outcome: CompletionOutcome) {
    let response = CacheMetadata(
      url: "http://a/", status: status, fields: PartialSamples.strong, requestTime: 0, responseTime: 0)
    #expect(Self.outcome(response) == outcome)
  }
}
