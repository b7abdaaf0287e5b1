import LarderOData
import LarderStorage

// Properties. Most values are written directly from bytes to their cell. Collections, complex values stored as JSON and
// undeclared values are collected first.
extension CollectedRows {
  mutating func property(_ name: PayloadName, _ scalar: PayloadScalar) throws {
    if tree.isOpen { return tree.add(try scalar.value(), name.text) }
    let top = frames.count - 1
    guard top >= 0 else { return }
    let member = member(name)
    if member.kind == .column {
      let slot = Int(frames[top].place.slot)
      let row = Int(frames[top].place.row)
      let index = Int(member.index)
      let column = frames[top].table.columns[index]
      do throws(ColumnValueError) { try column.append(scalar, model: model, to: &chunk.slots[slot].batch) } catch {
        throw naming(error, top)
      }
      noteDigits(scalar, column, top)
      chunk.slots[slot].batch.placeLast(in: row, RowSlot.systemCount + index)
      chunk.slots[slot].mark(row, index)
      return
    }
    switch member.kind {
    case .complex where scalar.isNull: setNullComplex(Int(member.index), top)
    case .whole, .dynamic: try set(try scalar.value(), name.text, member, top)
    default: break
    }
  }

  mutating func element(_ scalar: PayloadScalar) throws { if tree.isOpen { tree.add(try scalar.value(), nil) } }

  mutating func value(_ name: PayloadName?, _ value: ODataValue) throws {
    if tree.isOpen { return tree.add(value, name?.text) }
    guard let name, let top = frames.indices.last else { return }
    let member = member(name)
    if member.kind == .complex, value == .null { return setNullComplex(Int(member.index), top) }
    try set(value, name.text, member, top)
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
    var frame = EntityFrame(table: frames[top].table, navigation: -1, enclosing: enclosing)
    frame.marker = Int(member.index)
    frame.place = frames[top].place
    let column = frame.table.columns[frame.marker]
    setNullComplex(frame.marker, top, only: selected[frame.table.number])
    set(frame.place, frame.marker, .text(""))
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
    try set(value, treeMember.name, treeMember.member, treeMember.frame)
  }

  /// Sets a value at its member.
  private mutating func set(_ value: ODataValue, _ name: String, _ member: MemberMap.Member, _ top: Int) throws {
    let index = Int(member.index)
    switch member.kind {
    case .column, .whole:
      let place = frames[top].place
      do throws(ColumnValueError) {
        try frames[top].table.columns[index].append(value, model: model, to: &chunk.slots[Int(place.slot)].batch)
      } catch { throw naming(error, top) }
      chunk.slots[Int(place.slot)].batch.placeLast(in: Int(place.row), RowSlot.systemCount + index)
      chunk.slots[Int(place.slot)].mark(Int(place.row), index)
    case .dynamic:
      frames[top].dynamic[index, default: ODataComplexValue()].properties.append(ODataProperty(name, value))
    case .unknown, .complex, .stream, .navigation, .ignored: break
    }
  }

  mutating func set(_ place: RowChunk.Place, _ column: Int, _ value: SQLValue) {
    chunk.slots[Int(place.slot)].batch.set(Int(place.row), RowSlot.systemCount + column, value)
    chunk.slots[Int(place.slot)].mark(Int(place.row), column)
  }

  /// Sets a complex property with all its parts to null. Parts that the payload then omits stay null.
  ///
  /// - Parameter selected: the columns that were requested; nil for all. Other columns are not set, because the payload
  ///   omits them.
  private mutating func setNullComplex(_ marker: Int, _ top: Int, only selected: Set<Int>? = nil) {
    let path = frames[top].table.columns[marker].path
    let place = frames[top].place
    for column in frames[top].table.columns
    where column.path.starts(with: path) && selected?.contains(column.number) ?? true {
      set(place, column.number, .null)
    }
  }

  /// Writes the undeclared properties of an entity or complex value.
  mutating func setDynamic(_ frame: EntityFrame) throws {
    for (index, value) in frame.dynamic {
      let place = frame.place
      try frame.table.columns[index].append(.complex(value), model: model, to: &chunk.slots[Int(place.slot)].batch)
      chunk.slots[Int(place.slot)].batch.placeLast(in: Int(place.row), RowSlot.systemCount + index)
      chunk.slots[Int(place.slot)].mark(Int(place.row), index)
    }
  }
}
