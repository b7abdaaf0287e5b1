import LarderOData
import LarderStorage

/// Converts a pending change to a new model, and collects what does not fit it. Content that does not fit stays as it is in
/// the request, so that the error archive shows it, and is removed from the effects, so that readers do not see values of
/// another type. This type does no I/O.
struct RequestConversion {
  let change: ModelTransition
  /// A key for an entity whose own key has no value of the new type.
  private let localKey: (ReplicaColumn, Int64) -> SQLValue?
  private(set) var lost: [LostContent] = []

  init(_ change: ModelTransition, localKey: @escaping (ReplicaColumn, Int64) -> SQLValue? = { _, _ in nil }) {
    self.change = change
    self.localKey = localKey
  }

  private var values: ValueConversion { change.values }

  // MARK: Effects

  mutating func convert(_ effect: Effect) -> Effect {
    guard effect.other == nil else {
      if change.new.link(effect.name) == nil { lost.append(.removed(effect.name)) }
      return effect
    }
    guard let table = change.table(effect.name) else {
      if change.new.table(effect.name) == nil { lost.append(.removed(effect.name)) }
      return effect
    }
    var converted = effect
    let (cells, lostCells) = table.convert(effect.cells)
    converted.cells = cells
    lost += lostCells
    if effect.kind == .insert, table.isKeyChanged {
      converted.cells = change.withKey(converted.cells, of: effect.row, table, localKey)
    }
    return converted
  }

  // MARK: Requests

  mutating func convert(_ request: QueuedRequest) -> QueuedRequest {
    var rows = [request.entity, request.target.row].compactMap { $0 }
    if case .reference(.row(let row)) = request.body { rows.append(row) }
    switch request.body {
    case .entity(let entity), .parameters(let entity): rows += Self.rows(entity)
    case .none, .properties, .reference, .bytes, .media: break
    }
    for name in Set(rows.map(\.table)) {
      if change.new.table(name) == nil {
        lost.append(.removed(name))
      } else if change.table(name)?.isKeyChanged == true {
        lost.append(.key(name))
      }
    }
    var converted = request
    converted.target.path = path(request.target.path)
    converted.body = body(of: request)
    return converted
  }

  /// The content of a request under the new model.
  mutating func body(of request: QueuedRequest) -> QueuedBody {
    switch request.body {
    case .none, .reference, .media: return request.body
    case .entity(let entity): return .entity(convert(entity))
    case .properties(let properties): return .properties(properties.map { convert($0, of: request) })
    case .parameters(let parameters): return .parameters(convert(parameters: parameters, of: request))
    case .bytes(let bytes, let contentType):
      guard request.operation == .replaceValue, let text = convert(raw: bytes, of: request) else { return request.body }
      return .bytes(text, contentType: contentType)
    }
  }

  private static func rows(_ entity: QueuedEntity) -> [RowReference] {
    let linked = entity.links.flatMap { link in
      link.entities.flatMap(rows)
        + link.bindings.compactMap { binding in if case .row(let row) = binding { row } else { nil } }
    }
    let reference: RowReference? = if case .row(let row)? = entity.reference { row } else { nil }
    return [entity.row, reference].compactMap { $0 } + linked
  }

