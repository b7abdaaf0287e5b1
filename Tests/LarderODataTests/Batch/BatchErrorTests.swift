import LarderOData
import Testing

@Suite("What a batch error advises", .timeLimit(.minutes(5)))
struct BatchErrorTests {
  @Test("an answer that is cut off says that changes may be done, and not simply to send again")
  func truncated() throws {
    let answer = "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nab"
    let error = try #require(throws: BatchError.self) {
      try MultipartBatchReader.responses(Array(answer.utf8), contentType: "multipart/mixed; boundary=b")
    }
    #expect(error.problem == .truncated)
    #expect(error.description.contains("its changes may have been applied"))
  }
}
