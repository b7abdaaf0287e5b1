package import LarderHTTP

/// One request inside a `$batch` (OData Protocol 4.01 §11.7; V2 Batch Processing).
package struct BatchRequest: Sendable, Hashable {
  /// The Content-ID, or the JSON format's `id`: later requests refer to the new entity as `$id`.
  package var id: String?
  /// The request method.
  package var method: HTTPMethod
  /// Absolute (`http://host/service/Products`), host-relative (`/service/Products`, needs a Host), relative to the
  /// service (`Products`), or a reference (`$1/Items`); percent-encoded.
  package var url: String
  /// The request's header fields.
  package var fields: HTTPFields
  /// The content; empty for none.
  package var body: [UInt8]
  /// The ids of requests and groups that must succeed first: JSON format only (4.01 §19.1).
  package var dependsOn: [String]
  /// A condition on earlier responses, `if`: JSON format only (4.01 §19.1).
  package var condition: String?

  /// Creates a request.
  package init(
    id: String? = nil, method: HTTPMethod = .get, url: String, fields: HTTPFields = [:], body: [UInt8] = [],
    dependsOn: [String] = [], condition: String? = nil
  ) {
    self.id = id
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
    self.dependsOn = dependsOn
    self.condition = condition
  }
}

/// A part of a `$batch`. Parts are processed in order.
package enum BatchRequestPart: Sendable, Hashable {
  /// A single request.
  case single(BatchRequest)
  /// Changes that succeed or fail together: a change set, or a JSON atomicity group.
  case changeSet([BatchRequest])

  /// The part's requests.
  package var requests: [BatchRequest] {
    switch self {
    case .single(let request): [request]
    case .changeSet(let requests): requests
    }
  }
}
