import Foundation
import LarderObjects
import LarderTestSupport
import Testing

@Suite("Objects: selections, ranges, pages", .timeLimit(.minutes(5)))
struct ObjectSelectionTests {
  private static let labels: [String: [String]] = [
    "ada": ["2026-01", "friend"], "ben": ["2026-02"], "cleo": ["2026-01", "2026-03", "friend"], "dan": [],
    "eve": ["2025-12", "2026-02", "enemy"], "é": ["friend"], "z\u{10FFFF}": ["z\u{10FFFF}"], "z\u{10FFFF}a": [],
  ]

  private func fill(_ store: ObjectStore) async throws {
    for (key, labels) in ObjectSelectionTests.labels { try await store.put(key, forKey: key, labels: labels) }
  }

  @Test(
    "The values of a selection, and their order",
    arguments: [
      (.all, ["ada", "ben", "cleo", "dan", "eve", "z\u{10FFFF}", "z\u{10FFFF}a", "é"]),
      (.all.reversed, ["é", "z\u{10FFFF}a", "z\u{10FFFF}", "eve", "dan", "cleo", "ben", "ada"]),
      (.keys(prefix: "z\u{10FFFF}"), ["z\u{10FFFF}", "z\u{10FFFF}a"]), (.keys(prefix: "e"), ["eve"]),
      (.keys(prefix: ""), ["ada", "ben", "cleo", "dan", "eve", "z\u{10FFFF}", "z\u{10FFFF}a", "é"]),
      (.keys(from: "ben", upTo: "dan"), ["ben", "cleo"]), (.keys(from: "ben", through: "dan"), ["ben", "cleo", "dan"]),
      (.keys(from: "f"), ["z\u{10FFFF}", "z\u{10FFFF}a", "é"]), (.keys(upTo: "b"), ["ada"]),
      (.keys(from: "z", upTo: "a"), []), (.keys(through: "ada"), ["ada"]), (.label("friend"), ["ada", "cleo", "é"]),
      (.label("friend").reversed, ["é", "cleo", "ada"]), (.label("friend").keys(prefix: "c"), ["cleo"]),
      (.label("friend").keys(from: "b", upTo: "d"), ["cleo"]), (.label("nobody"), []), (.label("frien"), []),
      // A value with two labels in the range appears at the first of them.
      (.labels(prefix: "2026"), ["ada", "cleo", "ben", "eve"]),
      (.labels(prefix: "2026").reversed, ["cleo", "eve", "ben", "ada"]),
      (.labels(from: "2026-02", upTo: "2026-03"), ["ben", "eve"]),
      (.labels(from: "2026-02", through: "2026-03"), ["ben", "eve", "cleo"]),
      (.labels(prefix: "202").keys(from: "b"), ["eve", "cleo", "ben"]),
      (.labels(from: "z"), ["z\u{10FFFF}"]), (.labels(), ["eve", "ada", "cleo", "ben", "é", "z\u{10FFFF}"]),
    ] as [(ObjectSelection, [String])])
  func selections(selection: ObjectSelection, expected: [String]) async throws {
    try await ObjectRig().with { (store) async throws in
      try await fill(store)
      #expect(try await store.keys(selection) == expected)
      #expect(try await store.values(String.self, selection) == expected)
      #expect(try await store.entries(String.self, selection).map(\.key) == expected)
      #expect(try await store.metadata(selection).items.map(\.key) == expected)
      for limit in [1, 2, 3, 100] {
        var (result, cursor, pages): ([String], ObjectCursor?, Int) = ([], nil, 0)
        repeat {
          let page = try await store.page(String.self, selection, limit: limit, after: cursor)
          #expect(page.items.count <= limit)
          result += page.items.map(\.value)
          // A cursor can be converted to text and back.
          cursor = try page.next.map { try #require(ObjectCursor($0.description)) }
          pages += 1
        } while cursor != nil
        #expect(result == expected)
        #expect(pages == max(1, (expected.count + limit - 1) / limit))
      }
    }
  }

  @Test("Prefixes with the last scalars, and across the surrogates")
  func prefixes() async throws {
    try await ObjectRig().with { (store) async throws in
      let keys = ["\u{D7FF}", "\u{D7FF}a", "\u{E000}", "\u{10FFFF}", "\u{10FFFF}\u{10FFFF}", "a\u{0}", "a"]
      for key in keys { try await store.put(1, forKey: key) }
      #expect(try await store.keys(.keys(prefix: "\u{D7FF}")) == ["\u{D7FF}", "\u{D7FF}a"])
      #expect(try await store.keys(.keys(prefix: "\u{10FFFF}")) == ["\u{10FFFF}", "\u{10FFFF}\u{10FFFF}"])
      #expect(try await store.keys(.keys(prefix: "a\u{0}")) == ["a\u{0}"])
    }
  }

  @Test(
    "Pages while values are put, deleted and changed: values that stay are returned once, in order",
    arguments: [1, 2, 3])
  func pagingUnderChange(seed: UInt64) async throws {
    var random = PrintedSeed(for: "pages under change", default: seed)
    try await ObjectRig().with { (store) async throws in
      let staying = (0..<60).map { String(format: "stay %03d", $0) }
      try await store.transaction { objects in
        for key in staying { try objects.put(key, forKey: key, labels: ["all"]) }
        for number in 0..<40 { try objects.put("x", forKey: String(format: "go %03d", number), labels: ["all"]) }
      }
      for selection in [ObjectSelection.all, .label("all"), .all.reversed] {
        var (result, cursor): ([String], ObjectCursor?) = ([], nil)
        repeat {
          let page = try await store.page(String.self, selection, limit: 7, after: cursor)
          result += page.items.map(\.key)
          cursor = page.next
          for _ in 0..<5 {
            let number = Int.random(in: 0..<80, using: &random)
            let key = String(format: "go %03d", number)
            if Bool.random(using: &random) {
              try await store.put("y", forKey: key, labels: ["all"])
            } else {
              try await store.removeValue(forKey: key)
            }
            let remaining = staying[Int.random(in: 0..<staying.count, using: &random)]
            try await store.put(remaining, forKey: remaining, labels: ["all"])
          }
        } while cursor != nil
        #expect(Set(result).count == result.count)
        #expect(result.filter { $0.hasPrefix("stay") } == (selection == .all.reversed ? staying.reversed() : staying))
      }
    }
  }

  @Test("A cursor of another selection is rejected; other texts are not cursors")
  func cursors() async throws {
    try await ObjectRig().with { (store) async throws in
      try await fill(store)
      let byKey = try #require(try await store.page(String.self, limit: 1).next)
      let byLabel = try #require(try await store.page(String.self, .labels(prefix: "2026"), limit: 1).next)
      let pairs: [(ObjectSelection, ObjectCursor)] = [
        (.all, byLabel), (.label("friend"), byKey), (.labels(prefix: "2027"), byLabel), (.keys(from: "b"), byKey),
      ]
      for (selection, cursor) in pairs {
        let error = try #require(
          await reason { _ = try await store.page(String.self, selection, limit: 1, after: cursor) })
        guard case .invalidCursor = error.category else { throw error }
      }
      for text in ["", "x", "AAA", "AAA=", "____", "AAD_", String(repeating: "A", count: 5000)] {
        #expect(ObjectCursor(text) == nil || text == "AAA")
      }
      let coded = try JSONDecoder().decode([ObjectCursor].self, from: JSONEncoder().encode([byKey, byLabel]))
      #expect(coded == [byKey, byLabel])
    }
  }

  @Test("A value that does not decode is an error with its key")
  func mixed() async throws {
    try await ObjectRig().with { (store) async throws in
      try await store.put(1, forKey: "a")
      try await store.put("text", forKey: "b")
      let error = try #require(await reason { _ = try await store.values(Int.self) })
      #expect(error.key == "b")
      #expect(try await store.values(Int.self, .keys(prefix: "a")) == [1])
    }
  }
}
