@_spi(Stores) import LarderCore
import Testing

@Suite("Hexadecimal and Base64 digits", .timeLimit(.minutes(1)))
struct DigitsTests {
  @Test(
    "Base64 of the examples in RFC 4648 §10 is written and read",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func base64(text: String, digits: String) {
    let bytes = Array(text.utf8)
    let unpadded = String(digits.filter { $0 != "=" })
    #expect(Base64.text(bytes, isURLSafe: false) == digits)
    #expect(Base64.text(bytes, isURLSafe: true) == unpadded)
    #expect(Base64.decode(digits) == bytes)
    #expect(Base64.decode(unpadded) == bytes)
    var appended = Array("x".utf8)
    Base64.append(bytes, isURLSafe: true, to: &appended)
    #expect(String(decoding: appended, as: UTF8.self) == "x" + unpadded)
  }

  @Test("Both alphabets are read, and only the requested one is written")
  func alphabets() {
    #expect(Base64.text([0xFB, 0xFF], isURLSafe: false) == "+/8=")
    #expect(Base64.text([0xFB, 0xFF], isURLSafe: true) == "-_8")
    #expect(Base64.decode("+/8=") == [0xFB, 0xFF])
    #expect(Base64.decode("-_8") == [0xFB, 0xFF])
    for broken in ["A", "AB", "AB=", "AB==", "Zh==", "====", "A B", "-_9"] { #expect(Base64.decode(broken) == nil) }
  }

  @Test("Hexadecimal digits are written in lower case and read in both")
  func hexadecimal() {
    #expect(Hexadecimal.text([0x00, 0x9A, 0xFF]) == "009aff")
    #expect(Hexadecimal.text(0x1_2345, digits: 4) == "2345")
    #expect(Hexadecimal.text(0xAB, digits: 16) == "00000000000000ab")
    #expect(Hexadecimal.bytes("009aFF".utf8) == [0x00, 0x9A, 0xFF])
    for broken in ["0", "0g", "xx"] { #expect(Hexadecimal.bytes(broken.utf8) == nil) }
    #expect(Hexadecimal.number("ff".utf8) == 255)
    for broken in ["", "FF", "12345678901234567"] { #expect(Hexadecimal.number(broken.utf8) == nil) }
  }
}
