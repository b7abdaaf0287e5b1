import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderContent

@Suite("Vary and variants (RFC 9111 §4.1)", .timeLimit(.minutes(5)))
struct VaryTests {
  static func variant(
    _ vary: String, _ request: HTTPFields, date: Int64 = 0, language: String? = nil, etag: String? = nil
  ) throws -> CacheVariant {
    var extra: HTTPFields = ["Vary": vary]
    extra["Content-Language"] = language
    let rules = FreshnessTests.rules("max-age=60", date: date, etag: etag, extra: extra)
    return try #require(VariantIndex.variant(of: rules, request: request, under: "http://h/"))
  }

  @Test("names in lower case, sorted, each once, from all lines")
  func names() {
    let fields = HTTPFields(["Foo,bar", "", " ,BAZ ,foo"].map { HTTPField(name: .vary, value: $0) })
    #expect(Vary(fields)?.names == ["bar", "baz", "foo"])
    #expect(Vary(fields)?.matchesNothing == false)
    #expect(Vary(["Accept": "a"]) == nil)
    #expect(Vary(["Vary": " , "])?.isEmpty == true)
    let star = HTTPFields(["", "*"].map { HTTPField(name: .vary, value: $0) })
    #expect(Vary(star)?.matchesNothing == true)
  }

  /// A name, two values that mean the same (or not), each as lines.
  struct Pair: Sendable {
    var name: String
    var left: [String]
    var right: [String]
    var isEqual: Bool

    init(_ name: String, _ left: String..., to right: String..., isEqual: Bool = true) {
      self.name = name
      self.left = left
      self.right = right
      self.isEqual = isEqual
    }

    func fields(_ lines: [String]) -> HTTPFields {
      HTTPFields(lines.map { HTTPField(name: HTTPFieldName(name), value: $0) })
    }
  }

  @Test(
    "values that mean the same match, others do not",
    arguments: [
      Pair("Foo", "1", to: "1"), Pair("Foo", "1", to: "2", isEqual: false),
      Pair("Foo", "1, 2", to: "1", "2"), Pair("Foo", "1,2", to: " 1, 2 "),
      Pair("Foo", "1,2", to: "2,1", isEqual: false),
      Pair("Foo", "a", to: "A", isEqual: false), Pair("Foo", "\"a, b\"", to: "\"a,b\"", isEqual: false),
      Pair("Foo", "a b", to: "ab", isEqual: false), Pair("Foo", "1", isEqual: false),
      Pair("Foo", "", isEqual: false), Pair("Foo", to: "1", isEqual: false),
      Pair("Accept-Language", "en, de", to: "de, en"), Pair("Accept-Language", "en, de", to: "eN, De"),
      Pair("Accept-Language", "en, de", to: " en ,   de"), Pair("Accept-Language", "en;q=0.5", to: "en; q=0.5"),
      Pair("Accept-Language", "en, de;q=0.5", to: "en;q=0.5, de", isEqual: false),
      Pair("Accept-Encoding", "gzip, br", to: "BR", "GZip"), Pair("Accept-Encoding", "gzip", to: "br", isEqual: false),
      Pair("Accept", "text/html, a/b;q=0.1", to: "a/b; q=0.1,text/html"),
      Pair("User-Agent", "a (b, c)", to: "a (b,c)", isEqual: false), Pair("User-Agent", "a", to: " a "),
      Pair("Cookie", "a=b, c", to: "a=b,c", isEqual: false),
    ])
  func normalised(pair: Pair) throws {
    let stored = try Self.variant(pair.name, pair.fields(pair.left))
    let variant = VariantIndex.selected([stored], pair.fields(pair.right))
    #expect((variant != nil) == pair.isEqual)
    let other = try Self.variant(pair.name, pair.fields(pair.right))
    #expect((other.key == stored.key) == pair.isEqual)
  }

  @Test("all names must match, whatever the order of the request's fields and whatever else it has")
  func several() throws {
    let stored = try Self.variant("Foo, Bar, Baz", ["Foo": "1", "Bar": "abc", "Other": "2"])
    #expect(VariantIndex.selected([stored], ["Bar": "abc", "foo": "1", "Other": "3"]) == stored)
    #expect(VariantIndex.selected([stored], ["Bar": "abc", "foo": "1", "Baz": ""]) == nil)
    #expect(VariantIndex.selected([stored], ["Bar": "abcde", "foo": "1"]) == nil)
    #expect(VariantIndex.selected([stored], [:]) == nil)
  }

