import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderContent

@Suite("Cache-Control (RFC 9111 §5.2)", .timeLimit(.minutes(5)))
struct CacheControlTests {
  static func read(_ lines: String...) -> CacheControl {
    CacheControl(HTTPFields(lines.map { HTTPField(name: .cacheControl, value: $0) }))
  }

  @Test(
    "max-age: whole seconds, in quotes or without",
    arguments: [
      ("max-age=3600", 3600), ("MaX-aGe=3600", 3600), ("max-age=\"3600\"", 3600), ("max-age=003600", 3600),
      ("max-age=0", 0), ("foobar, max-age=3600", 3600), ("foobar=\"a, max-age=1\", max-age=3600", 3600),
      ("max-age=3600, x=\"max-age=1\"", 3600), ("max-age=3600;x", 3600), (" , ,max-age=3600 , ,", 3600),
      ("\tmax-age=3600\t", 3600), ("x=\"a\\\", max-age=9\", max-age=3600", 3600),
      // §1.2.2: what is too large is 2^31.
      ("max-age=2147483647", 2_147_483_647), ("max-age=2147483648", 2_147_483_648),
      ("max-age=2147483649", 2_147_483_648), ("max-age=99999999999", 2_147_483_648),
      ("max-age=99999999999999999999999999", 2_147_483_648),
      // Fractions and units are dropped.
      ("max-age=3600.0", 3600), ("max-age=3600.5", 3600), ("max-age=3600s", 3600),
      // §4.2.1: no number is stale at once; of two the first counts.
      ("max-age=-3600", 0), ("max-age='3600'", 0), ("max-age=a3600", 0), ("max-age=", 0), ("max-age= 3600", 0),
      ("max-age", 0), ("max-age=\"\"", 0), ("max-age=\"", 0), ("max-age=1, max-age=1800", 1),
      ("max-age=1800, max-age=1", 1800), ("max-age=x, max-age=1800", 0),
    ])
  func maxAge(value: String, seconds: Int64) {
    #expect(Self.read(value).maxAge == seconds)
  }

  @Test(
    "what is no directive says nothing",
    arguments: [
      "", ",", "max-age =3600", "max age=3600", "xmax-age=3600", "max-age-x=3600", "s-maxage=3600", "\"max-age=3600\"",
      "=3600", "\"", "max-age\u{0}=1", "x=\"max-age=3600", "max-agé=3600", "max-age:3600",
    ])
  func noMaxAge(value: String) {
    #expect(Self.read(value).maxAge == nil)
  }

  @Test(
    "directives without argument",
    arguments: [
      ("no-store", CacheControl.Directives.noStore), ("No-StOrE", .noStore), ("none", .noStore),
      ("no-cache", .noCache), ("no-cache=\"\"", .noCache), ("no-cache=\" , \"", .noCache),
      ("no-cache=\"a b\"", .noCache), ("must-revalidate", .mustRevalidate), ("must-understand", .mustUnderstand),
      ("public", .isPublic), ("private", .isPrivate), ("private=\"Set-Cookie\"", .isPrivate),
      ("immutable", .immutable), ("only-if-cached", .onlyIfCached), ("no-transform", .noTransform),
      ("public, max-age=5, immutable", [.isPublic, .immutable]), ("no-store, no-cache", [.noStore, .noCache]),
      ("nonesuch, no-stor, nostore, no-stores", []), ("proxy-revalidate, s-maxage=1", []),
    ] as [(String, CacheControl.Directives)])
  func directives(value: String, expected: CacheControl.Directives) {
    #expect(Self.read(value).directives == expected)
  }

