import LarderOData
import LarderStorage

/// Converts the properties of a change to cells of a row, and to the properties that are sent.
struct ChangedCells {
  let table: EntityTable
  /// The type of the entity.
  let type: EdmStructure
  let model: EdmModel
  /// The current row; empty for a row that is created.
  let old: EntityCells
  private(set) var cells = EntityCells()
  private(set) var sent: [QueuedProperty] = []
  /// The navigation properties of complex values that are bound, by their paths.
  private(set) var links: [ODataNavigationLink] = []
  /// Undeclared properties, by the path of the complex value that they belong to; that of the entity's own is empty.
  private var dynamic: [[String]: [ODataProperty]] = [:]

  init(_ table: EntityTable, _ type: EdmStructure, _ model: EdmModel, old: EntityCells = EntityCells()) {
    self.table = table
    self.type = type
    self.model = model
    self.old = old
  }

  /// Adds a property. Throws if it does not fit the model.
  mutating func take(_ property: ODataProperty) throws {
    guard let declared = type.property(property.name) else {
      guard type.isOpen else { throw OfflineODataError.unknown(property.name, of: type) }
      let value = try taking(property.value, at: [property.name])
      dynamic[[], default: []].append(ODataProperty(property.name, value))
      return send(property.name, value, property.annotations)
    }
    let place = "\(type.name)/\(property.name)"
    guard declared.type.primitive != .stream else { throw OfflineODataError(.readOnlyProperty, place) }
    let fitted = try ChangedValue(model: model).fit(property.value, to: declared, at: place)
    let value = try taking(fitted, at: [property.name])
    try set([property.name], value, isWhole: false)
    send(property.name, value, property.annotations)
  }

  private mutating func send(_ name: String, _ value: ODataValue, _ annotations: [ODataAnnotation]) {
    sent.append(
      QueuedProperty(name: name, value: QueuedValue(value), annotations: QueuedAnnotation.all(annotations)))
  }

  /// Moves the bindings in a complex value to ``links``, where they refer to rows of the store.
  private mutating func taking(_ value: ODataValue, at path: [String]) throws -> ODataValue {
    switch value {
    case .complex(var complex):
      for annotation in complex.annotations {
        let term = ODataTerm(annotation.term)
        guard term.name == "odata.bind", let name = term.target, case .string(let url) = annotation.value else {
          continue
        }
        let place = (path + [name]).joined(separator: "/")
        if let index = links.firstIndex(where: { $0.name == place }) {
          links[index].bindings.append(url)
        } else {
          var link = ODataNavigationLink(name: place)
          link.bindings = [url]
          links.append(link)
        }
      }
      complex.annotations.removeAll { ODataTerm($0.term).name == "odata.bind" }
      complex.properties = try complex.properties.map { property in
        ODataProperty(
          property.name, try taking(property.value, at: path + [property.name]), annotations: property.annotations)
      }
      return .complex(complex)
    case .collection(let items):
      let count = links.count
      for item in items { _ = try taking(item, at: path) }
      guard links.count == count else {
        throw OfflineODataError(.unsupportedChange, "binding \(links[count].name), which is in a collection")
      }
      return value
    default: return value
    }
  }

  /// Adds a value at a path through complex properties.
  mutating func take(
    _ value: ODataValue, at path: [String], isWhole: Bool, annotations: [ODataAnnotation] = []
  ) throws {
    let place = "\(type.name)/\(path.joined(separator: "/"))"
    guard let column = table.column(path, on: type) else {
      let outer = Array(path.dropLast())
      if let name = path.last, isUndeclared(name, at: outer) {
        dynamic[outer, default: []].append(ODataProperty(name, value))
        makeExist(above: path)
        return send(name, value, annotations)
      }
      throw OfflineODataError(
        .unsupportedChange, "\(place) is stored inside another property and cannot be changed separately")
    }
    guard let property = column.property else { throw OfflineODataError(.unknownProperty, place) }
    let fitted = try taking(try ChangedValue(model: model).fit(value, to: property, at: place), at: path)
    if let link = links.first {
      throw OfflineODataError(.unsupportedChange, "binding \(link.name) here; bind it in an update of its entity")
    }
    try set(path, fitted, isWhole: isWhole)
    send(path.last ?? "", fitted, annotations)
    makeExist(above: path)
  }

