import LarderOData
import LarderStorage

// Properties. Most values are written directly from bytes to their cell. Collections, complex values stored as JSON and
// undeclared values are collected first.
extension PageRows {
  mutating func property(_ name: PayloadName, _ scalar: PayloadScalar) throws {
    if tree.isOpen { return tree.add(try scalar.value(), name.text) }
    let top = frames.count - 1
    guard top >= 0 else { return }
    let member = member(name)
    if member.kind == .column {
      let (table, row) = (frames[top].row.table, frames[top].row.number)
      let index = Int(member.index)
      let column = frames[top].table.columns[index]
      do throws(ColumnValueError) { try column.append(scalar, model: model, to: &batch.cells[table]) } catch {
        return try unfitting(member, text: Array(scalar.string.utf8), error)
      }
      noteDigits(scalar, column, top)
      batch.cells[table].placeLast(in: row, EntityTable.systemCount + index)
      return
    }
    switch member.kind {
    case .complex where scalar.isNull: setNullComplex(Int(member.index), top)
    case .whole, .dynamic:
      do { try set(try scalar.value(), name: name.text, member: member, top: top) } catch {
        try unfitting(member, text: Array(scalar.string.utf8), error)
      }
    case .undeclared: noteUndeclared(name.text, top)
    default: break
    }
  }

  mutating func element(_ scalar: PayloadScalar) throws { if tree.isOpen { tree.add(try scalar.value(), nil) } }

  mutating func value(_ name: PayloadName?, _ value: ODataValue) throws {
    if tree.isOpen { return tree.add(value, name?.text) }
    guard let name, let top = frames.indices.last else { return }
    let member = member(name)
    if member.kind == .complex, value == .null { return setNullComplex(Int(member.index), top) }
    try set(value, name: name.text, member: member, top: top)
  }

  mutating func beginValues(_ name: PayloadName?) throws {
    if !tree.isOpen, let name { treeMember = (frames.count - 1, name.text, member(name)) }
    tree.beginValues(name?.text)
  }

  mutating func endValues() throws { if let value = tree.end() { try setTree(value) } }

  mutating func beginComplex(_ name: PayloadName?) throws {
    guard !tree.isOpen, let name, let top = frames.indices.last else { return tree.beginComplex(name?.text) }
    let member = member(name)
    guard member.kind == .complex else {
      treeMember = (top, name.text, member)
      return tree.beginComplex(name.text)
    }
    let enclosing = frames[top].entity(top)
    var frame = OpenRow(table: frames[top].table, navigation: -1, enclosing: enclosing)
    frame.marker = Int(member.index)
    (frame.row, frame.index) = (frames[top].row, frames[top].index)
    let column = frame.table.columns[frame.marker]
    setNullComplex(frame.marker, top, only: selected[frame.table.number])
    batch.set(frame.index, frame.marker, .text(""))
    frame.map = map(frame.table, maps[frames[top].map].typeNumber, column.path)
    frames.append(frame)
  }

  mutating func endComplex() throws {
    if tree.isOpen {
      if let value = tree.end() { try setTree(value) }
      return
    }
    guard let frame = frames.last, frame.marker >= 0 else { return }
    let last = frames.removeLast()
    try setDynamic(last)
  }

  private mutating func setTree(_ value: ODataValue) throws {
    guard treeMember.frame >= 0, treeMember.frame < frames.count else { return }
    try set(value, name: treeMember.name, member: treeMember.member, top: treeMember.frame)
  }

  /// Sets a value at its member.
  private mutating func set(_ value: ODataValue, name: String, member: MemberMap.Member, top: Int) throws {
    let index = Int(member.index)
    switch member.kind {
    case .column, .whole:
      do throws(ColumnValueError) {
        try put(value, column: index, table: frames[top].table, row: frames[top].row)
      } catch {
        throw naming(error, top)
      }
    case .dynamic:
      frames[top].dynamic[index, default: ODataComplexValue()].properties.append(ODataProperty(name, value))
    case .undeclared: noteUndeclared(name, top)
    case .unknown, .complex, .stream, .navigation, .ignored: break
    }
  }

  private mutating func put(
    _ value: ODataValue, column: Int, table: EntityTable, row: PageBatch.Row
  ) throws(ColumnValueError) {
    try table.columns[column].append(value, model: model, to: &batch.cells[row.table])
    batch.cells[row.table].placeLast(in: row.number, EntityTable.systemCount + column)
  }

  /// Sets a complex property with all its parts to null. Parts that the payload then omits stay null.
  ///
  /// - Parameter selected: the columns that were requested; nil for all. Other columns are not set, because the payload
  ///   omits them.
  mutating func setNullComplex(_ marker: Int, _ top: Int, only selected: Set<Int>? = nil) {
    let path = frames[top].table.columns[marker].path
    for column in frames[top].table.columns
    where column.path.starts(with: path) && selected?.contains(column.number) ?? true {
      batch.set(frames[top].index, column.number, .null)
    }
  }

  /// Writes the undeclared properties of an entity or complex value.
  mutating func setDynamic(_ frame: OpenRow) throws {
    for (index, value) in frame.dynamic { try put(.complex(value), column: index, table: frame.table, row: frame.row) }
  }
}
