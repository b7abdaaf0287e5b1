public import LarderHTTP

/// One answer inside a `$batch`'s answer.
public struct BatchResponse: Sendable, Hashable {
  /// The Content-ID or JSON `id` of the request that it answers, where the service says it.
  public var id: String?
  /// The status code.
  public var status: Int
  /// The answer's header fields.
  public var fields: HTTPFields
  /// The content.
  public var body: [UInt8]
  /// The atomicity group of the request: JSON format only.
  public var atomicityGroup: String?

  /// Makes an answer.
  public init(
    id: String? = nil, status: Int, fields: HTTPFields = [:], body: [UInt8] = [], atomicityGroup: String? = nil
  ) {
    self.id = id
    self.status = status
    self.fields = fields
    self.body = body
    self.atomicityGroup = atomicityGroup
  }

  /// True for 4xx and 5xx.
  public var isError: Bool { status >= 400 }
}

/// What a multipart `$batch` answer is made of, in its order.
public enum BatchResponsePart: Sendable, Hashable {
  /// One answer: to a request of its own, or to a change set that failed as a whole.
  case single(BatchResponse)
  /// The answers to a change set.
  case changeSet([BatchResponse])

  /// The part's answers.
  public var responses: [BatchResponse] {
    switch self {
    case .single(let response): [response]
    case .changeSet(let responses): responses
    }
  }
}

extension BatchResponse: CustomReflectable {
  /// All but the content, of which the length.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "id": id as Any, "status": status, "fields": fields, "body": ByteCount(body),
        "atomicityGroup": atomicityGroup as Any,
      ], displayStyle: .struct)
  }
}
