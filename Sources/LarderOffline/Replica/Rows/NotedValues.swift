import LarderOData

/// Values of a response that a download reports: the first one, and their number.
struct NotedValues: Sendable, Hashable {
  /// The entity and property of the first value; nil if there is none.
  private(set) var first: String?
  private(set) var count: Int64 = 0

  mutating func add(_ place: String) {
    first = first ?? place
    count += 1
  }

  mutating func add(_ others: NotedValues) {
    first = first ?? others.first
    count += others.count
  }
}

// Names the entity that contains a value, for error messages.
extension PageRows {
  /// Returns the error with the name of the entity that a frame belongs to.
  func naming(_ error: ColumnValueError, _ top: Int) -> ColumnValueError {
    var error = error
    let row = frames[frames[top].entity(top)].index
    error.isOfKey = batch.table(of: row).key.contains {
      batch.table(of: row).columns[$0].path.joined(separator: "/") == error.property
    }
    error.entity = name(row) ?? "\(batch.table(of: row).name), entity \(rootCount + 1) of the response"
    return error
  }

  /// The set and key of a row; nil if its key has not been read yet.
  private func name(_ row: Int) -> String? {
    let table = batch.table(of: row)
    guard !table.key.isEmpty else { return table.name }
    var parts: [String] = []
    for number in table.key {
      let column = table.columns[number]
      let text: String
      switch batch.value(row, number) {
      case .integer(let value): text = String(value)
      case .text(let value): text = column.storage == .string ? "'\(value)'" : value
      case .real, .blob, .null: return nil
      }
      parts.append(table.key.count == 1 ? text : "\(column.path.joined(separator: "/"))=\(text)")
    }
    return "\(table.name)(\(parts.joined(separator: ",")))"
  }

  /// Records a value that has more digits than its type.
  mutating func noteDigits(_ scalar: PayloadScalar, _ column: ReplicaColumn, _ top: Int) {
    guard column.storage == .duration || column.storage == .dateTime, !scalar.isNull,
      unsafe PlainText.isFinerThanPicoseconds(TextBytes(scalar.bytes))
    else { return }
    openFineValues.append((frames[frames[top].entity(top)].index, column.path.joined(separator: "/")))
  }

  /// Adds the names of their entities to recorded values, once the keys have been read.
  mutating func noteFineValues() {
    if !openFineValues.isEmpty {
      for (row, property) in openFineValues { fineValues.add(place(row, property)) }
      openFineValues.removeAll()
    }
    guard !openRawValues.isEmpty else { return }
    for (row, property) in openRawValues { rawValues.add(place(row, property)) }
    openRawValues.removeAll()
  }

  private func place(_ row: Int, _ property: String) -> String {
    (name(row) ?? batch.table(of: row).name) + "/" + property
  }
}
