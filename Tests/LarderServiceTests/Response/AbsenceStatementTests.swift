import LarderHTTP
import LarderOData
import Testing

@testable import LarderService

@Suite("What a 404 or 410 says about its resource", .timeLimit(.minutes(1)))
struct AbsenceStatementTests {
  private func statement(
    _ status: Int, _ fields: HTTPFields, _ body: String, url: String = "http://h/s/Orders(4711)"
  ) -> AbsenceStatement? {
    let response = ODataSingleResponse(httpStatus: status, fields: fields, payloadBytes: Array(body.utf8), url: url)
    return AbsenceStatement(
      ODataServiceError(
        .http(status: status, payload: ErrorResponse.payload(response)), operation: "read", response: response))
  }

  private static let json: HTTPFields = [.contentType: "application/json"]

  @Test(
    "An error of OData is about the resource unless it may be about the set, the path or the service",
    arguments: [
      ("", "Resource not found for the segment 'Orders'.", AbsenceStatement.path),
      ("/IWBEP/CM_MGW_RT/020", "Resource not found for segment 'Order'", .path),
      ("/IWFND/MED/170", "No service found for namespace '', name 'SHOP', version '0001'", .path),
      ("005056A509B11EE1B9A8FEC11C21578E", "Order 4711 does not exist", .resource),
      ("BadRequest_NotFound", "Bad Request - Error in query syntax.", .path),
      ("404", "Invalid resource path \"Orders\"", .path), ("404", "Not Found", .path), ("", "", .path),
      ("404", "No HTTP resource was found that matches the request URI", .path),
      ("NotFound", "The entity set 'Orders' was not found", .path), ("404", "There is no Orders", .path),
      ("404", "Orders(4711) was not found", .resource),
      ("0x80040217", "order With Id = 4711 Does Not Exist", .resource),
      ("Internal_RecordNotFound", "The record does not exist any more.", .resource),
      ("404", "Tenant not found", .path),
    ])
  func errors(code: String, message: String, expected: AbsenceStatement) {
    let v4 = #"{"error":{"code":"\#(code)","message":"\#(message.replacing("\"", with: "\\\""))"}}"#
    let v2 =
      #"{"error":{"code":"\#(code)","message":{"lang":"en","value":"\#(message.replacing("\"", with: "\\\""))"}}}"#
    for status in [404, 410] {
      #expect(statement(status, Self.json, v4) == expected)
      #expect(statement(status, Self.json, v2) == expected)
      #expect(statement(status, Self.json, v4, url: "http://h/s/Orders(4711)/$value") == expected)
    }
  }

  @Test(
    "Content of other kinds is foreign, unless the response names a version of OData (Protocol 4.01 §8.1.5)",
    arguments: [
      (["Content-Type": "text/html"], "<html></html>", AbsenceStatement.foreign),
      (["Content-Type": "text/plain"], "404 page not found", .foreign), ([:], "default backend - 404", .foreign),
      (["Content-Type": "application/json"], #"{"statusCode":404,"message":"Resource not found"}"#, .foreign),
      ([:], "", .silent), (["OData-Version": "4.0", "Content-Type": "application/json"], "{}", .silent),
      (
        ["OData-Version": "4.0", "Content-Type": "application/json"],
        #"{"error":{"code":"404","message":"Not Found"}}"#,
        .resource
      ),
    ] as [(HTTPFields, String, AbsenceStatement)])
  func contents(fields: HTTPFields, body: String, expected: AbsenceStatement) {
    #expect(statement(404, fields, body) == expected)
  }

  @Test("Other statuses say nothing, and a part of a batch is the service's own")
  func others() {
    #expect(statement(500, Self.json, "") == nil)
    #expect(statement(403, ["Content-Type": "text/html"], "<html></html>") == nil)
    var error = ODataServiceError(.http(status: 404, payload: nil), operation: "delete")
    error.isOfBatchPart = true
    #expect(AbsenceStatement(error) == .resource)
  }
}
