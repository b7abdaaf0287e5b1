import LarderHTTP
import Testing

@testable import LarderContent

@Suite("Validation (RFC 9111 §4.3)", .timeLimit(.minutes(5)))
struct ValidationTests {
  static func rules(
    etag: String? = nil, changed: Int64? = nil, date: Int64? = 0, status: Int = 200
  ) -> StoredRules {
    FreshnessTests.rules(status: status, date: date, changed: changed, etag: etag)
  }

  static func text(_ seconds: Int64) -> String { HTTPDate.text(FreshnessTests.start + seconds) }

  @Test("the request has the entity tag, and Last-Modified (§4.3.1)")
  func conditions() {
    let requestFields: HTTPFields = ["Accept": "a"]
    func conditions(_ selected: StoredRules?, _ tags: [String] = []) -> [String?] {
      let fields = Validation.fields(requestFields, selected: selected, tags: tags)
      return [fields[.ifNoneMatch], fields[.ifModifiedSince]]
    }
    #expect(conditions(Self.rules(etag: "\"a\"")) == ["\"a\"", nil])
    #expect(conditions(Self.rules(etag: "W/\"a\"", changed: -50)) == ["W/\"a\"", Self.text(-50)])
    #expect(conditions(Self.rules(changed: -50)) == [nil, Self.text(-50)])
    // Without a validator the second before it was made, else before it came: a change within that second counts.
    #expect(conditions(Self.rules(date: -7)) == [nil, Self.text(-8)])
    #expect(conditions(Self.rules(date: nil)) == [nil, Self.text(-1)])
    // A tag that its server forgot to quote goes back as it came; what would break the list does not.
    #expect(conditions(Self.rules(etag: "abc")) == ["abc", nil])
    #expect(conditions(Self.rules(etag: "a, *", changed: -5), ["\"x", "\"a, b\""]) == ["\"a, b\"", nil])
    #expect(conditions(Self.rules(etag: "a b", changed: -5)) == [nil, Self.text(-5)])
    // Several variants: a date could not say which.
    #expect(conditions(Self.rules(etag: "\"a\"", changed: -5), ["\"b\"", "\"a\""]) == ["\"a\", \"b\"", nil])
    #expect(conditions(Self.rules(changed: -5), ["\"b\""]) == ["\"b\"", nil])
    #expect(conditions(nil, ["\"b\"", "\"c\""]) == ["\"b\", \"c\"", nil])
    #expect(conditions(nil) == [nil, nil])
  }

  @Test("the caller's own conditions are replaced, its other fields stay")
  func replaced() {
    let requestFields: HTTPFields = [
      "If-None-Match": "\"x\"", "Abc": "123", "If-Modified-Since": "y", "Range": "bytes=0-1",
    ]
    let fields = Validation.fields(requestFields, selected: Self.rules(etag: "\"a\""))
    #expect(fields == ["Abc": "123", "Range": "bytes=0-1", "If-None-Match": "\"a\""])
    #expect(Validation.endToEnd(["A": "1"]) == ["A": "1", "Cache-Control": "max-age=0"])
    #expect(Validation.endToEnd(["Cache-Control": "no-cache"]) == ["Cache-Control": "no-cache"])
  }

  @Test("what a 304 confirms (§4.3.4)")
  func confirmed() {
    let stored = [
      Self.rules(etag: "\"a\"", changed: -5, date: -30), Self.rules(etag: "\"a\"", date: -20),
      Self.rules(etag: "W/\"b\"", changed: -5, date: -10), Self.rules(etag: "\"b\"", date: -50), Self.rules(),
    ]
    func confirmed(_ response: StoredRules) -> [Int] { Validation.confirmed(stored, by: response) }
    #expect(confirmed(Self.rules(etag: "\"a\"")) == [0, 1])
    #expect(confirmed(Self.rules(etag: "W/\"a\"")) == [1])
    #expect(confirmed(Self.rules(etag: "\"b\"")) == [3])
    #expect(confirmed(Self.rules(etag: "W/\"b\"")) == [2])
    #expect(confirmed(Self.rules(etag: "\"c\"")) == [])
    #expect(confirmed(Self.rules(etag: "\"c\"", changed: -5)) == [])
    #expect(confirmed(Self.rules(changed: -5)) == [2])
    #expect(confirmed(Self.rules(changed: -6)) == [])
    #expect(confirmed(Self.rules()) == [])
    #expect(Validation.confirmed([Self.rules()], by: Self.rules()) == [0])
    #expect(Validation.confirmed([Self.rules(etag: "\"a\"")], by: Self.rules()) == [0])
    #expect(Validation.confirmed([Self.rules(etag: "a")], by: Self.rules(etag: "a")) == [0])
    #expect(Validation.confirmed([], by: Self.rules()) == [])
  }