  @Test(
    "semicolons separate as commas do, outside quotes",
    arguments: [
      ("no-cache; no-store; must-revalidate", [.noCache, .noStore, .mustRevalidate]),
      ("private; max-age=0", .isPrivate),
      ("max-age=60; no-store", .noStore), ("a=b;no-cache", .noCache), ("x=\"a; no-store\"", []),
      (";;no-store;", .noStore),
    ] as [(String, CacheControl.Directives)])
  func semicolons(value: String, expected: CacheControl.Directives) {
    let control = Self.read(value)
    #expect(control.directives == expected)
    #expect(!control.hasInvalidElement)
  }

  @Test(
    "an element that is not token[=value] is noted",
    arguments: [
      "no-cache no-store", "\"no-store\"", "max-age: 0", "max-age=60 no-store", "=5", "a=", "a=\"b", "a=b c", "a=(b)",
      "max-age =5",
    ])
  func invalidElements(value: String) {
    #expect(Self.read("public, \(value)").hasInvalidElement)
    #expect(Self.read(value, "public").hasInvalidElement)
  }

  @Test("a field over several lines is one list")
  func severalLines() {
    let read = Self.read("max-age=5", "no-cache=\"a\"", "stale-if-error=7, no-cache=\"B , c\"", "max-age=9")
    #expect(read.maxAge == 5)
    #expect(read.staleIfError == 7)
    #expect(read.noCacheFields.map(\.canonicalName) == ["a", "b", "c"])
    #expect(!read.contains(.noCache))
  }

  @Test("no-cache as a whole stays where a list of fields comes too")
  func noCacheBoth() {
    let read = Self.read("no-cache, no-cache=\"a\"")
    #expect(read.contains(.noCache))
    #expect(read.noCacheFields == ["a"])
  }

  @Test(
    "max-stale: any staleness without argument, none with a bad one (§5.2.1.2)",
    arguments: [
      ("max-stale", CacheControl.unlimited), ("max-stale=10", 10), ("max-stale=\"10\"", 10), ("max-stale=x", nil),
      ("max-stale=", nil), ("min-fresh=3", nil),
    ] as [(String, Int64?)])
  func maxStale(value: String, seconds: Int64?) {
    #expect(Self.read(value).maxStale == seconds)
  }

  @Test("the other numbers: min-fresh, stale-while-revalidate, stale-if-error")
  func numbers() {
    let read = Self.read("min-fresh=3, stale-while-revalidate=4, stale-if-error=\"5\", stale-if-error=6")
    #expect(read.minFresh == 3)
    #expect(read.staleWhileRevalidate == 4)
    #expect(read.staleIfError == 5)
    #expect(Self.read("min-fresh=x, stale-while-revalidate, stale-if-error=-1") == CacheControl())
  }

  @Test("fields for other caches have no effect: CDN-Cache-Control, Surrogate-Control, Pragma (§5.4)")
  func otherFields() {
    let fields: HTTPFields = [
      "CDN-Cache-Control": "max-age=5", "Surrogate-Control": "max-age=5", "Pragma": "no-cache",
    ]
    #expect(CacheControl(fields) == CacheControl())
  }

  @Test("5,000 lists of bad pieces are read to their end, as fast as they are long")
  func garbage() {
    var generator = PrintedSeed(for: "Cache-Control garbage")
    let pieces = [
      "max-age", "=", "\"", "\\", ",", " ", "\t", "9", "no-cache", "no-store", "é", "\u{0}", "=\"", "\",", "x", ";",
      "99999999999999999999", "private", "-",
    ]
    for _ in 0..<5_000 {
      let text = (0..<Int.random(in: 0...14, using: &generator)).map { _ in
        pieces.randomElement(using: &generator) ?? ""
      }.joined()
      let read = Self.read(text)
      #expect(read.maxAge ?? 0 >= 0)
      #expect(!read.noCacheFields.contains { !$0.isValid })
    }
    #expect(Self.read(String(repeating: "\"", count: 100_000)).directives == [])
    #expect(Self.read(String(repeating: "a=\"\\", count: 100_000)).directives == [])
    #expect(Self.read(String(repeating: ",", count: 100_000) + "no-store").directives == .noStore)
  }
}
