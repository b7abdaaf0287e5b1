import LarderContent
import LarderHTTP
import Testing

@Suite("Ranges of stored responses (RFC 9110 §14.2, RFC 9111 §3.3)", .timeLimit(.minutes(5)))
struct RangeOutcomeTests {
  static let content = PartialSamples.bytes(26)
  static let whole = PartialSamples.whole(content)

  static func outcome(_ request: HTTPFields, _ entry: CacheEntry) -> RangeOutcome {
    RangeOutcome.of(request, entry, boundary: "cut")
  }

  static func response(_ request: HTTPFields, _ entry: CacheEntry) throws -> (PartialResponse, String) {
    guard case .respond(let response) = outcome(request, entry) else {
      throw Unexpected(outcome: outcome(request, entry))
    }
    let content = PartialSamples.content(response, from: entry.bytesInMemory ?? [])
    #expect(content.count == response.length)
    return (response, PartialSamples.text(content))
  }

  struct Unexpected: Error { let outcome: RangeOutcome }

  static func fetched(_ request: HTTPFields, _ entry: CacheEntry) throws -> HTTPFields {
    guard case .fetch(let fetch) = outcome(request, entry) else { throw Unexpected(outcome: outcome(request, entry)) }
    return fetch.fields
  }

  @Test(
    "one range of a whole is a 206 (§15.3.7.1)",
    arguments: [
      ("bytes=0-2", "abc", "bytes 0-2/26"), ("bytes=23-", "xyz", "bytes 23-25/26"), ("bytes=-1", "z", "bytes 25-25/26"),
      ("bytes=0-", "abcdefghijklmnopqrstuvwxyz", "bytes 0-25/26"), ("bytes=1-2,2-3", "bcd", "bytes 1-3/26"),
      ("bytes=25-99", "z", "bytes 25-25/26"), ("bytes=5-6, 99-", "fg", "bytes 5-6/26"),
    ])
  func single(range: String, content: String, place: String) throws {
    let (response, text) = try Self.response(["Range": range], Self.whole)
    #expect(response.status == 206)
    #expect(text == content)
    #expect(response.fields["Content-Range"] == place)
    #expect(response.fields["Content-Length"] == String(content.utf8.count))
    #expect(response.fields["ETag"] == "\"v1\"")
    #expect(response.fields["Content-Type"] == "text/plain")
  }

