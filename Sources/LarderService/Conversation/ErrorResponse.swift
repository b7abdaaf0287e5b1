import LarderOData

/// Reads the service's own error from an unsuccessful response.
enum ErrorResponse {
  /// The size limit: longer content is not an error message and is not read.
  static let maximumBytes = 4 << 20

  /// The error in the content; nil if the content has no form of OData, such as a gateway's HTML page.
  static func payload(_ response: ODataSingleResponse) -> ODataErrorPayload? {
    guard response.payloadBytes.count <= maximumBytes else { return nil }
    // Content that cannot be read as an error is still in the thrown error's response, byte for byte. An error does not
    // belong to a model, and has its form also where the resource is a stream of bytes.
    var response = response.with(model: nil)
    response.url = ""
    guard case .error(let error)? = try? response.payload() else { return nil }
    return error
  }
}
