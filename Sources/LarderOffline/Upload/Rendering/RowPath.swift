import LarderOData
import LarderService
import LarderStorage

/// The location of an entity of the store at the service.
struct RowLocation: Hashable, Sendable {
  /// The path from the service's root, or the URL that the service returned; nil if the service has not seen the entity
  /// yet.
  var path: String?
  /// The content of the path's last parentheses; empty if it has none.
  var keyPredicate = ""
  /// The key properties by name.
  var key: [String: ODataValue] = [:]
  /// Where changes of the entity go, if the service has said so.
  var editLink: String?
  /// The type of the entity, if it derives from that of its set: its conventional edit link ends with it (OData JSON
  /// Format 4.01 §4.6.9).
  var cast: String?
  /// The links for changing the bytes of the entity and of its streams, by the name of the stream; the name is empty for
  /// the entity.
  var mediaEditLinks: [String: String] = [:]
}

/// Finds the locations of the store's entities at the service. It uses the server's versions of rows, because entities
/// that were deleted here are no longer in any other table.
struct RowPath {
  let snapshot: ReplicaSnapshot

  /// The location of an entity at the service.
  ///
  /// Throws `RenderingError` for an entity that is no longer in the store, and for a created entity that the service no
  /// longer has or that no query contains, and whose key is therefore unknown.
  func location(of row: RowReference) throws -> RowLocation { try location(of: row, depth: 0) }

  private func location(of row: RowReference, depth: Int) throws -> RowLocation {
    guard let table = snapshot.plan.table(row.table), depth < 32 else {
      throw RenderingError.unfitting("the model has no \(row.table)")
    }
    guard let cells = try serverCells(of: row, table) else { return RowLocation() }
    let dialect = snapshot.plan.model.version.dialect
    var location = RowLocation()
    var parts: [String] = []
    let names = table.type.key
    for (place, number) in table.key.enumerated() {
      let column = table.columns[number]
      guard let cell = cells[column.name], cell != .null else { return RowLocation() }
      let value = try column.value(of: cell, model: snapshot.plan.model)
      let name = names.indices.contains(place) ? names[place].name : column.name
      location.key[name] = value
      let literal = try value.urlLiteral(dialect: dialect, enumerationType: column.type.name)
      parts.append(table.key.count > 1 ? "\(name)=\(literal)" : literal)
    }
    location.keyPredicate = parts.joined(separator: ",")
    let links = EntityLinks(cells.text(.uri))
    if case .url(let link) = links.edit { location.editLink = link }
    if snapshot.plan.model.version >= .v4, let name = typeName(cells, table), name != table.type.name {
      location.cast = name
    }
    location.mediaEditLinks = mediaEditLinks(cells, table)
    if let id = links.id {
      location.path = id
      return location
    }
    switch table.place {
    case .entitySet(let name): location.path = "\(name)(\(location.keyPredicate))"
    case .singleton(let name): location.path = name
    case .type: throw RenderingError.unfitting("the entities of \(row.table) belong to no entity set")
    case .containment(_, let path):
      guard let parent = try snapshot.container(of: cells, table) else {
        throw RenderingError.unfitting("the entity that contains an entity of \(row.table) is not in the store")
      }
      guard let above = try self.location(of: parent, depth: depth + 1).path else { return RowLocation() }
      location.path = above + "/" + path.joined(separator: "/")
      if !table.key.isEmpty, isCollection(table) { location.path? += "(\(location.keyPredicate))" }
    }
    return location
  }

  /// The type of a row: the text of a base, or the number of a table.
  private func typeName(_ cells: EntityCells, _ table: EntityTable) -> String? {
    switch cells[SystemColumn.type.rawValue] {
    case .text(let name)?: name
    case .integer(let number)? where table.types.indices.contains(Int(number)): table.types[Int(number)].name
    default: nil
    }
  }

  private func streamColumns(_ table: EntityTable) -> [(name: String, column: String)] {
    var all = table.columns.filter { $0.storage == .stream }.map { ($0.path.last ?? "", $0.name) }
    if table.types.contains(where: \.hasStream) { all.append(("", SystemColumn.media.rawValue)) }
    return all
  }

  private func mediaEditLinks(_ cells: EntityCells, _ table: EntityTable) -> [String: String] {
    var links: [String: String] = [:]
    for (name, column) in streamColumns(table) {
      guard let link = cells.media(column).editLink, !EntityLinks.isConventional(stream: link, named: name, in: table)
      else { continue }
      links[name] = link
    }
    return links
  }

