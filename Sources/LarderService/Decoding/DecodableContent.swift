import LarderCore
import LarderOData

/// The content of a response, or of all pages of a collection, for decoding as a Swift type.
struct DecodableContent {
  /// The content as V4 JSON.
  private(set) var node: JSONNode
  private let type: ValueType
  private let model: EdmModel?
  let url: String
  /// The next page of a collection: a path or a URL, as the response gives it.
  var nextLink: String?
  /// The type of the entities of a collection, if it is known.
  var rowType: String? { if case .collection(.structure(let structure)) = type { structure.name } else { nil } }

  /// Reads the content of a response.
  init(_ response: ODataSingleResponse, model: EdmModel?) throws(ODataServiceError) {
    try self.init(try response.payload(model: model), of: response, model: model)
  }

  /// Takes the content that was read from a response.
  init(_ payload: ODataPayload, of response: ODataSingleResponse, model: EdmModel?) throws(ODataServiceError) {
    let options = response.options(model)
    self.model = options.model
    url = response.url
    nextLink = payload.nextLink
    let expected = options.expectedType
    func item(_ name: String?) -> ValueType {
      let type = name.map { EdmTypeReference($0) } ?? expected
      return type.map { ValueType($0.item, in: options.model) } ?? .untyped
    }
    switch payload {
    case .entity(var entity):
      // A service may send the ETag in the field alone (OData Protocol 4.01 §8.3.1; JSON Format 4.01 §4.6.7).
      if entity.etag == nil { entity.etag = response.etag }
      (node, type) = (JSONNode(entity, options.model), item(entity.typeName))
    case .collection(let collection):
      (node, type) = (.array(collection.entities.map { JSONNode($0, options.model) }), .collection(item(nil)))
    case .property(let property):
      node = JSONNode(property.value, options.model)
      let element: ValueType = property.value.type.map { .primitive($0) } ?? item(property.typeName)
      if case .collection = property.value {
        type = .collection(item(property.typeName))
      } else {
        type = element
      }
    case .count(let count): (node, type) = (.number(String(count)), .untyped)
    case .reference(let reference):
      (node, type) = (.object([.init("@odata.id", .string(reference.id))]), .untyped)
    case .references(let references):
      node = .array(references.references.map { .object([.init("@odata.id", .string($0.id))]) })
      type = .collection(.untyped)
    case .delta, .serviceDocument, .error:
      throw ODataServiceError(
        .notSupported("decoding a delta, a service document or an error; read the payload"), operation: "decode",
        url: response.url, response: response)
    }
  }

  /// Adds the rows of the next page.
  mutating func append(_ page: DecodableContent) throws(ODataServiceError) {
    guard case .array(var items) = node, case .array(let others) = page.node else {
      throw ODataServiceError(DecodableContent.notACollectionText, operation: "read", url: page.url)
    }
    node = .null
    items += others
    node = .array(items)
    nextLink = page.nextLink
  }

  private static let notACollectionText = ODataServiceError.Category.malformedResponse(
    "a further page of a collection must be a collection too")

  /// The error for a further page that has other content.
  static func notACollection(_ response: ODataSingleResponse) -> ODataServiceError {
    ODataServiceError(notACollectionText, operation: "read", url: response.url, response: response)
  }

  /// Decodes the content; nil if it is null.
  func decoded<Value: Decodable>(_ type: Value.Type) throws(ODataServiceError) -> Value? {
    guard node != .null else { return nil }
    do {
      return try NodeDecoder(node, self.type, codingPath: [], model: model).value(type)
    } catch {
      let problem = (error as? DecodingError).map(\.problem) ?? "\(type) cannot be decoded from the result: \(error)"
      throw ODataServiceError(
        .undecodableType(problem ?? "\(type) cannot be decoded from the result"), operation: "decode", url: url,
        cause: error)
    }
  }
}

extension ODataSingleResponse {
  /// Decodes the content as a type of the application: an array for a collection, a `Decodable` type for one entity or
  /// value. Nil if the response has no content, or the null value.
  ///
  /// Values are decoded by their declared types, as ``ODataStore/read(_:_:)`` describes.
  ///
  /// - Parameters:
  ///   - type: the type of the result.
  ///   - model: gives values their declared types; nil uses the service's model, if it was known when the response
  ///     arrived.
  public func decoded<Value: Decodable>(
    _ type: Value.Type, model: EdmModel? = nil
  ) throws(ODataServiceError) -> Value? { try DecodableContent(self, model: model).decoded(type) }
}
