import LarderOData
import LarderODataXML

/// A request's content for a service that supports only Atom.
struct AtomBody {
  private let request: ODataSingleRequest
  private let writer: AtomWriter
  private let shape: ResourceShape?
  private let root: ODataServiceRoot

  init(_ request: ODataSingleRequest, version: ODataVersion, model: EdmModel?, root: ODataServiceRoot) {
    self.request = request
    self.root = root
    writer = AtomWriter(version: version, model: model)
    shape = model.flatMap { ResourceShape(path: request.path, model: $0) }
  }

  /// The media type of the content.
  var contentType: String {
    switch request.body {
    case .entity: "application/atom+xml"
    case .properties: isOneProperty ? "application/xml" : "application/atom+xml"
    default: "application/xml"
    }
  }

  private var isOneProperty: Bool { shape?.kind == .property }

  /// Writes the content. Throws ``ODataServiceError``: `notSupported` for the parameters of an action, for which Atom
  /// has no form; `invalidRequest` for values that XML cannot represent.
  func written() throws(ODataServiceError) -> [UInt8] {
    do throws(AtomWritingError) {
      switch request.body {
      case .entity(let entity) where request.operation != .invokeAction:
        return try writer.entry(entity, type: shape?.typeName)
      case .reference(let target): return try writer.reference(RequestBodyForm.target(target, root))
      case .properties(let properties) where request.operation != .invokeAction:
        if isOneProperty, let only = properties.first { return try writer.property(only) }
        return try writer.entry(ODataEntity(properties: properties), type: shape?.typeName)
      case .entity, .properties, .none, .bytes, .stream: break
      }
    } catch {
      throw ODataServiceError(
        .invalidRequest("\(error)"), operation: request.operationName, url: request.path, cause: error)
    }
    throw ODataServiceError(
      .notSupported("parameters of an action in Atom"), operation: request.operationName, url: request.path)
  }
}
