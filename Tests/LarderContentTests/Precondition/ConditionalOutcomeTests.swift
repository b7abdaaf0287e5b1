import LarderContent
import LarderHTTP
import Testing

@Suite("Lists of entity tags (RFC 9110 §8.8.3, §13.1.2)", .timeLimit(.minutes(5)))
struct EntityTagListTests {
  static let rows: [(String, EntityTagList)] = [
    ("\"xyzzy\"", .tags(["\"xyzzy\""])), ("W/\"xyzzy\"", .tags(["W/\"xyzzy\""])), ("*", .any), (" * ", .any),
    ("\"xyzzy\", \"r2d2xxxx\", \"c3piozzzz\"", .tags(["\"xyzzy\"", "\"r2d2xxxx\"", "\"c3piozzzz\""])),
    ("\"a,b\",\"c\"", .tags(["\"a,b\"", "\"c\""])), ("W/\"a, b\" , w/\"c\"", .tags(["W/\"a, b\"", "w/\"c\""])),
    ("", .tags([])), (" ,, ", .tags([])), ("abc", .tags(["abc"])), ("abc def , x", .tags(["abc def", "x"])),
    ("\"open", .tags(["\"open"])), ("W/", .tags(["W/"])), ("W", .tags(["W"])), ("\"\"", .tags(["\"\""])),
    ("\"a\"\"b\"", .tags(["\"a\"", "\"b\""])), ("\"\\\",\"", .tags(["\"\\\"", "\""])), ("\"ü\"", .tags(["\"ü\""])),
    ("*, \"a\"", .tags(["*", "\"a\""])),
  ]

  @Test("are read as sent", arguments: rows)
  func read(text: String, list: EntityTagList) { #expect(EntityTagList(text) == list) }

  @Test("of a megabyte are read in linear time", .timeLimit(.minutes(1)))
  func hostile() {
    for unit in ["\"", ",", "\",", "W/", "a", "a ", "W/\"", "\"\","] {
      let text = String(repeating: unit, count: 1_000_000 / unit.utf8.count)
      _ = EntityTagList(text).matchesWeakly("\"b\"")
    }
    guard case .tags(let tags) = EntityTagList(String(repeating: "\"a\",", count: 250_000)) else {
      Issue.record("a list of tags is one")
      return
    }
    #expect(tags.count == 250_000)
  }
}

@Suite("The client's preconditions on what is stored (RFC 9110 §13.2.2)", .timeLimit(.minutes(5)))
struct ConditionalOutcomeTests {
  static func isNotModified(_ request: HTTPFields, _ fields: HTTPFields, status: Int = 200) -> Bool {
    let metadata = CacheMetadata(
      url: "http://a/", status: status, fields: fields, requestTime: PartialSamples.now,
      responseTime: PartialSamples.now)
    if case .notModified = ConditionalOutcome.of(request, metadata, StoredRules(metadata)) { return true }
    return false
  }

  /// `If-None-Match`, `ETag`, whether it is 304.
  static let tags: [(String, String?, Bool)] = [
    // §8.8.3.2, weak comparison.
    ("W/\"1\"", "W/\"1\"", true), ("W/\"1\"", "W/\"2\"", false), ("W/\"1\"", "\"1\"", true), ("\"1\"", "\"1\"", true),
    ("\"1\"", "W/\"1\"", true), ("\"0\", \"1\"", "\"1\"", true), ("\"0\", \"2\"", "\"1\"", false),
    ("\"a,b\", \"c\"", "\"a,b\"", true), ("\"a,b\", \"c\"", "\"b\"", false), ("*", "\"1\"", true), ("*", nil, true),
    ("\"1\"", nil, false), ("", "\"1\"", false),
    // What servers and clients send without quotes.
    ("1", "\"1\"", true), ("\"1\"", "1", true), ("1", "1", true), ("w/\"1\"", "w/\"1\"", true),
    ("w/\"1\"", "\"1\"", true),
    ("1, 2", "\"2\"", true), ("\"ü\"", "\"ü\"", true), ("\"A\"", "\"a\"", false),
  ]

