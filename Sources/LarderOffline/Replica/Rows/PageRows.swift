import LarderOData
import LarderStorage

/// The rows of a page, created from the events of its payload.
///
/// An inline entity becomes a row of the table that its navigation property leads to, and a join between the two: a
/// link, the containing entity, or the columns of a referential constraint if the payload omits them.
struct PageRows {
  let plan: ReplicaPlan
  let model: EdmModel
  /// The rows since the last ``take()``.
  var batch = PageBatch()
  /// The number of rows of the whole payload that are not inline entities.
  private(set) var rootCount: Int64 = 0
  private(set) var kind: PayloadKind?
  /// The kind of content that the payload must have; nil accepts everything that contains entities.
  var content: PageForm.Content?
  /// Whether the payload has full metadata (OData JSON Format 4.01 §3.1.2).
  var isFull = false
  /// The service's root, as the context URL of the payload spells it.
  private(set) var base: String?
  private(set) var nextLink: String?
  private(set) var deltaLink: String?
  private(set) var count: Int64?
  /// The number of inline links that referential constraints contradict, by table and navigation property.
  var contradictedLinks: [String: Int64] = [:]
  /// Values with more digits than their type has. They are stored unchanged.
  var fineValues = NotedValues()
  /// Such values of entities that have not ended yet, with the indexes of their rows.
  var openFineValues: [(row: Int, property: String)] = []

  /// What the model does not declare, and what is therefore not stored.
  var undeclared = UndeclaredContent()

  var frames: [OpenRow] = []
  var tree = ValueTree()
  /// The member that the open value belongs to.
  var treeMember = (frame: -1, name: "", member: MemberMap.Member(kind: .ignored))
  var maps: [MemberMap] = []
  /// Columns that an inline entity and the enclosing one have in common.
  var ties: [Tie] = []
  /// Rows without a key of their own. A join to another row may provide it.
  var keyless: [Int] = []
  let rootTable: Int
  /// Whether the members of navigation properties are recorded. This is needed for changes, whose rows depend on the
  /// rows that hold them.
  private let notesMembers: Bool
  /// The columns that the query's `$select` returns, by table. A table of which the query returns all columns has no
  /// entry.
  let selected: [Int: Set<Int>]
  /// The links that the query requests; nil if the page does not say whether the service expands them.
  let requested: RequestedLinks?
  /// Whether links that rows lack are recorded, to be followed.
  let followsLinks: Bool
  /// What the rows show of these links, by level.
  var shown: [[LinkFacts]]
  /// Whether values that do not fit their declared type are kept as texts, and entities with unknown keys are left out.
  let keepsRawValues: Bool
  /// The kept values.
  var rawValues = NotedValues()
  /// Kept values of entities that have not ended yet, with the indexes of their rows.
  var openRawValues: [(row: Int, property: String)] = []
  /// The entities that were left out.
  var unknownKeys = NotedValues()
  private let rootParent: (navigation: Int, table: Int, id: Int64)?

  struct Tie {
    let source: Int
    let target: Int
    let pairs: [ReplicaRelation.Pair]
    /// A navigation property of the source's table.
    let navigation: Int
  }

  /// - Parameters:
  ///   - table: the table of the payload's own entities.
  ///   - parent: for an inline collection that continues in this payload: the navigation property, and the entity that
  ///     has it.
  ///   - notesMembers: whether the members of navigation properties are recorded, for changes.
  ///   - selected: the columns that the query's `$select` returns, by table.
  ///   - requested: the links that the query requests.
  ///   - keepsRawValues: whether values that do not fit their declared type are kept.
  init(
    plan: ReplicaPlan, table: Int, parent: (navigation: Int, table: Int, id: Int64)? = nil, notesMembers: Bool = false,
    selected: [Int: Set<Int>] = [:], requested: RequestedLinks? = nil, followsLinks: Bool = false,
    keepsRawValues: Bool = false
  ) {
    self.plan = plan
    self.followsLinks = followsLinks
    self.requested = requested
    shown = requested.flatMap { $0.isEmpty ? nil : PageRows.noFacts($0) } ?? []
    self.keepsRawValues = keepsRawValues
    self.selected = selected
    self.notesMembers = notesMembers
    model = plan.model
    rootTable = table
    rootParent = parent
  }

  /// The declared type of the payload's own entities.
  var rootTypeName: String { plan.tables[rootTable].type.name }

  /// Returns the rows since the last call. Call it only between rows.
  mutating func take() -> PageBatch {
    // The maps stay: they contain names, not rows.
    exchange(&batch, with: PageBatch())
  }