  @Test("of several that match the latest by Date is used")
  func latest() throws {
    let old = try Self.variant("Foo", ["Foo": "1"], date: -50)
    let new = try Self.variant("Bar", ["Foo": "1"], date: -10)
    let other = try Self.variant("Foo", ["Foo": "2"], date: 0)
    #expect(VariantIndex.matching([old, new, other], ["Foo": "1"]) == [new, old])
    #expect(VariantIndex.selected([new, old], ["Foo": "1"]) == new)
    #expect(VariantIndex.selected([new, old], ["Foo": "1", "Bar": "x"]) == old)
  }

  @Test(
    "a request that prefers the stored response's language gets it (RFC 9110 §12.5.4)",
    arguments: [
      ("fr;q=0.5, de;q=1.0", true), ("de", true), ("DE, fr;q=0.999", true), ("en, de", true),
      ("fr, de;q=0.9", false), ("fr, de", false), ("*, de;q=0.5", false), ("de;q=x", false), ("de;q=0", false),
      ("", false), ("de-AT", false),
    ])
  func language(wanted: String, isEqual: Bool) throws {
    let stored = try Self.variant("Accept-Language, Foo", ["Accept-Language": "en, de", "Foo": "1"], language: "De")
    #expect((VariantIndex.selected([stored], ["Foo": "1", "Accept-Language": wanted]) != nil) == isEqual)
    #expect(VariantIndex.selected([stored], ["Foo": "2", "Accept-Language": wanted]) == nil)
    #expect(VariantIndex.selected([stored], ["Foo": "1"]) == nil)
    let mixed = try Self.variant("Accept-Language", ["Accept-Language": "en, de"], language: "de, en")
    #expect(VariantIndex.selected([mixed], ["Accept-Language": "de"]) == nil)
  }

  @Test("a variant replaces the one under its key; past the limit the oldest goes")
  func index() throws {
    var variants: [CacheVariant] = []
    var dropped: [CacheVariant] = []
    for number in 0..<70 {
      let added = try VariantIndex.adding(Self.variant("Foo", ["Foo": "\(number)"]), to: variants)
      variants = added.variants
      dropped += added.dropped
    }
    #expect(variants.count == VariantIndex.limit)
    #expect(dropped.count == 6)
    #expect(dropped.first?.selecting == ["foo": "0"])
    let newer = try Self.variant("Foo", ["Foo": "69"], etag: "\"n\"")
    let replaced = VariantIndex.adding(newer, to: variants)
    #expect(replaced.variants.count == VariantIndex.limit)
    #expect(replaced.dropped.isEmpty)
    #expect(replaced.variants.last == newer)
  }

  @Test("no variant of a response without names, or with *")
  func none() {
    for vary in ["", " , ", "*", "Foo, *"] {
      let rules = FreshnessTests.rules(extra: ["Vary": vary])
      #expect(VariantIndex.variant(of: rules, request: [:], under: "k") == nil)
    }
    #expect(VariantIndex.variant(of: FreshnessTests.rules(), request: [:], under: "k") == nil)
  }

  @Test("very long fields cost time by their length alone, and too many names match nothing")
  func long() {
    let names = (0..<20_000).map { "f\($0)" }.joined(separator: ",")
    #expect(Vary(["Vary": names])?.matchesNothing == true)
    #expect(Vary(["Vary": names])?.names.count == Vary.limit)
    #expect(Vary(["Vary": String(repeating: "a,", count: 100_000)])?.names == ["a"])
    let fields: HTTPFields = ["Connection": names, "Cache-Control": "no-cache=\"\(names)\"", "f19999": "x", "g": "y"]
    let stored = StoredFields.toStore(fields, CacheControl(fields))
    #expect(stored.map(\.name.rawName) == ["Cache-Control", "g"])
    let languages = (0..<5_000).map { "l\($0);q=0.5" }.joined(separator: ",") + ",de"
    #expect(SelectingField.preferredLanguage(languages) == "de")
    #expect(SelectingField.value(of: "accept-language", in: [.acceptLanguage: languages])?.hasPrefix("de,") == true)
  }

  @Test("3,000 requests of bad pieces: a stored request matches itself")
  func garbage() throws {
    var generator = PrintedSeed(for: "Vary garbage")
    let pieces = ["a", ",", " ", "\t", "\"", "\\", ";q=", "0.5", "é", "*", "en", "1.0", "=", "\u{0}"]
    for _ in 0..<3_000 {
      var request = HTTPFields()
      for name in ["Accept-Language", "Foo", "Accept", "Cookie"] where Bool.random(using: &generator) {
        let value = (0..<Int.random(in: 0...9, using: &generator)).map { _ in
          pieces.randomElement(using: &generator) ?? ""
        }.joined()
        request.append(HTTPFieldName(name), value)
      }
      let stored = try Self.variant("Accept-Language, Foo, Accept, Cookie", request, language: "en")
      #expect(VariantIndex.selected([stored], request) == stored)
    }
  }
}