  @Test("If-None-Match compares weakly", arguments: tags)
  func ifNoneMatch(condition: String, etag: String?, isNotModified: Bool) {
    var fields = HTTPFields()
    fields["ETag"] = etag
    #expect(Self.isNotModified(["If-None-Match": condition], fields) == isNotModified)
  }

  static let earlier = "Tue, 14 Nov 2023 20:00:00 GMT"
  static let later = "Tue, 14 Nov 2023 21:00:00 GMT"
  static let latest = "Tue, 14 Nov 2023 23:00:00 GMT"

  @Test("If-Modified-Since compares with Last-Modified, else Date, else the time of arrival (RFC 9111 §4.3.2)")
  func ifModifiedSince() {
    let rows: [(String, HTTPFields, Bool)] = [
      (Self.later, ["Last-Modified": Self.earlier], true), (Self.later, ["Last-Modified": Self.later], true),
      (Self.earlier, ["Last-Modified": Self.later], false), (Self.later, ["Date": Self.earlier], true),
      (Self.earlier, ["Date": Self.later], false),
      (Self.later, ["Date": Self.latest, "Last-Modified": Self.earlier], true),
      // Arrived at 22:13:20.
      (Self.later, [:], false), (Self.latest, [:], true), ("yesterday", ["Last-Modified": Self.earlier], false),
      ("", ["Last-Modified": Self.earlier], false), (Self.later, ["Last-Modified": "x", "Date": Self.earlier], true),
    ]
    for (since, fields, isNotModified) in rows {
      #expect(Self.isNotModified(["If-Modified-Since": since], fields) == isNotModified, "\(since) \(fields)")
    }
  }

  @Test("If-Modified-Since does not count beside If-None-Match (§13.1.3)")
  func precedence() {
    let stored: HTTPFields = ["ETag": "\"1\"", "Last-Modified": Self.earlier]
    #expect(!Self.isNotModified(["If-None-Match": "\"2\"", "If-Modified-Since": Self.latest], stored))
    #expect(
      Self.isNotModified(["If-None-Match": "\"1\"", "If-Modified-Since": "Tue, 14 Nov 2000 20:00:00 GMT"], stored))
  }

  @Test("conditions do not count for other statuses (§13.2.1)", arguments: [203, 301, 404, 500])
  func statuses(status: Int) {
    #expect(!Self.isNotModified(["If-None-Match": "\"1\""], ["ETag": "\"1\""], status: status))
  }

  @Test("a response stored in parts is compared like a whole")
  func parts() {
    let entry = PartialSamples.parts([0..<5], of: PartialSamples.bytes(26), length: 26)
    let outcome = ConditionalOutcome.of(["If-None-Match": "\"v1\""], entry.metadata, entry.rules)
    #expect(outcome != .serve)
    #expect(ConditionalOutcome.of([:], entry.metadata, entry.rules) == .serve)
  }

  @Test("a 304 carries what the standard names, in the stored order (§15.4.5)")
  func fieldsOf304() {
    let stored: HTTPFields = [
      "Content-Type": "a/b", "Date": "d", "ETag": "\"1\"", "Last-Modified": "l", "Vary": "A", "X": "y", "Expires": "e",
      "Cache-Control": "max-age=1", "Cache-Control": "private", "Content-Location": "/c", "Content-Length": "5",
      "Set-Cookie": "s",
    ]
    #expect(
      ConditionalOutcome.fieldsOf304(stored) == [
        "Date": "d", "ETag": "\"1\"", "Vary": "A", "Expires": "e", "Cache-Control": "max-age=1",
        "Cache-Control": "private", "Content-Location": "/c",
      ])
    #expect(ConditionalOutcome.fieldsOf304(["Last-Modified": "l", "X": "y"]) == ["Last-Modified": "l"])
  }

  @Test("If-Match and If-Unmodified-Since are for the server (§13.1.1, §13.1.4)")
  func origin() {
    #expect(ConditionalOutcome.isForOrigin(["If-Match": "\"1\""]))
    #expect(ConditionalOutcome.isForOrigin(["if-unmodified-since": "x"]))
    #expect(!ConditionalOutcome.isForOrigin(["If-None-Match": "\"1\"", "If-Modified-Since": "x", "If-Range": "y"]))
  }
}

