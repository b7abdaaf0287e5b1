import LarderOData

/// The service's own words in an answer that is no success.
enum ErrorResponse {
  /// More is no error message, and is not read.
  static let maximumBytes = 4 << 20

  /// The error in the content; nil where it is in no form that OData has, such as a gateway's HTML page.
  static func payload(_ response: ODataSingleResponse) -> ODataErrorPayload? {
    guard response.payloadBytes.count <= maximumBytes else { return nil }
    // What cannot be read as an error is still in the error's response, byte for byte.
    // An error is of no model.
    guard case .error(let error)? = try? response.of(nil).payload() else { return nil }
    return error
  }
}