  /// A path with the new names of types and operations.
  private mutating func path(_ path: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
      let name = String(segment.prefix { $0 != "(" })
      let isOperation = !values.old.actions(name).isEmpty
      guard isOperation || values.old.structure(name) != nil else { return String(segment) }
      let newName = values.newName(name)
      if isOperation ? values.new.actions(newName).isEmpty : values.new.structure(newName) == nil {
        lost.append(.removed(name))
      }
      return newName + segment.dropFirst(name.count)
    }.joined(separator: "/")
  }

  private mutating func convert(_ entity: QueuedEntity) -> QueuedEntity {
    guard let row = entity.row, let oldTable = change.old.table(row.table), let newTable = change.new.table(row.table)
    else { return entity }
    var converted = entity
    let oldType = entity.typeName.flatMap { values.old.structure($0) } ?? oldTable.type
    converted.typeName = entity.typeName.map(values.newName)
    let newType = converted.typeName.flatMap { values.new.structure($0) } ?? newTable.type
    converted.properties = entity.properties.map { property in
      let oldProperty = oldType.property(property.name) ?? oldTable.property(property.name)
      let newProperty = newType.property(property.name) ?? newTable.property(property.name)
      guard newProperty != nil || oldProperty != nil else { return property }
      return convert(property, from: oldProperty, to: newProperty, name: "\(row.table)/\(property.name)")
    }
    for (place, link) in entity.links.enumerated() {
      converted.links[place].entities = link.entities.map { convert($0) }
    }
    return converted
  }

  /// - Parameters:
  ///   - old: its declaration in the old model; nil for an undeclared one.
  ///   - new: its declaration in the new model; nil if it has none.
  ///   - name: the name for people.
  private mutating func convert(
    _ property: QueuedProperty, from old: EdmProperty?, to new: EdmProperty?, name: String
  ) -> QueuedProperty {
    guard let new else {
      lost.append(.removed(name))
      return property
    }
    if property.value.value == .null, old?.isNullable ?? true, !new.isNullable { lost.append(.null(name)) }
    return convert(property, from: old?.type, to: new.type, name: name)
  }

  private mutating func convert(
    _ property: QueuedProperty, from old: EdmTypeReference?, to new: EdmTypeReference, name: String
  ) -> QueuedProperty {
    var converted = property
    if let value = values.convert(property.value.value, from: old, to: new) {
      converted.value = QueuedValue(value)
    } else if property.key == nil {
      // The key of another entity is read again when the request is sent.
      lost.append(.retyped(name, from: old?.description ?? "Edm.Untyped", to: new.description))
    }
    return converted
  }

  /// The property of an update of one property, or a parameter of an action.
  private mutating func convert(_ property: QueuedProperty, of request: QueuedRequest) -> QueuedProperty {
    if request.operation == .action {
      guard let old = parameter(property.name, of: request, values.old, { $0 }) else { return property }
      guard let new = parameter(property.name, of: request, values.new, values.newName) else {
        lost.append(.removed("\(request.target.path)/\(property.name)"))
        return property
      }
      return convert(property, from: old, to: new, name: "\(request.target.path)/\(property.name)")
    }
    guard let name = request.target.row?.table, let places = places(of: request) else { return property }
    return convert(property, from: places.old, to: places.new, name: "\(name)/\(request.target.path)")
  }

  /// The parameters of an action, among them entities.
  private mutating func convert(parameters: QueuedEntity, of request: QueuedRequest) -> QueuedEntity {
    var converted = parameters
    converted.properties = parameters.properties.map { convert($0, of: request) }
    for (place, link) in parameters.links.enumerated() {
      let name = "\(request.target.path)/\(link.name)"
      guard let old = parameter(link.name, of: request, values.old, { $0 }) else { continue }
      guard let new = parameter(link.name, of: request, values.new, values.newName) else {
        lost.append(.removed(name))
        continue
      }
      converted.links[place].entities = link.entities.map { convert($0, from: old.name, to: new.name, name: name) }
    }
    return converted
  }

  /// An entity that is no row of the store.
  private mutating func convert(
    _ entity: QueuedEntity, from oldName: String?, to newName: String?, name: String
  ) -> QueuedEntity {
    var converted = entity
    converted.typeName = entity.typeName.map(values.newName)
    let oldType = (entity.typeName ?? oldName).flatMap { values.old.structure($0) }
    let newType = (converted.typeName ?? newName).flatMap { values.new.structure($0) }
    converted.properties = entity.properties.map { property in
      let (old, new) = (oldType?.property(property.name), newType?.property(property.name))
      guard old != nil || new != nil else { return property }
      return convert(property, from: old, to: new, name: "\(name)/\(property.name)")
    }
    for (place, link) in entity.links.enumerated() {
      let old = oldType?.navigationProperty(link.name)?.type.name
      let new = newType?.navigationProperty(link.name)?.type.name
      if old != nil, new == nil { lost.append(.removed("\(name)/\(link.name)")) }
      converted.links[place].entities = link.entities.map {
        convert($0, from: old, to: new, name: "\(name)/\(link.name)")
      }
    }
    return converted
  }

  /// The type of an action's parameter; nil if the model has no such action or parameter.
  private func parameter(
    _ name: String, of request: QueuedRequest, _ model: EdmModel, _ rename: (String) -> String
  ) -> EdmTypeReference? {
    guard let segment = request.target.path.split(separator: "/").last else { return nil }
    let called = rename(String(segment.prefix { $0 != "(" }))
    let actions = model.actions(called) + model.actions(model.actionImport(called)?.action ?? "")
    return actions.lazy.flatMap(\.parameters).first { $0.name == name }?.type
  }

  /// The raw value of a property in the new type; nil if it does not change.
  private mutating func convert(raw bytes: [UInt8], of request: QueuedRequest) -> [UInt8]? {
    guard let name = request.target.row?.table, let places = places(of: request), let old = places.old else {
      return nil
    }
    guard let new = places.new else {
      lost.append(.removed("\(name)/\(request.target.path)"))
      return nil
    }
    let (oldType, newType) = (values.old.underlying(old.type).type, values.new.underlying(new.type).type)
    guard !values.isSame(oldType, newType) else { return nil }
    if let type = oldType.primitive,
      let value = try? ODataValue(text: String(decoding: bytes, as: UTF8.self), type: type),
      let text = try? values.convert(value, from: oldType, to: newType)?.text()
    {
      return Array(text.utf8)
    }
    lost.append(.retyped("\(name)/\(request.target.path)", from: oldType.description, to: newType.description))
    return nil
  }

  /// The declarations, in both models, of the property that a request for one property names.
  private func places(of request: QueuedRequest) -> (old: EdmProperty?, new: EdmProperty?)? {
    guard let name = request.target.row?.table, let oldTable = change.old.table(name),
      let newTable = change.new.table(name)
    else { return nil }
    let path = request.target.path.split(separator: "/").map(String.init).filter { !$0.contains(".") && $0 != "$value" }
    return (oldTable.property(path, values.old), newTable.property(path, values.new))
  }
}

extension EntityTable {
  /// The property of a type of the hierarchy.
  fileprivate func property(_ name: String) -> EdmProperty? {
    types.lazy.compactMap { $0.property(name) }.first
  }

  /// The property at the end of a path through complex properties.
  fileprivate func property(_ path: [String], _ model: EdmModel) -> EdmProperty? {
    guard let first = path.first, var property = property(first) else { return nil }
    for name in path.dropFirst() {
      guard let type = property.type.name.flatMap({ model.structure($0) }), let inner = type.property(name) else {
        return nil
      }
      property = inner
    }
    return property
  }
}