@Suite("Validations with the client's tags (RFC 9111 §4.3)", .timeLimit(.minutes(5)))
struct ForwardedConditionsTests {
  static func rules(_ fields: HTTPFields, status: Int = 200) -> StoredRules {
    StoredRules(
      CacheMetadata(url: "http://a/", status: status, fields: fields, requestTime: 0, responseTime: 0))
  }

  static func conditions(_ request: HTTPFields, stored: HTTPFields) -> ForwardedConditions {
    let rules = rules(stored)
    return ForwardedConditions(request, validation: Validation.fields(request, selected: rules), stored: rules)
  }

  @Test(
    "the client's tags follow the cache's, each once",
    arguments: [
      ("\"c\"", "\"s\", \"c\""), ("\"s\"", "\"s\""), ("W/\"s\", \"c\", \"c\"", "\"s\", \"c\""), ("*", "\"s\""),
      ("bare", "\"s\", \"bare\""), ("\"a,b\", W/\"c\"", "\"s\", \"a,b\", W/\"c\""), ("", "\"s\""),
    ])
  func merged(client: String, sent: String) {
    let conditions = Self.conditions(["If-None-Match": client, "Accept": "a/b"], stored: ["ETag": "\"s\""])
    #expect(conditions.fields["If-None-Match"] == sent)
    #expect(conditions.fields["Accept"] == "a/b")
  }

  @Test("without a stored tag they would put the date out of force, and stay away (RFC 9110 §13.1.3)")
  func dateOnly() {
    let conditions = Self.conditions(
      ["If-None-Match": "\"c\""], stored: ["Last-Modified": "Tue, 14 Nov 2023 20:00:00 GMT"])
    #expect(conditions.fields["If-None-Match"] == nil)
    #expect(conditions.fields["If-Modified-Since"] == "Tue, 14 Nov 2023 20:00:00 GMT")
    #expect(conditions.notModified(Self.rules([:], status: 304), stored: Self.rules([:])) == .stored)
  }

  @Test(
    "a 304 confirms the copy whose tag it names",
    arguments: [
      ("\"c\"", ["ETag": "\"s\""], .stored), ("\"c\"", ["ETag": "W/\"s\""], .stored),
      ("\"c\"", ["ETag": "\"c\""], .client),
      ("\"c\"", [:], .unclear), ("\"c\"", ["ETag": "\"x\""], .unclear), ("\"s\"", [:], .stored), ("*", [:], .stored),
    ] as [(String, HTTPFields, ForwardedConditions.NotModified)])
  func notModified(client: String, response: HTTPFields, expected: ForwardedConditions.NotModified) {
    let stored: HTTPFields = ["ETag": "\"s\""]
    let conditions = Self.conditions(["If-None-Match": client], stored: stored)
    #expect(conditions.notModified(Self.rules(response, status: 304), stored: Self.rules(stored)) == expected)
  }

  @Test("few of many tags are taken along")
  func bounded() {
    let many = (0..<10_000).map { "\"t\($0)\"" }.joined(separator: ",")
    let sent = Self.conditions(["If-None-Match": many], stored: ["ETag": "\"s\""]).fields["If-None-Match"]
    #expect(sent.map { EntityTagList($0) == .tags(["\"s\""] + (0..<32).map { "\"t\($0)\"" }) } == true)
  }
}
