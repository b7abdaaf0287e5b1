import LarderOData

/// Decides what of a change's content is sent: one walk over the content, for all changes of both stores.
///
/// Each part is sent, or the content is rejected with the part's name. Only control information that describes what was
/// read is left out: context, ETag, links, counts, the id of the changed entity itself (OData JSON Format 4.01 §4.6).
///
/// The walk may be applied to its own result.
package struct ContentRules: Sendable {
  let root: ODataServiceRoot
  let version: ODataVersion
  let model: EdmModel?
  /// Whether the content is sent as Atom.
  let isAtom: Bool

  /// Creates the rules of a service.
  package init(_ root: ODataServiceRoot, version: ODataVersion, model: EdmModel?, isAtom: Bool = false) {
    self.root = root
    self.version = version
    self.model = model
    self.isAtom = isAtom
  }

  /// The content of a change as it is sent. Other content than an entity and properties is returned as it is.
  ///
  /// - Parameters:
  ///   - type: the type of the entity that is created or changed; nil if only the path shows it.
  ///   - isAnother: whether an id names another entity than the change does; nil compares the id with the path.
  package func sent(
    _ request: ODataSingleRequest, type: EdmStructure? = nil, isAnother: ((String) throws -> Bool)? = nil
  ) throws -> ODataRequestBody {
    guard let verb = ContentVerb(request.operation) else { return request.body }
    let shape = model.flatMap {
      ResourceShape(path: request.path, model: $0) ?? ResourceShape(url: request.path, model: $0)
    }
    var walk = ContentWalk(rules: self, verb: verb)
    switch request.body {
    case .none, .reference, .bytes, .stream: return request.body
    case .properties(let properties) where verb == .action:
      let sent = try parameters(ODataEntity(properties: properties), request.path, &walk)
      return sent.navigationLinks.isEmpty ? .properties(sent.properties) : .entity(sent)
    case .properties(let properties) where shape?.kind == .property:
      return .properties(try properties.map { try walk.property($0, shape?.type) })
    case .properties(let properties):
      return .properties(try walk.properties(properties, of: type ?? structure(shape?.typeName)))
    case .entity(let entity) where verb == .action:
      return .entity(try parameters(entity, request.path, &walk))
    case .entity(let entity):
      let type = structure(entity.typeName) ?? type ?? structure(shape?.typeName)
      for id in [entity.id, entity.editLink].compactMap(\.self)
      where try isAnother.map({ try $0(id) })
        ?? (verb == .create
          ? self.isAnother(id, entity, type, in: request.path) : self.isAnother(id, than: request))
      {
        let part = version < .v4 ? "__metadata" : entity.id == id ? "@odata.id" : "@odata.editLink"
        throw ChangeContentError(part, "it names another entity: '\(id.prefix(200))'")
      }
      var sent = try walk.entity(entity, type, in: .request)
      // An entry of Atom has these elements, which services ignore.
      if isAtom { (sent.id, sent.etag, sent.media) = (entity.id, entity.etag, entity.media) }
      return .entity(sent)
    }
  }

  func structure(_ name: String?) -> EdmStructure? { name.flatMap { model?.structure($0) } }

  /// Whether control information and annotations of V4 JSON can be sent.
  var isV4JSON: Bool { version >= .v4 && !isAtom }

  // MARK: Ids

  /// Whether an id names another entity than a request changes. An id that is no URL of the service, and one of another
  /// path to the entity, cannot be compared.
  private func isAnother(_ id: String, than request: ODataSingleRequest) -> Bool {
    guard let other = name(id) else { return false }
    let own = ResourceName(request.path, root: root, model: model, version: version)
    return own.key != nil && !own.hasMore && (own.name, own.key) != (other.name, other.key)
  }

  /// Whether an id names another entity than one that is created in a set. An entity whose key the service assigns has no
  /// id yet.
  ///
  /// - Parameter path: the path of the set; nil for an inline entity.
  func isAnother(_ id: String, _ entity: ODataEntity, _ type: EdmStructure?, in path: String? = nil) -> Bool {
    guard let other = name(id), let type else { return false }
    if let set = path.map({ ResourceName($0, root: root, model: model, version: version) }), set.key == nil,
      !set.hasMore,
      set.name != other.name
    {
      return true
    }
    return ResourceName.key(of: entity, type) != other.key
  }

  private func name(_ id: String) -> ResourceName? {
    ResourceName.entity(id, root: root, model: model, version: version)
  }

  // MARK: Parameters

  /// The parameters of an action. Those of entity types are entities, also if they were read without their types.
  private func parameters(
    _ given: ODataEntity, _ path: String, _ walk: inout ContentWalk
  ) throws(ChangeContentError) -> ODataEntity {
    let types = parameterTypes(path)
    guard let model else { return try walk.parameters(given, types) }
    var typed = given
    typed.properties = []
    for property in given.properties {
      guard let type = structure(types[property.name]?.item.name), type.isEntityType,
        let content = ODataNavigationLink.Content(property.value, type: type, model: model)
      else {
        typed.properties.append(property)
        continue
      }
      var link = ODataNavigationLink(name: property.name, content: content)
      link.annotations = property.annotations
      typed.navigationLinks.append(link)
    }
    return try walk.parameters(typed, types)
  }

  /// The declared types of an action's parameters, by their names.
  func parameterTypes(_ path: String) -> [String: EdmTypeReference] {
    guard let model else { return [:] }
    let last = path.prefix { $0 != "?" }.split(separator: "/").last ?? ""
    let name = String(last.prefix { $0 != "(" })
    let actions = model.actions(model.actionImport(name)?.action ?? name)
    let all = actions.flatMap { $0.isBound ? Array($0.parameters.dropFirst()) : $0.parameters }
    return Dictionary(all.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
  }
}

/// What a change does with its content.
enum ContentVerb: Sendable {
  case create, update, action

  init?(_ operation: ODataSingleRequest.Operation) {
    switch operation {
    case .create: self = .create
    case .update: self = .update
    case .invokeAction: self = .action
    default: return nil
    }
  }
}

/// A part of a change's content that cannot be sent, and why.
package struct ChangeContentError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The part: names from the outermost entity on, joined by `/`.
  package let part: String
  /// Why it cannot be sent, and what to do instead.
  package let reason: String

  init(_ part: String, _ reason: String) {
    self.part = part
    self.reason = reason
  }

  /// The part and the reason.
  package var description: String { "\(part): \(reason)" }
}
