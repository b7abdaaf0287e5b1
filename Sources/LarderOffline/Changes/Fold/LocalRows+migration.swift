import LarderStorage

// A new model while there are pending changes. Effects refer to tables and columns by name, so most of them still fit.
extension LocalRows {
  /// Adapts effects to the plan. A request that no longer fits goes to the error archive with its content.
  mutating func fitEffects() throws(StorageError) {
    var unfitting: Set<Int64> = []
    for entry in try queue.entries() {
      var effects = try queue.effects(of: entry.id)
      let before = effects
      var missing: [String] = []
      if let table = entry.request.entity?.table, plan.table(table) == nil { missing.append(table) }
      for place in effects.indices { missing += fit(&effects[place]) }
      if effects != before { try queue.replace(entry.id, by: entry.request, effects: effects) }
      for effect in effects { if let reference = effect.reference { try touch(reference) } }
      guard !missing.isEmpty, entry.state != .archived else { continue }
      let names = Set(missing).sorted().joined(separator: ", ")
      unfitting.insert(entry.id)
      try queue.set(.archived, of: entry.id)
      try queue.set(
        failure: ArchivedFailure(
          kind: .unfitting, message: "The service's model no longer has \(names).",
          method: entry.request.operation.rawValue, url: entry.request.target.path,
          time: Double(connection.environment.unixSeconds)),
        of: entry.id)
      if let entity = entry.request.entity { try touch(entity) }
    }
    try hold(behind: unfitting)
  }

  /// Converts cells to the storage of their columns. Returns the names that the plan does not have.
  private func fit(_ effect: inout Effect) -> [String] {
    guard effect.other == nil else { return plan.link(effect.name) == nil ? [effect.name] : [] }
    guard let table = plan.table(effect.name) else { return [effect.name] }
    var missing: [String] = []
    for (name, value) in effect.cells.values where value != .null && SystemColumn(rawValue: name) == nil {
      guard let column = table.columns.first(where: { $0.name == name }) else {
        missing.append("\(table.name)/\(name)")
        continue
      }
      effect.cells[name] = column.storage.converted(value)
    }
    return missing
  }
}

extension ColumnStorage {
  /// Converts a cell that was written for another storage, if this is possible.
  fileprivate func converted(_ value: SQLValue) -> SQLValue {
    switch (self, value) {
    case (.decimal, .integer(let number)), (.string, .integer(let number)): .text(String(number))
    case (.real, .integer(let number)): .real(Double(number))
    case (.integer, .text(let text)): Int64(text).map { .integer($0) } ?? value
    default: value
    }
  }
}
