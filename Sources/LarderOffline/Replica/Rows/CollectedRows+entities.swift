import LarderOData
import LarderStorage

// Control information about an entity, and the joins between an entity and the enclosing one.
extension CollectedRows {
  mutating func control(_ information: ControlInformation, on name: PayloadName?, _ scalar: PayloadScalar) throws {
    guard let top = frames.indices.last else { return try payloadControl(information, scalar) }
    if tree.isOpen {
      if information == .type, name == nil { tree.setType(Self.typeName(scalar.string)) }
      return
    }
    guard !frames[top].isIgnored else { return }
    if let name { return controlOfProperty(information, name, scalar, top) }
    if frames[top].marker >= 0 {
      if information == .type { setComplexType(Self.typeName(scalar.string), top) }
      return
    }
    guard !frames[top].isCollection else { return }
    switch information {
    case .type: retype(Self.typeName(scalar.string), top)
    case .context: if frames.count == 1 { try move(ContextURL(scalar.string), top) }
    case .etag: setSystem(.etag, scalar.isNull ? .null : .text(scalar.string), top)
    case .id: if !scalar.isNull { frames[top].id = scalar.string }
    case .editLink, .readLink: if frames[top].id == nil, !scalar.isNull { frames[top].id = scalar.string }
    default:
      var media = frames[top].media ?? MediaInfo()
      if media.consume(information, scalar) { frames[top].media = media }
    }
  }

  static func typeName(_ text: String) -> String {
    guard let hash = text.lastIndex(of: "#") else { return text }
    return String(text[text.index(after: hash)...])
  }

  private mutating func controlOfProperty(
    _ information: ControlInformation, _ name: PayloadName, _ scalar: PayloadScalar, _ top: Int
  ) {
    let member = member(name)
    let entity = frames[top].entity(top)
    switch member.kind {
    case .navigation where information == .nextLink && !scalar.isNull:
      chunk.inlines.append(
        RowChunk.Inline(link: scalar.string, parent: frames[entity].place, navigation: Int(member.index)))
    case .stream:
      var media = frames[entity].streams[Int(member.index)] ?? MediaInfo()
      if media.consume(information, scalar) { frames[entity].streams[Int(member.index)] = media }
    default: break
    }
  }

  private mutating func setSystem(_ column: SystemColumn, _ value: SQLValue, _ top: Int) {
    let place = frames[top].place
    chunk.slots[Int(place.slot)].batch.set(Int(place.row), column.place, value)
  }

  private mutating func setComplexType(_ name: String, _ top: Int) {
    let declared = frames[top].table.columns[frames[top].marker].type.name
    if name != declared { set(frames[top].place, frames[top].marker, .text(name)) }
  }

  /// Sets the entity's type as the payload gives it.
  private mutating func retype(_ name: String, _ top: Int) {
    guard let number = frames[top].table.typeNumber(model.resolve(name)) else { return }
    setSystem(.type, .integer(Int64(number)), top)
    frames[top].map = map(frames[top].table, number, [])
  }

  /// Moves the row of an entity that belongs to another set than the payload's own (OData JSON Format 4.01 §15.2).
  private mutating func move(_ context: ContextURL, _ top: Int) throws {
    guard let table = try place(of: context), table !== frames[top].table, frames[top].dynamic.isEmpty else { return }
    let place = frames[top].place
    let slot = Int(place.slot)
    guard chunk.slots[slot].rowCount == Int(place.row) + 1, chunk.order.last == place else { return }
    let savedColumns = [SystemColumn.etag, .uri, .media].map {
      ($0, chunk.slots[slot].batch.value(Int(place.row), $0.place))
    }
    chunk.slots[slot].removeLastRow()
    chunk.order.removeLast()
    var frame = EntityFrame(table: table, navigation: -1, enclosing: -1)
    frame.flags = frames[top].flags
    frame.id = frames[top].id
    frame.media = frames[top].media
    frames.removeLast()
    // The last step may be a type (§10.9).
    let type = context.path.last { $0.name.contains(".") }.flatMap { table.typeNumber(model.resolve($0.name)) }
    open(&frame, type ?? 0)
    frames.append(frame)
    for (column, value) in savedColumns where value != .null { setSystem(column, value, frames.count - 1) }
  }

