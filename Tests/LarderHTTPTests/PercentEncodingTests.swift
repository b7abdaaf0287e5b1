@_spi(Stores) import LarderHTTP
import Testing

@Suite("Percent-encoding", .timeLimit(.minutes(1)))
struct PercentEncodingTests {
  @Test(
    "Each part of a URL keeps the bytes that it can contain",
    arguments: [
      (PercentEncoding.Part.unreserved, "a-._~%21%24%27%28%29%2A%2C%3A%40%26%2B%2F%3B%3D%3F%23%5B%20%C3%A9%2541%25"),
      (.content, "a-._~!$'()*,:@%26%2B%2F%3B%3D%3F%23%5B%20%C3%A9%2541%25"),
      (.path, "a-._~!$'()*,:@&+/;=%3F%23%5B%20%C3%A9%41%25"),
      (.query, "a-._~!$'()*,:@&+/;=?%23%5B%20%C3%A9%41%25"),
    ])
  func parts(part: PercentEncoding.Part, encoded: String) {
    #expect(PercentEncoding.encode("a-._~!$'()*,:@&+/;=?#[ é%41%", in: part) == encoded)
  }
}
