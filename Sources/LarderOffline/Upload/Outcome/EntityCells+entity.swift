import LarderOData
import LarderStorage

extension EntityCells {
  /// The service's version of an entity as cells of its row. Properties that the response leaves out have no cell.
  /// Undeclared properties of types that are not open, and other content for which the store has no column, are not
  /// kept.
  ///
  /// Throws `ODataValueError` for a value that does not fit the type of its property.
  init(entity: ODataEntity, in table: EntityTable, plan: ReplicaPlan) throws {
    self.init()
    let type = table.types.first { $0.name == entity.typeName } ?? table.type
    if table.hasTypes, let name = entity.typeName, table.typeNumber(name) != nil { self[.type] = .text(name) }
    var dynamic = ODataComplexValue()
    for property in entity.properties {
      guard type.property(property.name) != nil else {
        if type.isOpen { dynamic.properties.append(property) }
        continue
      }
      try take(property.value, at: [property.name], type: type, table: table, model: plan.model)
    }
    if type.isOpen, let column = table.column([TableColumns.dynamicName]) {
      self[column.name] =
        dynamic.properties.isEmpty
        ? .null : try column.storage.sqlValue(of: .complex(dynamic), type: .abstract(.untyped), model: plan.model)
    }
    let given = GivenLinks(id: entity.id, editLink: entity.editLink, readLink: entity.readLink)
    let base = entity.context.flatMap { context in
      context.firstRange(of: "$metadata").map { String(context[..<$0.lowerBound]) }
    }
    let links = given.stored(in: table, type: type, version: plan.model.version, base: base)
    if let text = links.text { self[.uri] = .text(text) }
    if let media = entity.media { self[.media] = .text(EntityCells.json(media)) }
    for stream in entity.streams {
      if let column = table.column([stream.name], on: type), column.storage == .stream {
        self[column.name] = .text(EntityCells.json(stream.link))
      }
    }
    if let etag = entity.etag { self[.etag] = .text(etag) }
  }

  private mutating func take(
    _ value: ODataValue, at path: [String], type: EdmStructure, table: EntityTable, model: EdmModel
  ) throws {
    guard let column = table.column(path, on: type) else { return }
    guard column.storage == .complex else {
      self[column.name] = try column.storage.sqlValue(of: value, type: column.type, model: model)
      return
    }
    // A complex value is always sent completely, so members that it leaves out are null.
    for inner in table.columns where inner.path.count > path.count && inner.path.starts(with: path) {
      self[inner.name] = .null
    }
    guard case .complex(let complex) = value else {
      self[column.name] = .null
      return
    }
    self[column.name] = .text(complex.typeName == column.type.name ? "" : complex.typeName ?? "")
    let structure = (complex.typeName ?? column.type.name).flatMap { model.structure($0) }
    var dynamic = ODataComplexValue()
    for property in complex.properties {
      if structure?.isOpen == true, structure?.property(property.name) == nil {
        dynamic.properties.append(property)
      } else {
        try take(property.value, at: path + [property.name], type: type, table: table, model: model)
      }
    }
    if !dynamic.properties.isEmpty, let column = table.column(path + [TableColumns.dynamicName], on: type) {
      self[column.name] = try column.storage.sqlValue(of: .complex(dynamic), type: .abstract(.untyped), model: model)
    }
  }

  private static func json(_ link: ODataMediaLink) -> String {
    var info = MediaInfo()
    (info.contentType, info.etag) = (link.contentType, link.etag)
    (info.readLink, info.editLink) = (link.readLink, link.editLink)
    return info.json
  }
}
