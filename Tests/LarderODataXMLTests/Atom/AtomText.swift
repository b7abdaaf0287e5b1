import LarderOData
import LarderODataXML
import Testing

/// Small Atom documents for tests.
enum AtomText {
  static let second = """
    xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" \
    xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xml:base="http://h/s/"
    """
  static let fourth = """
    xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://docs.oasis-open.org/odata/ns/data" \
    xmlns:m="http://docs.oasis-open.org/odata/ns/metadata" xml:base="http://h/s/"
    """
  static let related = "http://schemas.microsoft.com/ado/2007/08/dataservices/related/"

  /// A V2 entry with the given properties as its content.
  static func entry(_ properties: String, namespaces: String = second) -> String {
    "<entry \(namespaces)><content type='application/xml'><m:properties>\(properties)</m:properties></content></entry>"
  }

  static func read(_ text: String, model: EdmModel? = nil, type: String? = nil) throws -> ODataPayload {
    let bytes = Array(text.utf8)
    let payload = try ODataPayload(atom: bytes, model: model, type: type)
    #expect(try payloadFromEvents(bytes, model: model, type: type) == payload)
    return payload
  }

  /// The payload built from events, the document given byte by byte.
  static func payloadFromEvents(_ bytes: [UInt8], model: EdmModel? = nil, type: String? = nil, chunk: Int = 1) throws
    -> ODataPayload?
  {
    let builder = PayloadBuilder()
    var options = AtomOptions(model: model)
    options.expectedType = type.map { EdmTypeReference($0) }
    let reader = AtomPayloadReader(options: options, handler: builder)
    for start in stride(from: 0, to: bytes.count, by: chunk) {
      try reader.read(Array(bytes[start..<min(start + chunk, bytes.count)]))
    }
    try reader.finish()
    return builder.payload
  }

  static func entity(_ text: String, model: EdmModel? = nil, type: String? = nil) throws -> ODataEntity {
    guard case .entity(let entity) = try read(text, model: model, type: type) else { throw Unexpected() }
    return entity
  }

  struct Unexpected: Error {}
}
