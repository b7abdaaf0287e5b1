import LarderContent
import LarderHTTP
import Testing

@Suite("Content-Range (RFC 9110 §14.4)", .timeLimit(.minutes(5)))
struct ContentRangeTests {
  static let valid: [(String, ContentRange)] = [
    ("bytes 42-1233/1234", .part(42..<1234, length: 1234)), ("bytes 42-1233/*", .part(42..<1234, length: nil)),
    ("bytes */1234", .unsatisfied(length: 1234)), ("bytes 0-0/1", .part(0..<1, length: 1)),
    ("bytes */0", .unsatisfied(length: 0)),
    ("bytes 0-9223372036854775805/9223372036854775806", .part(0..<(Int.max - 1), length: Int.max - 1)),
  ]

  @Test("is read and printed", arguments: valid)
  func roundTrip(text: String, value: ContentRange) {
    #expect(ContentRange(text) == value)
    #expect(value.text == text)
  }

  @Test("blanks and the unit's case make no difference")
  func lenient() {
    #expect(ContentRange(" BYTES  1-2/3 ") == .part(1..<3, length: 3))
    #expect(ContentRange("bytes 01-002/0003") == .part(1..<3, length: 3))
  }

  @Test(
    "what is invalid is not taken",
    arguments: [
      "", "bytes", "bytes ", "bytes 1-2", "bytes 2-1/3", "bytes 1-3/3", "bytes 1-2/0", "bytes */*", "bytes -2/3",
      "bytes 1-/3", "bytes=1-2/3", "items 1-2/3", "bytes 1-2/3, bytes 4-5/6", "bytes 1-2/3x", "bytes x-2/3",
      "bytes 0-9223372036854775807/*", "bytes 0-9223372036854775806/9223372036854775807",
      "bytes 18446744073709551616-18446744073709551617/*", "bytes */99999999999999999999", "bytes 1-2 /3",
    ])
  func rejected(text: String) { #expect(ContentRange(text) == nil) }

  @Test("a 206 holds a part only where it is one, of bytes, and valid (RFC 9110 §15.3.7)")
  func receivedPart() {
    let good: HTTPFields = ["Content-Range": "bytes 5-9/20", "Content-Type": "text/plain"]
    #expect(ReceivedPart(status: 206, fields: good) == ReceivedPart(range: 5..<10, length: 20))
    #expect(ReceivedPart(status: 200, fields: good) == nil)
    #expect(ReceivedPart(status: 206, fields: [:]) == nil)
    #expect(ReceivedPart(status: 206, fields: ["Content-Range": "bytes */20"]) == nil)
    #expect(
      ReceivedPart(status: 206, fields: ["Content-Range": "bytes 5-9/20", "Content-Range": "bytes 1-2/20"]) == nil)
    for type in ["multipart/byteranges; boundary=x", "Multipart/ByteRanges"] {
      #expect(ReceivedPart(status: 206, fields: ["Content-Range": "bytes 5-9/20", "Content-Type": type]) == nil)
    }
  }

  @Test("a part of which less has come is shorter; of which more has come is none")
  func prefix() {
    let part = ReceivedPart(range: 5..<10, length: 20)
    #expect(part.prefix(3) == ReceivedPart(range: 5..<8, length: 20))
    #expect(part.prefix(5) == part)
    #expect(part.prefix(6) == nil)
    #expect(part.prefix(0) == nil)
    #expect(!part.isWhole)
    #expect(ReceivedPart(range: 0..<5, length: 5).isWhole)
  }
}
