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
  /// The version of the message.
  let version: ODataVersion?

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
    case .none: (body, contentType, isStructured, self.version) = (.none, nil, false, version)
    case .bytes(let bytes, let type):
      (body, contentType, isStructured, self.version) = (.bytes(bytes), type, false, version)
    case .stream(let length, let type, let open):
      (body, contentType, isStructured, self.version) = (.stream(length: length, open: open), type, false, version)
    case .entity, .properties, .reference:
      guard let version else {
        throw ODataServiceError(
          .invalidRequest("the service's OData version is unknown"), operation: request.operationName, url: request.path
        )
      }
      var request = request
      do { request.body = try ContentRules(root, version: version, model: model, isAtom: isAtom).sent(request) } catch {
        throw ODataServiceError(
          .invalidRequest("\(error)"), operation: request.operationName, url: request.path, cause: error)
      }
      // Every 4.01 service reads 4.0 requests, and bindings in the form of 4.0 cannot be mistaken for entities to be
      // created.
      let written = version == .v401 && request.bindsEntities && !request.needsV401 ? .v4 : version
      self.version = written
      if isAtom {
        let atom = AtomBody(request, version: written, model: model, root: root)
        (body, contentType, isStructured) = (.bytes(try atom.written()), atom.contentType, true)
        return
      }
      let writer = ODataPayloadWriter(version: written, model: model)
      let bytes = try RequestBodyForm.written(request, writer, root)
      (body, contentType, isStructured) = (.bytes(bytes), writer.mediaType, true)
    }
  }

  private static func written(
    _ request: ODataSingleRequest, _ writer: ODataPayloadWriter, _ root: ODataServiceRoot
  ) throws(ODataServiceError) -> [UInt8] {
    let shape = writer.model.flatMap { ResourceShape(path: request.path, model: $0) }
    let isAction = request.operation == .invokeAction
    // The path of an action has the type of its result.
    let types =
      isAction ? ContentRules(root, version: writer.version, model: writer.model).parameterTypes(request.path) : [:]
    do throws(ODataPayloadWritingError) {
      switch request.body {
      case .entity(let entity):
        return isAction
          ? try writer.parameters(entity, types: types) : try writer.entity(entity, type: shape?.typeName)
      case .properties(let properties):
        if isAction { return try writer.parameters(properties, types: types) }
        // An update of a property's own URL carries only the value; all others carry an object with members.
        if shape?.kind == .property, let only = properties.first {
          return try writer.property(only, type: shape?.type)
        }
        return try writer.entity(ODataEntity(properties: properties), type: shape?.typeName)
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
  /// Whether the content binds navigation properties to existing entities (JSON Format 4.01 §8.5).
  fileprivate var bindsEntities: Bool {
    if case .entity(let entity) = body { entity.contains { !$0.bindings.isEmpty } } else { false }
  }

  /// Whether 4.0 has no form for the content: inline changes, references in place of entities, inline streams.
  fileprivate var needsV401: Bool {
    guard case .entity(let entity) = body else { return false }
    return !entity.streams.isEmpty
      || entity.contains { link in
        if case .delta? = link.content { return true }
        return operation != .invokeAction && link.inlineEntities.contains { $0.id != nil || !$0.streams.isEmpty }
      }
  }
}

extension ODataEntity {
  /// Whether one of the links in the entity, or in its inline entities, fits a condition.
  fileprivate func contains(_ isMatch: (ODataNavigationLink) -> Bool) -> Bool {
    navigationLinks.contains { link in
      isMatch(link) || link.inlineEntities.contains { $0.contains(isMatch) }
    }
  }
}

extension ODataNavigationLink {
  fileprivate var inlineEntities: [ODataEntity] { entities ?? entity.map { [$0] } ?? [] }
}
