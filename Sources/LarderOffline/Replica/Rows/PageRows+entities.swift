import LarderOData
import LarderStorage

// Control information about an entity, and the joins between an entity and the enclosing one.
extension PageRows {
  mutating func control(_ information: ControlInformation, on name: PayloadName?, _ scalar: PayloadScalar) throws {
    guard let top = frames.indices.last else { return try payloadControl(information, scalar) }
    if tree.isOpen {
      if information == .type, name == nil { tree.setType(Self.typeName(scalar.string)) }
      return
    }
    guard !frames[top].isIgnored else { return }
    if let name { return controlOfProperty(information, name: name, scalar: scalar, top: top) }
    if frames[top].marker >= 0 {
      if information == .type { setComplexType(Self.typeName(scalar.string), top) }
      return
    }
    guard !frames[top].isCollection else { return }
    switch information {
    case .type: retype(Self.typeName(scalar.string), top)
    case .context: if frames.count == 1 { try move(ContextURL(scalar.string), top) }
    case .etag: batch.set(frames[top].index, .etag, scalar.isNull ? .null : .text(scalar.string))
    case .id: if !scalar.isNull { frames[top].links.id = scalar.string }
    case .editLink: if !scalar.isNull { frames[top].links.editLink = scalar.string }
    case .readLink: if !scalar.isNull { frames[top].links.readLink = scalar.string }
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
    _ information: ControlInformation, name: PayloadName, scalar: PayloadScalar, top: Int
  ) {
    let member = member(name)
    let entity = frames[top].entity(top)
    switch member.kind {
    case .navigation where information == .navigationLink && !scalar.isNull:
      if frames[entity].level >= 0 { noteURL(scalar, of: Int(member.index), entity) }
    case .navigation where information == .nextLink && !scalar.isNull && !scalar.string.isEmpty:
      noteShown(Int(member.index), by: entity)
      batch.inlines.append(
        PageBatch.Inline(link: scalar.string, parent: frames[entity].index, navigation: Int(member.index)))
    case .stream:
      var media = frames[entity].streams[Int(member.index)] ?? MediaInfo()
      if media.consume(information, scalar) { frames[entity].streams[Int(member.index)] = media }
    default: break
    }
  }

  private mutating func setComplexType(_ name: String, _ top: Int) {
    let declared = frames[top].table.columns[frames[top].marker].type.name
    if name != declared { batch.set(frames[top].index, frames[top].marker, .text(name)) }
  }

  /// Sets the entity's type as the payload gives it.
  private mutating func retype(_ name: String, _ top: Int) {
    guard let number = frames[top].table.typeNumber(model.resolve(name)) else {
      if model.structure(name) == nil { UndeclaredContent.add(1, name, to: &undeclared.types) }
      return
    }
    batch.set(frames[top].index, .type, .integer(Int64(number)))
    frames[top].map = map(frames[top].table, number, [])
  }

  /// Moves the row of an entity that belongs to another set than the payload's own (OData JSON Format 4.01 §15.2).
  private mutating func move(_ context: ContextURL, _ top: Int) throws {
    guard let table = try place(of: context), table !== frames[top].table, frames[top].dynamic.isEmpty else { return }
    let row = frames[top].row
    guard frames[top].index == batch.rows.count - 1 else { return }
    let savedColumns = [SystemColumn.etag, .uri, .media].map {
      ($0, batch.cells[row.table].value(row.number, $0.place))
    }
    batch.removeLastRow()
    var frame = OpenRow(table: table, navigation: -1, enclosing: -1)
    frame.flags = frames[top].flags
    frame.level = requested?.levels.first?.table === table ? frames[top].level : -1
    frame.links = frames[top].links
    frame.media = frames[top].media
    frames.removeLast()
    // The last step may be a type (§10.9).
    let type = context.path.last { $0.name.contains(".") }.flatMap { table.typeNumber(model.resolve($0.name)) }
    open(&frame, type ?? 0)
    frames.append(frame)
    for (column, value) in savedColumns where value != .null { batch.set(frame.index, column, value) }
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
      throw PageError.otherKind(
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
  mutating func close(_ frame: inout OpenRow) throws {
    try setDynamic(frame)
    for (index, stream) in frame.streams { batch.set(frame.index, index, .text(stream.stored(isFull: isFull).json)) }
    if let media = frame.media { batch.set(frame.index, .media, .text(media.stored(isFull: isFull).json)) }
    if let id = frame.links.any { try identify(&frame, id) }
    if !frame.flags.isEmpty {
      batch.set(frame.flags, of: frame.index)
    } else if batch.lacksKey(frame.index) {
      keyless.append(frame.index)
    }
  }

  /// Throws for a row without any key: it would become a new row each time it is downloaded.
  mutating func checkKeys() throws {
    guard !keyless.isEmpty else { return }
    defer { keyless.removeAll(keepingCapacity: true) }
    for row in keyless where batch.lacksKey(row) {
      // A singleton has one row, whatever the payload says.
      if case .singleton = batch.table(of: row).place { continue }
      throw PageError.noKey(batch.table(of: row).name)
    }
  }

  /// Takes from the entity-id what the properties do not contain.
  private mutating func identify(_ frame: inout OpenRow, _ id: String) throws {
    let (table, row) = (frame.table, frame.index)
    let hadProperties = batch.hasProperties(row)
    let lacksKey = table.key.contains { !batch.isPresent(row, $0) }
    if lacksKey, let key = EntityID.key(of: id, in: table, model: model) {
      for (column, value) in zip(table.key, key) where !batch.isPresent(row, column) { batch.set(row, column, value) }
    }
    if !hadProperties, frame.flags.isEmpty, frame.enclosing >= 0 { frame.flags.insert(.reference) }
    if !frame.flags.isEmpty || table.isContained && frame.enclosing < 0 { batch.ids[row] = id }
    let type = table.types[frame.map >= 0 ? maps[frame.map].typeNumber : 0]
    let links = frame.links.stored(in: table, type: type, version: model.version, base: base, isFull: isFull)
    if let text = links.text { batch.set(row, .uri, .text(text)) }
  }

  /// Joins an inline entity to the enclosing one.
  mutating func join(_ frame: OpenRow) {
    let enclosing = frames[frame.enclosing]
    let isDelta = frames.last?.isDelta ?? false
    let isAdded = !(isDelta && !frame.flags.isDisjoint(with: [.deleted, .left]))
    if frames.last?.isCollection != true { noteComplete(frame.navigation, of: enclosing.index) }
    noteMember(frame.navigation, of: enclosing.index, frame.index, isAdded: isAdded)
    switch enclosing.table.navigations[frame.navigation].relation {
    case .columns(let pairs):
      ties.append(Tie(source: enclosing.index, target: frame.index, pairs: pairs, navigation: frame.navigation))
    case .links(let link, let isForward):
      if frames.last?.isCollection != true {
        batch.completeLinks.append(PageBatch.CompleteLinks(link: link, row: enclosing.index, isSource: isForward))
      }
      batch.links.append(
        PageBatch.Link(
          link: link, source: isForward ? enclosing.index : frame.index,
          target: isForward ? frame.index : enclosing.index,
          isAdded: isAdded))
    case .containment, .container: break
    }
    // The entity has left the collection, not the store.
    if isDelta, frame.flags.contains(.left) {
      let isContained = enclosing.table.navigations[frame.navigation].relation == .containment
      batch.set(isContained ? .deleted : .reference, of: frame.index)
    }
  }

  /// Joins an entity of an inline page to the entity that it belongs to.
  mutating func joinRoot(_ frame: OpenRow, _ parent: (navigation: Int, table: Int, id: Int64)) {
    switch plan.tables[parent.table].navigations[parent.navigation].relation {
    case .containment: batch.outerParents[frame.index] = parent.id
    case .links(let link, let isForward):
      batch.outerLinks.append(
        PageBatch.OuterLink(link: link, outer: parent.id, inner: frame.index, isForward: isForward))
    case .columns, .container: break
    }
  }

  /// Whether the ends of a stated link have different values where a referential constraint requires equal ones (CSDL
  /// 4.01 §8.5). Values of types with several spellings count as equal.
  private func contradicts(_ tie: Tie, _ pair: ReplicaRelation.Pair) -> Bool {
    switch batch.table(of: tie.source).columns[pair.source].storage {
    case .integer, .string, .guid, .boolean, .enumeration: break
    default: return false
    }
    guard batch.isPresent(tie.source, pair.source), batch.isPresent(tie.target, pair.target) else { return false }
    return batch.value(tie.source, pair.source) != batch.value(tie.target, pair.target)
  }

  private mutating func noteContradiction(_ tie: Tie) {
    let table = batch.table(of: tie.source)
    let path = table.name + "/" + table.navigations[tie.navigation].path.joined(separator: "/")
    contradictedLinks[path, default: 0] += 1
  }

  /// Copies columns of a referential constraint from the end that has them to the other end.
  mutating func fillTies() {
    for tie in ties {
      for pair in tie.pairs where !isRaw(tie.source, pair.source) && !isRaw(tie.target, pair.target) {
        let hasSource = batch.isPresent(tie.source, pair.source)
        let hasTarget = batch.isPresent(tie.target, pair.target)
        if hasSource, !hasTarget {
          batch.set(tie.target, pair.target, batch.value(tie.source, pair.source))
        } else if hasTarget, !hasSource {
          batch.set(tie.source, pair.source, batch.value(tie.target, pair.target))
        } else if contradicts(tie, pair) {
          noteContradiction(tie)
          break
        }
      }
    }
    ties.removeAll(keepingCapacity: true)
  }
}
