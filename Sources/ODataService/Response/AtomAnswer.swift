import OData
import ODataXML

/// Content in XML: Atom feeds and entries, single values, service documents, errors.
enum AtomAnswer {
  static func payload(_ response: ODataSingleResponse, model: EdmModel?) throws -> ODataPayload {
    throw ODataServiceError(.notSupported("Atom"), operation: "decode", url: response.url)
  }
}
