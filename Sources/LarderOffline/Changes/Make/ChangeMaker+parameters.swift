import LarderOData
import LarderService

// The parameters of actions, among them entities (OData JSON Format 4.01 §18). An entity in a parameter is not a row of
// the store, but it can refer to rows.
extension ChangeMaker {
  /// Converts the parameters of an action to their declared types.
  mutating func parameters(_ given: ODataEntity, _ operation: ODataDeclaredOperation) throws -> QueuedBody {
    try checkWhole(given.properties.map(\.name) + given.navigationLinks.map(\.name), operation)
    var queued = QueuedEntity(annotations: QueuedAnnotation.all(given.annotations))
    for property in given.properties {
      let declared = try declared(property.name, of: operation)
      let place = "\(operation.name)/\(property.name)"
      let value = try ChangedValue(model: model).fit(property.value, to: declared, at: place)
      queued.properties.append(
        QueuedProperty(
          name: property.name, value: QueuedValue(value), annotations: QueuedAnnotation.all(property.annotations)))
    }
    for link in given.navigationLinks {
      let declared = try declared(link.name, of: operation)
      let place = "\(operation.name)/\(link.name)"
      guard let type = entityType(declared.type) else {
        throw OfflineODataError(.invalidValue, "\(place) must be \(declared.type), not an entity")
      }
      queued.links.append(try parameter(link, declared, type, at: place))
    }
    return queued.links.isEmpty && queued.annotations == nil ? .properties(queued.properties) : .parameters(queued)
  }

  private func declared(_ name: String, of operation: ODataDeclaredOperation) throws -> EdmParameter {
    guard let declared = operation.parameters.first(where: { $0.name == name }) else {
      throw OfflineODataError.unknown(name, of: operation.name, among: operation.parameters.map(\.name))
    }
    return declared.parameter
  }

  private func entityType(_ type: EdmTypeReference) -> EdmStructure? {
    type.name.flatMap(model.structure).flatMap { $0.isEntityType ? $0 : nil }
  }

  private mutating func parameter(
    _ link: ODataNavigationLink, _ declared: EdmParameter, _ type: EdmStructure, at place: String
  ) throws -> QueuedLink {
    if case .null? = link.content, !declared.isNullable || declared.type.isCollection {
      throw OfflineODataError(.nullNotAllowed, place)
    }
    return try related(link, type, isCollection: declared.type.isCollection, at: place)
  }

  private mutating func related(
    _ link: ODataNavigationLink, _ type: EdmStructure, isCollection: Bool, at place: String
  ) throws -> QueuedLink {
    var queued = QueuedLink(
      name: link.name, isCollection: isCollection, annotations: QueuedAnnotation.all(link.annotations))
    queued.bindings = try link.bindings.map { url in try reference(url).queued }
    let entities = link.entities ?? link.entity.map { [$0] } ?? []
    guard isCollection || link.entities == nil, !isCollection || link.entity == nil else {
      throw OfflineODataError(.invalidValue, "\(place) must be \(isCollection ? "a collection" : "one entity")")
    }
    queued.entities = try entities.map { entity in try described(entity, type, at: place) }
    if case .null? = link.content { queued.isNull = true }
    return queued
  }

  private mutating func described(
    _ entity: ODataEntity, _ declared: EdmStructure, at place: String
  ) throws -> QueuedEntity {
    try checkStreams(entity)
    let typeName = entity.typeName ?? declared.name
    guard let type = model.structure(typeName), model.isType(typeName, derivedFrom: declared.name) else {
      throw OfflineODataError(.invalidValue, "\(place): \(typeName) is not derived from \(declared.name)")
    }
    var queued = QueuedEntity(typeName: entity.typeName, annotations: QueuedAnnotation.all(entity.annotations))
    if let id = entity.id { queued.reference = try reference(id).queued }
    for property in entity.properties {
      let value: ODataValue
      if let declared = type.property(property.name) {
        guard declared.type.primitive != .stream else {
          throw OfflineODataError(
            .unsupportedChange, "the bytes of \(property.name) in an entity; change them with updateMedia")
        }
        value = try ChangedValue(model: model).fit(property.value, to: declared, at: "\(place)/\(property.name)")
      } else {
        guard type.isOpen else { throw OfflineODataError.unknown(property.name, of: type) }
        value = property.value
      }
      queued.properties.append(
        QueuedProperty(
          name: property.name, value: QueuedValue(value), annotations: QueuedAnnotation.all(property.annotations)))
    }
    for link in entity.navigationLinks {
      guard let navigation = type.navigationProperty(link.name), let name = navigation.type.name,
        let target = model.structure(name)
      else {
        throw OfflineODataError.unknown(link.name, of: type)
      }
      queued.links.append(
        try related(link, target, isCollection: navigation.isCollection, at: "\(place)/\(link.name)"))
    }
    return queued
  }
}
