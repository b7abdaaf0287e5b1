package import LarderHTTP
package import LarderOData

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A request as it would be sent, without credentials, cookies and tokens.
package struct ODataRequestPreview: Sendable {
  /// The intended method; tunnelling may send another.
  package var method: HTTPMethod
  package var url: String
  package var fields: HTTPFields
  package var body: HTTPBody
}

extension ODataConversation {
  /// The preview of a request. Nothing is requested from the service if its model is known.
  package func preview(_ request: ODataSingleRequest) async throws(ODataServiceError) -> ODataRequestPreview {
    preview(try await outgoing(request, operation: request.operationName))
  }

  /// The preview of a request, with a known model.
  package func preview(
    _ request: ODataSingleRequest, model: EdmModel
  ) throws(ODataServiceError) -> ODataRequestPreview {
    preview(try outgoing(request, operation: request.operationName, version: model.version, model: model))
  }

  private func preview(_ outgoing: OutgoingRequest) -> ODataRequestPreview {
    ODataRequestPreview(
      method: outgoing.method, url: outgoing.url.absoluteString, fields: outgoing.fields, body: outgoing.body)
  }
}
