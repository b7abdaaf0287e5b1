import HTTPCore
import OData

/// A request's content in the form that the service's version gives it.
struct RequestBodyForm: Sendable {
  /// What is sent.
  let body: HTTPBody
  /// Its media type; nil where there is no content.
  let contentType: String?
  /// True where the content is OData's own, so that its version must be said.
  let isStructured: Bool

  /// True where the form, or the method, follows from the version.
  static func needsVersion(_ request: ODataSingleRequest) -> Bool {
    switch (request.operation, request.body) {
    case (.update(.patch), _), (_, .entity), (_, .properties), (_, .reference): true
    default: false
    }
  }

  init(
    _ request: ODataSingleRequest, version: ODataVersion?, model: EdmModel?, isAtom: Bool, url: String
  ) throws(ODataServiceError) {
    switch request.body {
    case .none:
      (body, contentType, isStructured) = (.none, nil, false)
    case .bytes(let bytes, let type):
      (body, contentType, isStructured) = (.bytes(bytes), type, false)
    case .stream(let length, let type, let open):
      (body, contentType, isStructured) = (.stream(length: length, open: open), type, false)
    case .entity, .properties, .reference:
      throw ODataServiceError(.notSupported("writing entities"), operation: request.operationName, url: url)
    }
  }
}
