import LarderStorage

/// Compares a row of a delta with the existing row and changes it. It is created once for all rows that have the same
/// columns of one table.
///
/// The key and the columns of other indexes are written only if they differ, because each write costs a look-up in an
/// index and two changes of it.
struct RowChange {
  /// The columns that the payload had of a row.
  struct Shape: Hashable {
    let table: Int
    private let present: [UInt64]
    private let system: UInt8

    private static let system: [SystemColumn] = [.etag, .uri, .media]

    init(_ table: EntityTable, _ cells: RowBatch, _ row: Int) {
      self.table = table.number
      var present = [UInt64](repeating: 0, count: (table.columns.count + 63) / 64)
      for column in table.columns.indices where !cells.isAbsent(row, EntityTable.systemCount + column) {
        present[column >> 6] |= 1 << UInt64(column & 63)
      }
      self.present = present
      var system: UInt8 = 0
      for (place, column) in Self.system.enumerated() where !cells.isNull(row, column.place) {
        system |= 1 << UInt8(place)
      }
      // The type is written if it is a derived one. Without a type in the payload, the type need not have changed.
      if table.typeNumber(cells, row) != 0 { system |= 0x80 }
      self.system = system
    }

    /// The indexes of the columns in a row.
    func places(_ table: EntityTable) -> [Int] {
      var places = Self.system.enumerated().filter { system & 1 << UInt8($0.offset) != 0 }.map(\.element.place)
      if system & 0x80 != 0 { places.append(SystemColumn.type.place) }
      for column in table.columns where present[column.number >> 6] & 1 << UInt64(column.number & 63) != 0 {
        places.append(EntityTable.systemCount + column.number)
      }
      return places
    }
  }

  /// Columns of one kind: their indexes in a row, and their names.
  private struct Part {
    var places: [Int] = []
    var names: [String] = []
    /// The SQL before and after the value that is written.
    var texts: [(prefix: String, suffix: String)] = []

    func differs(after count: Int) -> String {
      guard !names.isEmpty else { return "0" }
      let old = names.map { "\($0) COLLATE BINARY" }.joined(separator: ",")
      let new = names.indices.map { "?\(count + $0 + 1)" }.joined(separator: ",")
      return "(\(old)) IS NOT (\(new))"
    }
  }

  private let name: String
  /// The columns of the key, those of other indexes, and the others.
  private let parts: [Part]
  private let comparison: String
  private let comparisonPlaces: [Int]
  /// The statements by the parts that they write, one bit for each part.
  private var updates: [Int: (sql: String, places: [Int])] = [:]

  init(_ shape: Shape, _ table: EntityTable, name: String, indexed: Set<Int>) {
    self.name = name
    var parts = [Part(), Part(), Part()]
    for place in shape.places(table) {
      let column = place - EntityTable.systemCount
      let part =
        table.key.contains(column) || place == SystemColumn.uri.place ? 0 : indexed.contains(column) ? 1 : 2
      let name = TableDDL.quoted(column < 0 ? SystemColumn.allCases[place].rawValue : table.columns[column].name)
      parts[part].places.append(place)
      parts[part].names.append(name)
      // Undeclared properties that the payload omits stay, as declared ones do.
      let isOpen = column >= 0 && table.columns[column].path == [TableColumns.dynamicName]
      parts[part].texts.append(isOpen ? ("json_patch(coalesce(\(name), '{}'), ", ")") : ("", ""))
    }
    self.parts = parts
    comparisonPlaces = parts.flatMap(\.places)
    var count = 0
    var terms: [String] = []
    for part in parts {
      terms.append(part.differs(after: count))
      count += part.places.count
    }
    comparison = """
      SELECT "@queries" & ?\(count + 2) = 0, \(terms.joined(separator: ", ")), "@state" & \(LocalState.made) <> 0 FROM \(name) WHERE "@id" = ?\(count + 1)
      """
  }

  /// The outcome for a row of a delta.
  enum Outcome: Sendable {
    case same
    /// The row now belongs to one more defining query.
    case joined
    /// The row was changed, or it was created in the store and has now been downloaded.
    case upserted
  }

  /// Writes the values of a payload's row that differ from the row with an identity.
  mutating func apply(
    _ cells: RowBatch, _ row: Int, id: Int64, bit: Int64, _ connection: Connection
  ) throws(StorageError) -> Outcome {
    var (isNew, wasLocal) = (false, false)
    var differing = 0
    try connection.forEachRow(comparison, of: cells, row: row, columns: comparisonPlaces, integers: [id, bit]) {
      (result) throws(StorageError) in
      isNew = result.integer(0) != 0
      for part in 0..<3 where result.integer(Int32(part + 1)) != 0 { differing |= 1 << part }
      wasLocal = result.integer(4) != 0
      return false
    }
    guard isNew || differing != 0 else { return .same }
    let update: (sql: String, places: [Int])
    if let existing = updates[differing] {
      update = existing
    } else {
      update = self.update(differing)
      updates[differing] = update
    }
    try connection.forEachRow(update.sql, of: cells, row: row, columns: update.places, integers: [id, bit])
    return differing != 0 || wasLocal ? .upserted : .joined
  }

  private func update(_ differing: Int) -> (sql: String, places: [Int]) {
    var sets: [String] = []
    var places: [Int] = []
    for (number, part) in parts.enumerated() where differing & 1 << number != 0 {
      for (place, (name, text)) in zip(part.places, zip(part.names, part.texts)) {
        places.append(place)
        sets.append("\(name) = \(text.prefix)?\(places.count)\(text.suffix)")
      }
    }
    sets.append("\"@queries\" = \"@queries\" | ?\(places.count + 2)")
    sets.append("\"@state\" = \"@state\" & ~1")
    return ("UPDATE \(name) SET \(sets.joined(separator: ", ")) WHERE \"@id\" = ?\(places.count + 1)", places)
  }
}
