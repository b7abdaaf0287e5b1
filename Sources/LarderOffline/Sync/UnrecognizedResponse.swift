import LarderHTTP
import LarderOData
import LarderService

/// Answers that are not the service's: a page to sign in with, a proxy's, a network's that wants to be paid, and all of them
/// with a status of success. Nothing is known of the request then.
enum UnrecognizedResponse {
  /// Whether an answer is a web page.
  static func isOne(_ response: ODataSingleResponse) -> Bool {
    guard !response.payloadBytes.isEmpty, let type = response.fields[.contentType] else { return false }
    return WebPage.isType(type)
  }

  /// Whether an error is that a web page came instead of an answer.
  static func isOne(_ error: ODataServiceError) -> Bool {
    guard case .malformedAnswer = error.category, let response = error.response else { return false }
    return isOne(response)
  }

  static func error(_ response: ODataSingleResponse, of operation: String) -> ODataServiceError {
    ODataServiceError(
      .malformedAnswer("expected a response of the service, found a web page"), operation: operation,
      url: response.url, response: response)
  }
}

/// Web pages, which are never an answer of a service.
enum WebPage {
  /// Whether a media type is a web page's.
  static func isType(_ type: String) -> Bool {
    let type = type.lowercased()
    return type.hasPrefix("text/html") || type.hasPrefix("application/xhtml")
  }
}
