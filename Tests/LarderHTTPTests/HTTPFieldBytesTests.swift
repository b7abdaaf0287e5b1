import LarderHTTP
import Testing

@Suite("The bytes of a field's value (RFC 9110 §5.5)", .timeLimit(.minutes(5)))
struct HTTPFieldBytesTests {
  @Test("ASCII and UTF-8 are read as such", arguments: ["", "a b", "\u{E4}\u{20AC}\u{1F600}", "\u{10FE7F}\u{10FF00}"])
  func text(_ text: String) {
    let field = HTTPField(name: "X", bytes: Array(text.utf8))
    #expect(field.value == text)
    #expect(field.bytes == Array(text.utf8))
  }

  @Test("A byte that is not UTF-8 becomes one character, next to valid text")
  func latin() {
    let field = HTTPField(name: "X", bytes: [0x61, 0xE4, 0x62, 0xC3, 0xA4, 0xE4])
    #expect(Array(field.value.unicodeScalars) == ["a", "\u{10FEE4}", "b", "\u{E4}", "\u{10FEE4}"])
    #expect(field.isValid)
    #expect(field.bytes == [0x61, 0xE4, 0x62, 0xC3, 0xA4, 0xE4])
  }

  @Test("Every sequence of two bytes is restored, also before and after other text")
  func pairs() {
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        let bytes = [first, second, 0xA4, first]
        #expect(HTTPField(name: "X", bytes: bytes).bytes == bytes)
      }
    }
  }

  @Test(
    "Escape characters, overlong forms, surrogates and truncated sequences are restored",
    arguments: [
      Array("\u{10FE80}\u{10FEFF}".utf8), [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF4, 0x90, 0x80, 0x80],
      [0xF0, 0x9F, 0x98], [0xFF, 0xFE], [0xF4, 0x8F, 0xBA],
    ])
  func sequences(_ bytes: [UInt8]) {
    let field = HTTPField(name: "X", bytes: bytes)
    #expect(field.bytes == bytes)
    #expect(field.value.unicodeScalars.count == bytes.count)
  }
}
