import LarderOData

/// Durations and V2's moments with more digits than picoseconds, which are kept exactly: the first of them, and how many there
/// are.
struct FineValues: Sendable, Hashable {
  /// Entity and property of the first; nil where there is none.
  private(set) var first: String?
  private(set) var count: Int64 = 0

  mutating func add(_ place: String) {
    first = first ?? place
    count += 1
  }

  mutating func add(_ others: FineValues) {
    first = first ?? others.first
    count += others.count
  }
}

// Which entity a value stands in, for whoever reads of it.
extension CollectedRows {
  /// The error with the entity that a frame belongs to.
  func naming(_ error: ColumnValueError, _ top: Int) -> ColumnValueError {
    var error = error
    let place = frames[frames[top].entity(top)].place
    error.entity = name(place) ?? "\(chunk.slots[Int(place.slot)].table.name), entity \(rootCount + 1) of the answer"
    return error
  }

  /// The set and key of a row; nil where its key has not come yet.
  private func name(_ place: RowChunk.Place) -> String? {
    let slot = chunk.slots[Int(place.slot)]
    guard !slot.table.key.isEmpty else { return slot.table.name }
    var parts: [String] = []
    for number in slot.table.key {
      let column = slot.table.columns[number]
      let text: String
      switch slot.batch.value(Int(place.row), RowSlot.systemCount + number) {
      case .integer(let value): text = String(value)
      case .text(let value): text = column.storage == .string ? "'\(value)'" : value
      case .real, .blob, .null: return nil
      }
      parts.append(slot.table.key.count == 1 ? text : "\(column.path.joined(separator: "/"))=\(text)")
    }
    return "\(slot.table.name)(\(parts.joined(separator: ",")))"
  }

  /// Notes a value that has more digits than its type.
  mutating func noteDigits(_ scalar: PayloadScalar, _ column: ReplicaColumn, _ top: Int) {
    guard column.storage == .duration || column.storage == .dateTime, !scalar.isNull,
      unsafe PlainText.isFinerThanPicoseconds(ByteText(scalar.bytes))
    else { return }
    openFineValues.append((frames[frames[top].entity(top)].place, column.path.joined(separator: "/")))
  }

  /// Names the entities of noted values, whose keys have come.
  mutating func noteFineValues() {
    guard !openFineValues.isEmpty else { return }
    for (place, property) in openFineValues {
      fineValues.add((name(place) ?? chunk.slots[Int(place.slot)].table.name) + "/" + property)
    }
    openFineValues.removeAll()
  }
}