  /// Makes the complex values exist that enclose a value.
  private mutating func makeExist(above path: [String]) {
    for length in 1..<max(path.count, 1) {
      guard let outer = table.column(Array(path.prefix(length)), on: type), outer.storage == .complex else { continue }
      if old[outer.name] == nil { cells[outer.name] = .text("") }
    }
  }

  /// Whether a name is that of an undeclared property of the entity, or of the complex value at a path, which may have
  /// such properties.
  private func isUndeclared(_ name: String, at path: [String]) -> Bool {
    guard !path.isEmpty else { return type.isOpen && type.property(name) == nil }
    guard table.column(path + [TableColumns.dynamicName], on: type) != nil,
      let declared = table.column(path, on: type)?.type.name.flatMap({ model.structure($0) })
    else { return false }
    // Properties of derived types have columns too.
    return table.column(path + [name], on: type) == nil && declared.property(name) == nil
  }

  /// Sets every property that was not added to its default, as PUT does (OData Protocol 4.01 §11.4.4).
  mutating func reset(keeping kept: Set<String>) throws {
    let taken = Set(sent.map(\.name))
    for property in type.properties where !taken.contains(property.name) && !kept.contains(property.name) {
      guard property.type.primitive != .stream, let column = table.column([property.name], on: type),
        !table.key.contains(column.number)
      else { continue }
      var value = ODataValue.null
      if let text = property.defaultValue, let primitive = model.underlying(property.type).type.primitive {
        value = (try? ODataValue(text: text, type: primitive)) ?? .null
      }
      try set([property.name], value, isWhole: true)
    }
    if type.isOpen, let column = table.column([TableColumns.dynamicName]), dynamic[[]] == nil {
      cells[column.name] = .null
    }
  }

  /// The resulting cells, in which undeclared properties are merged with the existing ones.
  ///
  /// - Parameter replaces: whether the existing undeclared properties are removed.
  mutating func finished(replaces: Bool = false) throws -> EntityCells {
    for (path, properties) in dynamic {
      guard let column = table.column(path + [TableColumns.dynamicName], on: type) else { continue }
      // A complex value that is replaced has lost its former properties already.
      let former = path.isEmpty ? (replaces ? nil : old[column.name]) : cells[column.name] ?? old[column.name]
      cells[column.name] = .text(try merged(properties, into: former))
    }
    return cells
  }

  /// The JSON of undeclared properties, added to a cell's. Null removes a property.
  private func merged(_ properties: [ODataProperty], into cell: SQLValue?) throws -> String {
    var complex = ODataComplexValue()
    if case .text(let text)? = cell,
      case .complex(let stored) = try CanonicalJSON.value(text, type: .abstract(.untyped), model: model)
    {
      complex = stored
    }
    for property in properties {
      complex.properties.removeAll { $0.name == property.name }
      if property.value != .null { complex.properties.append(ODataProperty(property.name, property.value)) }
    }
    var writer = JSONWriter()
    try writer.canonical(.complex(complex), type: .abstract(.untyped), model: model)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private mutating func set(_ path: [String], _ value: ODataValue, isWhole: Bool) throws {
    guard let column = table.column(path, on: type) else {
      throw OfflineODataError(.unsupportedModel, "\(table.name)/\(path.joined(separator: "/"))")
    }
    guard column.storage == .complex else {
      cells[column.name] = try column.storage.sqlValue(of: value, type: column.type, model: model)
      return
    }
    guard case .complex(let complex) = value else {
      for inner in table.columns where inner.path.starts(with: path) { cells[inner.name] = .null }
      return
    }
    let derived = complex.typeName == column.type.name ? nil : complex.typeName
    cells[column.name] = .text(derived ?? "")
    // In an update, omitted members of a complex value are unchanged (OData Protocol 4.01 §11.4.3).
    if isWhole || old[column.name] == nil {
      for inner in table.columns where inner.path.count > path.count && inner.path.starts(with: path) {
        cells[inner.name] = .null
      }
    }
    for property in complex.properties {
      let inner = path + [property.name]
      if isUndeclared(property.name, at: path) {
        dynamic[path, default: []].append(property)
      } else {
        try set(inner, property.value, isWhole: isWhole)
      }
    }
  }
}
