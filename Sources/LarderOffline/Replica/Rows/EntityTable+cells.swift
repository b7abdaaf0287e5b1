import LarderOData
import LarderStorage

// A table's rows in a ``RowBatch``.
extension EntityTable {
  static let systemCount = SystemColumn.allCases.count

  /// Whether the payload had all columns of a row except those of undeclared properties.
  func isComplete(_ cells: RowBatch, _ row: Int) -> Bool {
    let type = typeNumber(cells, row)
    // A row cannot lack properties that its type does not have.
    return columns.allSatisfy { column in
      !cells.isAbsent(row, Self.systemCount + column.number) || column.storage == .dynamic
        || column.storage == .stream
        || !(types.indices.contains(type) && types[type].chain.contains { $0 === column.declaringType })
    }
  }

  func typeNumber(_ cells: RowBatch, _ row: Int) -> Int {
    if case .integer(let number) = cells.value(row, SystemColumn.type.place) { Int(number) } else { 0 }
  }

  /// The condition that finds a row by its identifying columns, with their values as `?1` and so on.
  var identityCondition: String {
    if case .singleton = place, key.isEmpty { return "1" }
    return TableDDL.identity(of: self).enumerated().map { "\(TableDDL.quoted($1)) = ?\($0 + 1)" }
      .joined(separator: " AND ")
  }

  /// The end of an `INSERT` that writes a row with all columns.
  func insertion(into name: String) -> String {
    let places = columnNames.indices.map { "?\($0 + 1)" }.joined(separator: ",")
    return "\(name)(\(columnList)) VALUES(\(places))"
  }

  /// The values that a row is found by; nil if it cannot be distinguished from others.
  func identity(_ cells: RowBatch, _ row: Int, below parent: Int64?) -> [SQLValue]? {
    var values: [SQLValue] = []
    if key.isEmpty {
      if case .singleton = place { return [] }
      values = [cells.value(row, SystemColumn.uri.place)]
    } else {
      values.reserveCapacity(key.count + 1)
      for column in key { values.append(cells.value(row, Self.systemCount + column)) }
    }
    guard !values.contains(.null) else { return nil }
    guard isContained else { return values }
    return parent.map { [.integer($0)] + values }
  }
}
