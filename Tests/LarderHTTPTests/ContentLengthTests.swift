import LarderHTTP
import Testing

@Suite("Content-Length (RFC 9110 §8.6, RFC 9112 §6.3)", .timeLimit(.minutes(5)))
struct ContentLengthTests {
  private func fields(_ values: [String]) -> HTTPFields {
    HTTPFields(values.map { HTTPField(name: "Content-Length", value: $0) })
  }

  @Test(
    "one number, or the same number several times, is a valid length",
    arguments: [
      ([], nil), (["0"], 0), (["5"], 5), ([" 5\t"], 5), (["007"], 7), (["5, 5"], 5), (["5", "5"], 5),
      (["5,5", " 5 "], 5),
      (["9223372036854775807"], Int.max),
    ] as [([String], Int?)])
  func lengths(values: [String], length: Int?) throws {
    #expect(try fields(values).announcedLength() == length)
  }

  @Test(
    "anything else is an error that ends the message",
    arguments: [
      [""], ["+5"], ["-5"], ["5 5"], ["5,"], [",5"], ["0x5"], ["5.0"], ["five"], ["5;"], ["٥"], ["9223372036854775808"],
      ["99999999999999999999"], ["5, 6"], ["5", "6"], ["5", ""],
    ])
  func errors(values: [String]) {
    #expect {
      try fields(values).announcedLength()
    } throws: { error in
      if case .protocolViolation = error as? HTTPTransportError { true } else { false }
    }
  }
}
