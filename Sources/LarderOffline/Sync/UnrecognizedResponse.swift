import LarderHTTP
import LarderOData
import LarderService

/// Responses that do not come from the service, but have a success status: a login page, or the page of a proxy or of a
/// captive network. The outcome of the request is not known then.
enum UnrecognizedResponse {
  /// Whether a response is a web page.
  static func isOne(_ response: ODataSingleResponse) -> Bool {
    guard !response.payloadBytes.isEmpty, let type = response.fields[.contentType] else { return false }
    return WebPage.isType(type)
  }

  /// Whether an error means that a web page was received in place of a response.
  static func isOne(_ error: ODataServiceError) -> Bool {
    guard case .malformedResponse = error.category, let response = error.response else { return false }
    return isOne(response)
  }

  static func error(_ response: ODataSingleResponse, of operation: String) -> ODataServiceError {
    ODataServiceError(
      .malformedResponse("expected a response of the service, found a web page"), operation: operation,
      url: response.url, response: response)
  }
}