  // MARK: The payload

  mutating func beginPayload(_ kind: PayloadKind) throws {
    self.kind = kind
    try check(kind)
    switch kind {
    case .entity, .collection, .delta, .error: break
    case .property: throw PageError.noEntities("property")
    case .reference, .references: throw PageError.noEntities("reference")
    case .serviceDocument: throw PageError.noEntities("service document")
    }
  }

  /// Throws for a payload of another kind than requested: rows that such a payload omits have not been deleted.
  private func check(_ kind: PayloadKind) throws(PageError) {
    guard let content else { return }
    let received: String
    switch (content, kind) {
    case (.entity, .entity), (.collection, .collection), (.changes, .collection), (.changes, .delta): return
    case (_, .entity): received = PageForm.Content.entity.rawValue
    case (_, .collection): received = PageForm.Content.collection.rawValue
    case (_, .delta): received = PageForm.Content.changes.rawValue
    case (_, .property), (_, .reference), (_, .references), (_, .serviceDocument), (_, .error): return
    }
    throw .otherKind(expected: content.rawValue, found: received)
  }

  /// Throws for a context of entities that cannot be the payload's own.
  private func check(_ context: ContextURL) throws(PageError) {
    guard content != nil, let named = table(of: context), !isRelated(named) else { return }
    throw .otherKind(
      expected: "entities of \(plan.tables[rootTable].name)",
      found: "entities of \(named.name), according to the context URL")
  }

  /// Whether entities of a table may be the payload's own.
  func isRelated(_ table: EntityTable) -> Bool {
    let root = plan.tables[rootTable]
    return root.typeNumber(table.type.name) != nil || table.typeNumber(root.type.name) != nil
  }

  mutating func link(_ link: ODataDeltaLink, isDeleted: Bool) { batch.deltaLinks.append((link, isDeleted)) }

  mutating func payloadControl(_ information: ControlInformation, _ scalar: PayloadScalar) throws {
    switch information {
    // An empty link leads nowhere: some services end the last page with one.
    case .nextLink: nextLink = scalar.isNull || scalar.string.isEmpty ? nil : scalar.string
    case .deltaLink: deltaLink = scalar.isNull ? nil : scalar.string
    case .count: count = scalar.int64
    case .context:
      let context = scalar.string
      base = context.firstRange(of: "$metadata").map { String(context[..<$0.lowerBound]) }
      try check(ContextURL(context))
    default: break
    }
  }

  // MARK: Entities

  mutating func beginEntity(_ name: PayloadName?, role: PayloadEntityRole, typeName: String?) throws {
    var navigation = -1
    var enclosing = -1
    if let top = frames.indices.last {
      enclosing = frames[top].entity(top)
      if frames[top].isCollection {
        navigation = frames[top].navigation
      } else if let name {
        let member = member(name)
        navigation = member.kind == .navigation ? Int(member.index) : -1
        if member.kind == .undeclared { noteUndeclared(name.text, top) }
      }
      // The entity belongs to a navigation property without a table: it is skipped with all its content.
      guard navigation >= 0, !frames[top].isIgnored, enclosing >= 0 else {
        return frames.append(.ignored(frames[top].table))
      }
    }
    let isRoot = enclosing < 0
    let table = isRoot ? plan.tables[rootTable] : plan.tables[frames[enclosing].table.navigations[navigation].target]
    var frame = OpenRow(table: table, navigation: navigation, enclosing: enclosing)
    if case .deleted(let removal) = role { frame.flags = removal == .deleted ? .deleted : .left }
    if !shown.isEmpty { enterLevel(&frame) }
    open(&frame, table.hasTypes ? typeName.flatMap { table.typeNumber($0) } ?? 0 : 0)
    frames.append(frame)
  }

  /// Adds a row for a frame to the rows of its table.
  mutating func open(_ frame: inout OpenRow, _ typeNumber: Int) {
    let parent: Int? =
      frame.enclosing >= 0 && frames[frame.enclosing].table.navigations[frame.navigation].relation == .containment
      ? frames[frame.enclosing].index : nil
    frame.row = batch.appendRow(of: frame.table, type: typeNumber, parent: parent)
    frame.index = batch.rows.count - 1
    frame.map = map(frame.table, typeNumber, [])
  }

  mutating func map(_ table: EntityTable, _ typeNumber: Int, _ prefix: [String]) -> Int {
    if let existing = maps.firstIndex(where: {
      $0.table === table && $0.typeNumber == typeNumber && $0.prefix == prefix
    }) {
      return existing
    }
    maps.append(MemberMap(table: table, typeNumber: typeNumber, prefix: prefix))
    return maps.count - 1
  }

