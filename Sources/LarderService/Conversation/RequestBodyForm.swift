import LarderHTTP
import LarderOData

/// A request's content in the form that the service's version requires.
struct RequestBodyForm: Sendable {
  /// The content to send.
  let body: HTTPBody
  /// The media type; nil if there is no content.
  let contentType: String?
  /// True if the content is an OData format, whose version must be stated.
  let isStructured: Bool

  /// True if the model is needed to write the content.
  static func needsModel(_ request: ODataSingleRequest) -> Bool {
    switch request.body {
    case .entity, .properties: true
    case .none, .reference, .bytes, .stream: false
    }
  }

  /// True if the form of the content, or the method, depends on the version.
  static func needsVersion(_ request: ODataSingleRequest) -> Bool {
    switch (request.operation, request.body) {
    case (.update(.patch), _), (_, .entity), (_, .properties), (_, .reference): true
    default: false
    }
  }

  /// Writes the content.
  ///
  /// Throws ``ODataServiceError`` (`invalidRequest`) for values that cannot be written in the version.
  init(
    _ request: ODataSingleRequest, version: ODataVersion?, model: EdmModel?, isAtom: Bool = false,
    root: ODataServiceRoot
  ) throws(ODataServiceError) {
    switch request.body {
    case .none: (body, contentType, isStructured) = (.none, nil, false)
    case .bytes(let bytes, let type): (body, contentType, isStructured) = (.bytes(bytes), type, false)
    case .stream(let length, let type, let open):
      (body, contentType, isStructured) = (.stream(length: length, open: open), type, false)
    case .entity, .properties, .reference:
      guard let version else {
        throw ODataServiceError(
          .invalidRequest("the service's OData version is unknown"), operation: request.operationName, url: request.path
        )
      }
      if isAtom {
        let atom = AtomBody(request, version: version, model: model, root: root)
        (body, contentType, isStructured) = (.bytes(try atom.written()), atom.contentType, true)
        return
      }
      let writer = ODataPayloadWriter(version: version, model: model)
      let bytes = try RequestBodyForm.written(request, writer, root)
      (body, contentType, isStructured) = (.bytes(bytes), writer.mediaType, true)
    }
  }

  private static func written(
    _ request: ODataSingleRequest, _ writer: ODataPayloadWriter, _ root: ODataServiceRoot
  ) throws(ODataServiceError) -> [UInt8] {
    let shape = writer.model.flatMap { ResourceShape(path: request.path, model: $0) }
    do throws(ODataPayloadWritingError) {
      switch request.body {
      // The path of an action has the type of its result.
      case .entity(let entity):
        return try writer.entity(entity, type: request.operation == .invokeAction ? nil : shape?.typeName)
      case .properties(let properties):
        // An update of a property's own URL carries only the value; all others carry an object with members.
        if shape?.kind == .property, request.operation != .invokeAction, let only = properties.first {
          return try writer.property(only)
        }
        return try writer.parameters(properties)
      case .reference(let target):
        return writer.reference(RequestBodyForm.target(target, root))
      case .none, .bytes, .stream: return []
      }
    } catch {
      throw ODataServiceError(
        .invalidRequest("\(error)"), operation: request.operationName, url: request.path, cause: error)
    }
  }

  /// The URL of a reference; `$1` names another request of the batch and stays.
  static func target(_ target: String, _ root: ODataServiceRoot) -> String {
    target.hasPrefix("$") ? target : (try? root.absoluteText(target)) ?? target
  }
}

extension ODataSingleRequest {
  /// Whether the content links an entity to existing ones (JSON Format 4.01 §8.5).
  var bindsEntities: Bool { if case .entity(let entity) = body { entity.bindsEntities } else { false } }
}

extension ODataEntity {
  fileprivate var bindsEntities: Bool {
    navigationLinks.contains { link in
      !link.bindings.isEmpty || link.entity?.bindsEntities == true
        || link.entities?.contains { $0.bindsEntities } == true
    }
  }
}
