import LarderOData
import Testing

@Suite("The advice of batch errors", .timeLimit(.minutes(5)))
struct BatchErrorTests {
  @Test("The error for a truncated response says that changes may have been applied, and does not advise to send again")
  func truncated() throws {
    let response = "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nab"
    let error = try #require(throws: BatchError.self) {
      try MultipartBatchReader.responses(Array(response.utf8), contentType: "multipart/mixed; boundary=b")
    }
    #expect(error.problem == .truncated)
    #expect(error.description.contains("its changes may have been applied"))
  }
}
