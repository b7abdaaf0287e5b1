import Foundation
import LarderStorage
import LarderTestSupport
import Testing

@Suite("File names on case-insensitive and normalizing file systems", .timeLimit(.minutes(5)))
struct FileNameTests {
  @Test("Two names never map to files that differ only in case or normalization")
  func distinct() {
    var texts: Set<[UInt8]> = []
    for text in [
      "News", "news", "NEWS", "nEws", "é", "e\u{301}", "É", "E\u{301}", "ß", "SS", "ss", "ẞ", "İ", "i", "I", "ı",
      "\u{212A}", "K", "k",
      "ﬁ", "fi", "Å", "\u{212B}", "A\u{30A}", "", ".", "..", "a.", "a", "a..b", "a.b", "A.b", "a/b", "a_b", "a:b",
      "a\\b", "con", "CON", " a", "a ",
      String(repeating: "a", count: 64), String(repeating: "a", count: 65), String(repeating: "a", count: 66), "σ", "ς",
      "Σ",
    ] {
      texts.insert(Array(text.utf8))
    }
    var random = PrintedSeed(for: "names of files")
    let letters = ["a", "A", "e", "e\u{301}", "é", "É", "s", "ſ", "ss", "ß", ".", "_", "-", "0", "/"]
    for _ in 0..<2000 {
      texts.insert(
        Array((0...random.next() % 4).map { _ in letters[Int(random.next() % UInt64(letters.count))] }.joined().utf8))
    }
    let names = texts.map { FileName.distinct(String(decoding: $0, as: UTF8.self)) }
    // They are ASCII, as is checked below: letter case is all that can be folded.
    #expect(Set(names.map { $0.lowercased() }).count == texts.count)
    for name in names {
      #expect(name.utf8.count <= 96 && !name.hasPrefix(".") && !name.hasSuffix("."), "\(name)")
      #expect(
        name.utf8.allSatisfy {
          (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || [0x2D, 0x2E, 0x5F].contains($0)
        })
    }
  }

  @Test("A name that is distinct on every file system is not changed")
  func plain() {
    for name in ["store", "news-2", "a_b.c", "0"] { #expect(FileName.distinct(name) == name) }
  }
}
