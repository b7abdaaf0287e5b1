import LarderOData

// Values that do not fit the declared types of their properties. A property that the query does not select is not
// judged, whatever the service sends for it. The others are an error, or are kept as a ``RawValue``.
extension PageRows {
  /// Takes a property that the reader cannot read. Throws if the property is needed, or if another error is the cause.
  mutating func unfitting(_ name: PayloadName, text: [UInt8], depth: PayloadDepth, error: any Error) throws {
    // Only a whole property of a row can be left out, not a part of a value.
    guard depth.values == 0, depth.objects > 0, depth.objects <= frames.count, Self.isOfOneValue(error) else {
      throw error
    }
    let isOfEntity = frames[depth.objects...].allSatisfy { $0.marker >= 0 }
    guard isOfEntity else { throw error }
    let inner = frames[depth.objects...]
    frames.removeLast(inner.count)
    tree.removeAll()
    let member = member(name)
    do { try unfitting(member, text: text, error) } catch {
      // The reader names the position in the payload.
      frames += inner
      throw error
    }
  }

  /// Takes a value that does not fit the declared type of a member of the current row.
  mutating func unfitting(_ member: MemberMap.Member, text: [UInt8], _ error: any Error) throws {
    guard Self.isOfOneValue(error) else { throw error }
    let top = frames.count - 1
    switch member.kind {
    case .column, .whole, .complex, .dynamic:
      guard isSelected(Int(member.index), of: frames[top].table) else { return }
      if keepsRawValues, member.kind != .dynamic { return keep(text, column: Int(member.index), top) }
    case .stream, .ignored, .unknown, .undeclared: return
    case .navigation: break
    }
    if let valueError = error as? ColumnValueError { throw naming(valueError, top) }
    throw error
  }

  /// Stores the text of a value in its property's cell. A key has no other values than those of its type.
  private mutating func keep(_ text: [UInt8], column number: Int, _ top: Int) {
    let (table, row) = (frames[top].table, frames[top].index)
    let column = table.columns[number]
    guard !table.key.contains(where: { table.columns[$0].path.starts(with: column.path) }) else {
      frames[frames[top].entity(top)].hasUnfittingKey = true
      return
    }
    if column.storage == .complex { setNullComplex(number, top, only: selected[table.number]) }
    batch.set(row, number, RawValue.cell(text, in: column.storage))
    openRawValues.append((row, column.path.joined(separator: "/")))
  }

  /// Whether a property of a row has a value that does not fit, so that it determines no link.
  func isRaw(_ row: Int, _ column: Int) -> Bool {
    guard keepsRawValues, batch.isPresent(row, column) else { return false }
    return RawValue.isOne(batch.value(row, column), in: batch.table(of: row).columns[column].storage)
  }

  /// Leaves out an entity whose key is unknown, and the entities inside it. What the payload contains completely is not
  /// known then for the entity around it.
  mutating func leaveOut(_ frame: OpenRow) {
    let row = frame.index
    unknownKeys.add("\(frame.table.name), entity \(rootCount + 1) of the response")
    keyless.removeAll { $0 >= row }
    ties.removeAll { $0.source >= row || $0.target >= row }
    openFineValues.removeAll { $0.row >= row }
    openRawValues.removeAll { $0.row >= row }
    batch.removeRows(from: row)
    guard frame.enclosing >= 0 else { return }
    let enclosing = frames[frame.enclosing].index
    batch.completeLinks.removeAll { $0.row == enclosing }
    batch.completeNavigations.removeAll { $0.source == enclosing && $0.navigation == frame.navigation }
  }

  /// Whether an error is about one value, not about the payload.
  private static func isOfOneValue(_ error: any Error) -> Bool {
    if let problem = error as? PayloadError.Problem { return problem.isOfOneValue }
    return error is ODataValueError || error is ColumnValueError
  }

  /// Whether the query selects a column. The columns of a complex property are selected one by one.
  private func isSelected(_ column: Int, of table: EntityTable) -> Bool {
    guard let columns = selected[table.number] else { return true }
    let path = table.columns[column].path
    return columns.contains { table.columns[$0].path.starts(with: path) }
  }
}
