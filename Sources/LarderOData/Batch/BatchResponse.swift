package import LarderHTTP

/// One response inside the response to a `$batch`.
package struct BatchResponse: Sendable, Hashable {
  /// The Content-ID or JSON `id` of its request, if the service returns it.
  package var id: String?
  /// The status code.
  package var status: Int
  /// The response's header fields.
  package var fields: HTTPFields
  /// The content.
  package var body: [UInt8]
  /// The atomicity group of the request: JSON format only.
  package var atomicityGroup: String?

  /// Creates a response.
  package init(
    id: String? = nil, status: Int, fields: HTTPFields = [:], body: [UInt8] = [], atomicityGroup: String? = nil
  ) {
    self.id = id
    self.status = status
    self.fields = fields
    self.body = body
    self.atomicityGroup = atomicityGroup
  }

  /// Whether the status is 4xx or 5xx.
  package var isError: Bool { status >= 400 }
}

/// A part of a multipart `$batch` response.
package enum BatchResponsePart: Sendable, Hashable {
  /// One response: to a single request, or to a change set that failed as a whole.
  case single(BatchResponse)
  /// The responses to a change set.
  case changeSet([BatchResponse])

  /// The part's responses.
  package var responses: [BatchResponse] {
    switch self {
    case .single(let response): [response]
    case .changeSet(let responses): responses
    }
  }
}

extension BatchResponse: CustomReflectable {
  /// Shows everything but the content, of which it shows the length.
  package var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "id": id as Any, "status": status, "fields": fields, "body": ByteCount(body),
        "atomicityGroup": atomicityGroup as Any,
      ], displayStyle: .struct)
  }
}