  /// Whether a contained table has several rows for each container, which the key distinguishes.
  func isCollection(_ table: EntityTable) -> Bool {
    for container in snapshot.plan.containers(of: table.number) {
      for navigation in snapshot.plan.tables[container].navigations
      where navigation.target == table.number && navigation.relation == .containment {
        return navigation.isCollection
      }
    }
    return false
  }

  /// The cells that determine the location of an entity at the service; nil if the service does not have it.
  private func serverCells(of row: RowReference, _ table: EntityTable) throws -> EntityCells? {
    let base = try snapshot.connection.first("SELECT cells FROM larder_base WHERE row = ?1", .integer(row.row)) {
      (row) throws(StorageError) in try row.textOrNil(0)
    }
    if let base {
      guard let cells = base.flatMap(EntityCells.init(json:)), cells.isKeyless else {
        return base.flatMap(EntityCells.init(json:))
      }
      guard cells.isGone else { return nil }
      throw RenderingError.unfitting(
        "the key of an entity of \(row.table) that was created here is not known: the service no longer has the entity, "
          + "or no defining query contains it")
    }
    var columns = table.key.map { table.columns[$0].name } + [SystemColumn.uri.rawValue, SystemColumn.type.rawValue]
    columns += streamColumns(table).map(\.column)
    if table.isContained { columns.append(SystemColumn.parent.rawValue) }
    let list = columns.map { "\"\($0)\"" }.joined(separator: ", ")
    let storedCells = try snapshot.connection.first(
      "SELECT \(list) FROM \(snapshot.state.tables[table.number]) WHERE \"@id\" = ?1", .integer(row.row)
    ) { (row) throws(StorageError) in
      var cells = EntityCells()
      for (place, name) in columns.enumerated() { cells[name] = row.value(Int32(place)) }
      return cells
    }
    guard let storedCells else { throw RenderingError.unfitting("an entity of \(row.table) is no longer in the store") }
    return storedCells
  }
}

extension ReplicaColumn {
  /// The value of a cell that is not read from a row.
  func value(of cell: SQLValue, model: EdmModel) throws(ODataValueError) -> ODataValue {
    guard !RawValue.isOne(cell, in: storage) else {
      throw ODataValueError(
        .notSupported("a value that does not fit its declared type"), type: type.primitive, text: name)
    }
    switch cell {
    case .null: return .null
    case .blob(let bytes): return .binary(bytes)
    case .real(let number): return type.primitive == .single ? .single(Float(number)) : .double(number)
    case .integer(let number):
      if storage == .enumeration {
        let declared = type.name.flatMap { model.enumType($0) }
        return .enumeration(declared.map { EnumerationValue.text(number, $0) } ?? String(number))
      }
      return try ODataValue(whole: number, type: type.primitive ?? .int64)
    case .text(let text):
      switch storage {
      case .geo, .json, .complex, .dynamic, .stream: return try CanonicalJSON.value(text, type: type, model: model)
      default: return try ODataValue(text: text, type: type.primitive ?? .string)
      }
    }
  }
}

/// Why a queued request cannot be sent unchanged.
enum RenderingError: Error, Hashable, CustomStringConvertible {
  /// It refers to an entity that the service has not seen yet.
  case waits(RowReference)
  /// It no longer fits the model, or the content of the store, with the reason.
  case unfitting(String)

  var description: String {
    switch self {
    case .waits(let row): "an entity of \(row.table) that the request refers to is not uploaded yet"
    case .unfitting(let why): why
    }
  }
}

// From a path to the entity.
extension RowPath {
  /// The entity that a path names by its current key, or by the key that it had before the service assigned another;
  /// nil for none.
  func row(at path: String) throws -> RowReference? {
    guard let table = table(at: path), let key = EntityID.key(of: path, in: table, model: snapshot.plan.model) else {
      return nil
    }
    let names = table.key.map { table.columns[$0].name }
    let condition = names.indices.map { "\(TableDDL.quoted(names[$0])) = ?\($0 + 1)" }.joined(separator: " AND ")
    var matchingRow: Int64?
    try snapshot.connection.forEachRow(
      "SELECT \"@id\" FROM \(snapshot.state.tables[table.number]) WHERE \(condition)", key
    ) {
      (row) throws(StorageError) in
      matchingRow = try row.int64(0)
      return false
    }
    let cells = EntityCells(Dictionary(zip(names, key), uniquingKeysWith: { first, _ in first }))
    return try (matchingRow ?? LocalRows(snapshot).formerly(cells, in: table)).map {
      RowReference(table.name, $0)
    }
  }

  /// The table of a path that consists of an entity set and a key.
  private func table(at path: String) -> EntityTable? {
    let steps = EntityID.segments(path)
    guard steps.count == 1, let step = steps.first, step.key != nil else { return nil }
    return snapshot.plan.table(step.name)
  }
}
