import LarderOData

// Values that do not fit the declared types of their properties. A property that the query does not select is not
// judged, whatever the service sends for it.
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
    case .stream, .ignored, .unknown: return
    case .navigation: break
    }
    if let valueError = error as? ColumnValueError { throw naming(valueError, top) }
    throw error
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
