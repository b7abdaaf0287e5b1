import LarderContent
import LarderHTTP
import Testing

@Suite("Cache-Status (RFC 9211)", .timeLimit(.minutes(5)))
struct CacheStatusTests {
  static func make(_ cache: String, _ change: (inout CacheStatus) -> Void) -> CacheStatus {
    var status = CacheStatus(cache)
    change(&status)
    return status
  }

  /// The standard's examples (§3) and a few more.
  static let rows: [(String, CacheStatus)] = [
    ("ExampleCache; hit", make("ExampleCache") { $0.isHit = true }),
    (
      "ExampleCache; hit; ttl=376",
      make("ExampleCache") {
        $0.isHit = true
        $0.timeToLive = 376
      }
    ),
    (
      "ExampleCache; hit; ttl=-412",
      make("ExampleCache") {
        $0.isHit = true
        $0.timeToLive = -412
      }
    ),
    ("ExampleCache; fwd=bypass", make("ExampleCache") { $0.forward = .bypass }),
    (
      "ExampleCache; fwd=uri-miss; collapsed",
      make("ExampleCache") {
        $0.forward = .uriMiss
        $0.isCollapsed = true
      }
    ),
    (
      "ExampleCache; fwd=stale; fwd-status=304",
      make("ExampleCache") {
        $0.forward = .stale
        $0.forwardStatus = 304
      }
    ),
    (
      "\"BrowserCache; 1\"; fwd=partial; fwd-status=206; ttl=5; stored; key=\"http://a/ \\\"x\\\"\"; detail=MEM",
      make("BrowserCache; 1") {
        $0.forward = .partial
        $0.forwardStatus = 206
        $0.timeToLive = 5
        $0.isStored = true
        $0.key = "http://a/ \"x\""
        $0.detail = "MEM"
      }
    ),
    ("c; detail=\"of the disk\"", make("c") { $0.detail = "of the disk" }),
  ]

  @Test("is printed, and read back", arguments: rows)
  func roundTrip(text: String, status: CacheStatus) throws {
    #expect(status.text == text)
    #expect(try CacheStatus.list(text) == [status])
  }

  @Test(
    "each reason has its name (§2.2)",
    arguments: ["bypass", "method", "uri-miss", "vary-miss", "miss", "request", "stale", "partial"])
  func reasons(name: String) throws {
    let reason = try #require(ForwardReason(rawValue: name))
    #expect(Self.make("a") { $0.forward = reason }.text == "a; fwd=\(name)")
  }

  @Test("The fast path of a hit has the same Cache-Status")
  func hit() throws {
    #expect(CacheStatus.hit("larder", timeToLive: 123) == "larder; hit; ttl=123")
    #expect(CacheStatus.hit("my cache", timeToLive: -1) == "\"my cache\"; hit; ttl=-1")
    for extreme in [Int64.min, .max] {
      let text = CacheStatus.hit("larder", timeToLive: extreme)
      #expect(
        try CacheStatus.list(text).first?.timeToLive == (extreme < 0 ? -999_999_999_999_999 : 999_999_999_999_999))
    }
  }

  @Test("A cache's member follows those of caches nearer to the origin (§2)")
  func order() throws {
    var fields: HTTPFields = ["Cache-Status": "origin; fwd=miss", "A": "b"]
    Self.make("larder") { $0.isHit = true }.append(to: &fields)
    let list = try CacheStatus.list(try #require(fields["Cache-Status"]))
    #expect(list.map(\.cache) == ["origin", "larder"])
    #expect(fields.values(of: "Cache-Status") == ["origin; fwd=miss", "larder; hit"])
  }

  @Test("characters that a structured field string cannot contain become '?'")
  func notASCII() throws {
    let status = Self.make("größe") { $0.key = "http://a/ü\n\u{1F600}\u{0}" }
    #expect(status.text == "\"gr??e\"; key=\"http://a/????\"")
    #expect(try CacheStatus.list(status.text).count == 1)
  }

  @Test("unknown parameters and values of the wrong type are ignored (§2)")
  func lenient() throws {
    let text = "a;hit=?0;fwd=\"x\";ttl=1.5;new=1;fwd-status=a, (b c), 1, b;fwd=other;hit;stored=1"
    let list = try CacheStatus.list(text)
    #expect(list == [CacheStatus("a"), Self.make("b") { $0.isHit = true }])
    #expect(throws: StructuredFieldError.self) { try CacheStatus.list("a;;b") }
  }
}