  /// The table of an entity whose context names another place than the payload's; nil if the entity stays where it is.
  private func place(of context: ContextURL) throws -> EntityTable? {
    guard let table = table(of: context) else { return nil }
    let isDelta = kind == .delta
    switch table.place {
    case .type:
      // The name of a type does not say where an entity is. Only in a delta does it distinguish entities from the
      // enclosing ones.
      return isDelta && !isRelated(table) ? table : nil
    case .entitySet, .singleton, .containment: break
    }
    if isDelta { return table }
    guard isRelated(table) else {
      guard content != nil else { return table }
      throw RowCollectorError.otherKind(
        expected: "an entity of \(plan.tables[rootTable].name)",
        found: "an entity of \(table.name), according to the context URL")
    }
    // A singleton stays in its own table, even if its entity is also in a set.
    if case .singleton = plan.tables[rootTable].place { return nil }
    return table
  }

  func table(of context: ContextURL) -> EntityTable? {
    guard var table = context.path.first.flatMap({ plan.table($0.name) }) else { return nil }
    for step in context.path.dropFirst() where !step.name.contains(".") {
      guard let navigation = table.navigation([step.name]) else { return nil }
      table = plan.tables[navigation.target]
    }
    return table
  }

  // MARK: The end of an entity

  /// Writes the collected properties of an entity, and checks whether it has a key.
  mutating func close(_ frame: inout EntityFrame) throws {
    let slot = Int(frame.place.slot)
    let row = Int(frame.place.row)
    try setDynamic(frame)
    for (index, stream) in frame.streams { set(frame.place, index, .text(stream.json)) }
    if let media = frame.media { chunk.slots[slot].batch.set(row, SystemColumn.media.place, .text(media.json)) }
    if let id = frame.id { try identify(&frame, id, slot, row) }
    if !frame.flags.isEmpty {
      chunk.slots[slot].flags[row] = frame.flags
      chunk.slots[slot].hasFlags = true
    } else if lacksKey(table: frame.table, slot, row) {
      keyless.append(frame.place)
    }
  }

  private func lacksKey(table: EntityTable, _ slot: Int, _ row: Int) -> Bool {
    for column in table.key where chunk.slots[slot].batch.isNull(row, RowSlot.systemCount + column) { return true }
    return false
  }

  /// Throws for a row without any key: it would become a new row each time it is downloaded.
  mutating func checkKeys() throws {
    guard !keyless.isEmpty else { return }
    defer { keyless.removeAll(keepingCapacity: true) }
    for place in keyless {
      let table = chunk.slots[Int(place.slot)].table
      guard lacksKey(table: table, Int(place.slot), Int(place.row)) else { continue }
      // A singleton has one row, whatever the payload says.
      if case .singleton = table.place { continue }
      throw RowCollectorError.noKey(table.name)
    }
  }

  /// Takes from the entity-id what the properties do not contain.
  private mutating func identify(_ frame: inout EntityFrame, _ id: String, _ slot: Int, _ row: Int) throws {
    let table = frame.table
    let hadProperties = chunk.slots[slot].hasAny(row)
    let lacksKey = table.key.contains { !chunk.slots[slot].isPresent(row, $0) }
    if lacksKey, let key = EntityID.key(of: id, in: table, model: model) {
      for (column, value) in zip(table.key, key) where !chunk.slots[slot].isPresent(row, column) {
        set(frame.place, column, value)
      }
    }
    if !hadProperties, frame.flags.isEmpty, frame.enclosing >= 0 { frame.flags.insert(.reference) }
    if !frame.flags.isEmpty || table.isContained && frame.enclosing < 0 { chunk.slots[slot].ids[row] = id }
    guard table.key.isEmpty || !EntityID.isConventional(id, in: table) else { return }
    chunk.slots[slot].batch.set(row, SystemColumn.uri.place, .text(id))
  }