  /// The member that a name refers to at the current position of the payload.
  @inline(__always)
  mutating func member(_ name: PayloadName) -> MemberMap.Member {
    let top = frames.count - 1
    guard top >= 0, frames[top].map >= 0 else { return MemberMap.Member(kind: .ignored) }
    return maps[frames[top].map].member(name)
  }

  mutating func endEntity() throws {
    guard let top = frames.indices.last else { return }
    guard !frames[top].isIgnored else {
      frames.removeLast()
      return
    }
    var frame = frames[top]
    try close(&frame)
    if frame.level >= 0 { noteRequestedLinks(frame, top) }
    frames.removeLast()
    if frame.hasUnfittingKey, batch.lacksKey(frame.index) {
      leaveOut(frame)
      if frames.isEmpty { rootCount += 1 }
      return
    }
    guard frames.isEmpty else { return join(frame) }
    try checkContent(frame)
    if let rootParent { joinRoot(frame, rootParent) }
    noteFineValues()
    fillTies()
    try checkKeys()
    rootCount += 1
  }

  /// Throws for an object without content, if an entity was requested.
  private func checkContent(_ frame: OpenRow) throws(PageError) {
    guard content == .entity, frame.links.any == nil, frame.media == nil else { return }
    guard !batch.hasProperties(frame.index) else { return }
    throw .otherKind(expected: PageForm.Content.entity.rawValue, found: "an object without properties")
  }

  mutating func nullEntity(_ name: PayloadName) {
    let member = member(name)
    guard member.kind == .navigation, let top = frames.indices.last else { return }
    let frame = frames[top]
    // Null is no collection: the service may not have loaded it.
    let entity = frame.entity(top)
    if !frames[entity].table.navigations[Int(member.index)].isCollection { noteShown(Int(member.index), by: entity) }
    noteComplete(Int(member.index), of: frame.index)
    switch frame.table.navigations[Int(member.index)].relation {
    case .links(let link, let isForward):
      batch.completeLinks.append(PageBatch.CompleteLinks(link: link, row: frame.index, isSource: isForward))
    case .columns(let pairs):
      let target = plan.tables[frame.table.navigations[Int(member.index)].target]
      guard !target.key.isEmpty, Set(target.key).isSubset(of: pairs.map(\.target)) else { return }
      // If the payload has the column too, its value is used.
      for pair in pairs where !frame.table.key.contains(pair.source) && !batch.isPresent(frame.index, pair.source) {
        batch.set(frame.index, pair.source, .null)
      }
    case .containment, .container: break
    }
  }

  /// Records that the payload contains a navigation property completely.
  mutating func noteComplete(_ navigation: Int, of source: Int) {
    if notesMembers { batch.completeNavigations.append(PageBatch.Navigation(source: source, navigation: navigation)) }
  }

  /// Records that a navigation property has an entity as a member, or no longer has it.
  mutating func noteMember(_ navigation: Int, of source: Int, _ target: Int, isAdded: Bool) {
    guard notesMembers else { return }
    batch.members.append(
      PageBatch.Member(
        navigation: PageBatch.Navigation(source: source, navigation: navigation), target: target, isAdded: isAdded))
  }

  mutating func beginCollection(_ name: PayloadName, isDelta: Bool) {
    let member = member(name)
    guard member.kind == .navigation, let top = frames.indices.last else {
      if member.kind == .undeclared { noteUndeclared(name.text, frames.count - 1) }
      if let last = frames.last { frames.append(.ignored(last.table, isCollection: true)) }
      return
    }
    let enclosing = frames[top].entity(top)
    var frame = OpenRow(table: frames[enclosing].table, navigation: Int(member.index), enclosing: enclosing)
    frame.isCollection = true
    frame.isDelta = isDelta
    (frame.row, frame.index) = (frames[enclosing].row, frames[enclosing].index)
    frames.append(frame)
    if !isDelta {
      noteShown(frame.navigation, by: enclosing)
      noteCompleteCollection(frame)
    }
  }

  mutating func endCollection() { if frames.last?.isCollection == true { frames.removeLast() } }

  private mutating func noteCompleteCollection(_ frame: OpenRow) {
    noteComplete(frame.navigation, of: frame.index)
    guard case .links(let link, let isForward) = frame.table.navigations[frame.navigation].relation else { return }
    batch.completeLinks.append(PageBatch.CompleteLinks(link: link, row: frame.index, isSource: isForward))
  }
}
