import Testing

@_spi(Stores) @testable import LarderCore

@Suite("Texts that hold any bytes", .timeLimit(.minutes(1)))
struct ByteTextTests {
  @Test("A path keeps bytes that are not UTF-8, and ends with NUL")
  func path() {
    let bytes: [UInt8] = [0x2F, 0x63, 0xE9, 0xC3, 0xA9]
    let text = ByteText.text(of: bytes)
    #expect(ByteText.hasEscapes(text))
    #expect(ByteText.path(text).map(UInt8.init(bitPattern:)) == bytes + [0])
    #expect(!ByteText.hasEscapes("caf\u{E9}"))
  }
}
