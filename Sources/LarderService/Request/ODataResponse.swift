public import LarderHTTP
public import LarderOData

/// The response to a request, of the same kind as the request.
public enum ODataResponse: Sendable {
  /// The response to one request.
  case single(ODataSingleResponse)
  /// The responses to a batch.
  case batch(ODataBatchResponse)

  /// The response to one request; nil for a batch.
  public var single: ODataSingleResponse? { if case .single(let response) = self { response } else { nil } }
  /// The responses to a batch; nil for one request.
  public var batch: ODataBatchResponse? { if case .batch(let response) = self { response } else { nil } }
}

/// The response to one request. Its bytes are kept as received and decoded on demand.
public struct ODataSingleResponse: Sendable {
  /// The status code; nil if the response does not come from a server and no status was stored.
  public var httpStatus: Int?
  /// The header fields.
  public var fields: HTTPFields
  /// The content as received. Empty content is a response without content, not a missing response.
  public var payloadBytes: [UInt8]
  /// True if the server responded with 304 and the content is the one already known.
  public var isNotModified: Bool
  /// The absolute URL of the response's request, as it was sent.
  public var url: String
  /// The version of the service, for responses that do not state their own.
  public var serviceVersion: ODataVersion?
  /// The request's name in its batch; nil outside one.
  public var contentID: String?
  /// The URL that sent the response, after redirects.
  package var sender = ResponseSender.requested
  /// The model of the content, if it is not the service's.
  package var model: EdmModel?
  /// The service's model, if it was known when the response arrived.
  package var serviceModel: EdmModel?

  /// Creates a response.
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

  /// The `ETag` field; nil if there is none. An entity's payload may carry its own.
  public var etag: String? { fields[.etag] }

  /// The version of the content's format: `OData-Version` or `DataServiceVersion`, else the service's.
  public var version: ODataVersion? {
    if let version = fields[.odataVersion].flatMap(ODataVersion.init(header:)) { return version }
    if let version = fields[.dataServiceVersion].flatMap(ODataVersion.init(header:)) { return version }
    return serviceVersion
  }
}

extension ODataResponse {
  /// The response with the service's model, also in each of its parts.
  package func with(model: EdmModel?) -> ODataResponse {
    guard let model else { return self }
    switch self {
    case .single(let response): return .single(response.with(model: model))
    case .batch(var batch):
      for index in batch.slots.indices {
        switch batch.slots[index] {
        case .response(let response): batch.slots[index] = .response(response.with(model: model))
        case .changeSet(let responses): batch.slots[index] = .changeSet(responses.map { $0.with(model: model) })
        case .failure, nil: break
        }
      }
      return .batch(batch)
    }
  }
}

extension ODataSingleResponse {
  /// The response with the service's model.
  package func with(model: EdmModel?) -> ODataSingleResponse {
    var response = self
    response.serviceModel = model
    return response
  }
}

extension ODataSingleResponse: CustomReflectable {
  /// Shows everything but the content, of which it shows the length.
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

/// The responses to a batch, in the order of its parts.
public struct ODataBatchResponse: Sendable {
  /// The response to one part.
  public enum Slot: Sendable {
    /// The response to a request outside of a change set.
    case response(ODataSingleResponse)
    /// The responses to the requests of a change set, in their order: all succeeded.
    case changeSet([ODataSingleResponse])
    /// The part failed; for a change set, as a whole.
    case failure(ODataServiceError)

    /// The response to a request outside of a change set; nil for other slots.
    public var response: ODataSingleResponse? { if case .response(let response) = self { response } else { nil } }
    /// Why the part failed; nil if it did not.
    public var failure: ODataServiceError? { if case .failure(let error) = self { error } else { nil } }
  }

  /// The status code of the batch itself; nil if the response does not come from a server.
  public var httpStatus: Int?
  /// The header fields of the batch itself.
  public var fields: HTTPFields
  /// One slot for each part, in the order of the request; nil if there is no response. In a response from the cache,
  /// misses, changes and parts that do not use the cache have no response.
  public var slots: [Slot?]
  /// The responses to each request of a change set, by the number of its slot, if the service gave one to each. They
  /// show what a service executed that does not undo the rest of a failed change set.
  package var changeSetResults: [Int: [RequestResult]] = [:]

  /// The response to one request, or its error.
  package typealias RequestResult = Result<ODataSingleResponse, ODataServiceError>

  /// Creates a response.
  public init(httpStatus: Int? = nil, fields: HTTPFields = [:], slots: [Slot?]) {
    self.httpStatus = httpStatus
    self.fields = fields
    self.slots = slots
  }
}

extension ODataVersion {
  /// The header field that names the version of a message.
  package var field: HTTPFieldName { self >= .v4 ? .odataVersion : .dataServiceVersion }

  /// Parses a version field, such as `4.01` or `2.0;NetFx`; nil for other texts (OData Protocol 4.01 §8.1.5).
  package init?(header: String) {
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
