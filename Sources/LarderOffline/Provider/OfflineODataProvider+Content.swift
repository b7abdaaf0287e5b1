import LarderOData
package import LarderService

// Changes whose content is JSON in the service's format, for the command line and for a server in front of the store.
extension OfflineODataProvider {
  /// Creates a change whose content is read from JSON, by the type of the resource that the path names.
  ///
  /// The JSON is an entity, in the format of any version; the value of a property, alone or as the only member of an
  /// object; or the parameters of an action, which before V4 are written to the URL.
  ///
  /// - Parameter json: nil for no content.
  /// - Throws: `PayloadError` with the position in the JSON; ``OfflineODataError`` for a path that names nothing.
  package func change(
    _ operation: ODataSingleRequest.Operation, _ path: String, json: [UInt8]?
  ) async throws -> ODataSingleRequest {
    let store = try openStore()
    var request = ODataSingleRequest(operation, path)
    guard let json else { return request }
    let content = try await store.read { snapshot in
      try ChangeContent(of: path, isAction: operation == .invokeAction, try store.changing(snapshot.plan))
    }
    try content.read(json, into: &request)
    return request
  }

  /// Creates a change of a link of a navigation property.
  ///
  /// - Parameters:
  ///   - path: the navigation property, such as `Orders(5)/Customer`; with `/$ref` or V2's `/$links/` too.
  ///   - target: the other entity; nil only to remove a link to a single entity. If it is given there too, a link to a
  ///     different entity is not removed.
  package func linkChange(_ path: String, to target: String?, removes: Bool) async throws -> ODataSingleRequest {
    try await linkChange(path, to: target, removes: removes, example: nil)
  }

  /// Creates a change of a link in a change set.
  ///
  /// - Parameter example: a path that can be bound, in place of one that begins with the name of another change.
  func linkChange(
    _ path: String, to target: String?, removes: Bool, example: String?
  ) async throws -> ODataSingleRequest {
    let store = try openStore()
    let (text, isCollection) = try await store.read { snapshot in
      let context = try store.changing(snapshot.plan)
      func parts(_ path: String) throws -> [Substring] {
        let place = example == nil ? try context.split(path).path : path
        let all = place.split(separator: "/").filter { $0 != "$links" }
        return all.last == "$ref" ? all.dropLast() : all
      }
      var steps = try parts(path)
      let bound = try context.bind(try parts(example ?? path).joined(separator: "/"))
      guard case .navigation(let navigation)? = bound.segments.last?.kind, steps.count > 1 else {
        throw OfflineODataError(.unsupportedChange, "the path of a link must end with a navigation property: '\(path)'")
      }
      let isCollection = navigation.type.isCollection
      let isV2 = snapshot.plan.model.version < .v4
      if isV2 { steps.insert("$links", at: steps.count - 1) }
      return (steps.joined(separator: "/") + (isV2 ? "" : "/$ref"), isCollection)
    }
    guard removes else {
      guard let target else { throw OfflineODataError(.unfittingBody, "a change of a link needs the URL of an entity") }
      return isCollection ? .createLink(text, to: target) : .updateLink(text, to: target)
    }
    var request = ODataSingleRequest.deleteLink(text)
    if let target { request.body = .reference(target) }
    return request
  }
}

/// How the content of a change is read, by the change's path.
struct ChangeContent: Sendable {
  private enum Kind {
    /// An entity of a type.
    case entity(EdmTypeReference)
    /// The value of a property.
    case value(String, EdmTypeReference?)
    /// The parameters of an action.
    case parameters
    /// The parameters of a function import of V1 to V3, which are written to the URL.
    case query([EdmParameter])
  }

  private let kind: Kind
  private let model: EdmModel
  private let rules: ContentRules

  init(of path: String, isAction: Bool, _ context: ChangeContext) throws {
    model = context.model
    rules = context.contentRules
    let place = try context.split(path)
    if isAction {
      let item = model.version < .v4 ? model.functionImport(place.path) : nil
      kind = item.map { .query($0.parameters) } ?? .parameters
      return
    }
    let bound = try context.bind(place.path)
    switch bound.segments.last?.kind {
    case .property(let property)?: kind = .value(property.name, property.property.type)
    case .dynamic(let name)?: kind = .value(name, nil)
    default:
      guard let type = bound.type?.structure else {
        throw OfflineODataError(.unsupportedChange, "JSON for '\(place.path)'")
      }
      kind = .entity(.named(type.name))
    }
  }