  @Test(
    "a 304 with the strong form of a weak tag lets the content be used if exactly this tag was sent (§4.3.4)",
    arguments: [
      ("W/\"b\"", "\"b\"", "W/\"b\"", true), ("W/\"b\"", "\"b\"", "W/\"b\", \"c\"", false),
      ("W/\"b\"", "\"b\"", "\"b\"", false), ("W/\"b\"", "\"c\"", "W/\"b\"", false),
      ("\"b\"", "W/\"b\"", "\"b\"", false), ("W/\"b\"", "\"b\"", "*", false),
    ])
  func strongForm(stored: String, received: String, sent: String, isUsable: Bool) {
    let (stored, received) = (Self.rules(etag: stored), Self.rules(etag: received))
    #expect(Validation.isUsable(stored, after: received, sent: ["If-None-Match": sent]) == isUsable)
  }

  @Test(
    "entity tags compared strongly and weakly (RFC 9110 §8.8.3.2)",
    arguments: [
      ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false), ("W/\"1\"", "\"1\"", false, true),
      ("\"1\"", "\"1\"", true, true), ("1", "\"1\"", true, true), ("\"\"", "\"\"", true, true),
      ("\"a\"", "\"A\"", false, false), ("", "\"\"", false, false),
    ])
  func tags(left: String, right: String, strongly: Bool, weakly: Bool) {
    #expect(EntityTag.matchesStrongly(left, right) == strongly)
    #expect(EntityTag.matchesWeakly(left, right) == weakly)
  }
}

@Suite("Responses to HEAD (RFC 9111 §4.3.5)", .timeLimit(.minutes(5)))
struct HeadResponseTests {
  static func outcome(
    _ fields: HTTPFields, status: Int = 200, stored: HTTPFields, storedStatus: Int = 200,
    content: CacheMetadata.StoredContent = .whole
  ) -> HeadResponse {
    let metadata = CacheMetadata(
      url: "u", status: storedStatus, fields: stored, requestTime: 0, responseTime: 0, content: content)
    let response = StoredRules(status: status, fields: fields, requestTime: 5, responseTime: 5)
    return HeadResponse.of(response, fields: fields, stored: StoredRules(metadata), metadata: metadata)
  }

  static let stored: HTTPFields = [
    "ETag": "\"a\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Content-Length": "3",
  ]

  @Test(
    "it updates where every validator and the length it has are the stored ones, else it invalidates",
    arguments: [
      (HTTPFields(), HeadResponse.update), (["ETag": "\"a\""], .update), (["ETag": "\"b\""], .invalidate),
      (["ETag": "W/\"a\""], .invalidate), (["Content-Length": "3"], .update), (["Content-Length": "4"], .invalidate),
      (["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], .update),
      (["Last-Modified": "Sun, 06 Nov 1994 08:49:38 GMT"], .invalidate),
      (["ETag": "\"a\"", "Content-Length": "4"], .invalidate), (["Template-A": "2"], .update),
    ] as [(HTTPFields, HeadResponse)])
  func validators(fields: HTTPFields, expected: HeadResponse) {
    #expect(Self.outcome(fields, stored: Self.stored) == expected)
  }

  @Test("a validator that the stored response lacks does not match")
  func missing() {
    #expect(Self.outcome(["ETag": "\"a\""], stored: [:]) == .invalidate)
    #expect(Self.outcome(["Content-Length": "3"], stored: [:]) == .update)
  }

  @Test(
    "statuses",
    arguments: [
      (200, 200, HeadResponse.update), (410, 200, .hide), (404, 200, .hide), (404, 206, .hide), (301, 200, .hide),
      (308, 200, .hide), (302, 200, .none), (404, 404, .none), (404, 410, .invalidate), (404, 301, .invalidate),
      (200, 404, .invalidate), (500, 200, .none), (304, 200, .none), (301, 404, .none), (206, 200, .none),
    ])
  func statuses(status: Int, stored: Int, expected: HeadResponse) {
    #expect(Self.outcome([:], status: status, stored: [:], storedStatus: stored) == expected)
  }

  @Test("a 404, 410 or redirect that must not be stored as a response to GET hides nothing")
  func notStorable() {
    for status in [404, 410, 301, 308] {
      #expect(Self.outcome(["Cache-Control": "no-store"], status: status, stored: [:]) == .none)
    }
    #expect(Self.outcome(["Cache-Control": "max-age=9"], status: 302, stored: [:]) == .hide)
  }

  @Test("ranges are held against the whole length")
  func ranges() {
    let parts = CacheMetadata.StoredContent.parts([0..<2], length: 9)
    #expect(Self.outcome(["Content-Length": "9"], stored: ["Content-Length": "2"], content: parts) == .update)
    #expect(Self.outcome(["Content-Length": "8"], stored: ["Content-Length": "2"], content: parts) == .invalidate)
    let unknown = CacheMetadata.StoredContent.parts([0..<2], length: nil)
    #expect(Self.outcome(["Content-Length": "8"], stored: ["Content-Length": "2"], content: unknown) == .update)
  }
}
