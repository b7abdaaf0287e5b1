public import LarderHTTP
public import LarderOData

/// What a request was answered: the kind follows the request's.
public enum ODataResponse: Sendable {
  /// The answer to one request.
  case single(ODataSingleResponse)
  /// The answers to a batch.
  case batch(ODataBatchResponse)

  /// The answer to one request; nil for a batch.
  public var single: ODataSingleResponse? { if case .single(let response) = self { response } else { nil } }
  /// The answers to a batch; nil for one request.
  public var batch: ODataBatchResponse? { if case .batch(let response) = self { response } else { nil } }
}

/// The answer to one request: bytes as they came, decoded when asked.
public struct ODataSingleResponse: Sendable {
  /// The status code; nil where the answer comes from no server and none was kept.
  public var httpStatus: Int?
  /// The header fields.
  public var fields: HTTPFields
  /// The content as received. Empty is an answer without content, not a missing answer.
  public var payloadBytes: [UInt8]
  /// True where the server answered 304 and the content is what was known already.
  public var isNotModified: Bool
  /// The absolute URL that the answer belongs to, as it was sent.
  public var url: String
  /// The version of the service, for answers that do not say their own.
  public var serviceVersion: ODataVersion?
  /// The request's name in its batch; nil outside one.
  public var contentID: String?
  /// The model that the content is of, where it is another than the service's.
  package var model: EdmModel?
  /// The service's model, where it was known when the answer came.
  package var serviceModel: EdmModel?

  /// Makes an answer.
  public init(
    httpStatus: Int?, fields: HTTPFields = [:], payloadBytes: [UInt8] = [], isNotModified: Bool = false, url: String,
    serviceVersion: ODataVersion? = nil, contentID: String? = nil
  ) {
    self.httpStatus = httpStatus
    self.fields = fields
    self.payloadBytes = payloadBytes
    self.isNotModified = isNotModified
    self.url = url
    self.serviceVersion = serviceVersion
    self.contentID = contentID
  }

  /// The ETag field; nil where there is none. An entity's payload may carry its own.
  public var etag: String? { fields[.etag] }

  /// The version that the content is written in: `OData-Version` or `DataServiceVersion`, else the service's.
  public var version: ODataVersion? {
    if let said = fields[.odataVersion].flatMap(ODataVersion.init(header:)) { return said }
    if let said = fields[.dataServiceVersion].flatMap(ODataVersion.init(header:)) { return said }
    return serviceVersion
  }
}

extension ODataResponse {
  /// The answer with the service's model, in each of its parts.
  package func of(_ model: EdmModel?) -> ODataResponse {
    guard let model else { return self }
    switch self {
    case .single(let response): return .single(response.of(model))
    case .batch(var batch):
      for place in batch.slots.indices {
        switch batch.slots[place] {
        case .response(let response): batch.slots[place] = .response(response.of(model))
        case .changeSet(let responses): batch.slots[place] = .changeSet(responses.map { $0.of(model) })
        case .failure, nil: break
        }
      }
      return .batch(batch)
    }
  }
}

extension ODataSingleResponse {
  /// The answer with the service's model.
  package func of(_ model: EdmModel?) -> ODataSingleResponse {
    var response = self
    response.serviceModel = model
    return response
  }
}

extension ODataSingleResponse: CustomReflectable {
  /// All but the content, of which the length.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "httpStatus": httpStatus as Any, "fields": fields, "payloadBytes": ByteCount(payloadBytes),
        "isNotModified": isNotModified, "url": url, "serviceVersion": serviceVersion as Any,
        "contentID": contentID as Any,
      ], displayStyle: .struct)
  }
}

/// The answers to a batch, in the order of its parts.
public struct ODataBatchResponse: Sendable {
  /// The answer to one part.
  public enum Slot: Sendable {
    /// The answer to a request that stands alone.
    case response(ODataSingleResponse)
    /// The answers to the requests of a change set, in their order: all succeeded.
    case changeSet([ODataSingleResponse])
    /// The part failed; a change set as a whole.
    case failure(ODataServiceError)

    /// The answer to a request that stands alone; nil for other slots.
    public var response: ODataSingleResponse? { if case .response(let response) = self { response } else { nil } }
    /// Why the part failed; nil where it did not.
    public var failure: ODataServiceError? { if case .failure(let error) = self { error } else { nil } }
  }

  /// The status code of the batch itself; nil where the answer comes from no server.
  public var httpStatus: Int?
  /// The header fields of the batch itself.
  public var fields: HTTPFields
  /// One slot a part, in the order of the request; nil where there is no answer (in a cache's answer: misses, changes
  /// and parts that do not use the cache).
  public var slots: [Slot?]
  /// The answers to each request of a change set, by the number of its slot, where the service gave one to each: what a
  /// service did that does not take back the rest of a change set that failed.
  package var changeSetAnswers: [Int: [Answer]] = [:]

  /// The answer to one request.
  package typealias Answer = Result<ODataSingleResponse, ODataServiceError>

  /// Makes an answer.
  public init(httpStatus: Int? = nil, fields: HTTPFields = [:], slots: [Slot?]) {
    self.httpStatus = httpStatus
    self.fields = fields
    self.slots = slots
  }
}

extension ODataVersion {
  /// Reads a version field, such as `4.01` or `2.0;NetFx`; nil for other texts (OData Protocol 4.01 §8.1.5).
  public init?(header: String) {
    let number = header.prefix { $0 != ";" && $0 != " " }
    switch number {
    case "1.0", "1", "2.0", "2": self = .v2
    case "3.0", "3": self = .v3
    case "4.0", "4": self = .v4
    case "4.01": self = .v401
    default: return nil
    }
  }
}