  func read(_ json: [UInt8], into request: inout ODataSingleRequest) throws {
    switch kind {
    case .entity(let type): request.body = .entity(try entity(json, type))
    case .value(let name, let type): request.body = .properties([try property(json, name, type)])
    case .parameters:
      let parameters = try members(json)
      request.body = parameters.annotations.isEmpty ? .properties(parameters.properties) : .entity(parameters)
    case .query(let parameters):
      var inURL = request
      inURL.body = .entity(try members(json))
      guard case .entity(let sent) = try rules.content(inURL) else { return }
      let literals = try sent.properties.map { member in try literal(member, parameters, request.path) }
      guard !literals.isEmpty else { return }
      request.path += (request.path.contains("?") ? "&" : "?") + literals.joined(separator: "&")
    }
  }

  private func entity(_ json: [UInt8], _ type: EdmTypeReference) throws -> ODataEntity {
    try needObject(json)
    let payload = try payload(json, PayloadOptions(model: model, expected: .entity, expectedType: type))
    guard case .entity(let entity) = payload else { throw unexpected("an entity") }
    return entity
  }

  private func property(_ json: [UInt8], _ name: String, _ type: EdmTypeReference?) throws -> ODataProperty {
    let options = PayloadOptions(model: model, expected: .property, expectedType: type)
    let isObject = json.first { $0 > 0x20 } == UInt8(ascii: "{")
    switch isObject ? try payload(json, options) : try wrapped(json, options) {
    case .property(let property):
      let value = try value(of: property, json, name, options)
      if case .complex = value {} else if isObject { try needOneMember(json, name) }
      return ODataProperty(name, value, annotations: property.annotations)
    case .entity(let entity): return ODataProperty(name, .complex(ODataComplexValue(entity)))
    default: throw unexpected("the value of a property")
    }
  }

  /// Throws for a second member beside the value of a property.
  private func needOneMember(_ json: [UInt8], _ name: String) throws {
    let node = try JSONNode(json)
    let members = (node["d"] ?? node).members ?? []
    let other = members.first {
      ![name, "value"].contains($0.name) && !$0.name.contains("@") && $0.name != "__metadata"
    }
    if let other, members.count > 1 { throw OfflineODataError.unknown(other.name, of: name, among: [name]) }
  }

  /// The value of a property that was read. Before V4 it has a name, which must be the property's own.
  private func value(
    of property: ODataPropertyPayload, _ json: [UInt8], _ name: String, _ options: PayloadOptions
  ) throws -> ODataValue {
    guard let given = property.name, given != name, given != "value" else { return property.value }
    // A complex value without a name is an object whose members have other names.
    if options.expectedType?.isComplex(in: model) == true,
      case .property(let whole) = try wrapped(json, options)
    {
      return whole.value
    }
    throw OfflineODataError.unknown(given, of: name, among: [name])
  }

  private func members(_ json: [UInt8]) throws -> ODataEntity {
    try needObject(json)
    guard case .property(let property) = try wrapped(json, PayloadOptions(model: model, expected: .property)),
      case .complex(let complex) = property.value
    else { throw unexpected("an object of parameters") }
    var members = ODataEntity(properties: complex.properties)
    members.annotations = complex.annotations
    return members
  }

  private func literal(_ member: ODataProperty, _ parameters: [EdmParameter], _ path: String) throws -> String {
    guard let parameter = parameters.first(where: { $0.name == member.name }) else {
      throw OfflineODataError.unknown(member.name, of: path, among: parameters.map(\.name))
    }
    let value = try ChangedValue(model: model).fit(member.value, to: parameter, at: "\(path)/\(member.name)")
    return try member.name + "=" + value.urlLiteral(dialect: .v2)
  }

  // MARK: JSON

  private func needObject(_ json: [UInt8]) throws {
    let place = json.firstIndex { $0 > 0x20 } ?? json.endIndex
    guard place < json.endIndex, json[place] != UInt8(ascii: "{") else { return }
    // Input that is not JSON at all gets the JSON parser's error.
    _ = try wrapped(json, PayloadOptions())
    throw PayloadError(.unexpected(expected: "an object"), offset: place, path: "$")
  }

  private func payload(_ json: [UInt8], _ options: PayloadOptions) throws -> ODataPayload {
    var options = options
    options.dialect = model.version.dialect
    return try ODataPayload(json: json, options: options)
  }

  /// Reads a single value as the only member of an object.
  private func wrapped(_ json: [UInt8], _ options: PayloadOptions) throws -> ODataPayload {
    let start = Array(#"{"value":"#.utf8)
    do { return try payload(start + json + Array("}".utf8), options) } catch var error as PayloadError {
      error.offset = min(max(0, error.offset - start.count), json.count)
      if error.path.hasPrefix("$.value") { error.path = "$" + error.path.dropFirst(7) }
      throw error
    }
  }

  private func unexpected(_ what: String) -> PayloadError {
    PayloadError(.unexpected(expected: what), offset: 0, path: "$")
  }
}

extension EdmTypeReference {
  /// Whether its values are JSON objects.
  fileprivate func isComplex(in model: EdmModel) -> Bool {
    guard case .named(let name) = self else { return false }
    return model.structure(name) != nil
  }
}
