import LarderHTTP
import LarderOData
import Testing

@testable import LarderService

@Suite("The reasons that errors show", .timeLimit(.minutes(1)))
struct ErrorReasonTests {
  @Test(
    "Target and details follow the message (OData JSON Format 4.01 §21.1)",
    arguments: [
      (
        #"{"code":"400","message":"Several errors.","target":"N","details":[{"code":"RANGE","message":"Too large","target":"stock"},{"code":"","message":"Empty"}]}"#,
        "Several errors. (N; RANGE: stock: Too large; Empty)"
      ),
      (#"{"code":"400","message":"N is required.","target":"N"}"#, "N is required."),
      (#"{"code":"400","message":"Plain."}"#, "Plain."),
      (
        #"{"code":"E/1","message":{"lang":"en","value":"No stock."},"innererror":{"errordetails":[{"code":"E/1","message":"No stock."},{"code":"E/2","message":"Order more","propertyref":"Amount"}]}}"#,
        "No stock. (E/2: Amount: Order more)"
      ),
    ])
  func details(error: String, expected: String) {
    let response = ODataSingleResponse(
      httpStatus: 400, fields: [.contentType: "application/json"], payloadBytes: Array("{\"error\":\(error)}".utf8),
      url: "http://h/s/Orders(1)")
    #expect(ErrorResponse.payload(response)?.fullMessage == expected)
  }

  @Test("A long list of details is shortened")
  func many() {
    let details = (1...25).map { ODataErrorPayload.Detail(code: "", message: "reason \($0)") }
    let text = ODataErrorPayload(code: "", message: "Many.", details: details).fullMessage
    #expect(text.contains("reason 20; … 5 more") && !text.contains("reason 21"))
  }

  @Test("A redirect that was not followed names its target, without the query", arguments: [301, 302, 303, 307, 308])
  func redirects(status: Int) {
    let fields: HTTPFields = [.location: "https://login.example/sign-in?token=secret"]
    let response = ODataSingleResponse(httpStatus: status, fields: fields, url: "http://h/s/Orders")
    let error = ODataServiceError(.http(status: status, payload: nil), operation: "create", response: response)
    let text = "which was not followed (to https://login.example/sign-in)"
    #expect(error.description.contains(text) && error.description.contains(text), "\(error)")
  }

  @Test("An error in the middle of a success is shown with its code and message (OData JSON Format 4.01 §21.2)")
  func inStream() throws {
    let response = ODataSingleResponse(
      httpStatus: 200, fields: [.contentType: "application/json"],
      payloadBytes: Array(#"{"value":[{"ID":1}],"error":{"code":"DB/7","message":"The database is closed"}}"#.utf8),
      url: "http://h/s/Orders")
    let error = try #require(throws: ODataServiceError.self) { try response.payload() }
    #expect(error.description.contains("[DB/7]: The database is closed"), "\(error)")
  }
}