  /// Joins an inline entity to the enclosing one.
  mutating func join(_ frame: EntityFrame) {
    let enclosing = frames[frame.enclosing]
    let isDelta = frames.last?.isDelta ?? false
    let isAdded = !(isDelta && !frame.flags.isDisjoint(with: [.deleted, .left]))
    if frames.last?.isCollection != true { noteComplete(frame.navigation, of: enclosing.place) }
    noteMember(frame.navigation, of: enclosing.place, frame.place, isAdded: isAdded)
    switch enclosing.table.navigations[frame.navigation].relation {
    case .columns(let pairs):
      ties.append(Tie(source: enclosing.place, target: frame.place, pairs: pairs, navigation: frame.navigation))
    case .links(let link, let isForward):
      if frames.last?.isCollection != true {
        chunk.completeLinks.append(RowChunk.CompleteLinks(link: link, row: enclosing.place, isSource: isForward))
      }
      chunk.links.append(
        RowChunk.Link(
          link: link, source: isForward ? enclosing.place : frame.place,
          target: isForward ? frame.place : enclosing.place,
          isAdded: isAdded))
    case .containment, .container: break
    }
    // The entity has left the collection, not the store.
    if isDelta, frame.flags.contains(.left) {
      let isContained = enclosing.table.navigations[frame.navigation].relation == .containment
      chunk.slots[Int(frame.place.slot)].flags[Int(frame.place.row)] = isContained ? .deleted : .reference
    }
  }

  /// Joins an entity of an inline page to the entity that it belongs to.
  mutating func joinRoot(_ frame: EntityFrame, _ parent: (navigation: Int, table: Int, id: Int64)) {
    let slot = Int(frame.place.slot)
    switch plan.tables[parent.table].navigations[parent.navigation].relation {
    case .containment: chunk.slots[slot].outerParents[Int(frame.place.row)] = parent.id
    case .links(let link, let isForward):
      chunk.outerLinks.append(
        RowChunk.OuterLink(link: link, outer: parent.id, inner: frame.place, isForward: isForward))
    case .columns, .container: break
    }
  }

  /// Whether the ends of a stated link have different values where a referential constraint requires equal ones (CSDL
  /// 4.01 §8.5). Values of types with several spellings count as equal.
  private func contradicts(_ tie: Tie, _ pair: ReplicaRelation.Pair) -> Bool {
    let (source, target) = (chunk.slots[Int(tie.source.slot)], chunk.slots[Int(tie.target.slot)])
    switch source.table.columns[pair.source].storage {
    case .integer, .string, .guid, .boolean, .enumeration: break
    default: return false
    }
    guard source.isPresent(Int(tie.source.row), pair.source), target.isPresent(Int(tie.target.row), pair.target) else {
      return false
    }
    return source.batch.value(Int(tie.source.row), RowSlot.systemCount + pair.source)
      != target.batch.value(Int(tie.target.row), RowSlot.systemCount + pair.target)
  }

  private mutating func noteContradiction(_ tie: Tie) {
    let table = chunk.slots[Int(tie.source.slot)].table
    let path = table.name + "/" + table.navigations[tie.navigation].path.joined(separator: "/")
    contradictedLinks[path, default: 0] += 1
  }

  /// Copies columns of a referential constraint from the end that has them to the other end.
  mutating func fillTies() {
    for tie in ties {
      for pair in tie.pairs {
        let source = (slot: Int(tie.source.slot), row: Int(tie.source.row))
        let target = (slot: Int(tie.target.slot), row: Int(tie.target.row))
        let hasSource = chunk.slots[source.slot].isPresent(source.row, pair.source)
        let hasTarget = chunk.slots[target.slot].isPresent(target.row, pair.target)
        if hasSource, !hasTarget {
          let value = chunk.slots[source.slot].batch.value(source.row, RowSlot.systemCount + pair.source)
          set(tie.target, pair.target, value)
        } else if hasTarget, !hasSource {
          let value = chunk.slots[target.slot].batch.value(target.row, RowSlot.systemCount + pair.target)
          set(tie.source, pair.source, value)
        } else if contradicts(tie, pair) {
          noteContradiction(tie)
          break
        }
      }
    }
    ties.removeAll(keepingCapacity: true)
  }
}

extension RowSlot {
  /// Whether the payload had any property of a row.
  func hasAny(_ row: Int) -> Bool { (0..<words).contains { present[row * words + $0] != 0 } }
}