  @Test("several ranges are a multipart in the requested order (§14.6, §15.3.7.2)")
  func multipart() throws {
    let long = PartialSamples.whole(PartialSamples.bytes(1000))
    let (response, text) = try Self.response(["Range": "bytes=-2,0-2"], long)
    #expect(response.status == 206)
    #expect(response.fields["Content-Type"] == "multipart/byteranges; boundary=cut")
    #expect(response.fields["Content-Range"] == nil)
    #expect(response.fields["Content-Length"] == String(text.utf8.count))
    #expect(
      text == """
        --cut\r
        Content-Type: text/plain\r
        Content-Range: bytes 998-999/1000\r
        \r
        kl\r
        --cut\r
        Content-Type: text/plain\r
        Content-Range: bytes 0-2/1000\r
        \r
        abc\r
        --cut--\r

        """)
  }

  @Test("parts of content without a type have none")
  func untyped() throws {
    let long = PartialSamples.whole(PartialSamples.bytes(1000), fields: ["Date": "x"])
    let (_, text) = try Self.response(["Range": "bytes=-2,0-2"], long)
    #expect(!text.contains("Content-Type"))
    #expect(text.hasPrefix("--cut\r\nContent-Range: bytes 998-999/1000\r\n\r\nkl"))
  }

  @Test("a range outside is 416 with the length (§15.5.17)")
  func unsatisfiable() throws {
    let (response, text) = try Self.response(["Range": "bytes=26-"], Self.whole)
    #expect(response.status == 416)
    #expect(response.fields["Content-Range"] == "bytes */26")
    #expect(response.fields["Content-Type"] == nil)
    #expect(text.isEmpty)
    let parts = PartialSamples.parts([0..<5], of: Self.content, length: 26)
    #expect(try Self.response(["Range": "bytes=26-"], parts).0.status == 416)
  }

  @Test("a field that is not a range gets the whole response", arguments: ["bytes=2-1", "items=0-1", "nonsense", ""])
  func ignored(range: String) { #expect(Self.outcome(["Range": range], Self.whole) == .whole) }

  @Test("only what would be a 200 has ranges (§14.2)", arguments: [203, 301, 404, 410])
  func otherStatus(status: Int) {
    let entry = PartialSamples.whole(Self.content, status: status)
    #expect(Self.outcome(["Range": "bytes=0-1"], entry) == .whole)
  }

  static let dated: HTTPFields = [
    "Date": "Tue, 14 Nov 2023 22:13:20 GMT", "Last-Modified": "Tue, 14 Nov 2023 22:13:19 GMT",
  ]

  @Test("If-Range with a strong validator that is stored lets the range count (§13.1.5)")
  func ifRangeHolds() throws {
    #expect(try Self.response(["Range": "bytes=0-1", "If-Range": "\"v1\""], Self.whole).1 == "ab")
    let entry = PartialSamples.whole(Self.content, fields: Self.dated)
    let request: HTTPFields = ["Range": "bytes=0-1", "If-Range": "Tue, 14 Nov 2023 22:13:19 GMT"]
    #expect(try Self.response(request, entry).1 == "ab")
  }

  @Test(
    "any other If-Range makes the response whole (§13.1.5)",
    arguments: [
      ("\"v2\"", strongFields), ("W/\"v1\"", strongFields), ("v1", strongFields), ("*", strongFields),
      ("", strongFields),
      ("\"v1\", \"v2\"", strongFields), ("W/\"v1\"", ["ETag": "W/\"v1\""]), ("\"v1\"", [:]),
      ("Tue, 14 Nov 2023 22:13:18 GMT", dated), ("Tue, 14 Nov 2023 22:13:20 GMT", dated),
      // Not strong: changed in the second in which it was sent (§8.8.2.2), or at an unknown time.
      (
        "Tue, 14 Nov 2023 22:13:19 GMT",
        ["Date": "Tue, 14 Nov 2023 22:13:19 GMT", "Last-Modified": "Tue, 14 Nov 2023 22:13:19 GMT"]
      ),
      ("Tue, 14 Nov 2023 22:13:19 GMT", ["Last-Modified": "Tue, 14 Nov 2023 22:13:19 GMT"]),
    ] as [(String, HTTPFields)])
  func ifRangeFails(value: String, fields: HTTPFields) {
    let entry = PartialSamples.whole(Self.content, fields: fields)
    #expect(Self.outcome(["Range": "bytes=0-1", "If-Range": value], entry) == .whole)
  }

  static let strongFields = PartialSamples.strong

  @Test(
    "ranges that are stored are served from the parts",
    arguments: [
      ("bytes=4-8", "efghi", "bytes 4-8/26"), ("bytes=5-6", "fg", "bytes 5-6/26"),
      ("bytes=-6", "uvwxyz", "bytes 20-25/26"),
      ("bytes=-2", "yz", "bytes 24-25/26"), ("bytes=22-", "wxyz", "bytes 22-25/26"),
      ("bytes=22-99", "wxyz", "bytes 22-25/26"),
    ])
  func fromParts(range: String, content: String, place: String) throws {
    let entry = PartialSamples.parts([4..<9, 20..<26], of: Self.content, length: 26)
    let (response, text) = try Self.response(["Range": range], entry)
    #expect(response.status == 206)
    #expect(text == content)
    #expect(response.fields["Content-Range"] == place)
  }

  @Test("of unknown length, the stored part is served with an asterisk")
  func unknownLength() throws {
    let entry = PartialSamples.parts([4..<9], of: Self.content, length: nil)
    let (response, text) = try Self.response(["Range": "bytes=5-8"], entry)
    #expect(text == "fghi")
    #expect(response.fields["Content-Range"] == "bytes 5-8/*")
    // Only the server knows where the end is.
    #expect(try Self.fetched(["Range": "bytes=-5"], entry)["Range"] == "bytes=-5")
    #expect(try Self.fetched(["Range": "bytes=6-"], entry)["Range"] == "bytes=6-")
    #expect(Self.outcome([:], entry) == .forward)
    let beginning = PartialSamples.parts([0..<9], of: Self.content, length: nil)
    #expect(try Self.fetched([:], beginning)["Range"] == "bytes=9-")
  }

  @Test(
    "the missing part is requested in one range, with If-Range (RFC 9111 §3.3)",
    arguments: [
      ("bytes=0-8", "bytes=0-3"), ("bytes=4-12", "bytes=9-12"), ("bytes=2-22", "bytes=2-19"),
      ("bytes=10-12", "bytes=10-12"),
      ("bytes=4-", "bytes=9-19"), ("bytes=-8", "bytes=18-19"), ("bytes=2-3,10-11", "bytes=2-11"),
    ])
  func fetch(range: String, requested: String) throws {
    let entry = PartialSamples.parts([4..<9, 20..<26], of: Self.content, length: 26)
    let request: HTTPFields = [
      "Range": range, "Accept": "a/b", "If-None-Match": "\"x\"", "If-Modified-Since": "y", "If-Range": "\"v1\"",
    ]
    #expect(try Self.fetched(request, entry) == ["Range": requested, "Accept": "a/b", "If-Range": "\"v1\""])
  }

  @Test("the whole is completed by its missing end, or from its first missing byte on")
  func completion() throws {
    let front = PartialSamples.parts([0..<5], of: Self.content, length: 26)
    #expect(try Self.fetched([:], front) == ["Range": "bytes=5-", "If-Range": "\"v1\""])
    let both = PartialSamples.parts([0..<5, 20..<26], of: Self.content, length: 26)
    #expect(try Self.fetched([:], both)["Range"] == "bytes=5-19")
    let back = PartialSamples.parts([5..<26], of: Self.content, length: 26)
    #expect(try Self.fetched([:], back)["Range"] == "bytes=0-4")
    // A range that is ignored requests the whole.
    #expect(try Self.fetched(["Range": "bytes=2-1"], front)["Range"] == "bytes=5-")
    #expect(try Self.fetched(["Range": "bytes=0-1", "If-Range": "\"v0\""], front)["Range"] == "bytes=5-")
    // Both ends are missing: one request for everything is best.
    #expect(Self.outcome([:], PartialSamples.parts([5..<7], of: Self.content, length: 26)) == .forward)
  }

  @Test("a date is sent as the server wrote it")
  func datedFetch() throws {
    let fields: HTTPFields = [
      "Date": "Tue, 14 Nov 2023 22:13:20 GMT", "Last-Modified": "Monday, 13-Nov-23 00:00:00 GMT",
    ]
    let entry = PartialSamples.parts([0..<5], of: Self.content, length: 26, fields: fields)
    #expect(try Self.fetched([:], entry)["If-Range"] == "Monday, 13-Nov-23 00:00:00 GMT")
  }

  @Test(
    "without a strong validator nothing can be completed (RFC 9111 §3.4)",
    arguments: [
      [:], ["ETag": "W/\"v1\""], ["ETag": "v1"], ["ETag": "w/\"v1\""], ["ETag": "\"a\"b\""],
      ["Last-Modified": "Tue, 14 Nov 2023 22:13:19 GMT"], ["Last-Modified": "x", "Date": "y"],
    ] as [HTTPFields])
  func unvalidated(fields: HTTPFields) throws {
    let entry = PartialSamples.parts([0..<5], of: Self.content, length: 26, fields: fields)
    #expect(Self.outcome([:], entry) == .forward)
    #expect(Self.outcome(["Range": "bytes=4-5"], entry) == .forward)
    #expect(try Self.response(["Range": "bytes=1-2"], entry).1 == "bc")
  }

  @Test("parts that contradict themselves are of no use")
  func damaged() {
    for (ranges, length) in [([0..<3], 2), ([0..<9], 26), ([3..<5, 0..<2], 26)] as [([Range<Int>], Int?)] {
      let metadata = CacheMetadata(
        url: "http://a/", status: 206, fields: Self.strongFields, requestTime: 0, responseTime: 0,
        content: .parts(ranges, length: length))
      let entry = CacheEntry(metadata: metadata, bytes: [1, 2, 3])
      #expect(Self.outcome(["Range": "bytes=0-1"], entry) == .forward)
      #expect(Self.outcome([:], entry) == .forward)
    }
  }
}
